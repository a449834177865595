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
    log10_delta_at: Callable[[float], Any],
    target_log10_delta: float,
    largest: float,
    *,
    falls: bool = False,
) -> float:
    """The smallest eps in [0, ``largest``] at which a bound on log10 delta is at most the target.

    It is rounded up by about 1e-10, so that the bound holds there. It is 0 where eps = 0 suffices, and nan
    where the bound exceeds the target at every eps at which it applies. ``log10_delta_at`` is nan at an eps
    at which it does not apply. ``falls`` says that it applies everywhere and falls with eps. Then the search
    takes fewer evaluations to the same result.
    """
    known = functools.cache(log10_delta_at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # a nan during the search is not the result
        eps = _crossing(known, target_log10_delta, 0.0, largest, falls)
        if eps is not None:
            return eps

        # The bound has a gap, so the search has to start behind it.
        interval = _where_it_applies(known, target_log10_delta, largest)
        if interval is None:
            return np.nan
        eps = _crossing(known, target_log10_delta, *interval)
        return np.nan if eps is None else eps


def epsilon_from_gaussian(
    log10_delta_at: Callable[[float], Any],
    target_log10_delta: float,
    budget: float,
    *,
    mu: float,
    side: Side = Side.UPPER,
) -> float:
    """The eps at which a bound is the target, if the bound is nearly the delta of a Gaussian mechanism.

    ``log10_delta_at`` falls with eps, to -inf at ``budget``. ``mu`` (sensitivity / deviation) is that of the
    Gaussian mechanism to start from, which each evaluation adjusts. For ``side`` upper, the bound is at most
    the target at this eps, else at least. It is within `TOLERANCE` of the target there, or jumps within 1e-9
    of this eps. This takes mostly 2 to 5 evaluations: secants of sqrt(-log10 delta), and else the Gaussian.
    """
    # Aim at the middle of the tolerance on the side of the target where the result has to be.
    direction = 1 if side is Side.UPPER else -1
    aim = target_log10_delta - direction * TOLERANCE / 2
    low, high = 0.0, budget
    eps = gaussian_eps(aim, mu)
    # The last two eps, with the square root of -log10 delta there, which is almost affine in eps.
    last_points: list[tuple[float, float]] = []
    looked_at_zero = False
    while high - low > _SHORTEST * high:
        if not low < eps < high:
            # eps = 0 may be enough; check it before a search that closes in on 0.
            if low == 0 and not looked_at_zero:
                if float(log10_delta_at(0.0)) <= target_log10_delta:
                    return 0.0
                looked_at_zero = True
            if high < budget:
                eps = (low + high) / 2
            else:
                # With few users the bound jumps next to eps0: search for the magnitude of eps0 - eps.
                eps = budget - (budget - low) / 16

        log10_delta = float(log10_delta_at(eps))
        if 0 <= direction * (target_log10_delta - log10_delta) <= TOLERANCE:
            return eps
        if log10_delta > target_log10_delta:
            low = eps
        else:
            high = eps

        if -np.inf < log10_delta < 0:
            mu = 1 / float(exact_scale(eps, log10_delta=log10_delta))
            last_points = [*last_points[-1:], (eps, math.sqrt(-log10_delta))]
        eps = _on_the_secant(last_points, aim)
        if math.isnan(eps):
            eps = gaussian_eps(aim, mu)
    return high if side is Side.UPPER else low


def _on_the_secant(points: list[tuple[float, float]], target_log10_delta: float) -> float:
    """The eps at which the line through two points (eps, sqrt(-log10 delta)) reaches the target, or nan."""
    if len(points) < 2 or target_log10_delta > 0:
        return math.nan
    (first_eps, first_root), (last_eps, last_root) = points
    if first_root == last_root:
        return math.nan
    missing = math.sqrt(-target_log10_delta) - first_root
    return first_eps + (last_eps - first_eps) * missing / (last_root - first_root)


def epsilon_near_gaussian(
    log10_delta_of_round: Callable[[Points], Floats],
    target_log10_delta: float,
    point: Points,
    side: Side,
) -> float:
    """The eps at which a bound on log10 delta of one round is the target, by `epsilon_from_gaussian`.

    ``log10_delta_of_round`` is a function of points, of which ``point``, of length 1, is the setting. The
    search starts from the Gaussian that many users tend to.
    """
    randomizer = point.randomizers[0]
    return epsilon_from_gaussian(
        lambda eps: float(log10_delta_of_round(point.with_eps(eps))[0]),
        target_log10_delta,
        randomizer.eps0,
        mu=float(gaussian_mu(n=point.users.item(), randomizer=randomizer)),
        side=side,
    )


def _where_it_applies(
    log10_delta_at: Callable[[float], Any], target_log10_delta: float, budget: float
) -> tuple[float, float] | None:
    """An interval of eps in [0, ``budget``] in which a bound falls to the target first; None if none does.

    On a grid of eps, its upper end is the first point at which the bound applies and is at most the target.
    The lower end is the point before, or where the bound begins to apply. The bound is nan where it does not.
    """
    grid = np.linspace(0, budget, _GRID)
    log10_deltas = np.array([log10_delta_at(eps) for eps in grid])
    enough = np.flatnonzero(log10_deltas <= target_log10_delta)
    if enough.size == 0:
        return None
    high = grid[enough[0]]
    low = grid[max(enough[0] - 1, 0)]
    return (_border(log10_delta_at, high, low), high)


def _border(log10_delta_at: Callable[[float], Any], inside: float, end: float) -> float:
    """``end``, or the nearest eps at which the bound applies, where it does not at ``end``.

    It applies at ``inside``, and is nan where it does not. By bisection, to about 1e-13.
    """
    if not np.isnan(log10_delta_at(end)):
        return end
    while abs(end - inside) > 1e-13 * (1 + abs(inside)):
        middle = (inside + end) / 2
        if np.isnan(log10_delta_at(middle)):
            end = middle
        else:
            inside = middle
    return inside


def _ladder(low: float, high: float) -> list[float]:
    """Values of eps from ``low`` to ``high``, about 1, 3, 7, 15, ... steps above ``low``."""
    rungs, step = [low], (high - low) / 2**12
    while rungs[-1] + step < high:
        rungs.append(rungs[-1] + step)
        step *= 2
    return [*rungs, high]


def _eps_of_gaussian_from_zero(target_log10_delta: float, log10_delta_at_zero: float) -> float:
    """About the eps of the Gaussian that has this log10 delta at eps = 0; rather less.

    For a small mu, delta is mu times phi(x) - x Phi(-x) with x = eps / mu; its logarithm falls by about
    x^2 / 2 + sqrt(pi / 2) x.
    """
    mu = math.sqrt(2 * math.pi) * 10**log10_delta_at_zero
    slope = math.sqrt(math.pi / 2)
    fall = 2 * math.log(10) * (log10_delta_at_zero - target_log10_delta)
    return mu * (math.sqrt(slope**2 + fall) - slope)


def _crossing(
    log10_delta_at: Callable[[float], Any],
    target_log10_delta: float,
    low: float,
    high: float,
    falls: bool = False,
) -> float | None:
    """The smallest eps in [low, high] at which a bound on log10 delta is at most the target, rounded up.

    nan if there is none, and None if the bound does not apply (is nan) at an eps that is met before.
    ``falls`` is as for `smallest_eps`. By Brent's method, between two neighbours of ever longer steps.
    """
    if np.isnan(log10_delta_at(low)):
        return None
    if log10_delta_at(low) <= target_log10_delta:
        return low

    # From below: far beyond the crossing delta is tiny and slow to compute.
    largest, rungs, rung = high, _ladder(low, high), 1
    if falls:
        guess = _eps_of_gaussian_from_zero(target_log10_delta, float(log10_delta_at(low)))
        rung = max(1, min(int(np.searchsorted(rungs, guess)), len(rungs) - 2))
        while rung > 1 and log10_delta_at(rungs[rung - 1]) <= target_log10_delta:
            rung -= 1
    while rung < len(rungs) - 1:
        log10_delta = log10_delta_at(rungs[rung])
        if np.isnan(log10_delta):
            return None
        if log10_delta <= target_log10_delta:
            break
        rung += 1
    low, high = rungs[rung - 1], rungs[rung]
    if not log10_delta_at(high) <= target_log10_delta:
        return np.nan

    # The secant cannot interpolate with infinities (delta is 0 from eps0 on), nor where a theorem ends.
    while not np.isfinite(log10_delta_at(high)) and high - low > 1e-10:
        middle = (low + high) / 2
        log10_delta = log10_delta_at(middle)
        if np.isfinite(log10_delta) and log10_delta > target_log10_delta:
            low = middle
        else:
            high = middle

    root = high
    if high - low > 1e-10:
        root = scipy.optimize.brentq(
            lambda eps: log10_delta_at(eps) - target_log10_delta, low, high, xtol=1e-11, rtol=1e-10
        )
        high = min(high, root + 1e-10 * (1 + root))
    # The smallest of these that was computed to be enough.
    return next(eps for eps in (root, high, largest) if log10_delta_at(eps) <= target_log10_delta)
