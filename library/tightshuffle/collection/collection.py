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
from tightshuffle.collection.data import Data, Group
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.numerics.powers import LN10, delta_of_log10
from tightshuffle.points import Neighbours
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
    k : int, from 2 to 10^7, or None
        The number of values. It is None for a randomizer that is read from a file, and may be None for
        "support:ALPHA:BETA".
    groups : list or tuple of `Group`
        One group or several, with different names. Their reports are shuffled together.
    randomizer : str
        A name that `randomizers.parse` takes. Users of other groups hide a user whatever their eps0 is for
        "grr", "subset:M", "hash:G" and "hadamard", else only at the same eps0.
    dummies : Dummies
        The reports that carry no user's value, for the randomizers just named.
    rounds : int, at least 1
        How many rounds there are, up to 10^5 with those of ``then``, by the same users with fresh randomness.
        Values may change. The bounds are for all rounds together, and for a user who takes part in every
        round.
    then : list or tuple of Collection
        More collections by the same users, after these rounds, with groups of the same names.
    release : str
        "reports" or "sums", as for `tightshuffle.delta`, the same in all rounds. "sums" is for "rappor" and
        "oue", where it lets users of all groups hide each other. The lower bound is then that of one count
        in one round.
    neighbours : str
        As for `tightshuffle.delta`, the same in all rounds.
    """

    then: tuple["Collection", ...] = ()
    # The bounds on all rounds that have been made, by what they depend on, such as the target user's group.
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
        """log10 of a bound on delta of one of these ``rounds``, without those that `then` has added.

        ``eps`` (points,) is an array or a number, and ``group`` the name of the group of the target user, by
        default the first. ``bound`` is "upper", for every dataset, or "lower", which some dataset reaches. A
        lower bound is -inf where none is known. ``unseen`` is True if nobody can know who takes part: the
        upper bound is then for a user who does so with the probability of the group. ``width`` is about the
        relative error that the computation adds to an upper bound. It is not used for sums only.
        ValueError names a bad argument.
        """
        check_choice("bound", bound, BOUNDS)
        unseen = check_flag("unseen", unseen)
        width = float(check_one("width", check_positive("width", width)))
        target_group = self.group_named(group)
        points = check_eps(eps).ravel()

        if bound == "lower":
            log10_bounds = self._log10_lower_of_round(points, target_group, unseen)
        elif self.release == "sums":
            log10_bounds = self._log10_delta_of_sums(points, group, unseen, rounds=1)
        else:
            log10_bounds = bounds.log10_upper(self, points, target_group, unseen, width)
        # [()] makes a number of an array without axes.
        return log10_bounds.reshape(np.shape(eps))[()]

    def log10_delta(
        self,
        eps: npt.ArrayLike,
        *,
        group: str | None = None,
        bound: str = "upper",
        unseen: bool = False,
    ) -> Floats:
        """log10 of a bound on delta of all rounds together, `then` included; it has the shape of ``eps``.

        Parameters and errors are those of `one_round`. With several rounds, the bound "lower" is delta of one
        dataset in all rounds, or the lower bound of a single round if that is larger.
        """
        unseen = check_flag("unseen", unseen)
        if bound == "upper" and self.release == "sums":
            return self._log10_delta_of_sums(check_eps(eps), group, unseen)
        if bound == "upper" and not self._is_one_round:
            return self._upper_bound_of_rounds(group, unseen).ln_delta(check_eps(eps)) / LN10

        # All rounds together leak at least as much as a single one: take the largest bound of a single round,
        # of this collection and of those in `then` (the stages). It is the result if there is only one round.
        log10_of_stages = [
            stage.one_round(eps, group=group, bound=bound, unseen=unseen) for stage in self._stages
        ]
        largest = np.max(log10_of_stages, axis=0)
        lower_rounds = self._lower_bound_of_rounds(group, unseen)
        if lower_rounds is not None:
            largest = np.maximum(largest, lower_rounds.ln_delta(check_eps(eps)) / LN10)
        return largest[()]

    def epsilon(
        self,
        delta: float | None = None,
        *,
        log10_delta: float | None = None,
        group: str | None = None,
        bound: str = "upper",
        unseen: bool = False,
    ) -> float:
        """The smallest eps at which the bound on delta of all rounds together is at most ``delta``.

        It is rounded up. With ``bound`` "lower" it is a lower bound on eps, rounded down. ``delta`` is in (0,
        1). Its log10 can be given instead, as ``log10_delta`` < 0. Other parameters and errors are those of
        `one_round`. The result is math.inf where no such eps is found. Of a single round without a law of
        dummies, eps up to 300 are looked at.
        """
        target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
        check_choice("bound", bound, BOUNDS)
        if bound == "lower":
            return self._lower_epsilon(target_log10_delta, group, unseen)

        if self.release == "sums":
            bounds_of_sums = self._bounds_of_sums(group, unseen)
            return min(
                summed_rounds.epsilon(target_log10_delta) for summed_rounds in bounds_of_sums
            )
        if self._is_one_round:
            return self._epsilon_of_round(target_log10_delta, group, Side.UPPER, unseen)
        eps = self._upper_bound_of_rounds(group, unseen).epsilon_of(target_log10_delta * LN10)
        return math.inf if math.isnan(eps) else eps

    def delta(self, eps: float, **arguments: Any) -> float:
        """A bound on delta: 10 to the power `log10_delta`, rounded up for "upper" and down for "lower"."""
        side = Side.LOWER if arguments.get("bound") == "lower" else Side.UPPER
        return float(delta_of_log10(self.log10_delta(eps, **arguments), side))

    def to_pld(
        self, *, group: str | None = None, unseen: bool = False, spacing: float = 1e-4
    ) -> "PrivacyLossDistribution":
        """A privacy loss distribution of dp-accounting that dominates all rounds together, for every dataset.

        It composes with other mechanisms whose neighbours also differ in one user's value (``REPLACE_ONE``).
        ``group`` and ``unseen`` are as for `one_round`. ``spacing`` is the distance of neighbouring losses,
        in nats. This needs the extra ``pld``.

        dp-accounting composes the rounds, and rounds as `tightshuffle.to_pld` says. So do not use it for
        delta below 1e-14 times the number of rounds; `epsilon` bounds its rounding.
        """
        check_installed("pld", "dp_accounting")
        from tightshuffle.bounds.pld import LN_NEGLIGIBLE, pessimistic_pld

        unseen = check_flag("unseen", unseen)
        if self.neighbours is not Neighbours.REPLACEMENT:
            raise ValueError("neighbours must be 'replacement' for to_pld; got 'deletion'")

        pld_of_stages = []
        for stage in self._stages:
            # The losses end at an eps from which on delta is negligible, or does not change.
            curve = stage._upper_curve(group, unseen)
            negligible_from = stage._epsilon_of_round(
                LN_NEGLIGIBLE / LN10, group, Side.UPPER, unseen
            )
            last = min(negligible_from, curve.eps0, bounds.LARGEST_EPS)
            pld_of_round = pessimistic_pld(curve.ln_delta, last, spacing)
            pld_of_stages.append(pld_of_round.self_compose(stage.rounds))

        composed = pld_of_stages[0]
        for pld in pld_of_stages[1:]:
            composed = composed.compose(pld)
        return composed

    def if_the_shuffler_fails(self, group: str | None = None) -> float:
        """The eps that is left for all rounds together, with delta = 0: the local budgets add up."""
        return sum_of_budgets((stage.rounds, stage.eps0(group)) for stage in self._stages)

    def expected_error(self, shares: npt.ArrayLike | None = None) -> float:
        """See `errors.expected_error`."""
        return errors.expected_error(self, shares)

    def gaussian_error(
        self, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None
    ) -> float:
        """See `errors.gaussian_error`, with the rounds of `then`."""
        return errors.gaussian_error(self, eps, log10_delta, shares)

    @property
    def _stages(self) -> tuple["Collection", ...]:
        """This collection and those of ``then``, each with its own ``rounds``."""
        return (self, *self.then)

    @property
    def _is_one_round(self) -> bool:
        """Whether all stages together are a single round."""
        return self.rounds == 1 and not self.then

    def _log10_lower_of_round(self, eps: Floats, group: Group, unseen: bool) -> Floats:
        """log10 of a lower bound on delta of one round at ``eps``, (points,); -inf where none is known."""
        if unseen and group.participation < 1:
            return np.full(eps.shape, -np.inf)
        if self.release == "sums":
            return sums.log10_lower(self, eps, group)
        return bounds.log10_lower(self, eps, group)

    def _epsilon_of_round(
        self, target_log10_delta: float, group: str | None, side: Side, unseen: bool
    ) -> float:
        """The eps at which the ``side``'s bound on delta of one round is 10^``target_log10_delta``.

        It is at most eps0, and math.inf where no eps up to `bounds.LARGEST_EPS` reaches the target. The
        search starts from a Gaussian mechanism with about the same delta at eps = 0.
        """
        if self.dummies.parsed_law is not None:
            return self._epsilon_of_law(target_log10_delta, group, side, unseen)

        def ln_delta_at(eps: float) -> float:
            return float(self.one_round(eps, group=group, bound=side.value, unseen=unseen)) * LN10

        # delta of a mu-Gaussian mechanism at eps = 0 is 2 Phi(mu / 2) - 1, which is about mu / sqrt(2 pi). mu
        # is its sensitivity over its standard deviation, at most 10 here.
        delta_at_zero = 10 ** float(self.one_round(0.0, group=group))
        mu = min(10.0, math.sqrt(2 * math.pi) * delta_at_zero)
        largest = min(self.eps0(group), bounds.LARGEST_EPS)
        target_ln_delta = target_log10_delta * LN10
        eps = epsilon_from_gaussian(ln_delta_at, target_ln_delta, largest, mu=mu, side=side)
        return math.inf if eps >= bounds.LARGEST_EPS * (1 - 1e-6) else eps

    def _epsilon_of_law(
        self, target_log10_delta: float, group: str | None, side: Side, unseen: bool
    ) -> float:
        """`_epsilon_of_round` where dummies have a law; it looks at every eps."""
        participation = self.group_named(group).participation if unseen else 1.0
        if side is Side.LOWER and participation < 1:
            return 0.0  # no lower bound is known
        # An unseen user's delta is at most that of a seen one times the probability to take part.
        log10_of_seen = target_log10_delta - math.log10(participation)
        if log10_of_seen >= 0:
            return 0.0
        law = self.dummies.parsed_law
        assert law is not None
        return bounds.bound_of_law(law, side).epsilon(log10_delta=log10_of_seen)

    def _lower_epsilon(self, target_log10_delta: float, group: str | None, unseen: bool) -> float:
        """A lower bound on the eps of all rounds together at which delta is 10^``target_log10_delta``.

        It is the largest of lower bounds on the eps of one round of each stage (a stage is this collection or
        one of ``then``) and, where one is known, of all rounds together.
        """
        eps = max(
            stage._epsilon_of_round(target_log10_delta, group, Side.LOWER, unseen)
            for stage in self._stages
        )
        lower_rounds = self._lower_bound_of_rounds(group, unseen)
        if lower_rounds is None:
            return eps
        eps_of_rounds = lower_rounds.epsilon_of(target_log10_delta * LN10)
        return math.inf if math.isnan(eps_of_rounds) else max(eps, eps_of_rounds)

    def _upper_curve(self, group: str | None, unseen: bool = False) -> Curve:
        """The upper bound on delta of one round, as a function of eps."""
        bound = functools.partial(
            self.one_round, group=group, unseen=unseen, width=_WIDTH_OF_ROUNDS
        )
        return Curve(lambda eps: bound(eps) * LN10, self.eps0(group))

    def _third_value_curve(self, group: str | None) -> Curve:
        """A lower bound on delta of one round where all others hold a third value, as a function of eps."""
        target_group = self.group_named(group)
        bound = functools.partial(
            bounds.log10_lower_of_third_value, self, group=target_group, width=_WIDTH_OF_ROUNDS
        )
        return Curve(lambda eps: bound(eps) * LN10, self.eps0(group))

    def _log10_delta_of_sums(
        self, eps: Floats, group: str | None, unseen: bool, rounds: int | None = None
    ) -> Floats:
        """log10 of an upper bound on delta where only sums are released, in the shape of ``eps``.

        It is for all rounds together, or for so many ``rounds`` of this collection alone.
        """
        bounds_of_sums = self._bounds_of_sums(group, unseen, rounds)
        return np.min([bound.log10_delta(eps) for bound in bounds_of_sums], axis=0)[()]

    def _bounds_of_sums(
        self, group: str | None, unseen: bool, rounds: int | None = None
    ) -> list[sums.SummedRounds]:
        """Upper bounds on delta where only sums are released; each holds, so the smallest counts.

        They are for all rounds together, or for so many ``rounds`` of this collection alone. One is for a
        user who takes part in every round. If ``unseen`` (nobody can know who takes part), it holds, too, and
        another one is for a user who takes part by chance. Bounds are kept in ``self._cache``.
        """
        stages = [(stage, stage.rounds) for stage in self._stages]
        if rounds is not None:
            stages = [(self, rounds)]
        bounds_of_sums = []
        for is_unseen in {False, unseen}:
            key = (group, is_unseen, "sums", rounds)
            if key not in self._cache:
                self._cache[key] = sums.SummedRounds(stages, group, is_unseen)
            bounds_of_sums.append(self._cache[key])
        return bounds_of_sums

    def _bound_of_law(self, group: str | None, unseen: bool, side: Side) -> HiddenByDummies | None:
        """The ``side``'s bound on delta of all rounds, as a function of eps, if dummies have a law.

        The law is that of how many dummies each value gets. All users send their values as they are. The
        result is None without a law. It is also None if ``then`` adds collections, or if the target user
        takes part by chance and nobody can know it.
        """
        law = self.dummies.parsed_law
        if law is None or self.then or (unseen and self.group_named(group).participation < 1):
            return None
        return bounds.bound_of_law(law, side, self.rounds)

    def _upper_bound_of_rounds(self, group: str | None, unseen: bool) -> Rounds | HiddenByDummies:
        """The upper bound on delta of all rounds together, as a function of eps; it is made once and kept.

        If a law says how many dummies each value gets, it is the bound of that law. Else it composes the
        upper bounds on delta of the single rounds.
        """
        bound_of_law = self._bound_of_law(group, unseen, Side.UPPER)
        if bound_of_law is not None:
            return bound_of_law
        key = (group, unseen, "upper")
        if key not in self._cache:
            curves = [(stage._upper_curve(group, unseen), stage.rounds) for stage in self._stages]
            self._cache[key] = Rounds(curves)
        return self._cache[key]

    def _lower_bound_of_rounds(
        self, group: str | None, unseen: bool
    ) -> LowerRounds | HiddenByDummies | None:
        """A lower bound on delta of all rounds together, as a function of eps; None where none is known.

        It holds for one dataset. For k-RR with k >= 3 all other users hold a third value in every round.
        With a law of dummies it is the bound of that law. It is None for a single round, because `one_round`
        has a lower bound for it. What is made is kept.
        """
        if self._is_one_round:
            return None
        if self.dummies.law is not None:
            return self._bound_of_law(group, unseen, Side.LOWER)
        if self.randomizer != "grr" or self.cells == 2:
            return None
        if unseen and self.group_named(group).participation < 1:
            return None
        if any(stage.dummies.probability_per_user_and_value for stage in self._stages):
            return None

        key = (group, "lower")
        if key not in self._cache:
            curves = []
            for stage in self._stages:
                lower, upper = stage._third_value_curve(group), stage._upper_curve(group)
                curves.append((lower, upper, stage.rounds))
            self._cache[key] = LowerRounds(curves)
        return self._cache[key]
