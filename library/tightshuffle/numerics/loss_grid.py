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
import scipy

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.numerics.side import Side

_CUT_MASS = 1e-20  # cut off each end of a round's tilted distribution before it is convolved
WRAPPED = 1e-18  # mass of the convolution that may wrap around
BINS = 2**14  # of a distribution, for the bounds on where it wraps around
# Orders t of Chernoff's bounds E[e^(t S)] on a sum S, times the number of points. The best order falls with
# the root of the rounds.
_CHERNOFF_ORDERS = np.concatenate([2.0 ** np.arange(-8, 0), np.arange(1.0, 21.0)])
_SUM_ERROR = 1e-14  # relative error of a sum of many terms
_ULP = 2.0**-52  # a unit in the last place of 1
_SMALLEST_UNIT = 1e-300  # the least weight that others are divided by
_LARGEST_GAP = 600.0  # between two eps: beyond it e^gap - 1 is e^gap
_COARSE_POINTS = 2000  # of a distribution, to find a tilt
_LARGEST_TILT = 1000.0  # times the spacing, about: weights grow by e^1000 at most from loss to loss
# ln of a probability below which a sum of probabilities equals that of their union as a float.
_LN_RARE = -600.0
_MASS_ERROR = 1e-11  # relative rounding error of the masses of `dominating_grid`, and more far down
_DELTA_ERROR = 1e-9  # relative floating-point error of delta that upper and lower bounds allow for


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
    """The tilted distributions of all rounds, and what is known of the sum L of their losses."""

    parts: list[tuple[Floats, int]]  # masses of a distribution without its ends, and its rounds
    first_index: int  # of the sum: the sum of the first indices of all rounds
    number_of_rounds: int
    log_mgf: float  # natural log of E[e^(theta L)], without the tilt
    largest_loss: float  # the largest absolute value of L, before the ends are cut


def dominating_grid(
    index: Integers, spacing: float, ln_delta: Floats, reverse: Floats | None = None
) -> LossGrid:
    """The loss distribution of a pair (P, Q) that dominates all mechanisms with at most these deltas.

    The loss is ln(P / Q) of an outcome of P. delta of P against Q, and that of Q against P, are bounded at a
    few eps. The largest convex function of e^eps below all these points is the delta of a pair: the jumps of
    its slope are the probabilities of the losses (docs/theory.md, "Rounds"). What remains of delta at the
    last point is the probability of an infinite loss. Masses are rounded up.

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

    # delta at eps = 0 is the total variation distance of P and Q, the same in both directions. By convexity
    # across e^eps = 1, where the directions meet, it is at most (e^eps - 1 + delta + delta') / (e^eps + 1)
    # for delta and delta' of the two directions at any one eps. The least of these bounds is taken. Here
    # tanh(eps / 2) is (e^eps - 1) / (e^eps + 1).
    ln_divisor = np.logaddexp(0.0, eps)
    both_deltas = np.exp(forward - ln_divisor) + np.exp(backward - ln_divisor)
    distance_bounds = np.tanh(eps / 2) + both_deltas
    with np.errstate(divide="ignore"):
        forward[0] = np.log(distance_bounds.min())
    backward[0] = forward[0]
    log_infinite = float(forward[-1])

    # A loss of P against Q is a loss of Q against P with the other sign. So the delta of P against Q gives
    # the masses of the positive losses, and that of Q against P those of the negative ones. A jump is ln of a
    # mass under Q, which times e^loss is that under P. In the other direction P and Q change roles.
    positive, ln_jumps = _slope_jumps(index, eps, forward)
    negative, backward_ln_jumps = _slope_jumps(index, eps, backward)
    losses = np.concatenate([-negative[::-1], [0], positive])  # in units of the spacing
    logs = np.concatenate([backward_ln_jumps[::-1], [-np.inf], ln_jumps + positive * spacing])
    finite = logs[np.isfinite(logs)]
    rounding = _MASS_ERROR + 16 * _ULP * float(np.abs(finite).max(initial=0.0))

    # The grid's points are -index[-1], ..., index[-1], so the loss 0 is at the place index[-1].
    log_mass = np.full(2 * index[-1] + 1, -np.inf)
    log_mass[index[-1] + losses] = logs + rounding

    # The loss 0 has what the other losses leave to 1.
    remainder = 1 - float(np.exp(finite).sum()) - math.exp(log_infinite)
    log_mass[index[-1]] = math.log(max(remainder, 0.0) + rounding)
    return LossGrid(-int(index[-1]), spacing, log_mass, log_infinite + rounding)


def _slope_jumps(index: Integers, eps: Floats, ln_delta: Floats) -> tuple[Integers, Floats]:
    """Where the slope of delta, a function of e^eps, jumps, and ln of each jump; (jumps,) each.

    A jump is the probability of a loss under Q. The loss is returned in units of the spacing, as a number of
    ``index``. delta is the largest convex function of e^eps below the points ``eps``, ``ln_delta`` (p,). Its
    first corner, eps = 0, is left out. After the last corner the slope is 0.
    """
    corners, ln_slopes = _lower_hull(eps.tolist(), ln_delta.tolist())
    next_ln_slopes = np.append(ln_slopes[1:], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        ln_jumps = ln_slopes + np.log(-np.expm1(next_ln_slopes - ln_slopes))
    return index[corners[1:]], np.where(ln_slopes > -np.inf, ln_jumps, -np.inf)


def grid_from_masses(masses: Mapping[int, float], spacing: float) -> LossGrid:
    """The `LossGrid` with the losses index * spacing, where ``masses`` has the probability of each index."""
    index = np.array(sorted(masses))
    probabilities = np.array([masses[i] for i in index.tolist()])
    log_mass = np.full(index[-1] - index[0] + 1, -np.inf)
    with np.errstate(divide="ignore"):
        log_mass[index - index[0]] = np.log(probabilities)
    return LossGrid(int(index[0]), spacing, log_mass, -np.inf)


def _lower_hull(eps: list[float], ln_delta: list[float]) -> tuple[Integers, Floats]:
    """Corners of the largest convex function of e^eps below the points, and ln |slope| between neighbours.

    The c corners are indices of the points (``eps``, ``ln_delta``), the first and the last among them. There
    are c - 1 slopes, of delta as a function of e^eps. They are negative, as delta falls, and less steep from
    corner to corner.
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
        # A corner that lies above the line from the corner before it to b is none.
        slope = ln_slope(corners[-1], b)
        while ln_slopes and ln_slopes[-1] <= slope:
            ln_slopes.pop()
            corners.pop()
            slope = ln_slope(corners[-1], b)
        corners.append(b)
        ln_slopes.append(slope)
    return np.array(corners), np.array(ln_slopes)


class ComposedLosses:
    """Bounds on delta of independent rounds together: delta(eps) = E[(1 - e^(eps - L))_+].

    L is the sum of the rounds' losses. What is the same at every eps is computed once.

    Parameters
    ----------
    rounds : sequence of (LossGrid, int)
        The loss distribution of a round, and the number of rounds that have it. All grids have the same
        spacing.
    side : Side
        Which bound it is: delta moves to this side by the largest error of the convolution and of rounding.
    """

    def __init__(self, rounds: Sequence[tuple[LossGrid, int]], side: Side) -> None:
        self._rounds = rounds
        self._side = side
        self._spacing = rounds[0][0].spacing
        # The same rounds on few points, to choose a tilt.
        self._coarse_grids = [_coarse_grid(grid, times) for grid, times in rounds]
        self._ln_any_infinite = _ln_any_infinite(rounds, side)
        all_have_mass = all(np.any(np.isfinite(grid.log_mass)) for grid, _ in rounds)
        largest_loss = sum(times * grid.losses[-1] for grid, times in rounds)
        # The eps from which on no finite loss counts.
        self._end_of_finite = largest_loss if all_have_mass else -math.inf

    def ln_delta(self, eps: Floats) -> Floats:
        """Natural log of the bound on delta at ``eps``; (e,).

        Every eps has a convolution and a tilt of its own: so delta does not depend on the other eps.
        """
        ln_finite = np.full(eps.shape, -np.inf)
        for index in np.flatnonzero(eps < self._end_of_finite).tolist():
            ln_finite[index] = self._ln_finite_part(eps[index].item())

        total = np.logaddexp(ln_finite, self._ln_any_infinite)
        slack = _DELTA_ERROR if self._side is Side.UPPER else -_DELTA_ERROR
        return np.minimum(total + slack, 0.0)

    def _ln_finite_part(self, eps: float) -> float:
        """ln of delta's part of finite losses at ``eps``.

        With P(s) the probability that the losses of all rounds sum to s, this part of delta is the sum over
        s > eps of P(s) (1 - e^(eps - s)). Under the tilt theta, s has the mass m(s) = P(s) e^(theta s) / M,
        where M = e^log_mgf makes their sum 1. These masses are large near eps, so that their rounding matters
        little. In terms of them, this part of delta is M times the sum over s > eps of
        m(s) e^(-theta s) (1 - e^(eps - s)).
        """
        theta = _tilt_with_mean(eps, self._coarse_grids, self._spacing)
        tilted = _tilted_sum(self._rounds, theta)
        # The masses m(s), from the loss s = (first_index + offset) * spacing on.
        offset, masses, noise = convolve(tilted.parts)
        losses = (tilted.first_index + offset + np.arange(masses.size)) * self._spacing
        # Only losses above eps count.
        start = int(np.searchsorted(losses, eps, side="right"))
        masses = masses[start:]
        losses_above = losses[start:] - eps

        # The 1 and the e^(eps - s) of delta each have a sum over s > eps. All exponents have s - eps instead
        # of s, so that nothing overflows.
        weights = np.exp(-theta * losses_above)
        sum_of_1 = _sum_from_the_end(masses * weights)
        sum_of_exponential = _sum_from_the_end(masses * np.exp(-(1 + theta) * losses_above))

        # The slack bounds three errors. First: mass that was cut off or wrapped around has, with x = s - eps
        # > 0, at most the weight max of e^(-theta x) (1 - e^-x) < 1 / (1 + theta). Second: the two sums are
        # wrong by a part of themselves, and losses by a few units in the last place of the largest sum of
        # losses, and so is every 1 - e^(eps - s).
        relative_error = _SUM_ERROR + 8 * _ULP * tilted.largest_loss
        missing_mass = 2 * tilted.number_of_rounds * _CUT_MASS + WRAPPED
        slack = missing_mass / (1 + theta) + relative_error * sum_of_1

        # Third: the masses' errors have at most the norm ``noise``. By Cauchy and Schwarz they add at most
        # this times the norm of the weights. It is computed in units of the largest weight, the first.
        if weights.size:
            unit = max(weights[0], _SMALLEST_UNIT)
            slack += noise * unit * math.sqrt(_sum_from_the_end((weights / unit) ** 2))

        value = sum_of_1 - sum_of_exponential + (slack if self._side is Side.UPPER else -slack)
        if value <= 0:
            return -math.inf
        return float(np.log(value) + tilted.log_mgf - theta * eps)


def _tilted_sum(rounds: Sequence[tuple[LossGrid, int]], theta: float) -> _TiltedSum:
    """The `_TiltedSum` of the losses of all ``rounds`` under the tilt e^(theta loss).

    Each distribution is tilted by these weights, scaled to sum to 1, and cut at both ends, which lose a mass
    of 1e-20 or less each.
    """
    parts: list[tuple[Floats, int]] = []
    first_index = number_of_rounds = 0
    log_mgf = largest_loss = 0.0
    for grid, times in rounds:
        losses = grid.losses
        logs = grid.log_mass + theta * losses
        log_sum = float(scipy.special.logsumexp(logs))
        probabilities = np.exp(logs - log_sum)
        first = int(np.searchsorted(np.cumsum(probabilities), _CUT_MASS))
        last = probabilities.size - int(np.searchsorted(np.cumsum(probabilities[::-1]), _CUT_MASS))
        parts.append((probabilities[first:last], times))
        first_index += times * (grid.first + first)
        number_of_rounds += times

        log_mgf += times * log_sum
        largest_loss += times * float(np.abs(losses[[0, -1]]).max())
    return _TiltedSum(parts, first_index, number_of_rounds, log_mgf, largest_loss)


def convolve(parts: Sequence[tuple[Floats, int]]) -> tuple[int, Floats, float]:
    """The distribution of a sum of independent indices: its first index, its masses from there on, and noise.

    ``parts`` has the masses of distributions on 0, 1, ..., and how many summands have each. Outside of the
    returned masses lies a mass of at most 1e-18 (`WRAPPED`). The noise is a bound on the Euclidean norm of
    the errors of all masses.
    """
    low, high = _range_of_sum(parts)
    size = high - low + 1
    largest = max(probabilities.size for probabilities, _ in parts)
    length = scipy.fft.next_fast_len(max(size, largest), real=True)
    product = np.ones(length // 2 + 1)
    for probabilities, times in parts:
        product = product * scipy.fft.rfft(probabilities, length) ** times
    composed = scipy.fft.irfft(product, length)

    # A transform of length N is wrong by at most 3.5 log2(N) ulp of its norm. The t-th power of one carries t
    # times its error. The product and the transform back are wrong in proportion to the result's norm.
    count = sum(times for _, times in parts)
    carried = sum(times * float(np.linalg.norm(probabilities)) for probabilities, times in parts)
    noise = 3.5 * math.log2(length) * (carried + (1 + count) * float(np.linalg.norm(composed)))
    # The transform is periodic: the mass of an index i is at the place i modulo its length.
    return low, np.roll(composed, -low)[:size], _ULP * noise


def _range_of_sum(parts: Sequence[tuple[Floats, int]]) -> tuple[int, int]:
    """The first and the last index of a sum of independent indices, but for a mass of 1e-18 (`WRAPPED`).

    ``parts`` are those of `convolve`. Either end is Chernoff's bound for half of this mass: the sum S is
    beyond x with the probability E[e^(order S)] e^(-order x) or less, for any order. To save time, E is
    bounded for bins of neighbouring indices, all of which count as that index of the bin that weighs most.
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

    # Positive orders bound the last index, and negative ones the first. ``heaviest`` is (orders, bins): the
    # last index of a bin weighs most for a positive order, and the first for a negative one.
    orders = np.concatenate([-_CHERNOFF_ORDERS, _CHERNOFF_ORDERS]) / largest
    is_above = orders > 0
    ln_mgf = np.zeros(orders.size)
    for masses, firsts, step, times in binned:
        heaviest = firsts + (step - 1) * is_above[:, None]
        ln_mgf += times * np.log(np.exp(orders[:, None] * heaviest) @ masses)

    # The sum is above (ln_mgf + y) / order, or below it for a negative order, with a probability of at most
    # e^-y, which is to be half of `WRAPPED`.
    bounds = (ln_mgf + math.log(2 / WRAPPED)) / orders
    low = max(low, math.floor(bounds[~is_above].max()))
    high = min(high, math.ceil(bounds[is_above].min()))
    return low, high


def _sum_from_the_end(terms: Floats) -> float:
    """The sum of the ``terms``, from the last one on, which is about the smallest; 0 for none."""
    return float(np.cumsum(terms[::-1])[-1]) if terms.size else 0.0


def _coarse_grid(grid: LossGrid, times: int) -> _CoarseGrid:
    """The grid on about 2000 points, for ``times`` rounds: neighbours are joined at the first one's loss."""
    starts = np.arange(0, grid.log_mass.size, max(1, grid.log_mass.size // _COARSE_POINTS))
    losses = grid.losses[starts]
    losses[-1] = grid.losses[-1]  # the sum is to reach every eps below the largest loss
    return _CoarseGrid(losses, np.logaddexp.reduceat(grid.log_mass, starts), times)


def _tilt_with_mean(target: float, coarse_grids: Sequence[_CoarseGrid], spacing: float) -> float:
    """About the tilt theta >= 0 under which the sum of the losses of all rounds has the mean ``target``.

    Under the tilt, probabilities are multiplied by e^(theta loss) and scaled to sum to 1. ``target`` is an
    eps, and ``spacing`` the step of the grids before they were made coarse. theta is 0 where the mean without
    a tilt is above the target.

    Every theta gives the same delta, and this one about the smallest rounding error. So a root that is wrong
    by 0.01 %, on grids of few points, is good enough.
    """

    def missing(theta: float) -> float:
        """By how much the mean of the sum under the tilt is below the target."""
        mean = 0.0
        for losses, log_mass, times in coarse_grids:
            logs = log_mass + theta * losses
            probabilities = np.exp(logs - logs.max())
            mean += times * float(probabilities @ losses / probabilities.sum())
        return target - mean

    largest = max(_LARGEST_TILT / spacing, 1.0)
    interval = interval_with_root(missing, 1.0, step=1.0, least=0.0, most=largest)
    if interval is None:
        return largest
    return least_enough(missing, *interval, tolerance=1e-11, relative=1e-4)


def _ln_any_infinite(rounds: Sequence[tuple[LossGrid, int]], side: Side) -> float:
    """Natural log of a bound on the probability that at least one round has an infinite loss.

    This probability is 1 less the product of all (1 - p)^times, where p is a grid's probability of an
    infinite loss and ``times`` the number of rounds that have it. ``rounds`` and ``side`` are those of
    `ComposedLosses`.
    """
    with_infinite = [
        (grid.log_infinite, times) for grid, times in rounds if grid.log_infinite > -math.inf
    ]
    if not with_infinite:
        return -math.inf
    if max(ln_p for ln_p, _ in with_infinite) >= 0:
        return 0.0

    # For rare events, the sum of the probabilities is the probability of their union, to the last digit.
    ln_union = float(
        scipy.special.logsumexp([ln_p + math.log(times) for ln_p, times in with_infinite])
    )
    if ln_union >= _LN_RARE:
        ln_none = sum(times * math.log1p(-math.exp(ln_p)) for ln_p, times in with_infinite)
        ln_union = math.log(-math.expm1(ln_none))

    # Masses that were rounded up may sum to more than 1 for one round. The probability that is computed for
    # all rounds is then too small, at most by the factor of the product of these sums.
    if side is Side.UPPER:
        for grid, times in rounds:
            ln_sum = np.logaddexp(scipy.special.logsumexp(grid.log_mass), grid.log_infinite)
            ln_union += times * max(0.0, ln_sum)
    return ln_union
