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

_CUT = 1e-20  # mass cut off each end of the tilted distribution before it is convolved
_WRAPPED = 1e-18  # mass of the convolution that may wrap around
_BINS = 2**14  # of a distribution, for the bounds on where it wraps around
# Chernoff orders of those bounds, over the number of points: the best one falls with the root of the rounds.
_ORDERS = np.concatenate([2.0 ** np.arange(-8, 0), np.arange(1.0, 21.0)])
_SERVED = 3.0  # standard deviations of the composed loss that one tilt serves
_DIFFERENCE = 1e-14  # relative error of sums of many terms
_ULP = 2.0**-52
_SMALLEST = 1e-300  # of a weight that others are divided by
_FAR = 600.0  # exponents beyond are not needed: so far below the served eps no loss counts
_MASSES = 1e-11  # relative rounding error of the masses of `connected`, and more far down
_ROUNDING = 1e-9  # relative floating-point error that both estimates allow for


class LossGrid(NamedTuple):
    """A loss distribution on the points (first + i) * spacing: natural logs of masses, and at infinity."""

    first: int
    spacing: float
    log_mass: Floats
    log_infinite: float

    @property
    def losses(self) -> Floats:
        """The losses on the grid, shape (points,)."""
        return (self.first + np.arange(self.log_mass.size)) * self.spacing


def connected(index: Integers, spacing: float, ln_delta: Floats, reverse: Floats | None = None) -> LossGrid:
    """The `LossGrid` of a pair that dominates whatever has at most this delta, in both directions.

    The largest convex function of e^eps below all points is the delta of a pair (docs/theory.md, "Rounds").
    ``index`` (p,): ascending whole numbers from 0; ``ln_delta`` (p,): natural log of an upper bound at eps =
    index * spacing; ``reverse`` (p,): that of Q against P, where it is another one. What is left at the last
    point is an infinite loss. Slopes are kept as logarithms; masses are rounded up.
    """
    eps = index * spacing
    sides = [ln_delta] if reverse is None else [ln_delta, reverse]
    sides = [np.minimum.accumulate(np.minimum(side, 0.0)) for side in sides]
    # (eps, delta) and (eps, delta') for the two directions give a total variation distance of at most
    # (e^eps - 1 + delta + delta') / (e^eps + 1): convexity across e^eps = 1, where the directions meet.
    both = np.exp(sides[0] - np.logaddexp(0.0, eps)) + np.exp(sides[-1] - np.logaddexp(0.0, eps))
    distance = np.tanh(eps / 2) + both
    places, jumps = [], []
    for side in sides:
        with np.errstate(divide="ignore"):
            side[0] = np.log(distance.min())
        corners, log_slopes = _lower_hull(eps.tolist(), side.tolist())
        after = np.append(log_slopes[1:], -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            under_q = log_slopes + np.log(-np.expm1(after - log_slopes))
        jumps.append(np.where(log_slopes > -np.inf, under_q, -np.inf))
        places.append(index[corners[1:]])
    # Losses of Q against P are those of P against Q with the other sign: what Q is to the one, P is to the
    # other.
    logs = np.concatenate([jumps[-1][::-1], [-np.inf], jumps[0] + places[0] * spacing])
    log_infinite = float(sides[0][-1])
    finite = logs[np.isfinite(logs)]
    rounding = _MASSES + 16 * _ULP * float(np.abs(finite).max(initial=0.0))
    log_mass = np.full(2 * index[-1] + 1, -np.inf)
    log_mass[index[-1] + np.concatenate([-places[-1][::-1], [0], places[0]])] = logs + rounding
    # The loss 0 has what is left of the probabilities.
    left = 1 - float(np.exp(finite).sum()) - math.exp(log_infinite)
    log_mass[index[-1]] = math.log(max(left, 0.0) + rounding)
    return LossGrid(-int(index[-1]), spacing, log_mass, log_infinite + rounding)


def of_masses(masses: Mapping[int, float], spacing: float) -> LossGrid:
    """The `LossGrid` with these probabilities under P of the losses index * spacing."""
    index = np.array(sorted(masses))
    log_mass = np.full(index[-1] - index[0] + 1, -np.inf)
    probabilities = np.array([masses[i] for i in index.tolist()])
    with np.errstate(divide="ignore"):
        log_mass[index - index[0]] = np.log(probabilities)
    return LossGrid(int(index[0]), spacing, log_mass, -np.inf)


def _lower_hull(eps: list[float], ln_delta: list[float]) -> tuple[Integers, Floats]:
    """Corners (c,) of the largest convex function of e^eps below the points, and ln |slope| between them.

    ``ln_delta`` falls, so slopes are negative; from corner to corner they are less steep.
    """

    def log_slope(a: int, b: int) -> float:
        fall = ln_delta[b] - ln_delta[a] if ln_delta[a] > -math.inf else 0.0
        if fall >= 0.0:
            return -math.inf
        gap = eps[b] - eps[a]
        log_gap = math.log(math.expm1(gap)) if gap < 600 else gap
        return ln_delta[a] + math.log(-math.expm1(fall)) - eps[a] - log_gap

    corners: list[int] = [0]
    slopes: list[float] = []
    for b in range(1, len(eps)):
        slope = log_slope(corners[-1], b)
        while slopes and slopes[-1] <= slope:
            slopes.pop()
            corners.pop()
            slope = log_slope(corners[-1], b)
        corners.append(b)
        slopes.append(slope)
    return np.array(corners), np.array(slopes)


def ln_delta(eps: npt.ArrayLike, rounds: Sequence[tuple[LossGrid, int]], round_up: bool) -> Floats:
    """Natural log of delta of independent rounds at ``eps`` (e,).

    ``rounds``: each `LossGrid` with the number of rounds that have it; all have the same spacing.
    ``round_up`` moves the result up by the convolution's largest error, else it moves down.
    """
    eps = np.asarray(eps, dtype=float)
    finite = np.full(eps.shape, -np.inf)
    held = all(np.any(np.isfinite(grid.log_mass)) for grid, _ in rounds)
    reached = held & (eps < sum(times * grid.losses[-1] for grid, times in rounds))
    coarse = [(*_coarse(grid), times) for grid, times in rounds]
    waiting = np.flatnonzero(reached)[np.argsort(eps[reached], kind="stable")]
    while waiting.size:
        served, values = _one_tilt(eps[waiting], rounds, coarse, round_up)
        finite[waiting[:served]] = values
        waiting = waiting[served:]
    total = np.logaddexp(finite, _log_any_infinite(rounds, round_up))
    return np.minimum(total + (_ROUNDING if round_up else -_ROUNDING), 0.0)


def _one_tilt(
    eps: Floats,
    rounds: Sequence[tuple[LossGrid, int]],
    coarse: Sequence[tuple[Floats, Floats, int]],
    round_up: bool,
) -> tuple[int, Floats]:
    """How many of the ascending ``eps`` one tilt serves, and the natural log of delta's finite part."""
    spacing = rounds[0][0].spacing
    theta = _tilt(eps[0], coarse, spacing)
    parts: list[tuple[Floats, int]] = []
    log_mgf = mean = variance = 0.0
    start, count, largest = 0, 0, 0.0
    for grid, times in rounds:
        losses = grid.losses
        logs = grid.log_mass + theta * losses
        log_sum = float(scipy.special.logsumexp(logs))
        probabilities = np.exp(logs - log_sum)
        average = float(probabilities @ losses)
        log_mgf += times * log_sum
        mean += times * average
        variance += times * float(probabilities @ (losses - average) ** 2)
        first = int(np.searchsorted(np.cumsum(probabilities), _CUT))
        last = probabilities.size - int(np.searchsorted(np.cumsum(probabilities[::-1]), _CUT))
        parts.append((probabilities[first:last], times))
        start += times * (grid.first + first)
        count += times
        largest += times * float(np.abs(losses[[0, -1]]).max())
    offset, composed, noise = _convolve(parts)
    point = (start + offset + np.arange(composed.size)) * spacing

    limit = min(mean + _SERVED * math.sqrt(variance), eps[0] + _FAR / 2 / (1 + theta))
    served = max(1, int(np.searchsorted(eps, limit, side="right")))
    # sum over losses s > e of (1 - e^(e - s)) e^(-theta s): two sums from the top, around the served eps.
    centre = eps[served // 2]
    shift = np.clip(point - centre, -_FAR / (1 + theta), None)
    starts = np.searchsorted(point, eps[:served], side="right")
    weights = np.exp(-theta * shift)
    of_one = _from_the_top(composed * weights, starts)
    of_loss = _from_the_top(composed * np.exp(-(1 + theta) * shift), starts)
    away = eps[:served] - centre
    # What was cut off or wrapped weighs at most max over x > 0 of e^(-theta x) (1 - e^-x) < 1 / (1 + theta);
    # the difference of the two sums is as exact as they are.
    # Losses are wrong by a few units in the last place of the largest sum, and so is every 1 - e^(e - s).
    difference = _DIFFERENCE + 8 * _ULP * largest
    slack = (2 * count * _CUT + _WRAPPED) / (1 + theta) * np.exp(-theta * away) + difference * of_one
    # By Cauchy and Schwarz, noise times the norm of the weights; in units of the largest, which fall.
    unit = max(weights[min(starts[0], weights.size - 1)], _SMALLEST)
    slack += noise * unit * np.sqrt(_from_the_top((np.minimum(weights, unit) / unit) ** 2, starts))
    value = of_one - np.exp(away) * of_loss + (slack if round_up else -slack)
    with np.errstate(divide="ignore"):
        return served, np.log(np.maximum(value, 0.0)) + log_mgf - theta * centre


def _convolve(parts: Sequence[tuple[Floats, int]]) -> tuple[int, Floats, float]:
    """The distribution of a sum of indices, so many drawn by each distribution: first index, masses, noise.

    Outside of them lies at most _WRAPPED; the noise bounds the Euclidean norm of the errors (see the module).
    """
    low, high = 0, sum((probabilities.size - 1) * times for probabilities, times in parts)
    largest = max(probabilities.size for probabilities, _ in parts)
    binned = []
    for probabilities, times in parts:
        step = max(1, probabilities.size // _BINS)  # neighbours count at the one where they weigh most
        bins = np.arange(0, probabilities.size, step)
        sums = np.add.reduceat(probabilities, bins)
        held = np.flatnonzero(sums)
        binned.append((sums[held], bins[held], step, times))
    orders = np.concatenate([-_ORDERS, _ORDERS]) / largest
    above = orders > 0
    log_mgf = np.zeros(orders.size)
    for mass, bins, step, times in binned:
        heaviest = bins + (step - 1) * above[:, None]
        log_mgf += times * np.log(np.exp(orders[:, None] * heaviest) @ mass)
    bounds = (log_mgf + math.log(2 / _WRAPPED)) / orders
    low = max(low, math.floor(bounds[~above].max()))
    high = min(high, math.ceil(bounds[above].min()))
    size = high - low + 1
    length = scipy.fft.next_fast_len(max(size, largest), real=True)
    product = np.ones(length // 2 + 1)
    for probabilities, times in parts:
        product = product * scipy.fft.rfft(probabilities, length) ** times
    composed = scipy.fft.irfft(product, length)
    count = sum(times for _, times in parts)
    carried = sum(times * float(np.linalg.norm(probabilities)) for probabilities, times in parts)
    noise = 3.5 * math.log2(length) * (carried + (1 + count) * float(np.linalg.norm(composed)))
    return low, np.roll(composed, -low)[:size], _ULP * noise


def _from_the_top(terms: Floats, starts: Integers) -> Floats:
    """Sums of the terms from each start to the end."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)[starts]


def _coarse(grid: LossGrid) -> tuple[Floats, Floats]:
    """Losses and natural logs of masses of the grid with neighbouring points put together: to find a tilt."""
    starts = np.arange(0, grid.log_mass.size, max(1, grid.log_mass.size // 2000))
    losses = grid.losses[starts]
    losses[-1] = grid.losses[-1]  # the sum is to reach every eps below the largest loss
    return losses, np.logaddexp.reduceat(grid.log_mass, starts)


def _tilt(target: float, coarse: Sequence[tuple[Floats, Floats, int]], spacing: float) -> float:
    """About the theta >= 0 at which the tilted sum of losses has the mean ``target``; 0 where it is above.

    Every theta gives the same delta; a theta that fits has the smallest rounding error.
    """

    def missing(theta: float) -> float:
        mean = 0.0
        for losses, log_mass, times in coarse:
            logs = log_mass + theta * losses
            probabilities = np.exp(logs - logs.max())
            mean += times * float(probabilities @ losses / probabilities.sum())
        return mean - target

    if missing(0.0) >= 0:
        return 0.0
    high = 1.0
    while missing(high) < 0 and high * spacing < 1e3:
        high *= 2
    return scipy.optimize.brentq(missing, 0.0, high, rtol=1e-2) if missing(high) > 0 else high


def _log_any_infinite(rounds: Sequence[tuple[LossGrid, int]], round_up: bool) -> float:
    """Natural log of the probability that a round has an infinite loss, 1 - product of (1 - own)^times."""
    logs = [(grid.log_infinite, times) for grid, times in rounds if grid.log_infinite > -math.inf]
    if not logs:
        return -math.inf
    if max(log for log, _ in logs) >= 0:
        return 0.0
    rare = float(scipy.special.logsumexp([log + math.log(times) for log, times in logs]))  # the sum bounds it
    if rare >= -600:
        rare = math.log(-math.expm1(sum(times * math.log1p(-math.exp(log)) for log, times in logs)))
    if round_up:  # masses that were rounded up have sums above 1, which multiply
        for grid, times in rounds:
            rare += times * max(0.0, np.logaddexp(scipy.special.logsumexp(grid.log_mass), grid.log_infinite))
    return rare
