"""A collection with its bounds for one round and for all rounds, and with its errors."""

import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_choice,
    check_eps,
    check_flag,
    check_installed,
    check_log10_delta,
    check_one,
    check_positive,
)
from tightshuffle.bounds.inverse import epsilon_from_gaussian
from tightshuffle.bounds.rounds import Curve, LowerRounds, Rounds, sum_of_budgets
from tightshuffle.collection import bounds, errors, sums
from tightshuffle.collection.data import Data
from tightshuffle.numerics.powers import delta_of_log10
from tightshuffle.side import Side

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

BOUNDS = ("upper", "lower")
_WIDTH_OF_ROUNDS = 1e-3  # of each round's delta: it makes eps about 0.01 % larger


@dataclass(frozen=True)
class Collection(Data):
    """A collection of reports, with bounds on its eps and delta. A ValueError names a bad group and key.

    Parameters
    ----------
    k : number of values, up to 10^7; None for a randomizer that is read from a file
    groups : one `Group` or several, with different names. Their reports are shuffled together.
    randomizer : a name that `randomizers.parse` takes. Users of other groups hide a user whatever their eps0
        is for "grr", "subset:M", "hash:G" and "hadamard", else only at the same eps0.
    dummies : see `Dummies`; for the randomizers just named
    rounds : how many, up to 10^5 with those of ``then``, by the same users with fresh randomness; values may
        change. The bounds are for all rounds together, and for a user who takes part in every round.
    then : more collections by the same users, after these rounds, with groups of the same names
    release, deletion : as for `tightshuffle.delta`, the same in all rounds. "sums" is for "rappor" and "oue",
        where it lets users of all groups hide each other; the lower bound is that of one count in one round.
    """

    then: tuple["Collection", ...] = ()
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def one_round(
        self,
        eps: npt.ArrayLike,
        *,
        group: str | None = None,
        bound: str = "upper",
        unseen: bool = False,
        width: float = 1e-4,
    ) -> Floats:
        """log10 of a bound on delta of one of these ``rounds``; `then` does not count.

        ``eps`` (points,) or a number; ``group``: the name of the group of the target user, by default the
        first; ``bound``: "upper", for every dataset, or "lower", which some dataset reaches, -inf where none
        is known. ``unseen``: True if nobody can know who takes part; the upper bound is then for a user who
        does so with the probability of the group. ``width``: the largest relative error that the computation
        adds to an upper bound, mostly; sums have their own. ValueError names a bad argument.
        """
        check_choice("bound", bound, BOUNDS)
        unseen = check_flag("unseen", unseen)
        width = float(check_one("width", check_positive("width", width)))
        chosen, points = self.group_named(group), check_eps(eps).ravel()
        if bound == "upper" and self.release == "sums":
            logs = self._log10_delta_of_sums(points, group, unseen, 1)
        elif bound == "upper":
            logs = bounds.log10_upper(self, points, chosen, unseen, width)
        elif unseen and chosen.participation < 1:
            logs = np.full(points.shape, -np.inf)
        elif self.release == "sums":
            logs = sums.log10_lower(self, points, chosen)
        else:
            logs = bounds.log10_lower(self, points, chosen)
        return logs.reshape(np.shape(eps))[()]

    def log10_delta(
        self, eps: npt.ArrayLike, *, group: str | None = None, bound: str = "upper", unseen: bool = False
    ) -> Floats:
        """log10 of a bound on delta of all rounds together. Parameters and errors as for `one_round`.

        With several rounds "lower" is that of one dataset in all rounds, or of a single round if that is
        larger.
        """
        unseen = check_flag("unseen", unseen)
        arguments: dict[str, Any] = {"group": group, "bound": bound, "unseen": unseen}
        if bound == "upper" and self.release == "sums":
            return self._log10_delta_of_sums(check_eps(eps), group, unseen)
        if bound == "upper" and not self._single:
            return self._composed(group, unseen).log10_delta(check_eps(eps))
        result = np.max([stage.one_round(eps, **arguments) for stage in self._stages], axis=0)
        if not self._single and (together := self._composed_lower(group, unseen)):
            points = check_eps(eps)
            logs = together.ln_delta(points.ravel()).reshape(points.shape) / math.log(10)
            result = np.maximum(result, logs)
        return result[()]

    def epsilon(
        self,
        delta: float | None = None,
        *,
        log10_delta: float | None = None,
        group: str | None = None,
        bound: str = "upper",
        unseen: bool = False,
    ) -> float:
        """The smallest eps with this delta for all rounds together, rounded up; for "lower" rounded down.

        ``delta`` in (0, 1), or instead of it ``log10_delta`` < 0; other parameters and errors as for
        `one_round`. math.inf where no eps up to 300 has this delta.
        """
        target = check_one("delta", check_log10_delta(delta, log10_delta))
        check_choice("bound", bound, BOUNDS)
        unseen = check_flag("unseen", unseen)
        if bound == "lower":
            eps = max(stage._epsilon_of_one(target, group, bound, unseen) for stage in self._stages)
            together = None if self._single else self._composed_lower(group, unseen)
            return max(eps, together.epsilon(target)) if together else eps
        if self.release == "sums":
            return min(self._summed(group, each).epsilon(target) for each in {False, unseen})
        if self._single:
            return self._epsilon_of_one(target, group, bound, unseen)
        found = float(self._composed(group, unseen).epsilon(target))
        return math.inf if math.isnan(found) else found

    def delta(self, eps: float, **arguments: Any) -> float:
        """A bound on delta: 10 to the power `log10_delta`, rounded up for "upper" and down for "lower"."""
        side = Side.LOWER if arguments.get("bound") == "lower" else Side.UPPER
        return float(delta_of_log10(self.log10_delta(eps, **arguments), side))

    def to_pld(
        self, *, group: str | None = None, unseen: bool = False, spacing: float = 1e-4
    ) -> "PrivacyLossDistribution":
        """All rounds together as a privacy loss distribution of dp-accounting, for every dataset.

        It composes with other mechanisms whose neighbours also differ in one user's value (``REPLACE_ONE``).
        ``group`` and ``unseen`` as for `one_round`; ``spacing`` of the losses. Needs the extra ``pld``.
        """
        check_installed("pld", "dp_accounting")
        from tightshuffle.bounds.pld import NEGLIGIBLE, of_upper_bound

        unseen = check_flag("unseen", unseen)
        if self.deletion:
            raise ValueError("deletion must be false for to_pld, whose neighbours differ in a user's value")
        parts = []
        for stage in self._stages:
            last = stage._epsilon_of_one(NEGLIGIBLE, group, "upper", unseen)
            curve = stage._upper_curve(group, unseen)
            last = min(last, curve.eps0, bounds.LARGEST_EPS)
            one_round = of_upper_bound(curve.log10_delta, last, spacing)
            parts.append(one_round.self_compose(stage.rounds))
        return functools.reduce(lambda one, other: one.compose(other), parts)

    def if_the_shuffler_fails(self, group: str | None = None) -> float:
        """The eps that is left for all rounds together, with delta = 0: the local budgets add up."""
        return sum_of_budgets((stage.rounds, stage.eps0(group)) for stage in self._stages)

    def expected_error(self, shares: npt.ArrayLike | None = None) -> float:
        """See `errors.expected_error`."""
        return errors.expected_error(self, shares)

    def gaussian_error(self, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None) -> float:
        """See `errors.gaussian_error`, with the rounds of `then`."""
        return errors.gaussian_error(self, eps, log10_delta, shares)

    def _epsilon_of_one(self, target: float, group: str | None, bound: str, unseen: bool) -> float:
        def log10_delta_at(eps: float) -> float:
            return float(self.one_round(eps, group=group, bound=bound, unseen=unseen))

        # delta of a mu-Gaussian at eps = 0 is 2 Phi(mu / 2) - 1, about mu / sqrt(2 pi).
        mu = min(10.0, math.sqrt(2 * math.pi) * 10 ** float(self.one_round(0.0, group=group)))
        largest = min(self.eps0(group), bounds.LARGEST_EPS)
        side = Side.UPPER if bound == "upper" else Side.LOWER
        found = epsilon_from_gaussian(log10_delta_at, target, largest, mu=mu, side=side)
        return math.inf if found >= bounds.LARGEST_EPS * (1 - 1e-6) else found

    @property
    def _stages(self) -> tuple["Collection", ...]:
        return (self, *self.then)

    @property
    def _single(self) -> bool:
        return self.rounds == 1 and not self.then

    def _upper_curve(self, group: str | None, unseen: bool = False) -> Curve:
        bound = functools.partial(self.one_round, group=group, unseen=unseen, width=_WIDTH_OF_ROUNDS)
        return Curve(bound, self.eps0(group))

    def _third_value_curve(self, group: str | None) -> Curve:
        bound = functools.partial(
            bounds.log10_third_value, self, group=self.group_named(group), width=_WIDTH_OF_ROUNDS
        )
        return Curve(bound, self.eps0(group))

    def _log10_delta_of_sums(self, eps: Floats, group: str | None, unseen: bool, *rounds: int) -> Floats:
        # What holds if it is known who takes part holds if it is not.
        logs = [self._summed(group, each, *rounds).log10_delta(eps) for each in {False, unseen}]
        return np.min(logs, axis=0)[()]

    def _summed(self, group: str | None, unseen: bool, rounds: int | None = None) -> sums.SummedRounds:
        """The bound of sums, of all rounds together, or of as many ``rounds`` of this collection alone."""
        key = (group, unseen, "sums", rounds)
        if key not in self._cache:
            stages = [(stage, stage.rounds) for stage in self._stages] if rounds is None else [(self, rounds)]
            self._cache[key] = sums.SummedRounds(stages, group, unseen)
        return self._cache[key]

    def _composed(self, group: str | None, unseen: bool) -> Rounds:
        key = (group, unseen)
        if key not in self._cache:
            self._cache[key] = Rounds(
                [(stage._upper_curve(group, unseen), stage.rounds) for stage in self._stages]
            )
        return self._cache[key]

    def _composed_lower(self, group: str | None, unseen: bool) -> LowerRounds | None:
        """The rounds where all other users hold a third value; None without a bound."""
        if (
            self.randomizer != "grr"
            or self.cells == 2
            or (unseen and self.group_named(group).participation < 1)
        ):
            return None
        if any(stage.dummies.probability_per_user_and_value for stage in self._stages):
            return None
        key = (group, "lower")
        if key not in self._cache:
            self._cache[key] = LowerRounds(
                [
                    (stage._third_value_curve(group), stage._upper_curve(group), stage.rounds)
                    for stage in self._stages
                ]
            )
        return self._cache[key]
