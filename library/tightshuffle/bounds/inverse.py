"""From delta to eps: a search for any bound, and a shorter one for bounds that are nearly a Gaussian's."""

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tightshuffle.arguments import Floats, OutsideRange
from tightshuffle.bounds.gaussian_limit import gaussian_eps, gaussian_mu
from tightshuffle.mechanisms.gaussian import scale_over_sensitivity
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.numerics.side import Side
from tightshuffle.points import Points

TOLERANCE = 1e-5 * LN10  # in ln delta: the bounds have a relative width of 1e-4
_SHORTEST = 1e-9  # of eps, relative: a search ends here where delta jumps
_FLAT = 1e-3  # of eps, relative: delta is flat if so much changes it by less than the tolerance
_NEAR = 0.01  # of eps, relative: between two eps that are so near, delta tells whether it is flat
_DOUBLINGS = 12  # of the first step of a search, up to the largest eps
_GRID = 513  # values of eps at which a theorem with gaps is evaluated


def smallest_eps(
    ln_delta_at: Callable[[float], Any],
    target_ln_delta: float,
    largest: float,
    *,
    falls: bool = False,
) -> float:
    """The smallest eps in [0, ``largest``] at which a bound on ln delta is at most the target.

    The result is rounded up by about 1e-10, so that the bound holds there. It is 0 where eps = 0 suffices,
    and nan where the bound exceeds the target at every eps at which it applies. ``ln_delta_at`` is a
    function of eps. It is nan where the bound does not apply. With ``falls`` it applies everywhere and falls
    with eps; then the search takes fewer evaluations to the same result.
    """
    ln_delta_at = functools.cache(ln_delta_at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # a nan during the search is not the result
        eps = _eps_unless_nan_is_met(ln_delta_at, target_ln_delta, 0.0, largest, falls)
        if eps is not None:
            return eps

        # There is a gap in which the bound does not apply, so the search has to start behind it.
        interval = _interval_that_falls_to_target(ln_delta_at, target_ln_delta, largest)
        if interval is None:
            return np.nan
        eps = _eps_unless_nan_is_met(ln_delta_at, target_ln_delta, *interval)
        return np.nan if eps is None else eps


def epsilon_from_gaussian(
    ln_delta_at: Callable[[float], Any],
    target_ln_delta: float,
    largest_eps: float,
    *,
    mu: float,
    side: Side = Side.UPPER,
) -> float:
    """The eps at which a bound is the target, if the bound is nearly the delta of a Gaussian mechanism.

    ``ln_delta_at`` is ln of the bound as a function of eps. It falls with eps, to -inf at ``largest_eps``.
    For ``side`` upper, the bound is at most the target at the result; otherwise it is at least the target.
    There the bound is within `TOLERANCE` of the target, in ln, or it jumps within 1e-9 of this eps,
    relatively. Where delta is so flat that the tolerance is more than 0.1 % of eps, the result is within 0.1
    % of an eps on the other side of the target. The result is 0 where eps = 0 is found to suffice.

    The first eps to try is that of the Gaussian mechanism with this ``mu``, its sensitivity / deviation. The
    next ones are those of secants of sqrt(-ln delta). Where there is no secant, they are those of the
    Gaussian mechanism that has the delta of the last eps. Mostly 2 to 5 evaluations are enough.
    """
    # Aim at the middle of the tolerance on the side of the target where the result has to be.
    direction = 1 if side is Side.UPPER else -1
    aim = target_ln_delta - direction * TOLERANCE / 2
    low, high = 0.0, largest_eps
    eps = gaussian_eps(aim, mu)
    # The last two eps, with the square root of -ln delta there, which is almost affine in eps.
    last_points: list[tuple[float, float]] = []
    looked_at_zero = False
    shortest = _SHORTEST
    while high - low > shortest * high:
        # Where the next eps to try is outside of the interval, try another one.
        if not low < eps < high:
            # eps = 0 may be enough; check it before a search that closes in on 0.
            if low == 0 and not looked_at_zero:
                if float(ln_delta_at(0.0)) <= target_ln_delta:
                    return 0.0
                looked_at_zero = True
            if high < largest_eps:
                eps = (low + high) / 2
            else:
                # With few users the bound jumps next to eps0, the largest eps: each step makes eps0 - eps 16
                # times as small.
                eps = largest_eps - (largest_eps - low) / 16

        # `direction` makes both sides alike.
        ln_delta = float(ln_delta_at(eps))
        if 0 <= direction * (target_ln_delta - ln_delta) <= TOLERANCE:
            # Whether delta is flat shows between two points that are near; mostly the last one is.
            if not last_points or abs(eps - last_points[-1][0]) > _NEAR * eps:
                nearby = eps * (1 - direction * _FLAT)
                last_points = [(nearby, math.sqrt(-min(float(ln_delta_at(nearby)), 0.0)))]
            if not _is_flat(eps, ln_delta, last_points[-1]):
                return eps
            shortest = _FLAT
        # `low` is on the lower side's side of the target, and `high` on the upper side's.
        if ln_delta > target_ln_delta or (ln_delta == target_ln_delta and side is Side.LOWER):
            low = eps
        else:
            high = eps

        # A new point for the secant; deltas of 0 and 1 are those of no Gaussian.
        if -np.inf < ln_delta < 0:
            mu = 1 / scale_over_sensitivity(eps, ln_delta)
            last_points = [*last_points[-1:], (eps, math.sqrt(-ln_delta))]
        eps = _eps_on_the_secant(last_points, aim)
        if shortest == _FLAT:  # a secant says nothing there
            eps = (low + high) / 2
        elif math.isnan(eps):
            eps = gaussian_eps(aim, mu)
    # The bound jumps between low and high.
    return high if side is Side.UPPER else low


def _is_flat(eps: float, ln_delta: float, last_point: tuple[float, float]) -> bool:
    """Whether delta hardly changes between ``eps``, where it has this ln, and ``last_point``.

    A point is an eps and the square root of -ln delta there.
    """
    last_eps, last_root = last_point
    change = abs(ln_delta + last_root**2)
    return change * _FLAT * eps < TOLERANCE * abs(eps - last_eps)


def _eps_on_the_secant(points: list[tuple[float, float]], target_ln_delta: float) -> float:
    """The eps at which the line through two ``points`` (eps, sqrt(-ln delta)) reaches the target, or nan.

    It is nan if there are fewer than two points, if the line is level, or if the target is above 0.
    """
    if len(points) < 2 or target_ln_delta > 0:
        return math.nan
    (first_eps, first_root), (last_eps, last_root) = points
    if first_root == last_root:
        return math.nan
    missing = math.sqrt(-target_ln_delta) - first_root
    return first_eps + (last_eps - first_eps) * missing / (last_root - first_root)


def epsilon_near_gaussian(
    ln_delta_of_round: Callable[[Points], Floats],
    target_ln_delta: float,
    point: Points,
    side: Side,
) -> float:
    """The eps at which a bound on ln delta of one round is the target, by `epsilon_from_gaussian`.

    ``ln_delta_of_round`` is a function from points, which are pairs of an eps and a setting, to ln of
    the bound (points,). ``point`` has length 1, and gives the setting; its eps does not count. The search
    starts from the Gaussian that n shuffled reports tend to for many users. For ``side`` upper the bound is
    at most the target there, and otherwise at least.
    """

    def ln_delta_at(eps: float) -> float:
        """The bound in the setting of ``point``, at ``eps``."""
        return float(ln_delta_of_round(point.with_eps(eps))[0])

    randomizer = point.randomizers[0]
    return epsilon_from_gaussian(
        ln_delta_at,
        target_ln_delta,
        randomizer.eps0,
        mu=float(gaussian_mu(n=point.honest_users.item(), randomizer=randomizer)),
        side=side,
    )


def _interval_that_falls_to_target(
    ln_delta_at: Callable[[float], Any], target_ln_delta: float, largest_eps: float
) -> tuple[float, float] | None:
    """The ends of an interval of eps in [0, ``largest_eps``] in which a bound first falls to the target.

    None if the bound is above the target everywhere. ``ln_delta_at`` is ln of the bound as a function
    of eps, and nan where the bound does not apply. It is computed on a grid of eps. The upper end is the
    first point of the grid at which the bound applies and is at most the target. The lower end is the point
    before, or, where the bound does not apply there, the eps from which on it does.
    """
    grid = np.linspace(0, largest_eps, _GRID)
    ln_deltas = np.array([ln_delta_at(eps) for eps in grid])
    enough = np.flatnonzero(ln_deltas <= target_ln_delta)
    if enough.size == 0:
        return None
    high = grid[enough[0]]
    point_before = grid[max(enough[0] - 1, 0)]
    return (_nearest_where_it_applies(ln_delta_at, high, point_before), high)


def _nearest_where_it_applies(
    ln_delta_at: Callable[[float], Any], inside: float, end: float
) -> float:
    """The eps nearest to ``end`` <= ``inside`` at which a bound applies, to about 1e-13.

    ``ln_delta_at`` is the bound of `smallest_eps`, which applies at ``inside``. The result is ``end``
    itself if the bound applies there.
    """

    def sign(eps: float) -> float:
        """-inf where the bound applies, and inf elsewhere."""
        return math.inf if np.isnan(ln_delta_at(eps)) else -math.inf

    return least_enough(sign, end, inside, tolerance=1e-13, relative=1e-13)


class _DoesNotApplyError(Exception):
    """A search has met an eps at which the bound does not apply."""


def _eps_of_gaussian_from_zero(target_ln_delta: float, ln_delta_at_zero: float) -> float:
    """About the eps, or rather less, at which a Gaussian mechanism reaches the target's ln delta.

    The mechanism is the one that has ``ln_delta_at_zero`` at eps = 0. For a small mu, which is sensitivity
    / deviation, delta is mu (phi(x) - x Phi(-x)) with x = eps / mu, and the density phi and distribution
    function Phi of a normal number. Its natural logarithm falls by about x^2 / 2 + sqrt(pi / 2) x from its
    value at x = 0, which is that of mu / sqrt(2 pi).
    """
    mu = math.sqrt(2 * math.pi) * math.exp(ln_delta_at_zero)
    slope = math.sqrt(math.pi / 2)
    # Twice the fall of ln delta, so that x^2 + 2 slope x = twice_the_fall.
    twice_the_fall = 2 * (ln_delta_at_zero - target_ln_delta)
    return mu * (math.sqrt(slope**2 + twice_the_fall) - slope)


def _eps_unless_nan_is_met(
    ln_delta_at: Callable[[float], Any],
    target_ln_delta: float,
    low: float,
    high: float,
    falls: bool = False,
) -> float | None:
    """The smallest eps in [low, high] at which a bound on ln delta is at most the target, rounded up.

    ``ln_delta_at`` is the bound as a function of eps; it is nan where the bound does not apply. The result
    is nan if there is no such eps. It is None if the search meets an eps at which the bound does not apply.
    With ``falls`` the bound applies everywhere and falls with eps; then the search skips values.
    """

    def surplus(eps: float) -> float:
        """ln of delta over its target; nan where the bound does not apply."""
        return float(ln_delta_at(eps)) - target_ln_delta

    def checked_surplus(eps: float) -> float:
        """`surplus`, if the bound applies."""
        value = surplus(eps)
        if math.isnan(value):
            raise _DoesNotApplyError
        return value

    # From below, as far beyond the crossing delta is tiny and slow to compute.
    start, step = low, (high - low) / 2**_DOUBLINGS
    try:
        if falls and checked_surplus(low) > 0:
            # Some of the steps in one, to where delta is still too large, about; at most to half of the end.
            guess = _eps_of_gaussian_from_zero(target_ln_delta, float(ln_delta_at(low)))
            steps = min(int(math.log2(guess / step + 1)), _DOUBLINGS - 1)
            start, step = low + (2**steps - 1) * step, 2**steps * step
        interval = interval_with_root(checked_surplus, start, step=step, least=low, most=high)
    except _DoesNotApplyError:
        return None
    if interval is None:
        return math.nan
    return least_enough(surplus, *interval, tolerance=1e-11, relative=1e-10)
