"""What a collection is: groups of users, dummies and rounds, checked when they are made."""

import math
import reprlib
from dataclasses import dataclass, field
from typing import Any

from tightshuffle.arguments import (
    check_choice,
    check_colluding,
    check_flag,
    check_number,
    check_one,
    check_whole,
)
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    RELEASES,
)
from tightshuffle.randomizers import BY_KEY, Randomizer, parse
from tightshuffle.randomizers.unary import UnaryEncoding

NESTED = "a collection under then must not have then itself; give all of them in one list"


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

    @property
    def budget(self) -> float:
        """eps0, where the randomizer is not read from a file."""
        assert self.eps0 is not None
        return self.eps0


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
class Data:
    """A collection without its bounds; `Collection` has the parameters and errors."""

    k: int | None
    groups: tuple[Group, ...]
    randomizer: str = "grr"
    dummies: Dummies = field(default_factory=Dummies)
    rounds: int = 1
    then: tuple["Data", ...] = ()
    release: str = "reports"
    deletion: bool = False
    # Of each group; None if its reports are the values. A file is read once, here: it may change later.
    _randomizers: dict[str, Randomizer | None] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        for name, kind in (("groups", Group), ("then", type(self))):
            object.__setattr__(self, name, _each(name, getattr(self, name), kind))
        if not isinstance(self.randomizer, str):
            raise ValueError(f"randomizer must be a name, such as 'grr'; got {reprlib.repr(self.randomizer)}")
        if not isinstance(self.dummies, Dummies):
            raise ValueError(f"dummies must be Dummies(...); got {reprlib.repr(self.dummies)}")
        check_whole("rounds", self.rounds, 1)
        check_choice("release", self.release, RELEASES)
        object.__setattr__(self, "deletion", check_flag("deletion", self.deletion))
        if self.deletion and self.release != "sums":
            raise ValueError('deletion must be left out unless release is "sums"')
        rounds = sum(stage.rounds for stage in (self, *self.then))
        # A round of sums shows two counts.
        most = LARGEST_ROUNDS // (2 if self.release == "sums" and not self.deletion else 1)
        if rounds > most:
            raise ValueError(f"rounds must be at most {most} in all; got {rounds}")
        names = [group.name for group in self.groups]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"groups must be at least one, with different names; got {', '.join(names)}")
        if self.k is not None:
            object.__setattr__(self, "k", check_whole("k", self.k, 2, LARGEST_K_OF_COLLECTION))
        object.__setattr__(self, "_randomizers", self._made())
        if self.release == "sums" and not all(
            isinstance(own, UnaryEncoding) for own in self._randomizers.values()
        ):
            raise ValueError(f"randomizer must be rappor or oue for release 'sums'; got {self.randomizer!r}")
        if sum(group.users for group in self.groups) > LARGEST_N_OF_UPPER:
            raise ValueError(f"groups must have at most {LARGEST_N_OF_UPPER:.0e} users in all")
        if self.dummies.probability_per_user_and_value and self.randomizer != "grr":
            raise ValueError(
                f"dummies: probability_per_user_and_value is for randomizer 'grr'; got {self.randomizer!r}"
            )
        own = BY_KEY.get(self.randomizer.partition(":")[0])
        if self.dummies and not getattr(own, "fixed_background", False):
            raise ValueError(
                f"dummies must not be given for randomizer {self.randomizer!r}: what is one is not clear"
            )
        for other in self.then:
            if other.then:
                raise ValueError(f"then: {NESTED}")
            if [group.name for group in other.groups] != names:
                raise ValueError(f"then: groups must be named {', '.join(names)}, in this order")
            if (other.release, other.deletion) != (self.release, self.deletion):
                raise ValueError("then: release and deletion must be those of the first collection")

    def _made(self) -> dict[str, Randomizer | None]:
        """The randomizer of each group; ValueError for k and eps0 that it does not take."""
        made: dict[str, Randomizer | None] = {}
        if self.randomizer.partition(":")[0] == "file":
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

    @property
    def cells(self) -> int:
        """The number of values, also that of a file's randomizer."""
        own = self.own(self.groups[0])
        return own.k if self.k is None and own is not None else int(self.k or 0)

    @property
    def devices(self) -> int:
        """The number of users who do not collude."""
        return sum(group.hidden for group in self.groups)

    @property
    def poisson(self) -> float:
        """The mean of the Poisson number of dummies in all."""
        sent = self.dummies
        return self.cells * (sent.poisson_per_value + self.devices * sent.poisson_per_user_and_value)

    def others(self, group: Group) -> list[tuple[int, Group]]:
        """Each group, and its number of users who hide one user of ``group``."""
        return [(max(other.hidden - (other.name == group.name), 0), other) for other in self.groups]

    def own(self, group: Group) -> Randomizer | None:
        """The randomizer of a group; None if its reports are the values themselves."""
        return self._randomizers[group.name]

    def eps0(self, group: str | None = None) -> float:
        """The local budget of one report, which is left if the shuffler fails."""
        own = self.own(self.named(group))
        return math.inf if own is None else own.eps0

    def named(self, group: str | None) -> Group:
        """The group of this name, by default the first; ValueError for another name."""
        if group is None:
            return self.groups[0]
        check_choice("group", group, [each.name for each in self.groups])
        return next(each for each in self.groups if each.name == group)


def _each(name: str, given: object, kind: type) -> tuple[Any, ...]:
    """A list or tuple of objects of one kind as a tuple; ValueError for anything else."""
    if not isinstance(given, list | tuple) or not all(isinstance(one, kind) for one in given):
        raise ValueError(f"{name} must be a list of {kind.__name__}(...); got {reprlib.repr(given)}")
    return tuple(given)
