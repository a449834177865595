"""delta of several rounds together, from a bound on delta of each round as a function of eps.

In each round the same users report with fresh randomness; values and rounds may differ. Independent draws of
pairs that dominate the rounds dominate all rounds together, also if later rounds depend on earlier results
(Zhu, Dong and Wang 2022). So a bound at a few hundred eps is enough: `loss_grid.connected` makes a pair,
`loss_grid.ln_delta` convolves the losses. Rounding goes to the safe side; eps is too large by about 0.05 %,
and by up to 0.3 % where few users hide each report. docs/theory.md, "Rounds", has the proofs.
"""

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_at_most, check_eps, check_one, check_rounds
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.bounds.optimistic import below, masses
from tightshuffle.gaussian import exact_scale
from tightshuffle.numerics import loss_grid
from tightshuffle.points import LARGEST_ROUNDS, Points

_LN10 = math.log(10)
_PER_SCALE = 12  # points per standard deviation of a round's loss
_FEWEST, _MOST = 128, 1000  # points of a curve
_LARGEST = 500.0  # losses beyond it count as infinite
_WIDEST = 2**17  # grid points of one round, if rounds differ
_GREATEST_SCALE = 20.0  # of the Gaussian to start from
_SLACK = 1e-12  # relative: what powers and sums of a thousand terms may lose
_MARGIN, _RELATIVE = 1e-10, 4e-15  # by which eps is rounded; the search is ten or four times as precise
_FLAT = 1e-4  # a curve that falls by so little, in ln delta, has reached its infinite loss


@dataclass(frozen=True)
class Curve:
    """A bound on delta of one round, for every dataset.

    ``log10_delta``: function from eps (e,) >= 0 to log10 of the bound (e,), -inf where delta is 0. ``eps0``:
    the largest finite loss, > 0, from which on the bound is the probability of an infinite loss; inf if there
    is none. ``reverse``: the bound for Q against P; without it, ``log10_delta`` holds in both directions.
    ``rough``: a larger bound, faster, to find out how far the points have to reach.
    """

    log10_delta: Callable[[Floats], Floats]
    eps0: float
    reverse: Callable[[Floats], Floats] | None = None
    rough: Callable[[Floats], Floats] | None = None


class Depth(NamedTuple):
    """delta computed down to a certain depth: a function eps (e,) -> ln delta, never on the wrong side.

    ``log_left_out``: natural log of what the depth leaves out. ``last``: a greater depth would not help.
    """

    ln_delta: Callable[[Floats], Floats]
    log_left_out: float
    last: bool


def margin(eps: float) -> float:
    """By how much `Composition.epsilon_of` rounds up, which is more than the search misses."""
    return max(_MARGIN, _RELATIVE * eps)


class Composition(ABC):
    """delta of several rounds as a function of eps; distributions are computed once and kept.

    ``largest``: the eps from which on delta is 0. ``far``: where a search for eps ends.
    """

    first_depth: ClassVar[float]  # what is left out at first is about e^-first_depth
    clear: ClassVar[float]  # delta is to be at least e^clear times what was left out

    def __init__(self, largest: float, far: float) -> None:
        self.largest, self.far = largest, far
        self._depths: dict[float, Depth] = {}

    @abstractmethod
    def _build(self, depth: float) -> Depth: ...

    def _at(self, depth: float) -> Depth:
        if depth not in self._depths:
            self._depths[depth] = self._build(depth)
        return self._depths[depth]

    def _deeper(self, depth: float) -> float:
        """The depth to try next. Most settings need at most the second depth, so later steps may be large."""
        return depth * (2 if depth <= self.first_depth else 4)

    def ln_delta(self, eps: Floats) -> Floats:
        """Natural log of delta at ``eps`` (e,)."""
        result = np.full(eps.shape, -np.inf)
        unsettled, depth = np.flatnonzero(eps < self.largest), self.first_depth
        while unsettled.size:
            at = self._at(depth)
            result[unsettled] = at.ln_delta(eps[unsettled])
            unsettled = unsettled[result[unsettled] < at.log_left_out + self.clear]
            if at.last:
                break
            depth = self._deeper(depth)
        return result

    def epsilon_of(self, ln_delta: float) -> float:
        """The smallest eps with at most this natural log of delta, rounded up by `margin`; nan if none is."""
        value = self._deep_enough_for(ln_delta)
        aim = math.sqrt(-ln_delta)

        @functools.cache
        def missing(eps: float) -> float:
            # The square root is almost affine in eps.
            return aim - math.sqrt(-min(max(float(value(np.array([eps]))[0]), 4 * ln_delta), 0.0))

        if missing(0.0) <= 0:
            return 0.0
        low, high = 0.0, min(1.0, self.largest)
        if missing(0.0) < aim:  # the Gaussian with the same delta at eps = 0 is a good guess
            mu = 1 / float(exact_scale(0.0, log10_delta=-((aim - missing(0.0)) ** 2) / _LN10))
            high = min(1.05 * gaussian_eps(ln_delta / _LN10, mu), self.largest)
        while missing(high) > 0:
            if high > self.far:
                return np.nan  # the infinite losses alone give more than this delta
            low, high = high, min(2 * high, self.largest)
        root = scipy.optimize.brentq(missing, low, high, xtol=1e-11, rtol=1e-15)
        return min(root + margin(root), high)

    def _deep_enough_for(self, ln_delta: float) -> Callable[[Floats], Floats]:
        """A function like the method `ln_delta`, but exact only where delta is at least that of ``ln_delta``.

        Its bounds hold everywhere. A search also meets far smaller deltas, whose depths would cost seconds.
        """
        depth = self.first_depth
        while True:
            at = self._at(depth)
            if ln_delta >= at.log_left_out + self.clear:
                return lambda eps: np.where(eps < self.largest, at.ln_delta(eps), -np.inf)
            if at.last:
                return self.ln_delta
            depth = self._deeper(depth)


class Rounds(Composition):
    """An upper bound on delta of all rounds together.

    Parameters: ``rounds``, pairs of a `Curve` and how many rounds have it, a whole number >= 1.
    Raises ValueError if the rounds are more than `LARGEST_ROUNDS`.
    """

    first_depth, clear = 50.0, 12.0

    def __init__(self, rounds: Sequence[tuple[Curve, int]]) -> None:
        times = [int(check_one("rounds", check_rounds(each))) for _, each in rounds]
        check_at_most("rounds", np.asarray(sum(times)), LARGEST_ROUNDS)
        self._parts = [(_Round(own), each) for (own, _), each in zip(rounds, times, strict=True)]
        super().__init__(
            sum_of_budgets((each, part.largest) for part, each in self._parts),
            sum(each * part.largest_finite for part, each in self._parts),
        )

    def log10_delta(self, eps: npt.ArrayLike) -> Floats:
        """log10 of a bound on delta at ``eps`` >= 0, a number or an array; -inf where delta is 0."""
        points = check_eps(eps)
        return self.ln_delta(points.ravel()).reshape(points.shape)[()] / _LN10

    def epsilon(self, log10_delta: float) -> float:
        """The smallest eps with delta at most 10^``log10_delta`` < 1, rounded up; nan if there is none."""
        return self.epsilon_of(log10_delta * _LN10)

    def _build(self, depth: float) -> Depth:
        ends = [part.end(-depth) for part, _ in self._parts]
        steps = [part.step(end) for (part, _), (end, _) in zip(self._parts, ends, strict=True)]
        # What a grid adds to the variance of a loss is in proportion to the square of its spacing.
        squares = sum(times * step**2 for (_, times), step in zip(self._parts, steps, strict=True))
        spacing = math.sqrt(squares / sum(times for _, times in self._parts))
        # The factor: the last point of equal rounds is to be at the largest loss, not just below it.
        spacing = max(spacing, max(end for end, _ in ends) / _WIDEST) * (1 + 2.0**-50)
        grids, left_out = [], [-math.inf]
        for (part, times), (end, last), step in zip(self._parts, ends, steps, strict=True):
            grid = part.grid(end, max(step, spacing), spacing)
            grids.append((grid, times))
            if not last:
                left_out.append(grid.log_infinite + math.log(times))
        return Depth(
            lambda eps: loss_grid.ln_delta(eps, grids, round_up=True),
            float(np.logaddexp.reduce(left_out)),
            len(left_out) == 1,
        )


class LowerRounds(Composition):
    """A lower bound on delta of all rounds together, for one dataset in each round.

    Parameters: ``rounds``, each a lower and an upper `Curve` of delta of that dataset, which is the same in
    both directions, and how many rounds have it. Useless for delta below about 1e-12: delta of a round below
    1e-14 counts as 0.
    """

    first_depth, clear = 32.0, 0.0

    def __init__(self, rounds: Sequence[tuple[Curve, Curve, int]]) -> None:
        self._parts = [(_Round(low), _Round(high), times) for low, high, times in rounds]
        super().__init__(
            sum_of_budgets((times, high.largest) for _, high, times in self._parts),
            sum(times * high.largest_finite for _, high, times in self._parts),
        )

    def epsilon(self, log10_delta: float) -> float:
        """An eps at which delta of all rounds is at least 10^``log10_delta``; 0 where none is known."""
        found = self.epsilon_of(log10_delta * _LN10)
        found -= 2 * margin(found)
        return max(found, 0.0) if math.isfinite(found) else 0.0

    def _build(self, depth: float) -> Depth:
        ends = [low.end(-depth)[0] for low, _, _ in self._parts]
        steps = [low.step(end) for (low, _, _), end in zip(self._parts, ends, strict=True)]
        spacing = max(min(steps), max(ends) / _WIDEST) * (1 + 2.0**-50)
        grids = []
        for (low, high, times), end, step in zip(self._parts, ends, steps, strict=True):
            index = _places(end, max(step, spacing), spacing)
            eps = index * spacing
            lowest, highest = (np.exp(part.ln_delta(eps)) for part in (low, high))
            lowest, highest = lowest * (1 - _SLACK), np.minimum(highest * (1 + _SLACK), 1.0)
            values = below(eps, lowest, highest, highest)
            grids.append((loss_grid.of_masses(masses(index, eps, values, values), spacing), times))
        return Depth(lambda eps: loss_grid.ln_delta(eps, grids, round_up=False), -math.inf, True)


LogDeltaOfRound = Callable[[Points], Floats]  # log10 of an upper bound on delta of one round; (points,)


def log10_delta(
    log10_delta_of_round: LogDeltaOfRound, points: Points, *, zero_from_eps0: bool = True
) -> Floats:
    """log10 delta of the rounds at every point, from an upper bound for one round; (points,).

    ``zero_from_eps0``: whether the bound is 0 from eps = eps0 on.
    """
    result = np.empty(len(points))
    is_single = points.rounds == 1
    if np.any(is_single):
        result[is_single] = log10_delta_of_round(points.at(is_single))

    # All eps of one setting share the distributions of its losses.
    numbers_of_setting: dict[tuple[float, ...], list[int]] = {}
    for number in np.flatnonzero(~is_single).tolist():
        arguments = (points.users, points.k, points.eps0, points.rounds)
        setting = tuple(values[number].item() for values in arguments)
        numbers_of_setting.setdefault(setting, []).append(number)
    for numbers in numbers_of_setting.values():
        point = points.at(numbers[:1])
        composed = _composed(log10_delta_of_round, point, zero_from_eps0)
        result[numbers] = composed.ln_delta(points.eps[numbers]) / _LN10
    return result


def epsilon(
    log10_delta_of_round: LogDeltaOfRound,
    target_log10_delta: float,
    point: Points,
    *,
    zero_from_eps0: bool = True,
) -> float:
    """The smallest eps at which that bound of all rounds is at most 10^``target_log10_delta``.

    nan where eps0 in each round, which holds without shuffling, is less. ``point`` has length 1.
    """
    composed = _composed(log10_delta_of_round, point, zero_from_eps0)
    eps = composed.epsilon(target_log10_delta)
    # The sum of the local budgets, rounded up where delta is 0 from there on.
    largest = composed.largest if zero_from_eps0 else (point.rounds * point.eps0).item()
    return eps if eps <= largest else np.nan


def _composed(log10_delta_of_round: LogDeltaOfRound, point: Points, zero_from_eps0: bool) -> Rounds:
    largest_loss = point.eps0.item() if zero_from_eps0 else np.inf
    curve = Curve(lambda eps: log10_delta_of_round(point.with_eps(eps)), largest_loss)
    return Rounds([(curve, point.rounds.item())])


def sum_of_budgets(rounds: Iterable[tuple[int, float]]) -> float:
    """The sum of times * eps0 over ``rounds``, rounded up: from this eps on delta is 0."""
    exact = Fraction()
    for times, eps0 in rounds:
        if eps0 == math.inf:
            return math.inf
        exact += times * Fraction(eps0)
    rounded = float(exact)
    return rounded if exact <= rounded else math.nextafter(rounded, math.inf)


def _places(end: float, step: float, spacing: float) -> npt.NDArray[np.int_]:
    """Whole numbers from 0 on, the multiples of ``spacing`` about ``step`` apart up to ``end``."""
    last = math.ceil(end / spacing)
    return np.unique(
        np.rint(np.linspace(0, last, math.ceil(last * spacing / step * (1 - 1e-9)) + 1)).astype(int)
    )


class _Round:
    """A curve in natural logarithms, and where its points have to be."""

    def __init__(self, own: Curve) -> None:
        self._curve = own
        self.largest_finite = min(own.eps0, _LARGEST)
        self._rough = own.rough or own.log10_delta
        at_zero, self._floor = self._roughly(np.array([0.0, self.largest_finite])).tolist()
        self.largest = own.eps0 if self._floor == -math.inf else math.inf
        self._scale = _scale(0.0, at_zero)

    def ln_delta(self, eps: Floats) -> Floats:
        return np.asarray(self._curve.log10_delta(eps), dtype=float) * _LN10

    def _roughly(self, eps: Floats) -> Floats:
        return np.asarray(self._rough(eps), dtype=float) * _LN10

    def end(self, negligible: float) -> tuple[float, bool]:
        """An eps with at most this ln delta, or beyond which all losses are infinite; whether the latter."""
        enough = max(negligible, self._floor + _FLAT)
        scale, end, value = self._scale, 0.0, 0.0
        while end < self.largest_finite and value > enough:
            guess = 1.05 * gaussian_eps(negligible / _LN10, scale)
            end = min(max(guess, 1.25 * end), 4 * end or guess, self.largest_finite)
            value = float(self._roughly(np.array([end]))[0])
            scale = _scale(end, value)
        if end == 0:  # delta is the same at every eps, as for one user: any end will do
            return min(1.0, self.largest_finite), True
        if value < 1.2 * enough:  # too far: half the distance may do
            shorter = end * 2.0 ** (-np.arange(16, 0, -1) / 4)
            fits = shorter[self._roughly(shorter) <= enough]
            if fits.size:
                end = float(fits[0])
                value = enough
        return end, end == self.largest_finite or value <= self._floor + _FLAT

    def step(self, end: float) -> float:
        """The distance of the points of eps, up to ``end``."""
        return end / min(max(math.ceil(_PER_SCALE * end / self._scale), _FEWEST), _MOST)

    def grid(self, end: float, step: float, spacing: float) -> loss_grid.LossGrid:
        """The pair that dominates, from points about ``step`` apart on the grid of this ``spacing``."""
        index = _places(end, step, spacing)
        eps, back = index * spacing, self._curve.reverse
        reverse = None if back is None else np.asarray(back(eps), dtype=float) * _LN10
        return loss_grid.connected(index, spacing, self.ln_delta(eps), reverse)


def _scale(eps: float, ln_delta: float) -> float:
    """mu of the Gaussian differential privacy with this delta at ``eps``, at most _GREATEST_SCALE."""
    if ln_delta == -math.inf:
        return 1e-6
    return min(1 / float(exact_scale(eps, log10_delta=min(ln_delta, -1e-9) / _LN10)), _GREATEST_SCALE)
