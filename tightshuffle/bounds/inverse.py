"""From delta to eps: a search for any bound, and a shorter one for bounds that are nearly a Gaussian's."""

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from tightshuffle.arguments import Floats, OutsideRange
from tightshuffle.bounds.gaussian_limit import gaussian_eps, gaussian_mu
from tightshuffle.gaussian import exact_scale
from tightshuffle.points import Points
from tightshuffle.side import Side

TOLERANCE = 1e-5  # in log10 delta: the bounds have a width of 1e-4
_SHORTEST = 1e-9  # of eps, relative: a search ends here where delta jumps
_GRID = 513  # values of eps at which a theorem with gaps is evaluated


def smallest_eps(
    log10_delta_at: Callable[[float], Any], wanted: float, largest: float, *, falls: bool = False
) -> float:
    """The smallest eps in [0, ``largest``] at which log10 of a bound is at most ``wanted``, to about 1e-10.

    It is rounded up, so that the bound holds there. 0 where eps = 0 suffices; nan where the bound exceeds
    delta at every eps at which it applies. ``falls``: whether it applies everywhere and falls with eps; then
    the search takes fewer evaluations to the same result.
    """
    at = functools.cache(log10_delta_at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # a nan during the search is not the result
        eps = _crossing(at, wanted, 0.0, largest, falls)
        if eps is None:
            ends = _where_it_applies(at, wanted, largest)
            eps = None if ends is None else _crossing(at, wanted, *ends)
        return np.nan if eps is None else eps


def epsilon_from_gaussian(
    log10_delta_at: Callable[[float], Any], wanted: float, budget: float, *, mu: float, round_up: bool = True
) -> float:
    """The eps at which a bound is ``wanted``, if the bound is nearly the delta of a Gaussian mechanism.

    ``log10_delta_at`` falls with eps, to -inf at ``budget``; ``wanted`` is a log10 delta. ``mu``: of the
    Gaussian differential privacy to start from (`gaussian_mu`), which the first evaluation adjusts.
    ``round_up``: the bound is at most ``wanted`` at this eps, else at least. It is within `TOLERANCE` of
    ``wanted`` there, or jumps within 1e-9 of this eps. Mostly 2 to 5 evaluations.
    """
    aim = wanted - (1 if round_up else -1) * TOLERANCE / 2
    low, high = 0.0, budget
    eps = gaussian_eps(aim, mu)
    seen: list[tuple[float, float]] = []
    looked_at_zero = False
    while high - low > _SHORTEST * high:
        if not low < eps < high:
            # eps = 0 may be enough; check it before a search that closes in on 0.
            if low == 0 and not looked_at_zero:
                if float(log10_delta_at(0.0)) <= wanted:
                    return 0.0
                looked_at_zero = True
            # With few users the bound jumps next to eps0: search for the magnitude of eps0 - eps.
            eps = (low + high) / 2 if high < budget else budget - (budget - low) / 16
        value = float(log10_delta_at(eps))
        if 0 <= (wanted - value if round_up else value - wanted) <= TOLERANCE:
            return eps
        low, high = (eps, high) if value > wanted else (low, eps)
        if -np.inf < value < 0:
            mu = 1 / float(exact_scale(eps, log10_delta=value))
            seen = [*seen[-1:], (eps, float(np.sqrt(-value)))]
        # The square root is almost affine in eps.
        if len(seen) == 2 and seen[0][1] != seen[1][1]:
            (x, y), (later, at_later) = seen
            eps = x + (later - x) * (np.sqrt(-aim) - y) / (at_later - y)
        else:
            eps = gaussian_eps(aim, mu)
    return high if round_up else low


def epsilon_near_gaussian(
    log10_delta_of_round: Callable[[Points], Floats], target_log10_delta: float, point: Points, side: Side
) -> float:
    """The eps at which a bound of one round is ``target_log10_delta``; ``point`` has length 1."""
    randomizer = point.randomizers[0]
    return epsilon_from_gaussian(
        lambda eps: float(log10_delta_of_round(point.with_eps(eps))[0]),
        target_log10_delta,
        randomizer.eps0,
        mu=float(gaussian_mu(n=point.users.item(), randomizer=randomizer)),
        round_up=side is Side.UPPER,
    )


def _where_it_applies(
    log10_delta_at: Callable[[float], Any], wanted: float, budget: float
) -> tuple[float, float] | None:
    """Ends of an interval in which a theorem applies and first reaches ``wanted``; None if there is none."""
    grid = np.linspace(0, budget, _GRID)
    values = np.array([log10_delta_at(eps) for eps in grid])
    kept = np.flatnonzero(values <= wanted)
    if kept.size == 0:
        return None
    high = grid[kept[0]]
    low = grid[max(kept[0] - 1, 0)]
    return (_border(log10_delta_at, high, low), high)


def _border(log10_delta_at: Callable[[float], Any], inside: float, end: float) -> float:
    """``end``; where the theorem does not apply there, the nearest eps at which it does."""
    if not np.isnan(log10_delta_at(end)):
        return end
    while abs(end - inside) > 1e-13 * (1 + abs(inside)):
        middle = (inside + end) / 2
        inside, end = (inside, middle) if np.isnan(log10_delta_at(middle)) else (middle, end)
    return inside


def _ladder(low: float, high: float) -> list[float]:
    """Values of eps from ``low`` to ``high``, about 1, 3, 7, 15, ... steps above ``low``."""
    rungs, step = [low], (high - low) / 2**12
    while rungs[-1] + step < high:
        rungs.append(rungs[-1] + step)
        step *= 2
    return [*rungs, high]


def _gaussian_about(wanted: float, at_zero: float) -> float:
    """About the eps of the Gaussian with log10 delta ``at_zero`` at eps = 0; rather less.

    For a small mu, delta is mu times phi(x) - x Phi(-x) with x = eps / mu; its logarithm falls by about
    x^2 / 2 + sqrt(pi / 2) x.
    """
    mu = math.sqrt(2 * math.pi) * 10**at_zero
    slope = math.sqrt(math.pi / 2)
    return mu * (math.sqrt(slope**2 + 2 * math.log(10) * (at_zero - wanted)) - slope)


def _crossing(
    log10_delta_at: Callable[[float], Any], wanted: float, low: float, high: float, falls: bool = False
) -> float | None:
    """The smallest eps in [low, high] that is enough; nan if there is none, None if the bound has a gap."""
    top = high
    if not log10_delta_at(low) > wanted:
        return None if np.isnan(log10_delta_at(low)) else low
    rungs = _ladder(low, high)
    # From below: far beyond the crossing delta is tiny and slow to compute.
    place = 1
    if falls:
        about = _gaussian_about(wanted, float(log10_delta_at(low)))
        place = max(1, min(int(np.searchsorted(rungs, about)), len(rungs) - 2))
        while place > 1 and log10_delta_at(rungs[place - 1]) <= wanted:
            place -= 1
    while place < len(rungs) - 1:
        value = log10_delta_at(rungs[place])
        if np.isnan(value):
            return None
        if value <= wanted:
            break
        place += 1
    low, high = rungs[place - 1], rungs[place]
    if not log10_delta_at(high) <= wanted:
        return np.nan
    # The secant cannot interpolate with infinities (delta is 0 from eps0 on), nor where a theorem ends.
    while not np.isfinite(log10_delta_at(high)) and high - low > 1e-10:
        middle = (low + high) / 2
        value = log10_delta_at(middle)
        if np.isfinite(value) and value > wanted:
            low = middle
        else:
            high = middle
    root = high
    if high - low > 1e-10:
        root = scipy.optimize.brentq(
            lambda eps: log10_delta_at(eps) - wanted, low, high, xtol=1e-11, rtol=1e-10
        )
        high = min(high, root + 1e-10 * (1 + root))
    return next(eps for eps in (root, high, top) if log10_delta_at(eps) <= wanted)
