"""A collection with its bounds for one round and for all rounds, and with its errors."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

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
from tightshuffle.bounds.rounds import sum_of_budgets
from tightshuffle.collection import errors
from tightshuffle.collection.all_rounds import AllRounds
from tightshuffle.collection.one_round import OneRound
from tightshuffle.collection.setup import CollectionSetup
from tightshuffle.numerics.powers import LN10, delta_of_log10
from tightshuffle.numerics.side import Side
from tightshuffle.points import Neighbours

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

BOUNDS = ("upper", "lower")


@dataclass(frozen=True)
class Collection(CollectionSetup):
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
    # The bounds on all rounds that have been made, by the target user's group and whether it is unseen.
    _bounds: dict[tuple[str, bool], AllRounds] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

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
        width = float(check_one("width", check_positive("width", width)))
        of_round = OneRound(self, self.group_named(group), check_flag("unseen", unseen))
        checked_eps = check_eps(eps)
        points = checked_eps.ravel()
        if bound == "lower":
            ln_bounds = of_round.ln_lower(points)
        else:
            ln_bounds = of_round.ln_upper(points, width)
        # [()] makes a number of an array without axes.
        return (ln_bounds / LN10).reshape(checked_eps.shape)[()]

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
        check_choice("bound", bound, BOUNDS)
        bounds = self._bounds_of_all_rounds(group, unseen)
        checked_eps = check_eps(eps)
        points = checked_eps.ravel()
        ln_bounds = bounds.ln_lower(points) if bound == "lower" else bounds.ln_upper(points)
        return (ln_bounds / LN10).reshape(checked_eps.shape)[()]

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
        target_ln_delta = LN10 * check_one("delta", check_log10_delta(delta, log10_delta))
        check_choice("bound", bound, BOUNDS)
        bounds = self._bounds_of_all_rounds(group, unseen)
        if bound == "lower":
            return bounds.epsilon_of_lower(target_ln_delta)
        return bounds.epsilon_of_upper(target_ln_delta)

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
        if self.neighbours != Neighbours.REPLACEMENT:
            raise ValueError("neighbours must be 'replacement' for to_pld; got 'deletion'")
        return self._bounds_of_all_rounds(group, unseen).dominating_pld(spacing)

    def if_the_shuffler_fails(self, group: str | None = None) -> float:
        """The eps that is left for all rounds together, with delta = 0: the local budgets add up."""
        return sum_of_budgets((stage.rounds, stage.eps0(group)) for stage in self.stages)

    def expected_error(self, shares: npt.ArrayLike | None = None) -> float:
        """See `errors.expected_error`."""
        return errors.expected_error(self, shares)

    def gaussian_error(
        self, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None
    ) -> float:
        """See `errors.gaussian_error`, with the rounds of `then`."""
        return errors.gaussian_error(self, eps, log10_delta, shares)

    def _bounds_of_all_rounds(self, group: str | None, unseen: bool) -> AllRounds:
        """The bounds for a target user of the group of this name; they are made once and kept."""
        target_group = self.group_named(group)
        key = (target_group.name, check_flag("unseen", unseen))
        if key not in self._bounds:
            seen = self._bounds_of_all_rounds(group, unseen=False) if unseen else None
            self._bounds[key] = AllRounds(self, target_group, seen)
        return self._bounds[key]
