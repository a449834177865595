"""What a collection is: groups of users, dummies and rounds, checked when they are made."""

import math
import reprlib
from dataclasses import dataclass, field
from typing import Any

from tightshuffle.arguments import (
    check_choice,
    check_colluding,
    check_number,
    check_one,
    check_participation,
    check_whole,
    colluding_users,
)
from tightshuffle.dummies.laws import Law, parse_law
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    RELEASES,
    Neighbours,
    check_neighbours,
    check_neighbours_of_release,
)
from tightshuffle.randomizers import BY_KEY, Randomizer, check_given, parse
from tightshuffle.randomizers.unary import UnaryEncoding

NESTED = "a collection under then must not have then itself; give all of them in one list"


@dataclass(frozen=True)
class Group:
    """Users with one local budget.

    Parameters
    ----------
    name : str
        The name of the group.
    users : int
        The number of its users.
    eps0 : float, up to 50, or math.inf
        The local budget of a report. It is math.inf if the report is the value itself, and None for a
        randomizer that has a budget already: one that is read from a file, and "unary:P:Q".
    participation : float, above 0 and at most 1
        The probability that a user takes part in a round, independently of everybody, of the value and of
        other rounds. If a fixed number takes part, give that number as ``users``.
    colluding : int or float
        How many of the users show their reports to the adversary, or send none. Below 1 it is a share.
    """

    name: str
    users: int
    eps0: float | None = None
    participation: float = 1.0
    colluding: float = 0

    def __post_init__(self) -> None:
        """Check all arguments, and make ints and floats of them. A ValueError names the group."""
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
        object.__setattr__(self, "users", users)

        participation = check_participation(self.participation, where)
        object.__setattr__(self, "participation", participation)
        if self.eps0 is not None:
            eps0 = check_number(
                f"{where}eps0",
                self.eps0,
                f"above 0 and at most {LARGEST_EPS0_OF_UPPER:g}, or inf if reports are the values themselves",
                lambda x: 0 < x <= LARGEST_EPS0_OF_UPPER or x == math.inf,
            )
            object.__setattr__(self, "eps0", eps0)

    @property
    def honest_users(self) -> int:
        """The number of users who do not collude."""
        return self.users - int(colluding_users(self.colluding, self.users))

    @property
    def given_eps0(self) -> float:
        """eps0, where the randomizer is not read from a file."""
        assert self.eps0 is not None
        return self.eps0


@dataclass(frozen=True)
class Dummies:
    """Reports that carry no user's value. Each is drawn from u, which for k-RR is a uniform value.

    Parameters
    ----------
    number : int, at least 0
        How many the shuffler adds in all.
    poisson_per_value : float, at least 0
        The shuffler adds a Poisson number of every value, with this mean.
    poisson_per_user_and_value : float, at least 0
        Every user's device adds a Poisson number of every value, with this mean, even if the user does not
        take part.
    probability_per_user_and_value : float, from 0 to 1
        Every user's device adds one report of each value with this probability, independently. The bound
        counts only devices that send exactly one.
    law : str, or None
        The law of how many the shuffler adds of every value, as for `dummies.laws.parse_law`, or of the noise
        that aggregators add to its sum. It is for groups with eps0 = inf, and for no other dummies beside it.
    """

    number: int = 0
    poisson_per_value: float = 0.0
    poisson_per_user_and_value: float = 0.0
    probability_per_user_and_value: float = 0.0
    law: str | None = None
    # What ``law`` names. A file is read once, here.
    _law: Law | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check all arguments, make floats of them, and set ``parsed_law`` from the text ``law``.

        ValueError for a bad one.
        """
        if self.law is not None:
            try:
                object.__setattr__(self, "_law", parse_law(self.law))
            except ValueError as error:
                raise ValueError(f"dummies: {error}") from None
        number = check_whole("dummies: number", self.number, 0, int(LARGEST_N_OF_UPPER))
        object.__setattr__(self, "number", number)
        self._check_rate("poisson_per_value", float(LARGEST_N_OF_UPPER))
        self._check_rate("poisson_per_user_and_value", float(LARGEST_N_OF_UPPER))
        self._check_rate("probability_per_user_and_value", 1.0)

    def _check_rate(self, name: str, largest: float) -> None:
        """Make a float of the attribute ``name``, a mean or a probability from 0 to ``largest``.

        ValueError for anything else.
        """
        number = check_number(
            f"dummies: {name}",
            getattr(self, name),
            f"from 0 to {largest:g}",
            lambda x: 0 <= x <= largest,
        )
        object.__setattr__(self, name, number)

    @property
    def parsed_law(self) -> Law | None:
        """The law that is named by ``law``."""
        return self._law

    def supporting(
        self, users: float, k: int, support: float
    ) -> tuple[list[tuple[float, float]], float]:
        """How many dummies support one value; those of a ``law`` do not count.

        A dummy supports the value with probability ``support``. There are ``k`` values, and so many
        ``users``, each of whom has a device. The result is of two parts, all independent: pairs of a number
        and the probability that one of so many dummies supports the value, and the mean of a Poisson number
        of further ones that do.
        """
        of_number = (float(self.number), support)
        of_devices = (float(users), self.probability_per_user_and_value)
        poisson_mean = k * (self.poisson_per_value + users * self.poisson_per_user_and_value)
        return [of_number, of_devices], poisson_mean * support

    def __bool__(self) -> bool:
        """Whether there are any dummies."""
        return self != NO_DUMMIES


NO_DUMMIES = Dummies()


@dataclass(frozen=True)
class CollectionSetup:
    """The description of a collection, without its bounds; `Collection` has the parameters and errors."""

    k: int | None
    groups: tuple[Group, ...]
    randomizer: str = "grr"
    dummies: Dummies = NO_DUMMIES
    rounds: int = 1
    then: tuple["CollectionSetup", ...] = ()
    release: str = "reports"
    neighbours: str = Neighbours.REPLACEMENT
    # Of each group, by its name; None if reports are the values. A file is read once, here: it may change
    # later.
    _randomizers: dict[str, Randomizer | None] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        """Check all arguments, and make each group's randomizer from the text ``randomizer``.

        ValueError for a bad argument, or for some that do not go together. Lists become tuples.
        """
        object.__setattr__(self, "groups", _tuple_of_kind("groups", self.groups, Group))
        object.__setattr__(self, "then", _tuple_of_kind("then", self.then, type(self)))
        if not isinstance(self.randomizer, str):
            raise ValueError(
                f"randomizer must be a name, such as 'grr'; got {reprlib.repr(self.randomizer)}"
            )
        if not isinstance(self.dummies, Dummies):
            raise ValueError(f"dummies must be Dummies(...); got {reprlib.repr(self.dummies)}")
        self._check_rounds_and_release()

        names = self._group_names
        if not names or len(set(names)) < len(names):
            raise ValueError(
                f"groups must be at least one, with different names; got {', '.join(names)}"
            )
        if self.k is not None:
            object.__setattr__(self, "k", check_whole("k", self.k, 2, LARGEST_K_OF_COLLECTION))
        object.__setattr__(self, "_randomizers", self._parse_randomizers())

        if self.release == "sums":
            for randomizer in self._randomizers.values():
                if not isinstance(randomizer, UnaryEncoding):
                    raise ValueError(
                        "randomizer must be rappor, oue or unary:P:Q for release 'sums'; got"
                        f" {self.randomizer!r}"
                    )
        if sum(group.users for group in self.groups) > LARGEST_N_OF_UPPER:
            raise ValueError(f"groups must have at most {LARGEST_N_OF_UPPER:.0e} users in all")
        self._check_dummies()
        self._check_then()

    def _check_rounds_and_release(self) -> None:
        """ValueError for a bad ``rounds``, ``release`` or ``neighbours``, or for too many rounds in all."""
        object.__setattr__(self, "rounds", check_whole("rounds", self.rounds, 1))
        check_choice("release", self.release, RELEASES)
        neighbours = check_neighbours(self.neighbours)
        check_neighbours_of_release(neighbours, self.release)
        object.__setattr__(self, "neighbours", neighbours)

        largest = LARGEST_ROUNDS
        # Each sum that changes in a round counts as a round.
        if self.release == "sums":
            largest //= neighbours.changed_counts
        rounds = sum(stage.rounds for stage in self.stages)
        if rounds > largest:
            raise ValueError(f"rounds must be at most {largest} in all; got {rounds}")

    def _check_dummies(self) -> None:
        """ValueError for dummies that do not go with the randomizer, or a law that is not alone.

        ``self.dummies.law`` names the law of how many dummies each value gets. It needs groups with eps0 =
        inf and no other dummies.
        """
        if self.dummies.law is not None:
            if self.dummies != Dummies(law=self.dummies.law):
                raise ValueError("dummies: law must be alone, without other dummies")
            for group in self.groups:
                if group.eps0 != math.inf:
                    raise ValueError(
                        f"dummies: law is for groups with eps0 = inf; group {group.name!r} has {group.eps0}"
                    )
        if self.dummies.probability_per_user_and_value and self.randomizer != "grr":
            raise ValueError(
                f"dummies: probability_per_user_and_value is for randomizer 'grr'; got {self.randomizer!r}"
            )
        # A dummy is drawn from what reports of all values have in common. Only some randomizers have the same
        # distribution of it at every eps0: those whose class has `fixed_background`.
        family = BY_KEY.get(self._randomizer_key)
        if self.dummies and not getattr(family, "fixed_background", False):
            raise ValueError(
                f"dummies must not be given for randomizer {self.randomizer!r}: what is one is not clear"
            )

    def _check_then(self) -> None:
        """ValueError for a collection in ``then`` with a ``then`` itself, other groups or another release."""
        for later in self.then:
            if later.then:
                raise ValueError(f"then: {NESTED}")
            if later._group_names != self._group_names:
                names = ", ".join(self._group_names)
                raise ValueError(f"then: groups must be named {names}, in this order")
            if later.release != self.release or later.neighbours != self.neighbours:
                raise ValueError(
                    "then: release and neighbours must be those of the first collection"
                )

    def _parse_randomizers(self) -> dict[str, Randomizer | None]:
        """The randomizer of each group, by the group's name.

        None stands for reports that are the values themselves: k-RR with eps0 = inf. ValueError if k or eps0
        is missing, infinite where it cannot be, or given although the randomizer's file determines it.
        """
        if self._randomizer_key == "density":
            raise ValueError(
                f"randomizer must be no density for a collection; got {self.randomizer!r}"
            )
        if self._randomizer_key == "file":
            for group in self.groups:
                if self.k is not None or group.eps0 is not None:
                    raise ValueError(
                        f"group {group.name!r}: leave out k and eps0, which follow from the randomizer's file"
                    )
            return dict.fromkeys(self._group_names, parse(self.randomizer))

        randomizers: dict[str, Randomizer | None] = {}
        for group in self.groups:
            where = f"group {group.name!r}: "
            try:
                k, eps0 = check_given(self.randomizer, self.k, group.eps0)
            except ValueError as error:
                raise ValueError(where + str(error)) from None
            if eps0 == math.inf and self.randomizer != "grr":
                raise ValueError(f"{where}eps0 must be finite for randomizer {self.randomizer!r}")

            if eps0 < math.inf:
                randomizers[group.name] = parse(self.randomizer, k=k, eps0=eps0)
            else:
                randomizers[group.name] = None
        return randomizers

    @property
    def stages(self) -> tuple["CollectionSetup", ...]:
        """This collection and those of ``then``, each with its own ``rounds``."""
        return (self, *self.then)

    @property
    def is_one_round(self) -> bool:
        """Whether all stages together are a single round."""
        return self.rounds == 1 and not self.then

    @property
    def _group_names(self) -> list[str]:
        return [group.name for group in self.groups]

    @property
    def _randomizer_key(self) -> str:
        """What precedes the colon in the randomizer's name, such as "file" of "file:NAME"."""
        return self.randomizer.partition(":")[0]

    @property
    def number_of_values(self) -> int:
        """k, the number of values, also that of a randomizer from a file."""
        if self.k is not None:
            return self.k
        randomizer = self.randomizer_of(self.groups[0])
        assert randomizer is not None  # it is read from a file
        return randomizer.k

    @property
    def honest_users(self) -> int:
        """The number of users who do not collude, in all groups together."""
        return sum(group.honest_users for group in self.groups)

    @property
    def mean_poisson_dummies(self) -> float:
        """The mean number of dummies whose number is Poisson, of all values and devices together."""
        of_devices = self.honest_users * self.dummies.poisson_per_user_and_value
        return self.number_of_values * (self.dummies.poisson_per_value + of_devices)

    def others(self, group: Group) -> list[tuple[int, Group]]:
        """Each group with its number of users who hide one target user of ``group``, as (number, group).

        They are the users who do not collude, without the target user.
        """
        hiding_users = []
        for other in self.groups:
            users = other.honest_users
            if other.name == group.name:
                users -= 1
            hiding_users.append((max(users, 0), other))
        return hiding_users

    def randomizer_of(self, group: Group) -> Randomizer | None:
        """The randomizer of a group, or None if its reports are the values themselves."""
        return self._randomizers[group.name]

    def eps0(self, group: str | None = None) -> float:
        """The local budget of one report, which is left if the shuffler fails, of the group of this name."""
        return self.eps0_of(self.group_named(group))

    def eps0_of(self, group: Group) -> float:
        """The local budget of one report of a group, also where the randomizer is read from a file."""
        randomizer = self.randomizer_of(group)
        return math.inf if randomizer is None else randomizer.eps0

    def group_named(self, name: str | None) -> Group:
        """The group of this name, by default the first. ValueError for a name that no group has."""
        if name is None:
            return self.groups[0]
        check_choice("group", name, self._group_names)
        return next(group for group in self.groups if group.name == name)


def _tuple_of_kind(name: str, objects: object, kind: type) -> tuple[Any, ...]:
    """A list or tuple of objects of one kind as a tuple. ValueError for anything else."""
    if not isinstance(objects, list | tuple) or not all(isinstance(item, kind) for item in objects):
        raise ValueError(
            f"{name} must be a list of {kind.__name__}(...); got {reprlib.repr(objects)}"
        )
    return tuple(objects)
