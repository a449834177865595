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

NEIGHBOURS = ("replace", "add", "remove")
_LN10 = math.log(10)
_ULP = 2.0**-52
_POINTS = {True: 2.0**13, False: 2.0**18}  # of the composed loss, within 9 standard deviations
_FEWEST, _MOST = 40.0, {True: 400.0, False: 4000.0}  # points per standard deviation of one loss
_ROUGHLY = 10.0  # the fewest of a rough bound
_WIDEST = {True: 2**16, False: 2**19}  # points of one loss: of a rough bound, of others
_DEEP = -700.0  # natural log of probabilities that are near the smallest float
_SNAP = 1e-9  # of a spacing: a loss so close to a point of the grid is at the point


class HiddenByDummies(Composition):
    """delta of one user's values, hidden by dummies alone.

    Parameters: ``law``; ``values_per_user``, L, the most different values that a user reports per round;
    ``rounds``. ``neighbours``: "replace" for a user whose values become others, "add" and "remove" for one
    whose reports are added or removed; a guarantee for this needs both. ``round_up``: an upper bound, else a
    lower bound; delta itself is between them. ``rough``: a wider and faster bound, for searches. For
    "replace" the lower bound needs at least 2 L values in all.
    """

    @renamed
    def __init__(
        self,
        law: Law,
        values_per_user: int = 1,
        rounds: int = 1,
        neighbours: str = "replace",
        round_up: bool = True,
        rough: bool = False,
    ) -> None:
        if not isinstance(law, Law):
            raise ValueError(f"law must be a Law, such as poisson(50.0); got {reprlib.repr(law)}")
        times = check_whole("values_per_user", values_per_user, 1) * check_whole("rounds", rounds, 1)
        check_at_most("values_per_user * rounds", np.asarray(times), LARGEST_ROUNDS)
        check_choice("neighbours", neighbours, NEIGHBOURS)
        round_up, rough = check_flag("round_up", round_up), check_flag("rough", rough)
        losses = []
        pairs = times * (2 if neighbours == "replace" else 1)
        if neighbours != "remove":
            losses.append(law.steps[1:])
        if neighbours == "remove" or (neighbours == "replace" and not law.symmetric):
            losses.append(-law.steps[:-1])
        # A law that is narrow beside its range has huge losses at numbers that never occur.
        counted = law.log_mass > _DEEP
        finite = [own[np.isfinite(own) & counted] for own in losses]
        reach = max((float(np.abs(own).max()) for own in finite if own.size), default=0.0)
        spacing = _spacing(losses, law.log_mass, pairs, reach, round_up, rough)
        heights = law.log_mass[counted]
        deepest = float(np.abs(heights).max())

        # Losses are differences of exponents; probabilities are sums of losses, from the likeliest number on.
        self._shift = pairs * (16 * _ULP * (1 + deepest + reach) + _SNAP * spacing)
        slack = _ULP * (heights.size + 8) * (1 + deepest)
        made = [_grid(own, law, spacing, slack if round_up else -slack) for own in losses]
        self._rounds = [(grid, pairs // len(losses)) for grid in made]
        self._round_up = round_up
        super().__init__(math.inf, pairs * (reach + spacing))

    first_depth, clear = 0.0, 0.0

    def log10_delta(self, eps: npt.ArrayLike) -> Floats:
        """log10 of the bound on delta at ``eps`` >= 0, a number or an array; -inf where delta is 0."""
        points = check_eps(eps)
        logs = self.ln_delta(points.ravel()).reshape(points.shape) / _LN10
        return np.asarray(np.minimum(logs, 0.0))[()]

    def epsilon(self, delta: float | None = None, *, log10_delta: float | None = None) -> float:
        """The smallest eps with this delta, or log10 delta, on the bound's side; inf if there is none."""
        wanted = check_one("delta", check_log10_delta(delta, log10_delta))
        found = self.epsilon_of(wanted * _LN10)
        if math.isnan(found):
            return math.inf
        return found if self._round_up else max(found - 2 * margin(found), 0.0)  # epsilon_of rounds up

    def _build(self, depth: float) -> Depth:
        moved = -self._shift if self._round_up else self._shift
        return Depth(
            lambda eps: ln_delta(eps + moved, self._rounds, round_up=self._round_up), -math.inf, True
        )


def _spacing(
    losses: list[Floats], log_mass: Floats, pairs: int, reach: float, round_up: bool, rough: bool
) -> float:
    """The distance of the points of the loss."""
    mass = np.exp(log_mass)
    variance, common = 0.0, 0.0
    for own in losses:
        weights = np.where(np.isfinite(own), mass, 0.0)
        loss = np.where(weights > 0, own, 0.0)
        if total := float(weights.sum()):
            mean = float(weights @ loss) / total
            variance = max(variance, float(weights @ (loss - mean) ** 2) / total)
            common = max(common, abs(float(loss[weights.argmax()])))
    per = _POINTS[round_up] / (18 * math.sqrt(pairs))
    step = math.sqrt(variance) / min(max(per, _ROUGHLY if rough else _FEWEST), _MOST[round_up])
    step = max(step, 2 * reach / _WIDEST[rough])
    if step == 0:
        return 1.0
    # The geometric law has two losses: on the grid, they are exact.
    return common / math.ceil(common / step) if common > step else step


def _grid(loss: Floats, law: Law, spacing: float, slack: float) -> LossGrid:
    """The losses on the grid: split if ``slack`` is positive, else rounded down.

    ``slack``: relative error of the probabilities, with this sign.
    """
    round_up = slack > 0
    seen = law.log_mass > _DEEP
    infinite = np.isposinf(loss) & np.isfinite(law.log_mass)
    finite = seen & ~infinite
    probabilities = np.exp(law.log_mass[finite])
    place = loss[finite] / spacing
    nearest = np.rint(place)
    place = np.where(np.abs(place - nearest) < _SNAP, nearest, place)
    index = np.floor(place).astype(int)
    if not index.size:
        index, place, probabilities = np.zeros(1, int), np.zeros(1), np.zeros(1)
    first = int(index.min())
    above = np.zeros_like(place)
    if round_up:
        above = np.expm1(-(place - index) * spacing) / math.expm1(-spacing)
    size = int(np.ceil(place).max()) - first + 1
    masses = np.bincount(index - first, probabilities * (1 - above), minlength=size)
    split = above > 0
    masses += np.bincount(index[split] + 1 - first, (probabilities * above)[split], minlength=size)
    never = law.log_mass[infinite]
    if round_up:  # also what is too rare to be counted
        never = np.concatenate([never, law.log_mass[~seen & ~infinite], [law.log_outside]])
    with np.errstate(divide="ignore"):
        return LossGrid(
            first, spacing, np.log(masses) + slack, float(np.logaddexp.reduce(never, initial=-np.inf)) + slack
        )
