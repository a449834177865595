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
    check_choice,
    check_eps,
    check_flag,
    check_log10_delta,
    check_one,
    check_whole,
    renamed,
)
from tightshuffle.bounds.rounds import Composition, Depth, margin
from tightshuffle.dummies.laws import Law
from tightshuffle.numerics.loss_grid import LossGrid, ln_delta
from tightshuffle.points import LARGEST_ROUNDS
from tightshuffle.side import Side

NEIGHBOURS = ("replace", "add", "remove")
_LN10 = math.log(10)
_ULP = 2.0**-52
_POINTS = {Side.UPPER: 2.0**13, Side.LOWER: 2.0**18}  # of the composed loss
_DEVIATIONS = 18.0  # width of the composed loss on its grid, in standard deviations: 9 on each side
# Points per standard deviation of one loss: of a rough bound, of others.
_FEWEST = {True: 10.0, False: 40.0}
_MOST = {Side.UPPER: 400.0, Side.LOWER: 4000.0}  # and of each side
_WIDEST = {True: 2**16, False: 2**19}  # points of one loss: of a rough bound, of others
_DEEP = -700.0  # natural log of probabilities that are near the smallest float
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
        All are computed together.
    neighbours : str
        "replace" for a user whose values become others, "add" and "remove" for one whose reports are added or
        removed. A guarantee for this needs both.
    side : Side
        `Side.UPPER` or `Side.LOWER`; delta itself is between the two bounds. For "replace" the lower bound
        needs at least 2 L values in all.
    rough : bool
        A wider and faster bound, for searches.
    """

    first_depth = 0.0
    clear = 0.0

    @renamed
    def __init__(
        self,
        law: Law,
        values_per_user: int = 1,
        rounds: int = 1,
        neighbours: str = "replace",
        side: Side = Side.UPPER,
        rough: bool = False,
    ) -> None:
        """Check the arguments, and put the loss of each count that changes on one grid."""
        if not isinstance(law, Law):
            raise ValueError(f"law must be a Law, such as poisson(50.0); got {reprlib.repr(law)}")
        changed_values = check_whole("values_per_user", values_per_user, 1)
        changed_values *= check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(changed_values), LARGEST_ROUNDS)
        check_choice("neighbours", neighbours, NEIGHBOURS)
        if not isinstance(side, Side):
            raise ValueError(f"side must be Side.UPPER or Side.LOWER; got {reprlib.repr(side)}")
        rough = check_flag("rough", rough)

        # Arrays of ln P(z) - ln P(z + 1), and of ln P(z) - ln P(z - 1), one number for each z of the law.
        losses = _losses(law, neighbours)
        changed_counts = 2 * changed_values if neighbours == "replace" else changed_values
        # A law that is narrow beside its range has huge losses at numbers that never occur.
        is_counted = law.log_mass > _DEEP
        reach = 0.0
        for loss in losses:
            finite_loss = loss[np.isfinite(loss) & is_counted]
            reach = max(reach, float(np.abs(finite_loss).max(initial=0.0)))
        spacing = _spacing(losses, law.log_mass, changed_counts, reach, side, rough)

        # Rounding moves eps by up to `_shift`, and ln of a probability by up to `error`. Losses are
        # differences of exponents, and probabilities are sums of losses, from the likeliest number on.
        ln_masses = law.log_mass[is_counted]
        deepest = float(np.abs(ln_masses).max())
        self._shift = changed_counts * (
            16 * _ULP * (1 + deepest + reach) + law.error + _SNAP * spacing
        )
        error = _ULP * (ln_masses.size + 8) * (1 + deepest) + law.error

        grids = [_grid(loss, law, spacing, error, side) for loss in losses]
        self._rounds = [(grid, changed_counts // len(losses)) for grid in grids]
        self._side = side
        super().__init__(math.inf, changed_counts * (reach + spacing))

    def log10_delta(self, eps: npt.ArrayLike) -> Floats:
        """log10 of the bound on delta at ``eps`` >= 0, a number or an array; -inf where delta is 0."""
        points = check_eps(eps)
        log10_bounds = self.ln_delta(points.ravel()).reshape(points.shape) / _LN10
        return np.asarray(np.minimum(log10_bounds, 0.0))[()]

    def epsilon(self, delta: float | None = None, *, log10_delta: float | None = None) -> float:
        """The smallest eps with this delta, or log10 delta, on the bound's side; inf if there is none."""
        target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
        eps = self.epsilon_of(target_log10_delta * _LN10)
        if math.isnan(eps):
            return math.inf
        # epsilon_of rounds up.
        return eps if self._side is Side.UPPER else max(eps - 2 * margin(eps), 0.0)

    def _build(self, depth: float) -> Depth:
        shift = -self._shift if self._side is Side.UPPER else self._shift
        return Depth(
            lambda eps: ln_delta(eps + shift, self._rounds, side=self._side),
            ln_left_out=-math.inf,
            is_last=True,
        )


def _losses(law: Law, neighbours: str) -> list[Floats]:
    """The loss of a count that gains one, that of a count that loses one, or both; one if they are alike."""
    gaining = law.steps[1:]
    losing = -law.steps[:-1]
    if neighbours == "add" or (neighbours == "replace" and law.symmetric):
        return [gaining]
    return [losing] if neighbours == "remove" else [gaining, losing]


def _spacing(
    losses: list[Floats],
    log_mass: Floats,
    changed_counts: int,
    reach: float,
    side: Side,
    rough: bool,
) -> float:
    """The spacing of the grid on which losses are put, so that their sum has enough points.

    It is a fraction of the loss's standard deviation, the larger one of both directions, or 1 where every
    loss is 0. ``losses`` has an array for each direction, whose outcomes have the natural logs ``log_mass``
    of their probabilities. ``changed_counts`` is how many losses are summed, and ``reach`` the largest finite
    loss, without sign. The lower bound and rough bounds have other numbers of points.
    """
    mass = np.exp(log_mass)
    variance, likeliest = 0.0, 0.0
    for loss in losses:
        weights = np.where(np.isfinite(loss), mass, 0.0)
        total = float(weights.sum())
        if total == 0:
            continue
        finite_loss = np.where(weights > 0, loss, 0.0)
        mean = float(weights @ finite_loss) / total
        variance = max(variance, float(weights @ (finite_loss - mean) ** 2) / total)
        likeliest = max(likeliest, abs(float(finite_loss[weights.argmax()])))

    # The sum's deviation is the root of changed_counts times one loss's, and its grid has `_POINTS` in all.
    points_per_deviation = _POINTS[side] / (_DEVIATIONS * math.sqrt(changed_counts))
    points_per_deviation = min(max(points_per_deviation, _FEWEST[rough]), _MOST[side])
    spacing = max(math.sqrt(variance) / points_per_deviation, 2 * reach / _WIDEST[rough])
    if spacing == 0:
        return 1.0

    # A geometric law has the losses +-likeliest only: a spacing that divides it has them on the grid.
    if likeliest > spacing:
        return likeliest / math.ceil(likeliest / spacing)
    return spacing


def _grid(loss: Floats, law: Law, spacing: float, error: float, side: Side) -> LossGrid:
    """The distribution of the losses on the grid of this ``spacing``.

    ``loss`` has the loss of each number of dummies that ``law`` lists. For an upper bound a loss is split
    between the two points beside it, and else rounded down. ``error`` is the relative error of the
    probabilities, which are raised by it for an upper bound, and else lowered.
    """
    # Of numbers whose probability is not too small for a float. The others count as infinite, or not at all.
    is_counted = law.log_mass > _DEEP
    is_infinite = np.isposinf(loss) & np.isfinite(law.log_mass)
    is_finite = is_counted & ~is_infinite
    probabilities = np.exp(law.log_mass[is_finite])
    places = loss[is_finite] / spacing  # in points of the grid
    if places.size == 0:  # one point with the probability 0, as a grid has at least one
        places, probabilities = np.zeros(1), np.zeros(1)
    nearest = np.rint(places)
    places = np.where(np.abs(places - nearest) < _SNAP, nearest, places)

    # What goes to the point above a loss, so that the mean of e^-loss stays the same.
    points_below = np.floor(places).astype(int)
    share_above = np.zeros_like(places)
    if side is Side.UPPER:
        share_above = np.expm1(-(places - points_below) * spacing) / math.expm1(-spacing)
    is_split = share_above > 0

    first = int(points_below.min())
    indices = points_below - first
    size = int(np.ceil(places).max()) - first + 1
    masses = np.bincount(indices, probabilities * (1 - share_above), minlength=size)
    mass_above = (probabilities * share_above)[is_split]
    masses += np.bincount(indices[is_split] + 1, mass_above, minlength=size)

    ln_infinite = law.log_mass[is_infinite]
    if side is Side.UPPER:  # also what is too rare to be counted
        too_rare = law.log_mass[~is_counted & ~is_infinite]
        ln_infinite = np.concatenate([ln_infinite, too_rare, [law.log_outside]])
    ln_infinite_mass = float(np.logaddexp.reduce(ln_infinite, initial=-np.inf))
    slack = error if side is Side.UPPER else -error
    with np.errstate(divide="ignore"):
        return LossGrid(first, spacing, np.log(masses) + slack, ln_infinite_mass + slack)
