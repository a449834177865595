"""Bounds for a real collection: groups with different eps0, partial participation, dummies, rounds.

>>> from tightshuffle import Collection, Dummies, Group
>>> app = Collection(
...     k=100,
...     groups=(Group("old app", 60_000, eps0=2.0), Group("new app", 40_000, eps0=4.0, participation=0.3)),
...     dummies=Dummies(poisson_per_value=5.0),
...     rounds=4,
... )
>>> app.epsilon(1e-6, group="old app")  # for every dataset, all rounds together

The bounds protect the user in question, who holds x0 or x1; all other users are the remaining users.

The upper bound. The report of a remaining user is, with some probability, drawn from one distribution u that
does not depend on the user's value. A dummy is drawn from u, too. For k-RR u is uniform for every eps0, and
the probability is

    k q = k / (e^eps0 + k - 1)

(Balle, Bell, Gascon and Nissim 2019 call k q u the blanket). Reveal to the adversary all other reports of
remaining users. What is left is the user's report among a random number of reports from u (`bounds.cover`).

The lower bound is delta of a real dataset: all remaining users hold the same third value (neither x0 nor x1),
or uniformly random values. docs/collections.md has the proof of the upper bound.

This is about users who each send a report, not about DP-SGD, which shuffles batches of training data.
"""

import functools
import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_choice,
    check_colluding,
    check_eps,
    check_log10_delta,
    check_number,
    check_one,
    check_whole,
)
from tightshuffle.bounds.binary import ln_delta_among, ln_delta_of_some
from tightshuffle.bounds.cover import Cover, ln_delta
from tightshuffle.bounds.inverse import epsilon_from_gaussian
from tightshuffle.bounds.rounds import Curve, LowerRounds, Rounds, sum_of_budgets
from tightshuffle.bounds.third_value import ln_delta_of_third_value
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.numerics.powers import delta_of_log10
from tightshuffle.randomizers import BY_KEY, Randomizer, parse
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.krr import lie_probability
from tightshuffle.setting import (
    LARGEST_COMPOSITIONS,
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
)

BOUNDS = ("upper", "lower")
NESTED = "a collection under then must not have then itself; give all of them in one list"
_BELOW_ONE = 1 - 2.0**-53
_WIDTH_OF_ROUNDS = 1e-3  # of each round's delta: it makes eps about 0.01 % larger
_RARE = 4.0  # log of delta over the probability of too few reports, if their number is random
_LEAST_GAIN = 1e-140
_LARGEST_EPS = 300.0  # that is looked for where reports are the values themselves


@dataclass(frozen=True)
class Group:
    """Users with one local budget.

    Parameters
    ----------
    name : of the group
    users : how many
    eps0 : the local budget of a report, up to 50, or math.inf if the report is the value itself. None for a
        randomizer that is read from a file, which has its own.
    participation : the probability that a user takes part in a round, independently of everybody, of the
        value and of other rounds. If a fixed number takes part, give that number as ``users``.
    colluding : how many of the users show their reports to the adversary, or send none; below 1 it is a share
    """

    name: str
    users: int
    eps0: float | None = None
    participation: float = 1.0
    colluding: float = 0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise ValueError(
                f"name of a group must be text without control characters; got {reprlib.repr(self.name)}"
            )
        where = f"group {self.name!r}: "
        try:
            users = check_whole("users", self.users, 1, int(LARGEST_N_OF_UPPER))
            check_one("colluding", check_colluding(self.colluding, users))
        except ValueError as error:
            raise ValueError(where + str(error)) from None
        check_number(
            f"{where}participation", self.participation, "a probability above 0", lambda x: 0 < x <= 1
        )
        if self.eps0 is not None:
            check_number(
                f"{where}eps0",
                self.eps0,
                f"above 0 and at most {LARGEST_EPS0_OF_UPPER:g}, or inf if reports are the values themselves",
                lambda x: 0 < x <= LARGEST_EPS0_OF_UPPER or x == math.inf,
            )
        object.__setattr__(self, "users", users)

    @property
    def hidden(self) -> int:
        """The number of users who do not collude."""
        return self.users - int(check_one("colluding", check_colluding(self.colluding, self.users)))


@dataclass(frozen=True)
class Dummies:
    """Reports that carry no user's value: each is drawn from u, for k-RR a uniform value.

    Parameters
    ----------
    number : how many the shuffler adds in all
    poisson_per_value : the shuffler adds a Poisson number of every value, with this mean
    poisson_per_user_and_value : every user's device adds a Poisson number of every value, with this mean,
        even if the user does not take part
    probability_per_user_and_value : every user's device adds one report of each value with this probability,
        independently. The bound counts only devices that send exactly one.
    """

    number: int = 0
    poisson_per_value: float = 0.0
    poisson_per_user_and_value: float = 0.0
    probability_per_user_and_value: float = 0.0

    def __post_init__(self) -> None:
        check_whole("dummies: number", self.number, 0, int(LARGEST_N_OF_UPPER))
        for name in ("poisson_per_value", "poisson_per_user_and_value", "probability_per_user_and_value"):
            most = 1.0 if name.startswith("probability") else float(LARGEST_N_OF_UPPER)
            wanted = f"from 0 to {most:g}"
            check_number(f"dummies: {name}", getattr(self, name), wanted, lambda x: 0 <= x <= most)  # noqa: B023

    def variance(self, users: float, k: int, support: float) -> float:
        """Variance of how many dummies support one value: each does with probability ``support``."""
        poisson = k * (self.poisson_per_value + users * self.poisson_per_user_and_value)
        chance = self.probability_per_user_and_value
        return poisson * support + self.number * support * (1 - support) + users * chance * (1 - chance)

    def __bool__(self) -> bool:
        return self != Dummies()


@dataclass(frozen=True)
class Collection:
    """A collection of reports, with bounds on its eps and delta.

    Parameters
    ----------
    k : number of values, up to 10^7; None for a randomizer that is read from a file
    groups : one `Group` or several, with different names. Their reports are shuffled together.
    randomizer : a name that `randomizers.parse` takes. Users of other groups hide a user if their reports
        have the same u: for "grr", "subset:M", "hash:G" and "hadamard" whatever their eps0 is, else only at
        the same eps0.
    dummies : see `Dummies`; for the randomizers just named
    rounds : how many, up to 10^5 with those of ``then``, by the same users with fresh randomness; values may
        change. The bounds are for all rounds together, and for a user who takes part in every round.
    then : further collections by the same users, after these rounds; their groups have the same names, and
        they have no ``then`` themselves

    Raises
    ------
    ValueError naming the group and key that is wrong.
    """

    k: int | None
    groups: tuple[Group, ...]
    randomizer: str = "grr"
    dummies: Dummies = field(default_factory=Dummies)
    rounds: int = 1
    then: tuple["Collection", ...] = ()
    # Of each group; None if its reports are the values. A file is read once, here: it may change later.
    _randomizers: dict[str, Randomizer | None] = field(init=False, repr=False, hash=False)
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, kind in (("groups", Group), ("then", Collection)):
            object.__setattr__(self, name, _each(name, getattr(self, name), kind))
        if not isinstance(self.randomizer, str):
            raise ValueError(f"randomizer must be a name, such as 'grr'; got {reprlib.repr(self.randomizer)}")
        if not isinstance(self.dummies, Dummies):
            raise ValueError(f"dummies must be Dummies(...); got {reprlib.repr(self.dummies)}")
        check_whole("rounds", self.rounds, 1)
        rounds = sum(stage.rounds for stage in (self, *self.then))
        if rounds > LARGEST_COMPOSITIONS:
            raise ValueError(f"rounds must be at most {LARGEST_COMPOSITIONS} in all; got {rounds}")
        names = [group.name for group in self.groups]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"groups must be at least one, with different names; got {', '.join(names)}")
        if self.k is not None:
            object.__setattr__(self, "k", check_whole("k", self.k, 2, LARGEST_K_OF_COLLECTION))
        object.__setattr__(self, "_randomizers", self._made())
        if sum(group.users for group in self.groups) > LARGEST_N_OF_UPPER:
            raise ValueError(f"groups must have at most {LARGEST_N_OF_UPPER:.0e} users in all")
        if self.dummies.probability_per_user_and_value and self.randomizer != "grr":
            raise ValueError(
                f"dummies: probability_per_user_and_value is for randomizer 'grr'; got {self.randomizer!r}"
            )
        if self.dummies and not getattr(BY_KEY.get(self._key), "fixed_background", False):
            raise ValueError(
                f"dummies must not be given for randomizer {self.randomizer!r}: what is one is not clear"
            )
        for other in self.then:
            if other.then:
                raise ValueError(f"then: {NESTED}")
            if [group.name for group in other.groups] != names:
                raise ValueError(f"then: groups must be named {', '.join(names)}, in this order")

    # --- one round ---------------------------------------------------------------------------------------

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

        Parameters
        ----------
        eps : (points,) or a number
        group : the name of the group of the user in question; the first by default
        bound : "upper", for every dataset; or "lower", which some dataset reaches, -inf where none is known
        unseen : False for a user who takes part, as the adversary may know. True if nobody can know who
            takes part: the bound is then for a user who does so with the probability of the group. Upper
            bounds only.
        width : the largest relative error that the computation adds to an upper bound, mostly

        Raises
        ------
        ValueError naming the argument that is bad.
        """
        check_choice("bound", bound, BOUNDS)
        chosen = self._group(group)
        points = self._counted(check_eps(eps).ravel(), chosen)
        result = np.full(points.shape, -np.inf)
        asked = np.flatnonzero(points < self.eps0(chosen.name))
        if asked.size and bound == "upper":
            logs = self._upper(points[asked], chosen, width)
            if unseen and chosen.participation < 1:
                logs = np.minimum(
                    logs + math.log(chosen.participation), self._unseen(points[asked], chosen, width)
                )
            result[asked] = logs
        elif asked.size and not (unseen and chosen.participation < 1):
            result[asked] = self._lower(points[asked], chosen)
        return np.minimum(result / math.log(10), 0.0).reshape(np.shape(eps))[()]

    def _counted(self, eps: Floats, group: Group) -> Floats:
        """``eps``, or 300 above it for a report of the value itself: delta does not change any more.

        A report x1 rules x0 out where e^eps exceeds the number of reports, and a far larger e^eps overflows.
        """
        return np.minimum(eps, _LARGEST_EPS) if group.eps0 == math.inf else eps

    def _upper(self, eps: Floats, group: Group, width: float) -> Floats:
        if self.randomizer == "grr":
            gains = self._uniform_gains(eps, group)
            masses = np.array([1, 1, self._k - 2]) / self._k
            distribution = outwards(gains, masses, True, _ulps(eps, group))
            result = ln_delta(*distribution, self._cover(group), round_up=True, width=width)
            return np.minimum(result, self._counts(eps, group, result)) if self._k == 2 else result
        return self._of_references(eps, group, ["blanket"], self._cover(group), width)

    def _counts(self, eps: Floats, group: Group, known: Floats) -> Floats:
        """An upper bound for k = 2, by the count of x0: `bounds.binary` has the proof.

        ``known`` (points,): natural log of another upper bound, for how rare too few reports have to be.
        """
        dummies = Cover.of(self._dummies(1.0, safe=True), self._poisson)
        result = np.full(eps.shape, np.inf)
        for budget in {_finite(other) for other in self.groups} - {math.inf}:
            most = float(lie_probability(budget, 2))  # q(e)
            users = Cover.of(
                [
                    (self._remaining(other, group), other.participation * min(self._lie(other) / most, 1.0))
                    for other in self.groups
                ]
            )
            fixed = bool(np.all(np.append(users.shares, dummies.shares) == 1))
            users, dummies = users.rounded(fewer=True), dummies.rounded(fewer=True)
            for place, e in enumerate(eps.tolist()):
                rare = -math.inf if fixed else min(float(known[place]), 0.0) - _RARE
                for _ in range(1 if fixed else 2):  # too few reports are to be rare beside this bound, too
                    hidden = users.least(rare), dummies.least(rare)
                    high = ln_delta_among(e, _finite(group), hidden[0], budget, hidden[1])[1]
                    high = float(np.logaddexp(high, rare + math.log(2)))
                    result[place] = min(result[place], high)
                    rare = min(rare, high - _RARE)
        return result

    def _unseen(self, eps: Floats, group: Group, width: float) -> Floats:
        """`_upper` if "no report" counts as one more report, which all users have in common.

        The bound needs a distribution w on the k values and "no report". Each remaining user's report is
        drawn from w with some probability. A dummy is never "no report", so dummies do not count.
        """
        if self.randomizer != "grr":
            return np.full(eps.shape, np.inf)
        blankets = [0.0 if own is None else own.gamma for own in map(self._own, self.groups)]
        users = np.array([self._remaining(other, group) for other in self.groups], float)
        taking = np.array([other.participation for other in self.groups])
        silent = float(users @ (1 - taking))
        hiding = float(users @ (taking * blankets))
        if silent == 0 or hiding == 0:
            return np.full(eps.shape, np.inf)
        v, rest = silent / (silent + hiding), hiding / (silent + hiding)
        shares = np.minimum((1 - taking) / v, taking * blankets / rest)
        gains = self._uniform_gains(eps, group) * group.participation / rest
        void = -(1 - group.participation) * np.expm1(eps) / v
        masses = np.append(np.array([1, 1, self._k - 2]) / self._k * rest, v)
        if gains.max() < _LEAST_GAIN:  # so rare a report would count as none
            return np.full(eps.shape, np.inf)
        distribution = outwards(np.column_stack([gains, void]), masses, True, _ulps(eps, group))
        parts = list(zip(users.tolist(), np.minimum(shares, 1.0).tolist(), strict=True))
        return ln_delta(*distribution, Cover.of(parts), round_up=True, width=width)

    def _lower(self, eps: Floats, group: Group) -> Floats:
        taking = [(float(self._remaining(other, group)), other.participation) for other in self.groups]
        if self.dummies.probability_per_user_and_value:  # they are not drawn one by one from u
            return np.full(eps.shape, -np.inf)
        if self.randomizer != "grr":
            if self.dummies or len({other.eps0 for other in self.groups}) > 1:
                return np.full(eps.shape, -np.inf)
            own = self._own(group)
            assert own is not None
            return self._of_references(eps, group, own.references(), Cover.of(taking))
        # The remaining users' values are drawn at random: their reports are uniform, whatever eps0 is.
        gains = self._uniform_gains(eps, group)
        masses = np.array([1, 1, self._k - 2]) / self._k
        cover = Cover.of(taking + self._dummies(1.0), self._poisson)
        result = ln_delta(*outwards(gains, masses, False, _ulps(eps, group)), cover, round_up=False)
        if self._k > 2:
            return np.maximum(result, self._third_value(eps, gains, group))
        return np.maximum(result, self._count_of_some(eps, group))

    def _count_of_some(self, eps: Floats, group: Group) -> Floats:
        """A lower bound for k = 2 and a fixed number of dummies: delta of some datasets; -inf without one."""
        own, sent = _finite(group), self.dummies.number
        hiding = [(self._remaining(other, group), other) for other in self.groups if other.eps0 != math.inf]
        budgets = [(users, _finite(other)) for users, other in hiding]
        if self._poisson or not hiding:
            return np.full(eps.shape, -np.inf)
        if any(other.participation < 1 for other in self.groups):
            if len(self.groups) > 1:
                return np.full(eps.shape, -np.inf)
            # All others hold one value: the number of reports says all about who takes part. In half of all
            # cases it is at most its mean, rounded up, and delta falls with it.
            users, other = hiding[0]
            most = [(math.ceil(users * other.participation * (1 + 1e-12)), own)]
            logs = [ln_delta_of_some(e, own, most, sent, (0.0, 1.0)) - math.log(2) for e in eps.tolist()]
        elif len({budget for _, budget in budgets}) == 1:
            users = sum(number for number, _ in budgets)
            logs = [ln_delta_among(e, own, users, budgets[0][1], sent)[0] for e in eps.tolist()]
        else:
            logs = [ln_delta_of_some(e, own, budgets, sent) for e in eps.tolist()]
        return np.array(logs)

    def _third_value(self, eps: Floats, gains: Floats, group: Group, width: float = 1e-4) -> Floats:
        """`ln_delta_of_third_value`: all remaining users hold a third value."""
        kept = 1 - 1 / self._k
        other_values = [
            (self._remaining(other, group), other.participation * (self._k - 1) * self._lie(other))
            for other in self.groups
        ]
        cover = Cover.of(other_values + self._dummies(kept), self._poisson * kept)
        return ln_delta_of_third_value(
            eps, gains, self._lie(group), self._k, cover, ulps=_ulps(eps, group), width=width
        )

    def _of_references(
        self, eps: Floats, group: Group, references: Sequence[str], cover: Cover, width: float = 1e-4
    ) -> Floats:
        """The largest `ln_delta` over pairs and references; the cover's reports are from the reference."""
        own = self._own(group)
        assert own is not None
        round_up = list(references) == ["blanket"]
        result = np.full(eps.shape, -np.inf)
        for place, e in enumerate(eps.tolist()):
            for values, masses in own.distributions(e, references):
                mass = masses.sum(axis=1, keepdims=True) if round_up else 1.0
                distribution = outwards(
                    values * mass, masses / mass, round_up, 32 + 2 * (masses.shape[1] + e + own.eps0)
                )
                logs = ln_delta(*distribution, cover, round_up=round_up, width=width)
                result[place] = max(result[place], logs.max())
        return result

    def _cover(self, group: Group) -> Cover:
        """The reports from the blanket of a report of this group, which hide that report."""
        own = self._own(group)
        parts = [
            (self._remaining(other, group), other.participation * _shared(self._own(other), own))
            for other in self.groups
        ]
        kept = 1.0 if own is None or not isinstance(own, SupportRandomizer) else own.dummy_share
        return Cover.of(parts + self._dummies(kept, safe=True), self._poisson * kept)

    def _remaining(self, other: Group, group: Group) -> int:
        return max(other.hidden - (other.name == group.name), 0)

    def _dummies(self, kept: float, safe: bool = False) -> list[tuple[float, float]]:
        """The binomial numbers of dummies, of which a share counts; ``safe``: at most so many."""
        chance = self.dummies.probability_per_user_and_value
        if safe:  # a device's reports are independent uniform ones only if there is one of them
            return [
                (self.dummies.number, kept),
                (self._devices, kept * self._k * chance * (1 - chance) ** (self._k - 1)),
            ]
        return [(self.dummies.number, kept)]

    @property
    def _poisson(self) -> float:
        sent = self.dummies
        return self._k * (sent.poisson_per_value + self._devices * sent.poisson_per_user_and_value)

    @property
    def _devices(self) -> int:
        return sum(group.hidden for group in self.groups)

    def _lie(self, group: Group) -> float:
        """q of k-RR."""
        return 0.0 if group.eps0 == math.inf else float(lie_probability(_finite(group), self._k))

    def _uniform_gains(self, eps: Floats, group: Group) -> Floats:
        """(R_x0 - e^eps R_x1) / u of k-RR at x0, x1 and another value, u uniform; (points, 3)."""
        if group.eps0 == math.inf:
            return self._k * np.array([np.ones_like(eps), -np.exp(eps), np.zeros_like(eps)]).T
        budget, growth = _finite(group), np.expm1(eps)
        own = (1 + growth) * np.expm1(budget - eps)
        return self._k * self._lie(group) * np.array([own, -np.expm1(eps + budget), -growth]).T

    # --- all rounds --------------------------------------------------------------------------------------

    def log10_delta(
        self, eps: npt.ArrayLike, *, group: str | None = None, bound: str = "upper", unseen: bool = False
    ) -> Floats:
        """log10 of a bound on delta of all rounds together. Parameters and errors as for `one_round`.

        With several rounds "lower" is that of one dataset in all rounds, or of a single round if that is
        larger.
        """
        arguments: dict[str, Any] = {"group": group, "bound": bound, "unseen": unseen}
        stages = (self, *self.then)
        single = self.rounds == 1 and not self.then
        if bound == "upper" and not single:
            return self._composed(group, unseen).log10_delta(check_eps(eps))
        result = np.max([stage.one_round(eps, **arguments) for stage in stages], axis=0)
        if not single and (together := self._composed_lower(group, unseen)):
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
        single = self.rounds == 1 and not self.then
        if bound == "lower":
            eps = max(stage._epsilon_of_one(target, group, bound, unseen) for stage in (self, *self.then))
            together = None if single else self._composed_lower(group, unseen)
            return max(eps, together.epsilon(target)) if together else eps
        if single:
            return self._epsilon_of_one(target, group, bound, unseen)
        found = float(self._composed(group, unseen).epsilon(target))
        return math.inf if math.isnan(found) else found

    def delta(self, eps: float, **arguments: Any) -> float:
        """A bound on delta: 10 to the power `log10_delta`, rounded up for "upper" and down for "lower"."""
        side = -1 if arguments.get("bound") == "lower" else 1
        return float(delta_of_log10(self.log10_delta(eps, **arguments), side))

    def if_the_shuffler_fails(self, group: str | None = None) -> float:
        """The eps that is left for all rounds together, with delta = 0: the local budgets add up."""
        return sum_of_budgets((stage.rounds, stage.eps0(group)) for stage in (self, *self.then))

    def _epsilon_of_one(self, target: float, group: str | None, bound: str, unseen: bool) -> float:
        largest = min(self.eps0(group), _LARGEST_EPS)

        def log10_delta_at(eps: float) -> float:
            return float(self.one_round(eps, group=group, bound=bound, unseen=unseen))

        found = epsilon_from_gaussian(
            log10_delta_at, target, largest, mu=self._mu(group), round_up=bound == "upper"
        )
        return math.inf if found >= _LARGEST_EPS * (1 - 1e-6) else found

    def _composed(self, group: str | None, unseen: bool) -> Rounds:
        key = (group, unseen)
        if key not in self._cache:
            stages = [
                (
                    Curve(
                        functools.partial(
                            stage.one_round, group=group, unseen=unseen, width=_WIDTH_OF_ROUNDS
                        ),
                        stage.eps0(group),
                    ),
                    stage.rounds,
                )
                for stage in (self, *self.then)
            ]
            self._cache[key] = Rounds(stages)
        return self._cache[key]

    def _composed_lower(self, group: str | None, unseen: bool) -> LowerRounds | None:
        """The rounds where all remaining users hold a third value; None without a bound."""
        chosen = self._group(group)
        if self.randomizer != "grr" or self._k == 2 or (unseen and chosen.participation < 1):
            return None
        if any(stage.dummies.probability_per_user_and_value for stage in (self, *self.then)):
            return None
        key = (group, "lower")
        if key not in self._cache:
            self._cache[key] = LowerRounds(
                [
                    (
                        Curve(functools.partial(stage._of_third_value, group=group), stage.eps0(group)),
                        Curve(
                            functools.partial(stage.one_round, group=group, width=_WIDTH_OF_ROUNDS),
                            stage.eps0(group),
                        ),
                        stage.rounds,
                    )
                    for stage in (self, *self.then)
                ]
            )
        return self._cache[key]

    def _of_third_value(self, eps: Floats, group: str | None) -> Floats:
        """log10 of a lower bound on delta of this dataset."""
        chosen = self._group(group)
        eps = self._counted(eps, chosen)
        result = np.full(eps.shape, -np.inf)
        asked = eps < self.eps0(group)
        gains = self._uniform_gains(eps[asked], chosen)
        result[asked] = self._third_value(eps[asked], gains, chosen, _WIDTH_OF_ROUNDS)
        return np.minimum(result / math.log(10), 0.0)

    def _mu(self, group: str | None) -> float:
        """About the scale of the Gaussian differential privacy of one round."""
        at = float(self.one_round(0.0, group=group))
        # delta of a mu-Gaussian at eps = 0 is 2 Phi(mu / 2) - 1, about mu / sqrt(2 pi).
        return min(10.0, math.sqrt(2 * math.pi) * 10**at)

    # --- errors --------------------------------------------------------------------------------------------

    def expected_error(self, shares: npt.ArrayLike | None = None) -> float:
        """Expected total variation error of the unbiased estimate from one round; nan without a formula.

        ``shares`` (k,): of the users who hold each value, the same in every group; None for uniform data.
        If groups hold the values in different shares, the estimate is biased: it weights a group by users *
        participation * (p - q). No number of users helps, and this error is then too small.
        The estimate is linear in the shuffled counts: less what other values and dummies add on average, and
        divided by what the users of a value add on average. It includes the error of not asking everybody.
        Before projection, by the central limit theorem; colluding users' reports are used. No formula: for a
        matrix, unless everybody takes part. ValueError for ``shares`` that do not fit k.
        """
        held = self._shares(shares)
        own = self._own(self.groups[0])
        if own is not None and not isinstance(own, SupportRandomizer):
            if any(group.participation < 1 for group in self.groups):
                return math.nan
            variances = own.variance(held, sum(group.users for group in self.groups))
            return _half_sum_of_errors(variances)
        sent = sum(group.users for group in self.groups)
        dummies = self.dummies.variance(sent, self._k, self._support_probabilities(None)[0])
        variance, slope = np.full(self._k, dummies), 0.0
        for group in self.groups:
            p, q = (group.participation * each for each in self._support_probabilities(group))
            variance += group.users * (held * p * (1 - p) + (1 - held) * q * (1 - q))
            slope += group.users * (p - q)
        return _half_sum_of_errors(variance / slope**2)

    def _shares(self, shares: npt.ArrayLike | None) -> Floats:
        if shares is None:
            return np.full(self._k, 1 / self._k)
        held = np.asarray(shares, dtype=float)
        if held.shape != (self._k,):
            raise ValueError(
                f"shares must be k = {self._k} numbers, one per value; got the shape {held.shape}"
            )
        return held

    def _support_probabilities(self, group: Group | None) -> tuple[float, float]:
        """Probabilities that a report supports the user's value, and another one; None: of a dummy."""
        own = self._own(group or self.groups[0])
        if own is None:
            return (1.0, 0.0) if group else (1 / self._k,) * 2
        assert isinstance(own, SupportRandomizer)
        return (own.p_star, own.q_star) if group else (float(own.patterns((0,))[1]),) * 2

    def gaussian_error(self, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None) -> float:
        """`expected_error` of the analytic Gaussian mechanism with this guarantee for all rounds together.

        A trusted curator adds the noise to the values of the users who take part.
        """
        held = self._shares(shares)
        rounds = sum(stage.rounds for stage in (self, *self.then))
        sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(rounds)
        sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
        variance = np.full(self._k, sigma**2)
        for group in self.groups:
            if group.participation < 1:
                variance += group.users * held * group.participation * (1 - held * group.participation)
        taking = sum(group.users * group.participation for group in self.groups)
        return _half_sum_of_errors(variance / taking**2)

    # --- parts ---------------------------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return self.randomizer.partition(":")[0]

    @property
    def _k(self) -> int:
        own = self._own(self.groups[0])
        return own.k if self.k is None and own is not None else int(self.k or 0)

    def _made(self) -> dict[str, Randomizer | None]:
        """The randomizer of each group; ValueError for k and eps0 that it does not take."""
        made: dict[str, Randomizer | None] = {}
        if self._key == "file":
            for group in self.groups:
                if self.k is not None or group.eps0 is not None:
                    raise ValueError(
                        f"group {group.name!r}: leave out k and eps0, which follow from the randomizer's file"
                    )
            return dict.fromkeys((group.name for group in self.groups), parse(self.randomizer))
        for group in self.groups:
            where = f"group {group.name!r}: "
            if self.k is None or group.eps0 is None:
                raise ValueError(where + f"k and eps0 must be given for randomizer {self.randomizer!r}")
            if group.eps0 == math.inf and self.randomizer != "grr":
                raise ValueError(where + f"eps0 must be finite for randomizer {self.randomizer!r}")
            finite = group.eps0 < math.inf
            made[group.name] = parse(self.randomizer, k=self.k, eps0=group.eps0) if finite else None
        return made

    def _own(self, group: Group) -> Randomizer | None:
        """The randomizer of a group; None if its reports are the values themselves."""
        return self._randomizers[group.name]

    def eps0(self, group: str | None = None) -> float:
        """The local budget of one report, which is left if the shuffler fails."""
        own = self._own(self._group(group))
        return math.inf if own is None else own.eps0

    def _group(self, name: str | None) -> Group:
        if name is None:
            return self.groups[0]
        check_choice("group", name, [group.name for group in self.groups])
        return next(group for group in self.groups if group.name == name)


def _each(name: str, given: object, kind: type) -> tuple[Any, ...]:
    """A list or tuple of objects of one kind as a tuple; ValueError for anything else."""
    if not isinstance(given, list | tuple) or not all(isinstance(one, kind) for one in given):
        raise ValueError(f"{name} must be a list of {kind.__name__}(...); got {reprlib.repr(given)}")
    return tuple(given)


def _half_sum_of_errors(variances: Floats) -> float:
    """Half the expected absolute values of normal variables of mean 0, summed; variances may be 0."""
    return float(np.sqrt(2 / np.pi * variances).sum()) / 2


def _finite(group: Group) -> float:
    assert group.eps0 is not None
    return group.eps0


def _shared(other: Randomizer | None, own: Randomizer | None) -> float:
    """The probability with which a report of ``other`` is drawn from the normalised blanket of ``own``."""
    if other is None:
        return 0.0
    # For a report of the value itself: of k-RR, whose blanket is uniform, as dummies are.
    share = other.gamma if own is None else other.shares_blanket(own)
    return min(share, _BELOW_ONE)  # a tiny eps0 can round to 1, which `Cover.rounded` keeps


def _ulps(eps: Floats, group: Group) -> Floats:
    """Units in the last place by which gains may be wrong, (points, 1)."""
    return (64.0 + 2 * (eps + min(_finite(group), 50.0)))[:, None]
