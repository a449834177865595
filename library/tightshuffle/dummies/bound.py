"""Values sent as they are, hidden by dummies alone, whose numbers have any law.

Each value gets Z dummies, independently. Two counts change if a user moves: (1 + Z, Z') against (Z, 1 + Z').
delta is exact, the same for every dataset: that of the sum, over all changed counts, of the losses

    ln P(z) - ln P(z + 1) of a count that gains one,  ln P(z) - ln P(z - 1) of one that loses one.

Upper bounds split a loss between two points of the grid, lower bounds round it down (docs/theory.md, "Dummies
alone").
"""

import math
import reprlib

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_at_most,
    check_eps,
    check_flag,
    check_log10_delta,
    check_one,
    check_whole,
)
from tightshuffle.bounds.rounds import BoundAtDepth, Composition, margin
from tightshuffle.dummies.laws import Law, check_law
from tightshuffle.numerics.loss_grid import ComposedLosses, LossGrid
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.side import Side
from tightshuffle.points import LARGEST_ROUNDS, Neighbours, check_neighbours

_LN10 = math.log(10)
_ULP = 2.0**-52
# Points of the grid of the sum of all losses, and its width in standard deviations, 9 on each side.
_POINTS_OF_SUM = {Side.UPPER: 2.0**13, Side.LOWER: 2.0**18}
_DEVIATIONS_OF_SUM = 18.0
# Points per standard deviation of one loss. The key of the first is whether the bound is rough.
_FEWEST_PER_DEVIATION = {True: 10.0, False: 40.0}
_MOST_PER_DEVIATION = {Side.UPPER: 400.0, Side.LOWER: 4000.0}
# Points of the grid of one loss in all. The key is whether the bound is rough.
_MOST_POINTS_OF_LOSS = {True: 2**16, False: 2**19}
# Numbers of dummies that are rarer than e^-700, about the smallest float, are not counted.
_LEAST_LN_MASS = -700.0
_SNAP = 1e-9  # of a spacing: a loss so close to a point of the grid is at the point


class HiddenByDummies(Composition):
    """delta of one user's values, hidden by dummies alone.

    Parameters
    ----------
    law : Law
        The law of the number of dummies of each value.
    values_per_user : int
        L, the most different values that a user reports per round.
    rounds : int
        The number of rounds. delta is that of all rounds together.
    neighbours : str
        "replacement" for a user whose values become others, "deletion" for one whose reports are removed, or
        added.
    side : Side
        Which bound on delta it is: `Side.UPPER` or `Side.LOWER`. For a replacement the lower bound needs at
        least 2 L values in all.
    rough : bool
        A wider and faster bound, for searches.
    """

    # One depth is enough for every eps, as nothing is left out: see `_build`.
    first_depth = 0.0
    ln_clearance = 0.0

    def __init__(
        self,
        law: Law,
        values_per_user: int = 1,
        rounds: int = 1,
        neighbours: str = Neighbours.REPLACEMENT,
        side: Side = Side.UPPER,
        rough: bool = False,
    ) -> None:
        """Check the arguments, and put the losses of all counts that change on one grid.

        A loss is ln P(z) - ln P(z + 1) of a count that gains one, or ln P(z) - ln P(z - 1) of one that loses
        one. z is its number of dummies, and P the law.
        """
        check_law(law)
        changed_values = check_whole("values_per_user", values_per_user, 1)
        changed_values *= check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(changed_values), LARGEST_ROUNDS)
        neighbours = check_neighbours(neighbours)
        if not isinstance(side, Side):
            raise ValueError(f"side must be Side.UPPER or Side.LOWER; got {reprlib.repr(side)}")
        rough = check_flag("rough", rough)

        # One or two arrays, of counts that gain one and of those that lose one. Each has a loss for each z.
        losses = _losses_of_counts(law)
        changed_counts = neighbours.changed_counts * changed_values

        # The reach is the largest finite loss, without sign. A law that is narrow beside its range has huge
        # losses at numbers that never occur.
        is_counted = law.log_mass > _LEAST_LN_MASS
        reach = 0.0
        for loss in losses:
            finite_loss = loss[np.isfinite(loss) & is_counted]
            reach = max(reach, float(np.abs(finite_loss).max(initial=0.0)))
        spacing = _grid_spacing(losses, law.log_mass, changed_counts, reach, side, rough)

        # Rounding moves eps by up to ``self._shift_of_eps``, and ln of a probability by up to ``error``. For
        # losses are differences of exponents, and ln of a probability is a sum of losses, from the likeliest
        # number on. 16 and 8 units in the last place are more than a few operations lose.
        ln_masses = law.log_mass[is_counted]
        deepest = float(np.abs(ln_masses).max())
        self._shift_of_eps = changed_counts * (
            16 * _ULP * (1 + deepest + reach) + law.error + _SNAP * spacing
        )
        error = _ULP * (ln_masses.size + 8) * (1 + deepest) + law.error

        # After a replacement half of the changed counts gain one and half lose one; after a deletion all lose
        # one, or all gain one.
        grids = [_loss_grid(loss, law, spacing, error, side) for loss in losses]
        if neighbours is Neighbours.REPLACEMENT:
            self._cases = [[(grid, changed_counts // len(grids)) for grid in grids]]
        else:
            self._cases = [[(grid, changed_counts)] for grid in grids]
        self._side = side
        super().__init__(largest=math.inf, end_of_search=changed_counts * (reach + spacing))

    def log10_delta(self, eps: npt.ArrayLike) -> Floats:
        """log10 of the bound on delta at ``eps`` >= 0, a number or an array; -inf where delta is 0."""
        return np.minimum(self.ln_delta(check_eps(eps)) / LN10, 0.0)

    def epsilon(self, delta: float | None = None, *, log10_delta: float | None = None) -> float:
        """The smallest eps with this delta, or log10 delta, on the bound's side; inf if there is none."""
        target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
        eps = self.epsilon_of(target_log10_delta * LN10)
        return math.inf if math.isnan(eps) else eps

    def epsilon_of(self, target_ln_delta: float) -> float:
        """The smallest eps with this ln delta, on the bound's side; nan if there is none."""
        eps = super().epsilon_of(target_ln_delta)
        if self._side is Side.UPPER or math.isnan(eps):
            return eps  # rounded up
        return max(eps - 2 * margin(eps), 0.0)

    def _build(self, depth: float) -> BoundAtDepth:
        """delta, of which nothing is left out at any ``depth``: a bound on the side of ``self._side``.

        delta is the largest of ``self._cases``. A case has the losses' distributions, each with the number of
        counts that have it. Rounding may have moved the sum of the losses by ``self._shift_of_eps``. So delta
        is taken at an eps that is lower by this for an upper bound, and higher for a lower bound.
        """
        shift = -self._shift_of_eps if self._side is Side.UPPER else self._shift_of_eps

        cases = [ComposedLosses(case, self._side) for case in self._cases]

        def largest_ln_delta(eps: Floats) -> Floats:
            return np.asarray(np.max([case.ln_delta(eps + shift) for case in cases], axis=0))

        return BoundAtDepth(largest_ln_delta, ln_left_out=-math.inf, is_last=True)


def _losses_of_counts(law: Law) -> list[Floats]:
    """The losses of the counts that change: two arrays, or one if the law is symmetric.

    An array (m,) has the loss for each number z of dummies that ``law`` lists: ln P(z) - ln P(z + 1) of a
    count that gains one, or ln P(z) - ln P(z - 1) of a count that loses one. If P is symmetric, the two are
    alike, and the first is returned.
    """
    gaining = law.steps[1:]
    losing = -law.steps[:-1]
    return [gaining] if law.symmetric else [gaining, losing]


def _grid_spacing(
    losses: list[Floats],
    log_mass: Floats,
    changed_counts: int,
    reach: float,
    side: Side,
    rough: bool,
) -> float:
    """The distance between two points of the grid on which losses are put: their sum has enough points.

    It is a fraction of the loss's standard deviation, or 1 where every loss is 0. If that would be too many
    points for the largest loss, it is larger.

    Parameters
    ----------
    losses : list of float arrays (m,)
        One array, or one for counts that gain one and one for counts that lose one. The one with the larger
        standard deviation counts.
    log_mass : float array (m,)
        Natural logs of the probabilities of these losses.
    changed_counts : int
        How many losses are summed.
    reach : float
        The largest finite loss, without sign.
    side, rough : Side, bool
        Upper bounds and rough bounds need fewer points.
    """
    mass = np.exp(log_mass)
    variance, likeliest = 0.0, 0.0
    for loss in losses:
        # The moments of the finite losses, given that the loss is finite.
        weights = np.where(np.isfinite(loss), mass, 0.0)
        total = float(weights.sum())
        if total == 0:
            continue
        finite_loss = np.where(weights > 0, loss, 0.0)
        mean = float(weights @ finite_loss) / total
        variance = max(variance, float(weights @ (finite_loss - mean) ** 2) / total)
        likeliest = max(likeliest, abs(float(finite_loss[weights.argmax()])))

    # The sum's standard deviation is that of one loss times the root of changed_counts. Its grid is 18
    # deviations wide, and has `_POINTS_OF_SUM` points.
    points_per_deviation = _POINTS_OF_SUM[side] / (_DEVIATIONS_OF_SUM * math.sqrt(changed_counts))
    points_per_deviation = max(points_per_deviation, _FEWEST_PER_DEVIATION[rough])
    points_per_deviation = min(points_per_deviation, _MOST_PER_DEVIATION[side])
    spacing = max(
        math.sqrt(variance) / points_per_deviation, 2 * reach / _MOST_POINTS_OF_LOSS[rough]
    )
    if spacing == 0:
        return 1.0

    # A geometric law has the losses +-likeliest only: a spacing that divides it has them on the grid.
    if likeliest > spacing:
        return likeliest / math.ceil(likeliest / spacing)
    return spacing


def _loss_grid(loss: Floats, law: Law, spacing: float, error: float, side: Side) -> LossGrid:
    """The distribution of the losses of one changed count, on the grid of this ``spacing`` and at infinity.

    ``loss`` (m,) has the loss of each number of dummies that ``law`` lists. For an upper bound a loss is
    split between the two points of the grid beside it, and for a lower bound it is rounded down. ``error`` is
    the relative error of the probabilities. They are raised by it for an upper bound, and lowered for a lower
    bound.
    """
    # Numbers of dummies whose probability is too small for a float are not counted. Their losses are taken
    # as infinite for an upper bound, and left out for a lower bound.
    is_counted = law.log_mass > _LEAST_LN_MASS
    is_infinite = np.isposinf(loss) & np.isfinite(law.log_mass)
    is_finite = is_counted & ~is_infinite
    probabilities = np.exp(law.log_mass[is_finite])
    places = loss[is_finite] / spacing  # in points of the grid
    if places.size == 0:  # one point with the probability 0, as a grid has at least one
        places, probabilities = np.zeros(1), np.zeros(1)
    nearest = np.rint(places)
    places = np.where(np.abs(places - nearest) < _SNAP, nearest, places)

    # For an upper bound, a share of the probability goes to the point above the loss, and the rest to the one
    # below. With this share the mean of e^-loss stays the same, so that Q's probability is kept, too.
    points_below = np.floor(places).astype(int)
    share_above = np.zeros_like(places)
    if side is Side.UPPER:
        share_above = np.expm1(-(places - points_below) * spacing) / math.expm1(-spacing)
    is_split = share_above > 0

    # The points of the grid are first, first + 1, ... times the spacing.
    first = int(points_below.min())
    indices = points_below - first
    size = int(np.ceil(places).max()) - first + 1
    masses = np.bincount(indices, probabilities * (1 - share_above), minlength=size)
    mass_above = (probabilities * share_above)[is_split]
    masses += np.bincount(indices[is_split] + 1, mass_above, minlength=size)

    ln_infinite = law.log_mass[is_infinite]
    if side is Side.UPPER:  # also what is too rare to be counted, or not listed
        too_rare = law.log_mass[~is_counted & ~is_infinite]
        ln_infinite = np.concatenate([ln_infinite, too_rare, [law.log_outside]])
    ln_infinite_mass = float(np.logaddexp.reduce(ln_infinite, initial=-np.inf))
    slack = error if side is Side.UPPER else -error
    with np.errstate(divide="ignore"):
        return LossGrid(first, spacing, np.log(masses) + slack, ln_infinite_mass + slack)
