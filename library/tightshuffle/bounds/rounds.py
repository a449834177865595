"""delta of several rounds together, from a bound on delta of each round as a function of eps.

In each round the same users report with fresh randomness; values and rounds may differ. Independent draws of
pairs that dominate the rounds dominate all rounds together, also if later rounds depend on earlier results
(Zhu, Dong and Wang 2022). So a bound at a few hundred eps is enough: `dominating_grid` makes a pair, and
`ComposedLosses` convolves the losses. Rounding goes to the safe side; eps is too large by about 0.05 %,
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

from tightshuffle.arguments import (
    Floats,
    Integers,
    check_at_most,
    check_one,
    check_rounds,
)
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.bounds.lower_pair import probabilities_of_losses, values_below_delta
from tightshuffle.mechanisms.gaussian import scale_over_sensitivity
from tightshuffle.numerics import loss_grid
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.numerics.side import Side
from tightshuffle.points import LARGEST_ROUNDS, Points

_PER_SCALE = 12  # points per standard deviation of a round's loss
_FEWEST, _MOST = 128, 1000  # points of a curve
_LARGEST = 500.0  # losses beyond it count as infinite: e^500 is a float
_WIDEST = 2**17  # grid points of one round at most, if rounds differ
_GREATEST_SCALE = 20.0  # mu of the Gaussian to start from, at most
_SLACK = 1e-12  # relative: what powers and sums of a thousand terms may lose
# By which eps is rounded up; the search is a hundred or four times as precise.
_MARGIN, _RELATIVE = (1e-10, 4e-15)
_FLAT = 1e-4  # a curve that falls by so little, in ln delta, has reached its infinite loss


@dataclass(frozen=True)
class Curve:
    """A bound on delta of one round, for every dataset.

    ``ln_delta``: function from eps (e,) >= 0 to ln of the bound (e,), -inf where delta is 0. ``eps0``: the
    largest finite loss, > 0, from which on the bound is the probability of an infinite loss; inf if there is
    none. ``ln_reverse``: the bound for Q against P; without it, ``ln_delta`` holds in both directions.
    ``ln_rough``: a larger bound, faster, to find out how far the points have to reach.
    """

    ln_delta: Callable[[Floats], Floats]
    eps0: float
    ln_reverse: Callable[[Floats], Floats] | None = None
    ln_rough: Callable[[Floats], Floats] | None = None


class BoundAtDepth(NamedTuple):
    """A bound on delta of all rounds, computed down to a certain depth: a greater depth leaves out less.

    ``ln_delta`` is a function from eps (e,) to the natural log of the bound (e,), never on the wrong side.
    ``ln_left_out`` is the natural log of by how much the bound may miss delta because of the depth.
    ``is_last`` says that a greater depth would not help.
    """

    ln_delta: Callable[[Floats], Floats]
    ln_left_out: float
    is_last: bool


def margin(eps: float) -> float:
    """By how much `Composition.epsilon_of` rounds up, which is more than the search misses."""
    return max(_MARGIN, _RELATIVE * eps)


class Composition(ABC):
    """delta of several rounds as a function of eps; distributions are computed once and kept.

    ``largest``: the eps from which on delta is 0. ``end_of_search``: the eps beyond which only infinite
    losses are left, so that delta no longer falls. A bound at depth d misses delta by about e^-d. It is close
    where delta is at least e^ln_clearance times what is left out.
    """

    first_depth: ClassVar[float]  # what is left out at first is about e^-first_depth
    ln_clearance: ClassVar[float]  # ln of how many times what was left out delta is to be, at least

    def __init__(self, largest: float, end_of_search: float) -> None:
        self.largest = largest
        self.end_of_search = end_of_search
        self._depths: dict[float, BoundAtDepth] = {}

    @abstractmethod
    def _build(self, depth: float) -> BoundAtDepth:
        """delta down to this depth, which leaves out about e^-``depth``."""

    def _bound_at_depth(self, depth: float) -> BoundAtDepth:
        """The bound that leaves out about e^-``depth``, from `_build` or as kept."""
        if depth not in self._depths:
            self._depths[depth] = self._build(depth)
        return self._depths[depth]

    def _next_depth(self, depth: float) -> float:
        """The depth to try after ``depth``. Most settings need one or two, so later steps may be large."""
        return depth * (2 if depth <= self.first_depth else 4)

    def ln_delta(self, eps: Floats) -> Floats:
        """Natural log of a bound on delta of all rounds together at ``eps``, of its shape.

        It is -inf where delta is 0. Every eps takes the first depth at which the bound is close.
        """
        points = eps.ravel()
        result = np.full(points.shape, -np.inf)
        unsettled = np.flatnonzero(points < self.largest)
        depth = self.first_depth
        while unsettled.size:
            bound = self._bound_at_depth(depth)
            result[unsettled] = bound.ln_delta(points[unsettled])
            if bound.is_last:
                break
            unsettled = unsettled[result[unsettled] < bound.ln_left_out + self.ln_clearance]
            depth = self._next_depth(depth)
        return result.reshape(eps.shape)[()]

    def epsilon_of(self, target_ln_delta: float) -> float:
        """The smallest eps with ln delta at most ``target_ln_delta``, rounded up by `margin`; nan if none.

        By Brent's method, on sqrt(-ln delta), which is almost affine in eps.
        """
        ln_delta_at = self._ln_delta_down_to(target_ln_delta)
        target_root = math.sqrt(-target_ln_delta)

        @functools.cache
        def missing(eps: float) -> float:
            """By how much sqrt(-ln delta) is below its target, sqrt(-target_ln_delta); falls with eps.

            It is at least -sqrt(-target_ln_delta), as ln delta counts as 4 times its target at least: so it
            is finite where delta is 0.
            """
            ln_delta = max(float(ln_delta_at(np.array([eps]))[0]), 4 * target_ln_delta)
            return target_root - math.sqrt(-min(ln_delta, 0.0))

        if missing(0.0) <= 0:
            return 0.0

        # If delta is below 1 at eps = 0, a good guess is 5 % more than the eps of the Gaussian mechanism with
        # the same delta there.
        guess = 1.0
        if missing(0.0) < target_root:
            ln_delta_at_zero = -((target_root - missing(0.0)) ** 2)
            mu = 1 / scale_over_sensitivity(0.0, ln_delta_at_zero)
            guess = 1.05 * gaussian_eps(target_ln_delta, mu)
        # Where even beyond the end of the search delta is too large, the infinite losses alone are.
        most = min(2 * self.end_of_search, self.largest)
        interval = interval_with_root(missing, guess, step=guess, least=0.0, most=most)
        if interval is None:
            return math.nan
        eps = least_enough(missing, *interval, tolerance=1e-12, relative=1e-15)
        return min(eps + margin(eps), interval[1])

    def _ln_delta_down_to(self, target_ln_delta: float) -> Callable[[Floats], Floats]:
        """A function from eps (e,) to a bound on ln delta (e,), which is close where it is above the target.

        It holds at every eps. A search for the target also meets far smaller deltas, and `ln_delta` would
        spend seconds on the depths that these need.
        """
        depth = self.first_depth
        while True:
            bound = self._bound_at_depth(depth)
            if target_ln_delta >= bound.ln_left_out + self.ln_clearance:
                return lambda eps: np.where(eps < self.largest, bound.ln_delta(eps), -np.inf)
            if bound.is_last:
                return self.ln_delta
            depth = self._next_depth(depth)


class Rounds(Composition):
    """An upper bound on delta of all rounds together.

    Parameters: ``rounds``, pairs of a `Curve` and how many rounds have it, a whole number >= 1.
    Raises ValueError if the rounds are more than `LARGEST_ROUNDS`.
    """

    first_depth, ln_clearance = 50.0, 12.0

    def __init__(self, rounds: Sequence[tuple[Curve, int]]) -> None:
        """Check how many rounds there are, and find from which eps on delta of all of them is 0."""
        numbers = [int(check_one("rounds", check_rounds(number))) for _, number in rounds]
        check_at_most("rounds", np.asarray(sum(numbers)), LARGEST_ROUNDS)
        curves = [_RoundCurve(curve) for curve, _ in rounds]
        # Each curve with the number of rounds that have it.
        self._curves = list(zip(curves, numbers, strict=True))
        # A curve's `largest` is the largest loss, inf where losses can be infinite; its `largest_finite` is
        # always finite. Beyond the sum of these, only infinite losses are left: a search may end there.
        super().__init__(
            largest=sum_of_budgets((number, curve.largest) for curve, number in self._curves),
            end_of_search=sum(number * curve.largest_finite for curve, number in self._curves),
        )
        # ln of the sum of all rounds' total variation distances, which delta never exceeds.
        distances = [curve.ln_at_zero + math.log(number) for curve, number in self._curves]
        self._ln_distance = float(np.logaddexp.reduce(distances)) + _SLACK

    def ln_delta(self, eps: Floats) -> Floats:
        return np.minimum(super().ln_delta(eps), self._ln_distance)

    def epsilon_of(self, target_ln_delta: float) -> float:
        return 0.0 if target_ln_delta >= self._ln_distance else super().epsilon_of(target_ln_delta)

    def _build(self, depth: float) -> BoundAtDepth:
        """An upper bound on delta of all rounds as a function of eps, which leaves out about e^-``depth``.

        Each curve, a bound on delta of one round, becomes the distribution of the privacy loss of a pair that
        dominates the round. All losses are multiples of one ``spacing``, and the rounds' losses add up by a
        convolution. The bound on one round is computed at points from 0 to an end, where delta is about
        e^-depth.
        """
        # Of each curve: where its points end, and how far apart they are.
        ends = [curve.end(-depth) for curve, _ in self._curves]
        steps = [curve.step(end.eps) for (curve, _), end in zip(self._curves, ends, strict=True)]
        spacing = self._spacing(ends, steps)

        # The points, as multiples of the spacing.
        indices = [
            _points_of_grid(end.eps, max(step, spacing), spacing)
            for end, step in zip(ends, steps, strict=True)
        ]
        grids = self._loss_grids(indices, spacing)

        # Losses beyond an end that is not the last count as infinite, though they may not be.
        ln_left_out = [-math.inf]
        for grid, (_, number), end in zip(grids, self._curves, ends, strict=True):
            if not end.is_last:
                ln_left_out.append(grid.log_infinite + math.log(number))

        numbers = [number for _, number in self._curves]
        grids_and_numbers = list(zip(grids, numbers, strict=True))
        return BoundAtDepth(
            loss_grid.ComposedLosses(grids_and_numbers, Side.UPPER).ln_delta,
            ln_left_out=float(np.logaddexp.reduce(ln_left_out)),
            is_last=len(ln_left_out) == 1,
        )

    def _loss_grids(self, indices: Sequence[Integers], spacing: float) -> list[loss_grid.LossGrid]:
        """For each curve, the distribution of the privacy loss of a pair that dominates its rounds.

        The losses are multiples of ``spacing``. ``indices`` are whole numbers i for each curve: its bounds on
        delta are computed at the eps i ``spacing``. ``curve.bounds`` are one bound for both directions, or
        one for each. A bound that several curves share, as where one curve is the other's reverse, is
        computed once.
        """
        # At which i each bound is needed, by all curves together.
        indices_of_bound: dict[Callable[[Floats], Floats], list[Integers]] = {}
        for (curve, _), index in zip(self._curves, indices, strict=True):
            for bound in curve.bounds:
                indices_of_bound.setdefault(bound, []).append(index)

        # For each bound, all these i in ascending order, and ln delta there.
        ln_delta_of_bound = {}
        for bound, some_indices in indices_of_bound.items():
            index = np.unique(np.concatenate(some_indices))
            ln_delta_of_bound[bound] = (index, np.asarray(bound(index * spacing), dtype=float))

        grids = []
        for (curve, _), index in zip(self._curves, indices, strict=True):
            ln_deltas = []
            for bound in curve.bounds:
                all_indices, ln_delta = ln_delta_of_bound[bound]
                ln_deltas.append(ln_delta[np.searchsorted(all_indices, index)])
            grids.append(loss_grid.dominating_grid(index, spacing, *ln_deltas))
        return grids

    def _spacing(self, ends: "Sequence[_End]", steps: Sequence[float]) -> float:
        """The spacing of the grid that all losses share, from the ``ends`` and ``steps`` of all curves.

        The points of a curve reach from 0 to its end, an eps, and its step is the distance of neighbours.
        """
        # What a grid adds to the variance of a loss is in proportion to the square of its spacing.
        numbers = [number for _, number in self._curves]
        squares = sum(number * step**2 for number, step in zip(numbers, steps, strict=True))
        mean_step = math.sqrt(squares / sum(numbers))
        longest = max(end.eps for end in ends)
        # The factor: the last point of equal rounds is to be at the largest loss, not just below it.
        return max(mean_step, longest / _WIDEST) * (1 + 2.0**-50)


class LowerRounds(Composition):
    """A lower bound on delta of all rounds together, for one dataset in each round.

    Parameters: ``rounds``, each a lower and an upper `Curve` of delta of that dataset, which is the same in
    both directions, and how many rounds have it. It is of no use for delta below about 1e-12, as delta of a
    round below 1e-14 counts as 0.
    """

    first_depth, ln_clearance = 32.0, 0.0

    def __init__(self, rounds: Sequence[tuple[Curve, Curve, int]]) -> None:
        """Note the curves, and find from which eps on delta of all rounds is 0 by the upper ones."""
        self._curves = [
            (_RoundCurve(low), _RoundCurve(high), number) for low, high, number in rounds
        ]
        super().__init__(
            largest=sum_of_budgets((number, high.largest) for _, high, number in self._curves),
            end_of_search=sum(number * high.largest_finite for _, high, number in self._curves),
        )

    def epsilon_of(self, target_ln_delta: float) -> float:
        """An eps at which delta of all rounds is at least e^``target_ln_delta``; 0 where none is known."""
        eps = super().epsilon_of(target_ln_delta)
        if not math.isfinite(eps):
            return 0.0
        return max(eps - 2 * margin(eps), 0.0)

    def _build(self, depth: float) -> BoundAtDepth:
        """A lower bound on delta of all rounds as a function of eps.

        For each round it composes a pair of distributions whose delta is nowhere above that of the round's
        dataset. The bounds are computed at points from 0 to the eps where delta is e^-``depth``. The losses
        of all rounds are multiples of one ``spacing``. delta is the same in both directions, so the same
        values serve for both.
        """
        # Of each round: where its points end, and how far apart they are.
        ends = [low.end(-depth).eps for low, _, _ in self._curves]
        steps = [low.step(end) for (low, _, _), end in zip(self._curves, ends, strict=True)]
        # The factor: the last point is to be at the largest loss, not just below it.
        spacing = max(min(steps), max(ends) / _WIDEST) * (1 + 2.0**-50)

        grids_and_numbers = []
        for (low, high, number), end, step in zip(self._curves, ends, steps, strict=True):
            index = _points_of_grid(end, max(step, spacing), spacing)
            eps = index * spacing
            lowest = np.exp(low.ln_delta(eps)) * (1 - _SLACK)
            highest = np.minimum(np.exp(high.ln_delta(eps)) * (1 + _SLACK), 1.0)
            deltas = values_below_delta(eps, lowest, highest, reverse_high=highest)
            probabilities = probabilities_of_losses(index, eps, forward=deltas, reverse=deltas)
            grids_and_numbers.append((loss_grid.grid_from_masses(probabilities, spacing), number))
        # A lower bound may leave anything out, so no greater depth is tried.
        return BoundAtDepth(
            loss_grid.ComposedLosses(grids_and_numbers, Side.LOWER).ln_delta,
            ln_left_out=-math.inf,
            is_last=True,
        )


# ln of an upper bound on delta of one round; (points,).
LnDeltaOfRound = Callable[[Points], Floats]


def ln_delta(
    ln_delta_of_round: LnDeltaOfRound, points: Points, *, zero_from_eps0: bool = True
) -> Floats:
    """ln of an upper bound on delta of all rounds together, from a bound for a single round; (points,).

    ``ln_delta_of_round`` is a function from points to ln of the bound on delta of one round, (points,).
    ``zero_from_eps0`` says whether this bound is 0 from eps = eps0 on. A point is an eps and a setting: the
    numbers of users, values and rounds, and eps0.
    """
    is_single = points.rounds == 1
    if np.all(is_single):
        return ln_delta_of_round(points)
    result = np.empty(points.eps.size)
    if np.any(is_single):
        result[is_single] = ln_delta_of_round(points.at(is_single))

    # All points of one setting share the distributions of its losses.
    several_rounds = np.flatnonzero(~is_single)
    for members in points.at(several_rounds).by_setting():
        numbers = several_rounds[members]
        first_point = points.at(numbers[:1])
        all_rounds = _all_rounds_of_point(ln_delta_of_round, first_point, zero_from_eps0)
        result[numbers] = all_rounds.ln_delta(points.eps[numbers])
    return result


def epsilon(
    ln_delta_of_round: LnDeltaOfRound,
    target_ln_delta: float,
    point: Points,
    *,
    zero_from_eps0: bool = True,
) -> float:
    """The smallest eps at which the bound of `ln_delta` is at most e^``target_ln_delta``, rounded up.

    It is nan if this eps is above the sum of all rounds' eps0, which holds without shuffling. ``point`` has
    length 1.
    """
    all_rounds = _all_rounds_of_point(ln_delta_of_round, point, zero_from_eps0)
    eps = all_rounds.epsilon_of(target_ln_delta)
    # The sum of the local budgets, rounded up where delta is 0 from there on.
    largest = all_rounds.largest if zero_from_eps0 else (point.rounds * point.eps0).item()
    return eps if eps <= largest else np.nan


def _all_rounds_of_point(
    ln_delta_of_round: LnDeltaOfRound, point: Points, zero_from_eps0: bool
) -> Rounds:
    """All rounds of ``point``, which has length 1, composed; their delta is a function of eps.

    The parameters are those of `ln_delta`.
    """
    largest_loss = point.eps0.item() if zero_from_eps0 else np.inf
    curve = Curve(lambda eps: ln_delta_of_round(point.with_eps(eps)), largest_loss)
    return Rounds([(curve, point.rounds.item())])


def sum_of_budgets(rounds: Iterable[tuple[int, float]]) -> float:
    """The sum of number * eps0 over ``rounds``, rounded up: from this eps on delta is 0."""
    exact = Fraction()
    for number, eps0 in rounds:
        if eps0 == math.inf:
            return math.inf
        exact += number * Fraction(eps0)
    rounded = float(exact)
    return rounded if exact <= rounded else math.nextafter(rounded, math.inf)


def _points_of_grid(end: float, step: float, spacing: float) -> Integers:
    """Whole numbers i from 0 on, for which i * ``spacing`` are about ``step`` apart and reach ``end``."""
    last = math.ceil(end / spacing)
    count = math.ceil(last * spacing / step * (1 - 1e-9)) + 1
    return np.unique(np.rint(np.linspace(0, last, count)).astype(int))


class _End(NamedTuple):
    """The eps where the points of a curve end, and whether all losses beyond are infinite or impossible."""

    eps: float
    is_last: bool


class _RoundCurve:
    """A curve, and where its points have to be.

    ``largest`` is its largest loss, or inf, and ``largest_finite`` the largest one that does not count as
    infinite. ``bounds`` are its bounds on delta, functions from eps to ln delta: one for both directions, or
    one for each.
    """

    def __init__(self, curve: Curve) -> None:
        """Note the curve's bounds and its largest loss, and the Gaussian with the same delta at eps = 0.

        The ``curve`` is a bound on delta of one round, ``curve.ln_delta``, a function of eps, perhaps with
        another one for the reverse direction, and with a rough one, which is faster. ``curve.eps0`` is the
        largest finite loss. At and beyond it, a bound above 0 is the probability of an infinite loss.
        ``_mu`` is sensitivity / deviation of the Gaussian mechanism, and ``ln_at_zero`` ln delta at eps = 0.
        """
        self._curve = curve
        self.bounds = [curve.ln_delta]
        if curve.ln_reverse is not None:
            self.bounds.append(curve.ln_reverse)
        self.largest_finite = min(curve.eps0, _LARGEST)
        self._rough = curve.ln_delta if curve.ln_rough is None else curve.ln_rough

        ends = np.array([0.0, self.largest_finite])
        self.ln_at_zero, self._ln_infinite = self._ln_rough(ends).tolist()
        has_infinite_loss = self._ln_infinite != -math.inf
        self.largest = math.inf if has_infinite_loss else curve.eps0
        self._mu = _mu_of_gaussian(0.0, self.ln_at_zero)

    def ln_delta(self, eps: Floats) -> Floats:
        """Natural log of the bound at ``eps``; both (e,)."""
        return np.asarray(self._curve.ln_delta(eps), dtype=float)

    def _ln_rough(self, eps: Floats) -> Floats:
        """Natural log of the rough bound at ``eps``, which is faster and no smaller; both (e,)."""
        return np.asarray(self._rough(eps), dtype=float)

    def end(self, ln_negligible: float) -> _End:
        """An eps where ln delta is at most ``ln_negligible``, or after which hardly any finite loss is left.

        ``is_last`` of the result says that losses beyond the eps are infinite or impossible, so that nothing
        finite is left out. There, ln delta is at most ``self._ln_infinite + _FLAT``: that of the infinite
        losses, or hardly more. The search uses the rough curve, and looks at ever larger eps. Each guess is
        where the Gaussian mechanism that has the last eps' delta reaches ``ln_negligible``. ``mu`` is that
        mechanism's sensitivity / deviation.
        """
        ln_enough = max(ln_negligible, self._ln_infinite + _FLAT)
        mu, eps, ln_delta = self._mu, 0.0, 0.0
        while eps < self.largest_finite and ln_delta > ln_enough:
            # 5 % more than the guess, but from 1.25 to 4 times the last eps.
            guess = 1.05 * gaussian_eps(ln_negligible, mu)
            farthest = 4 * eps if eps > 0 else guess
            eps = min(max(guess, 1.25 * eps), farthest, self.largest_finite)
            ln_delta = float(self._ln_rough(np.array([eps]))[0])
            mu = _mu_of_gaussian(eps, ln_delta)
        if eps == 0:  # delta is the same at every eps, as for one user: any end will do
            return _End(min(1.0, self.largest_finite), is_last=True)

        # Where ln delta is below its goal by more than 20 %: the least of 16 shorter eps that is enough. They
        # go down to eps / 16.
        if ln_delta < 1.2 * ln_enough:
            shorter = eps * 2.0 ** (-np.arange(16, 0, -1) / 4)
            sufficient = shorter[self._ln_rough(shorter) <= ln_enough]
            if sufficient.size:
                eps = float(sufficient[0])
                ln_delta = ln_enough
        is_last = eps == self.largest_finite or ln_delta <= self._ln_infinite + _FLAT
        return _End(eps, is_last)

    def step(self, end: float) -> float:
        """The distance of neighbouring points of eps, from 0 to ``end``.

        There are `_PER_SCALE` points in mu, about the standard deviation of a round's loss, but at least
        `_FEWEST` and at most `_MOST` in all.
        """
        points = math.ceil(_PER_SCALE * end / self._mu)
        return end / min(max(points, _FEWEST), _MOST)


def _mu_of_gaussian(eps: float, ln_delta: float) -> float:
    """mu of the Gaussian differential privacy with this delta at ``eps``, at most `_GREATEST_SCALE`.

    It is tiny where delta is 0, which no Gaussian has. A delta above e^(-1e-9) counts as this.
    """
    if ln_delta == -math.inf:
        return 1e-6
    return min(1 / scale_over_sensitivity(eps, min(ln_delta, -1e-9)), _GREATEST_SCALE)
