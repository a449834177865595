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

TOLERANCE = 1e-5  # in log10 delta: the bounds have a relative width of 1e-4
_SHORTEST = 1e-9  # of eps, relative: a search ends here where delta jumps
_FLAT = 1e-3  # of eps, relative: delta is flat if so much changes it by less than the tolerance
_NEAR = 0.01  # of eps, relative: between two eps that are so near, delta tells whether it is flat
_GRID = 513  # values of eps at which a theorem with gaps is evaluated


def smallest_eps(
    log10_delta_at: Callable[[float], Any],
    target_log10_delta: float,
    largest: float,
    *,
    falls: bool = False,
) -> float:
    """The smallest eps in [0, ``largest``] at which a bound on log10 delta is at most the target.

    The result is rounded up by about 1e-10, so that the bound holds there. It is 0 where eps = 0 suffices,
    and nan where the bound exceeds the target at every eps at which it applies. ``log10_delta_at`` is a
    function of eps. It is nan where the bound does not apply. With ``falls`` it applies everywhere and falls
    with eps; then the search takes fewer evaluations to the same result.
    """
    log10_delta_at = functools.cache(log10_delta_at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # a nan during the search is not the result
        eps = _eps_unless_nan_is_met(log10_delta_at, target_log10_delta, 0.0, largest, falls)
        if eps is not None:
            return eps

        # There is a gap in which the bound does not apply, so the search has to start behind it.
        interval = _interval_that_falls_to_target(log10_delta_at, target_log10_delta, largest)
        if interval is None:
            return np.nan
        eps = _eps_unless_nan_is_met(log10_delta_at, target_log10_delta, *interval)
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

    ``log10_delta_at`` is log10 of the bound as a function of eps. It falls with eps, to -inf at ``budget``.
    For ``side`` upper, the bound is at most the target at the result; otherwise it is at least the target.
    There the bound is within `TOLERANCE` of the target, in log10, or it jumps within 1e-9 of this eps,
    relatively. Where delta is so flat that the tolerance is more than 0.1 % of eps, the result is within 0.1
    % of an eps on the other side of the target. The result is 0 where eps = 0 is found to suffice.

    The first eps to try is that of the Gaussian mechanism with this ``mu``, its sensitivity / deviation. The
    next ones are those of secants of sqrt(-log10 delta). Where there is no secant, they are those of the
    Gaussian mechanism that has the delta of the last eps. Mostly 2 to 5 evaluations are enough.
    """
    # Aim at the middle of the tolerance on the side of the target where the result has to be.
    direction = 1 if side is Side.UPPER else -1
    aim = target_log10_delta - direction * TOLERANCE / 2
    low, high = 0.0, budget
    eps = gaussian_eps(aim, mu)
    # The last two eps, with the square root of -log10 delta there, which is almost affine in eps.
    last_points: list[tuple[float, float]] = []
    looked_at_zero = False
    shortest = _SHORTEST
    while high - low > shortest * high:
        # Where the next eps to try is outside of the interval, try another one.
        if not low < eps < high:
            # eps = 0 may be enough; check it before a search that closes in on 0.
            if low == 0 and not looked_at_zero:
                if float(log10_delta_at(0.0)) <= target_log10_delta:
                    return 0.0
                looked_at_zero = True
            if high < budget:
                eps = (low + high) / 2
            else:
                # With few users the bound jumps next to eps0, which is the budget: each step makes eps0 - eps
                # 16 times as small.
                eps = budget - (budget - low) / 16

        # `direction` makes both sides alike.
        log10_delta = float(log10_delta_at(eps))
        if 0 <= direction * (target_log10_delta - log10_delta) <= TOLERANCE:
            # Whether delta is flat shows between two points that are near; mostly the last one is.
            if not last_points or abs(eps - last_points[-1][0]) > _NEAR * eps:
                nearby = eps * (1 - direction * _FLAT)
                last_points = [(nearby, math.sqrt(-min(float(log10_delta_at(nearby)), 0.0)))]
            if not _is_flat(eps, log10_delta, last_points[-1]):
                return eps
            shortest = _FLAT
        # `low` is on the lower side's side of the target, and `high` on the upper side's.
        if log10_delta > target_log10_delta or (
            log10_delta == target_log10_delta and side is Side.LOWER
        ):
            low = eps
        else:
            high = eps

        # A new point for the secant; deltas of 0 and 1 are those of no Gaussian.
        if -np.inf < log10_delta < 0:
            mu = 1 / float(exact_scale(eps, log10_delta=log10_delta))
            last_points = [*last_points[-1:], (eps, math.sqrt(-log10_delta))]
        eps = _eps_on_the_secant(last_points, aim)
        if shortest == _FLAT:  # a secant says nothing there
            eps = (low + high) / 2
        elif math.isnan(eps):
            eps = gaussian_eps(aim, mu)
    # The bound jumps between low and high.
    return high if side is Side.UPPER else low


def _is_flat(eps: float, log10_delta: float, last_point: tuple[float, float]) -> bool:
    """Whether delta hardly changes between ``eps``, where it has this log10, and ``last_point``.

    A point is an eps and the square root of -log10 delta there.
    """
    last_eps, last_root = last_point
    change = abs(log10_delta + last_root**2)
    return change * _FLAT * eps < TOLERANCE * abs(eps - last_eps)


def _eps_on_the_secant(points: list[tuple[float, float]], target_log10_delta: float) -> float:
    """The eps at which the line through two ``points`` (eps, sqrt(-log10 delta)) reaches the target, or nan.

    It is nan if there are fewer than two points, if the line is level, or if the target is above 0.
    """
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

    ``log10_delta_of_round`` is a function from points, which are pairs of an eps and a setting, to log10 of
    the bound (points,). ``point`` has length 1, and gives the setting; its eps does not count. The search
    starts from the Gaussian that n shuffled reports tend to for many users. For ``side`` upper the bound is
    at most the target there, and otherwise at least.
    """

    def log10_delta_at(eps: float) -> float:
        """The bound in the setting of ``point``, at ``eps``."""
        return float(log10_delta_of_round(point.with_eps(eps))[0])

    randomizer = point.randomizers[0]
    return epsilon_from_gaussian(
        log10_delta_at,
        target_log10_delta,
        randomizer.eps0,
        mu=float(gaussian_mu(n=point.users.item(), randomizer=randomizer)),
        side=side,
    )


def _interval_that_falls_to_target(
    log10_delta_at: Callable[[float], Any], target_log10_delta: float, budget: float
) -> tuple[float, float] | None:
    """The ends of an interval of eps in [0, ``budget``] in which a bound first falls to the target.

    None if the bound is above the target everywhere. ``log10_delta_at`` is log10 of the bound as a function
    of eps, and nan where the bound does not apply. It is computed on a grid of eps. The upper end is the
    first point of the grid at which the bound applies and is at most the target. The lower end is the point
    before, or, where the bound does not apply there, the eps from which on it does.
    """
    grid = np.linspace(0, budget, _GRID)
    log10_deltas = np.array([log10_delta_at(eps) for eps in grid])
    enough = np.flatnonzero(log10_deltas <= target_log10_delta)
    if enough.size == 0:
        return None
    high = grid[enough[0]]
    point_before = grid[max(enough[0] - 1, 0)]
    return (_nearest_where_it_applies(log10_delta_at, high, point_before), high)


def _nearest_where_it_applies(
    log10_delta_at: Callable[[float], Any], inside: float, end: float
) -> float:
    """The eps nearest to ``end`` at which a bound applies, between ``end`` and ``inside``, to about 1e-13.

    ``log10_delta_at`` is the bound of `smallest_eps`, which applies at ``inside``. The result is ``end``
    itself if the bound applies there. Otherwise it is found by bisection.
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


def _growing_steps(low: float, high: float) -> list[float]:
    """Values of eps from ``low`` to ``high``: ``low``, then 1, 3, 7, 15, ... steps above it, then ``high``.

    A step is 2^-12 of the distance.
    """
    values, step = [low], (high - low) / 2**12
    while values[-1] + step < high:
        values.append(values[-1] + step)
        step *= 2
    return [*values, high]


def _eps_of_gaussian_from_zero(target_log10_delta: float, log10_delta_at_zero: float) -> float:
    """About the eps, or rather less, at which a Gaussian mechanism reaches the target's log10 delta.

    The mechanism is the one that has ``log10_delta_at_zero`` at eps = 0. For a small mu, which is sensitivity
    / deviation, delta is mu (phi(x) - x Phi(-x)) with x = eps / mu, and the density phi and distribution
    function Phi of a normal number. Its natural logarithm falls by about x^2 / 2 + sqrt(pi / 2) x from its
    value at x = 0, which is that of mu / sqrt(2 pi).
    """
    mu = math.sqrt(2 * math.pi) * 10**log10_delta_at_zero
    slope = math.sqrt(math.pi / 2)
    # Twice the fall of ln delta, so that x^2 + 2 slope x = twice_the_fall.
    twice_the_fall = 2 * math.log(10) * (log10_delta_at_zero - target_log10_delta)
    return mu * (math.sqrt(slope**2 + twice_the_fall) - slope)


def _eps_unless_nan_is_met(
    log10_delta_at: Callable[[float], Any],
    target_log10_delta: float,
    low: float,
    high: float,
    falls: bool = False,
) -> float | None:
    """The smallest eps in [low, high] at which a bound on log10 delta is at most the target, rounded up.

    ``log10_delta_at`` is the bound as a function of eps; it is nan where the bound does not apply. The result
    is nan if there is no such eps. It is None if the search meets an eps at which the bound does not apply.
    With ``falls`` the bound applies everywhere and falls with eps; then the search skips values.

    First eps goes up in growing steps, until the bound is at most the target. Then the crossing is between
    the last two values, where Brent's method finds it.
    """
    if np.isnan(log10_delta_at(low)):
        return None
    if log10_delta_at(low) <= target_log10_delta:
        return low

    # From below, as far beyond the crossing delta is tiny and slow to compute.
    largest = high
    values = _growing_steps(low, high)
    i = 1
    if falls:
        # Start at the first value that is about enough, and go back while the one before is enough, too.
        guess = _eps_of_gaussian_from_zero(target_log10_delta, float(log10_delta_at(low)))
        i = max(1, min(int(np.searchsorted(values, guess)), len(values) - 2))
        while i > 1 and log10_delta_at(values[i - 1]) <= target_log10_delta:
            i -= 1
    while i < len(values) - 1:
        log10_delta = log10_delta_at(values[i])
        if np.isnan(log10_delta):
            return None
        if log10_delta <= target_log10_delta:
            break
        i += 1
    low, high = values[i - 1], values[i]
    # The bound may not be enough at the last value, or not apply.
    if not log10_delta_at(high) <= target_log10_delta:
        return np.nan

    # Brent's method cannot interpolate with infinities: delta is 0 from eps0 on. Nor can it where a theorem
    # ends. So close in on the crossing first, until the bound is finite at `high`.
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
