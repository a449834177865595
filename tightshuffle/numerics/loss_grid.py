"""Privacy loss distributions on a grid, composed at any depth, always an upper or a lower estimate.

The privacy loss of a pair (P, Q) is L = log(P / Q) of an outcome of P, and for n_c independent rounds
delta(eps) = E[(1 - e^(eps - L_1 - ... - L_nc))_+]. Tilted distributions are convolved by fast Fourier
transforms, whose noise of 1e-16 would drown small deltas without the tilt e^(theta L); every error is
bounded:

* What is cut off or wraps around weighs at most max over x > 0 of e^(-theta x) (1 - e^-x) < 1 / (1 + theta)
  times its mass, which Chernoff's bound at fifty-six orders bounds (as in dp-accounting).
* A transform of length N is wrong by at most 3.5 log2(N) ulp of its norm (Higham 2002, Theorem 24.2, with
  half an ulp as unit roundoff). No component of a distribution's transform exceeds 1, so the t-th power
  carries at most t times its errors along. By Cauchy and Schwarz, this noise adds at most its norm times that
  of the weights.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, Integers
from tightshuffle.side import Side

_CUT = 1e-20  # mass cut off each end of the tilted distribution before it is convolved
WRAPPED = 1e-18  # mass of the convolution that may wrap around
BINS = 2**14  # of a distribution, for the bounds on where it wraps around
# Chernoff orders of those bounds, over the number of points: the best one falls with the root of the rounds.
_ORDERS = np.concatenate([2.0 ** np.arange(-8, 0), np.arange(1.0, 21.0)])
_SERVED = 3.0  # standard deviations of the composed loss that one tilt serves
_DIFFERENCE = 1e-14  # relative error of sums of many terms
_ULP = 2.0**-52  # a unit in the last place of 1
_SMALLEST = 1e-300  # of a weight that others are divided by
_FAR = 600.0  # exponents beyond are not needed: so far below the served eps no loss counts
_LARGEST_GAP = 600.0  # between two eps: beyond it e^gap - 1 is e^gap
_COARSE_POINTS = 2000  # of a distribution, to find a tilt
_LARGEST_TILT = (
    1000.0  # times the spacing, about: from one loss to the next, weights grow by e^1000 at most
)
# ln of a probability below which a sum of probabilities equals that of their union as a float.
_RARE = -600.0
_MASSES = 1e-11  # relative rounding error of the masses of `connected`, and more far down
_ROUNDING = 1e-9  # relative floating-point error that both estimates allow for


class LossGrid(NamedTuple):
    """A loss distribution on the points (first + i) * spacing, i = 0, 1, ..., and at infinity.

    ``log_mass`` (points,) and ``log_infinite`` are the natural logs of the probabilities under P.
    """

    first: int
    spacing: float
    log_mass: Floats
    log_infinite: float

    @property
    def losses(self) -> Floats:
        """The losses on the grid, shape (points,)."""
        return (self.first + np.arange(self.log_mass.size)) * self.spacing


class _CoarseGrid(NamedTuple):
    """A `LossGrid` with few points (natural logs of masses), and how many rounds have it."""

    losses: Floats
    log_mass: Floats
    times: int


class _TiltedSum(NamedTuple):
    """The tilted distributions of all rounds, and the moments of the sum of their losses under the tilt."""

    parts: list[tuple[Floats, int]]  # masses of a distribution without its ends, and its rounds
    start: int  # the sum of the first indices of all rounds
    number_of_rounds: int
    log_mgf: float  # natural log of E[e^(theta L)], L being the sum of the losses
    mean: float
    variance: float
    largest_loss: float  # the largest absolute value of L


def connected(
    index: Integers, spacing: float, ln_delta: Floats, reverse: Floats | None = None
) -> LossGrid:
    """The `LossGrid` of a pair that dominates whatever has at most this delta, in both directions.

    The largest convex function of e^eps below all points is the delta of a pair (docs/theory.md, "Rounds").
    What remains of delta at the last point is the probability of an infinite loss. Slopes are kept as
    logarithms. Masses are rounded up.

    Parameters
    ----------
    index : int array (p,)
        Ascending whole numbers from 0: the points are eps = index * spacing.
    spacing : float
        The step of the grid.
    ln_delta : float array (p,)
        Natural log of an upper bound on delta of P against Q at these eps.
    reverse : float array (p,)
        The same for Q against P. Without it, ``ln_delta`` holds for both.
    """
    eps = index * spacing
    forward = np.minimum.accumulate(np.minimum(ln_delta, 0.0))
    backward = forward
    if reverse is not None:
        backward = np.minimum.accumulate(np.minimum(reverse, 0.0))

    # (eps, delta) and (eps, delta') for the two directions give a total variation distance of at most
    # (e^eps - 1 + delta + delta') / (e^eps + 1): convexity across e^eps = 1, where the directions meet.
    both = np.exp(forward - np.logaddexp(0.0, eps)) + np.exp(backward - np.logaddexp(0.0, eps))
    distance = np.tanh(eps / 2) + both
    with np.errstate(divide="ignore"):
        forward[0] = np.log(distance.min())
    backward[0] = forward[0]
    log_infinite = float(forward[-1])

    # A loss of P against Q is a loss of Q against P with the other sign. So the delta of the one direction
    # gives the masses of the positive losses, and that of the other direction those of the negative ones. A
    # jump is the mass under Q: times e^loss it is that under P. In the other direction P and Q change roles.
    numbers, jumps = _ln_jumps(index, eps, forward)
    backward_numbers, backward_jumps = _ln_jumps(index, eps, backward)
    logs = np.concatenate([backward_jumps[::-1], [-np.inf], jumps + numbers * spacing])
    finite = logs[np.isfinite(logs)]
    rounding = _MASSES + 16 * _ULP * float(np.abs(finite).max(initial=0.0))
    log_mass = np.full(2 * index[-1] + 1, -np.inf)
    log_mass[index[-1] + np.concatenate([-backward_numbers[::-1], [0], numbers])] = logs + rounding

    # The loss 0 has what remains of the probabilities.
    remainder = 1 - float(np.exp(finite).sum()) - math.exp(log_infinite)
    log_mass[index[-1]] = math.log(max(remainder, 0.0) + rounding)
    return LossGrid(-int(index[-1]), spacing, log_mass, log_infinite + rounding)


def _ln_jumps(index: Integers, eps: Floats, ln_delta: Floats) -> tuple[Integers, Floats]:
    """The numbers in ``index`` where delta's slope in e^eps jumps, and ln of each jump: the mass under Q.

    Delta is the largest convex function below the points ``eps``, ``ln_delta`` (p,), as in `connected`. Its
    first corner, eps = 0, is not among them. After the last corner the slope is 0.
    """
    corners, ln_slopes = _lower_hull(eps.tolist(), ln_delta.tolist())
    next_ln_slopes = np.append(ln_slopes[1:], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        jumps = ln_slopes + np.log(-np.expm1(next_ln_slopes - ln_slopes))
    return index[corners[1:]], np.where(ln_slopes > -np.inf, jumps, -np.inf)


def of_masses(masses: Mapping[int, float], spacing: float) -> LossGrid:
    """The `LossGrid` with the losses index * spacing, ``masses`` having each one's probability under P."""
    index = np.array(sorted(masses))
    probabilities = np.array([masses[i] for i in index.tolist()])
    log_mass = np.full(index[-1] - index[0] + 1, -np.inf)
    with np.errstate(divide="ignore"):
        log_mass[index - index[0]] = np.log(probabilities)
    return LossGrid(int(index[0]), spacing, log_mass, -np.inf)


def _lower_hull(eps: list[float], ln_delta: list[float]) -> tuple[Integers, Floats]:
    """Corners of the largest convex function of e^eps below the points, and ln |slope| between neighbours.

    The c corners are indices of the points (``eps``, ``ln_delta``), the first and the last among them, and
    there are c - 1 slopes. They are negative, as ``ln_delta`` falls, and less steep from corner to corner.
    """

    def ln_slope(a: int, b: int) -> float:
        """ln of by how much delta falls from point ``a`` to point ``b``, over e^eps_b - e^eps_a."""
        if ln_delta[a] == -math.inf or ln_delta[b] >= ln_delta[a]:
            return -math.inf
        gap = eps[b] - eps[a]
        ln_gap = math.log(math.expm1(gap)) if gap < _LARGEST_GAP else gap
        return ln_delta[a] + math.log(-math.expm1(ln_delta[b] - ln_delta[a])) - eps[a] - ln_gap

    corners: list[int] = [0]
    ln_slopes: list[float] = []
    for b in range(1, len(eps)):
        slope = ln_slope(corners[-1], b)
        while ln_slopes and ln_slopes[-1] <= slope:
            ln_slopes.pop()
            corners.pop()
            slope = ln_slope(corners[-1], b)
        corners.append(b)
        ln_slopes.append(slope)
    return np.array(corners), np.array(ln_slopes)


def ln_delta(eps: npt.ArrayLike, rounds: Sequence[tuple[LossGrid, int]], side: Side) -> Floats:
    """Natural log of a bound on delta of independent rounds at ``eps``, (e,).

    ``rounds`` has each `LossGrid` with the number of rounds that have it. All have the same spacing. The loss
    of all rounds is the sum of theirs, by a convolution, once for each run of eps that one tilt serves. The
    result moves to its ``side`` by the convolution's largest error: an upper or a lower bound.
    """
    eps = np.asarray(eps, dtype=float)
    ln_finite = np.full(eps.shape, -np.inf)
    all_have_mass = all(np.any(np.isfinite(grid.log_mass)) for grid, _ in rounds)
    largest_loss = sum(times * grid.losses[-1] for grid, times in rounds)
    reached = all_have_mass & (eps < largest_loss)

    coarse_grids = [_coarse_grid(grid, times) for grid, times in rounds]
    ascending = np.flatnonzero(reached)[np.argsort(eps[reached], kind="stable")]
    while ascending.size:
        served, values = _ln_finite_part(eps[ascending], rounds, coarse_grids, side)
        ln_finite[ascending[:served]] = values
        ascending = ascending[served:]

    total = np.logaddexp(ln_finite, _ln_any_infinite(rounds, side))
    return np.minimum(total + (_ROUNDING if side is Side.UPPER else -_ROUNDING), 0.0)


def _ln_finite_part(
    eps: Floats,
    rounds: Sequence[tuple[LossGrid, int]],
    coarse_grids: Sequence[_CoarseGrid],
    side: Side,
) -> tuple[int, Floats]:
    """How many of the ascending ``eps`` one tilt serves, and ln of delta's part of finite losses there.

    The first eps is always served. ``rounds`` and ``side`` are those of `ln_delta`, and ``coarse_grids`` the
    same rounds on few points, to choose the tilt theta. Masses under the tilt are those of the sum s of all
    losses times e^(theta s), divided by their sum, e^log_mgf: near eps they are large, so that rounding
    matters little. delta(e) is the sum over s > e of mass * e^(-theta s) (1 - e^(e - s)), times e^log_mgf.
    """
    spacing = rounds[0][0].spacing
    theta = _tilt(eps[0], coarse_grids, spacing)
    tilted = _tilt_rounds(rounds, theta)
    offset, composed, noise = convolve(tilted.parts)
    losses = (tilted.start + offset + np.arange(composed.size)) * spacing

    reach = _SERVED * math.sqrt(tilted.variance)
    limit = min(tilted.mean + reach, eps[0] + _FAR / 2 / (1 + theta))
    served = max(1, int(np.searchsorted(eps, limit, side="right")))

    # The 1 and the e^(e - s) of delta each have a sum over s > e. Losses and eps in the exponents are less a
    # served eps, ``centre``, so that nothing overflows.
    centre = eps[served // 2]
    shift = np.clip(losses - centre, -_FAR / (1 + theta), None)
    starts = np.searchsorted(losses, eps[:served], side="right")
    weights = np.exp(-theta * shift)
    sum_of_1 = _sum_from_the_top(composed * weights, starts)
    sum_of_exponential = _sum_from_the_top(composed * np.exp(-(1 + theta) * shift), starts)
    distance = eps[:served] - centre

    # What was cut off or wrapped weighs at most max over x > 0 of e^(-theta x) (1 - e^-x) < 1 / (1 + theta).
    # The difference of the two sums is as exact as they are. Losses are wrong by a few units in the last
    # place of the largest sum, and so is every 1 - e^(e - s).
    difference = _DIFFERENCE + 8 * _ULP * tilted.largest_loss
    missing_mass = 2 * tilted.number_of_rounds * _CUT + WRAPPED
    slack = missing_mass / (1 + theta) * np.exp(-theta * distance) + difference * sum_of_1

    # By Cauchy and Schwarz, noise times the norm of the weights. In units of the largest, as weights fall.
    unit = max(weights[min(starts[0], weights.size - 1)], _SMALLEST)
    squares = (np.minimum(weights, unit) / unit) ** 2
    slack += noise * unit * np.sqrt(_sum_from_the_top(squares, starts))

    value = (
        sum_of_1 - np.exp(distance) * sum_of_exponential + (slack if side is Side.UPPER else -slack)
    )
    with np.errstate(divide="ignore"):
        return served, np.log(np.maximum(value, 0.0)) + tilted.log_mgf - theta * centre


def _tilt_rounds(rounds: Sequence[tuple[LossGrid, int]], theta: float) -> _TiltedSum:
    """The `_TiltedSum` of ``rounds``: each distribution with weights e^(theta loss), cut at both ends.

    Either end loses `_CUT` of the mass. The moments are those of all rounds before the cut.
    """
    parts: list[tuple[Floats, int]] = []
    start = count = 0
    log_mgf = mean = variance = largest_loss = 0.0
    for grid, times in rounds:
        losses = grid.losses
        logs = grid.log_mass + theta * losses
        log_sum = float(scipy.special.logsumexp(logs))
        probabilities = np.exp(logs - log_sum)
        first = int(np.searchsorted(np.cumsum(probabilities), _CUT))
        last = probabilities.size - int(np.searchsorted(np.cumsum(probabilities[::-1]), _CUT))
        parts.append((probabilities[first:last], times))
        start += times * (grid.first + first)
        count += times

        average = float(probabilities @ losses)
        log_mgf += times * log_sum
        mean += times * average
        variance += times * float(probabilities @ (losses - average) ** 2)
        largest_loss += times * float(np.abs(losses[[0, -1]]).max())
    return _TiltedSum(parts, start, count, log_mgf, mean, variance, largest_loss)


def convolve(parts: Sequence[tuple[Floats, int]]) -> tuple[int, Floats, float]:
    """The distribution of a sum of indices: its first index, its masses from there on, and their noise.

    ``parts`` are the masses of distributions on 0, 1, ..., and how many summands have each. Outside of the
    result lies a mass of at most `WRAPPED`. The noise bounds the Euclidean norm of the errors (see the
    module).
    """
    low, high = _range_of_sum(parts)
    size = high - low + 1
    largest = max(probabilities.size for probabilities, _ in parts)
    length = scipy.fft.next_fast_len(max(size, largest), real=True)
    product = np.ones(length // 2 + 1)
    for probabilities, times in parts:
        product = product * scipy.fft.rfft(probabilities, length) ** times
    composed = scipy.fft.irfft(product, length)

    count = sum(times for _, times in parts)
    carried = sum(times * float(np.linalg.norm(probabilities)) for probabilities, times in parts)
    noise = 3.5 * math.log2(length) * (carried + (1 + count) * float(np.linalg.norm(composed)))
    return low, np.roll(composed, -low)[:size], _ULP * noise


def _range_of_sum(parts: Sequence[tuple[Floats, int]]) -> tuple[int, int]:
    """The first and the last index of a sum of indices, but for a mass of at most `WRAPPED`.

    ``parts`` are those of `convolve`. The ends are Chernoff's bounds for half of this mass each. They are
    taken for bins of neighbouring indices, all of which count as the index that weighs most.
    """
    low = 0
    high = sum((probabilities.size - 1) * times for probabilities, times in parts)
    largest = max(probabilities.size for probabilities, _ in parts)
    binned = []
    for probabilities, times in parts:
        step = max(1, probabilities.size // BINS)
        firsts = np.arange(0, probabilities.size, step)
        sums = np.add.reduceat(probabilities, firsts)
        with_mass = np.flatnonzero(sums)
        binned.append((sums[with_mass], firsts[with_mass], step, times))

    orders = np.concatenate([-_ORDERS, _ORDERS]) / largest
    is_above = orders > 0
    ln_mgf = np.zeros(orders.size)
    for masses, firsts, step, times in binned:
        heaviest = firsts + (step - 1) * is_above[:, None]
        ln_mgf += times * np.log(np.exp(orders[:, None] * heaviest) @ masses)

    # The sum is beyond (ln_mgf + x) / order with a probability of at most e^-x; for a negative order, below.
    bounds = (ln_mgf + math.log(2 / WRAPPED)) / orders
    low = max(low, math.floor(bounds[~is_above].max()))
    high = min(high, math.ceil(bounds[is_above].min()))
    return low, high


def _sum_from_the_top(terms: Floats, starts: Integers) -> Floats:
    """Sums of the terms from each index in ``starts`` to the end; the size of the terms is an index too."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)[starts]


def _coarse_grid(grid: LossGrid, times: int) -> _CoarseGrid:
    """The grid with neighbouring points put together at the first one's loss; ``times`` rounds have it."""
    starts = np.arange(0, grid.log_mass.size, max(1, grid.log_mass.size // _COARSE_POINTS))
    losses = grid.losses[starts]
    losses[-1] = grid.losses[-1]  # the sum is to reach every eps below the largest loss
    return _CoarseGrid(losses, np.logaddexp.reduceat(grid.log_mass, starts), times)


def _tilt(target: float, coarse_grids: Sequence[_CoarseGrid], spacing: float) -> float:
    """About the theta >= 0 at which the sum of losses tilted by e^(theta loss) has the mean ``target``.

    ``target`` is an eps, and ``spacing`` the step of the grids before they were made coarse. Theta is 0 where
    the mean without a tilt is above the target. Every theta gives the same delta. One that fits has the
    smallest rounding error, so that a rough root, on grids of few points, is enough.
    """

    def surplus(theta: float) -> float:
        """By how much the mean under the tilt is above the target."""
        mean = 0.0
        for losses, log_mass, times in coarse_grids:
            logs = log_mass + theta * losses
            probabilities = np.exp(logs - logs.max())
            mean += times * float(probabilities @ losses / probabilities.sum())
        return mean - target

    if surplus(0.0) >= 0:
        return 0.0
    high = 1.0
    while surplus(high) < 0 and high * spacing < _LARGEST_TILT:
        high *= 2
    if surplus(high) <= 0:
        return high
    return scipy.optimize.brentq(surplus, 0.0, high, rtol=1e-2)


def _ln_any_infinite(rounds: Sequence[tuple[LossGrid, int]], side: Side) -> float:
    """ln of a bound on the probability that any round has an infinite loss, 1 - product of (1 - p)^times.

    ``rounds`` and ``side`` are those of `ln_delta`; p is a grid's probability of an infinite loss.
    """
    with_infinite = [
        (grid.log_infinite, times) for grid, times in rounds if grid.log_infinite > -math.inf
    ]
    if not with_infinite:
        return -math.inf
    if max(ln_p for ln_p, _ in with_infinite) >= 0:
        return 0.0

    # Of rare events the sum of the probabilities is that of their union, to the last digit.
    ln_union = float(
        scipy.special.logsumexp([ln_p + math.log(times) for ln_p, times in with_infinite])
    )
    if ln_union >= _RARE:
        ln_none = sum(times * math.log1p(-math.exp(ln_p)) for ln_p, times in with_infinite)
        ln_union = math.log(-math.expm1(ln_none))

    # Masses that were rounded up may sum to more than 1. All rounds together then have the product of
    # these sums.
    if side is Side.UPPER:
        for grid, times in rounds:
            ln_sum = np.logaddexp(scipy.special.logsumexp(grid.log_mass), grid.log_infinite)
            ln_union += times * max(0.0, ln_sum)
    return ln_union
