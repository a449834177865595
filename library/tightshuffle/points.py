"""Where a bound is asked for: the arguments of every bound, checked once and made flat.

A public function (`doors`) calls `make_points`, asks one bound, and gives the answer its shape. A bound is
one function of `Points`, and checks nothing.
"""

import dataclasses
import functools
import math
import reprlib
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    DIRECTIONS,
    Floats,
    Integers,
    check_at_most,
    check_choice,
    check_colluding,
    check_count,
    check_eps,
    check_eps0,
    check_k,
    check_n,
    check_one,
    check_participation,
    check_positive,
    check_rounds,
    colluding_users,
)
from tightshuffle.numerics.powers import LN10, delta_of_log10
from tightshuffle.numerics.side import Side
from tightshuffle.randomizers import (
    Density,
    Randomizer,
    check_given,
    has_own_budget,
    parse,
)

SMALLEST_EPS = 1e-100  # of a guarantee: below it the local model's error overflows for many cells
RELEASES = ("reports", "sums")

LARGEST_N = 10**9  # above it some bounds take minutes or too much memory
LARGEST_EPS0 = 20.0  # above it some bounds lose too many digits
LARGEST_N_OF_UPPER, LARGEST_EPS0_OF_UPPER = 10**12, 50.0  # of lower, too
# Above it the bounds take minutes, and an error per value fills the memory.
LARGEST_K_OF_COLLECTION = 10**7
LARGEST_ROUNDS = 10**5  # above it the convolutions take minutes

_KEPT_RANDOMIZERS = 4096  # objects that are made once for a name, k and eps0


class Neighbours(StrEnum):
    """By what two datasets differ that a guarantee compares: one user's value, or whether there is one."""

    REPLACEMENT = "replacement"
    DELETION = "deletion"

    @property
    def changed_counts(self) -> int:
        """How many counts of a histogram change by 1: of both values, or of the one that is deleted."""
        return 2 if self is Neighbours.REPLACEMENT else 1

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity of a histogram: the square root of `changed_counts`."""
        return math.sqrt(self.changed_counts)


def check_neighbours(neighbours: str) -> Neighbours:
    """The `Neighbours` of this name. ValueError if there are none."""
    return Neighbours(check_choice("neighbours", neighbours, tuple(Neighbours)))


def check_neighbours_of_release(neighbours: Neighbours, release: str) -> None:
    """ValueError for a deletion where more than sums is released."""
    if neighbours is Neighbours.DELETION and release != "sums":
        raise ValueError(
            "neighbours must be 'replacement' unless release is 'sums'; got 'deletion'"
        )


def check_guarantee(eps: npt.ArrayLike) -> float:
    """The ``eps`` for which parameters are looked for; ValueError unless it is from 1e-100 to 20."""
    target_eps = float(check_one("eps", check_positive("eps", eps)))
    if not SMALLEST_EPS <= target_eps < LARGEST_EPS0:
        raise ValueError(
            f"eps must be at least {SMALLEST_EPS:g} and below {LARGEST_EPS0:g}; got {target_eps:g}"
        )
    return target_eps


def check_rounds_of_sums(
    rounds: npt.ArrayLike, neighbours: Neighbours, name: str = "rounds"
) -> None:
    """Raise ValueError, which calls the argument ``name``, if ``rounds`` are too many for sums."""
    counts = neighbours.changed_counts  # per round
    most = LARGEST_ROUNDS // counts
    if np.any(np.asarray(rounds) > most):
        raise ValueError(
            f"{name} must be at most {most} for sums, which show {counts} counts per round; got"
            f" {np.max(rounds)}"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Points:
    """The checked arguments of a bound at every point. Use `make_points` to make them.

    Attributes
    ----------
    eps : float array (points,), at least 0
    n, honest_users : int arrays (points,)
        All users, and those who do not collude.
    k, eps0 : int and float array (points,)
        Those of the randomizer at each point.
    rounds : int array (points,), at least 1
    randomizer : str, Randomizer or sequence of Randomizer
        A name for all points, an object for all points, or one object for each point.
    participation : float, above 0 and at most 1
    count, direction : int array (points,) and str, or None
    release, neighbours : str and Neighbours, as for `tightshuffle.delta`
    shape : tuple of int
        The shape to which the arguments broadcast; its size is the number of points.
    """

    eps: Floats
    n: Integers
    honest_users: Integers
    k: Integers
    eps0: Floats
    rounds: Integers
    randomizer: str | Randomizer | Sequence[Randomizer]
    participation: float
    count: Integers | None
    direction: str | None
    release: str
    neighbours: Neighbours
    shape: tuple[int, ...]

    @functools.cached_property
    def randomizers(self) -> Sequence[Randomizer]:
        """The randomizer at each point; (points,)."""
        if isinstance(self.randomizer, str):
            budgets = zip(self.k.tolist(), self.eps0.tolist(), strict=True)
            return [_named_randomizer(self.randomizer, k, eps0) for k, eps0 in budgets]
        if isinstance(self.randomizer, Randomizer):
            return [self.randomizer] * self.eps.size
        return self.randomizer

    def at(self, index: Any) -> "Points":
        """Some of the points: ``index`` is a mask, or an array of their numbers."""
        chosen = np.arange(self.eps.size)[index]
        randomizer = self.randomizer
        if not isinstance(randomizer, str | Randomizer):
            randomizer = [randomizer[number] for number in chosen.tolist()]
        return dataclasses.replace(
            self,
            eps=self.eps[chosen],
            n=self.n[chosen],
            honest_users=self.honest_users[chosen],
            k=self.k[chosen],
            eps0=self.eps0[chosen],
            rounds=self.rounds[chosen],
            randomizer=randomizer,
            count=None if self.count is None else self.count[chosen],
            shape=chosen.shape,
        )

    def each(self) -> list["Points"]:
        """Every point as `Points` of length 1."""
        return [self.at([number]) for number in range(self.eps.size)]

    def by_setting(self) -> list[list[int]]:
        """The numbers of the points of each setting: those that differ in eps alone."""
        points_of_setting: dict[tuple[float, ...], list[int]] = {}
        columns = (self.n, self.honest_users, self.k, self.eps0, self.rounds)
        settings = zip(*(column.tolist() for column in columns), strict=True)
        for number, setting in enumerate(settings):
            points_of_setting.setdefault(setting, []).append(number)
        return list(points_of_setting.values())

    def with_eps(self, eps: npt.ArrayLike) -> "Points":
        """The arguments of this one point, at other ``eps`` (points,)."""
        new_eps = np.atleast_1d(np.asarray(eps, dtype=float))
        repeated = self.at(np.zeros(new_eps.size, dtype=int))
        return dataclasses.replace(repeated, eps=new_eps)

    def with_users(self, n: int, colluding: float) -> "Points":
        """This one point, with n users, of whom ``colluding`` ones, or below 1 such a share, collude."""
        all_users = np.array([n])
        honest_users = all_users - colluding_users(colluding, all_users)
        return dataclasses.replace(self, n=all_users, honest_users=honest_users)

    def with_eps0(self, eps0: float) -> "Points":
        """This one point, at another ``eps0``."""
        return dataclasses.replace(self, eps0=np.array([eps0]))

    def shaped(self, values: Floats) -> Floats | float:
        """``values`` (points,) in the shape of the arguments; a Python float where that has no axes."""
        return values.reshape(self.shape) if self.shape else float(values[0])

    def solved(
        self, solve_one: Callable[[float, "Points"], float], targets: Floats
    ) -> Floats | float:
        """``solve_one(target, point)`` at every point; ``targets`` broadcasts to the arguments' shape."""
        flat_targets = np.broadcast_to(targets, self.shape).ravel().tolist()
        solutions = [solve_one(*pair) for pair in zip(flat_targets, self.each(), strict=True)]
        return self.shaped(np.array(solutions, dtype=float))


def make_points(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
    rounds: npt.ArrayLike = 1,
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    release: str = "reports",
    neighbours: str = Neighbours.REPLACEMENT,
) -> Points:
    """The checked `Points` of these arguments of `tightshuffle.delta`, which broadcast.

    Raises ValueError that names an argument that is bad, missing or to be left out.
    """
    if not isinstance(randomizer, str | Randomizer):
        raise ValueError(
            f"randomizer must be a name or a Randomizer; got {reprlib.repr(randomizer)}"
        )
    participation = check_participation(participation)
    if participation < 1 and (not isinstance(randomizer, str) or has_own_budget(randomizer)):
        name = randomizer if isinstance(randomizer, str) else randomizer.name
        raise ValueError(
            "randomizer must be a name, and no file or density, where participation is below 1; got"
            f" {name}"
        )
    if isinstance(randomizer, str) and has_own_budget(randomizer):
        randomizer = parse(randomizer, k=k, eps0=eps0)  # type: ignore[arg-type]
    given_k: npt.ArrayLike
    given_eps0: npt.ArrayLike
    if isinstance(randomizer, str):
        given_k, given_eps0 = check_given(randomizer, k, eps0)
    else:
        given_k, given_eps0 = randomizer.reconcile(k, eps0)

    all_users = check_n(n)
    honest_users = all_users - check_colluding(colluding, all_users)
    values = check_k(given_k)
    # A density's is its own, and may be infinite.
    is_density = isinstance(randomizer, Density)
    budget = np.asarray(given_eps0, dtype=float) if is_density else check_eps0(given_eps0)
    number_of_rounds = check_rounds(rounds)
    # Other users who hold x0; without a count nothing reads the 0.
    holders = np.zeros((), dtype=int) if count is None else check_count(count, honest_users)
    if direction is not None:
        direction = check_choice("direction", direction, DIRECTIONS)
    release = check_choice("release", release, RELEASES)
    neighbours = check_neighbours(neighbours)
    check_neighbours_of_release(neighbours, release)
    check_at_most("rounds", number_of_rounds, LARGEST_ROUNDS)
    if release == "sums":
        check_rounds_of_sums(number_of_rounds, neighbours)
    check_at_most("n", all_users, LARGEST_N_OF_UPPER)
    if not is_density:
        check_at_most("eps0", budget, LARGEST_EPS0_OF_UPPER)

    arrays = (check_eps(eps), all_users, honest_users, values, budget, number_of_rounds, holders)
    broadcast = np.broadcast_arrays(*arrays)
    shape = broadcast[0].shape
    eps, n, honest_users, k, eps0, rounds, holders = (array.ravel() for array in broadcast)
    if isinstance(randomizer, str) and eps.size:
        _named_randomizer(randomizer, k[0].item(), eps0[0].item())  # a bad name fails at once
    return Points(
        eps=eps,
        n=n,
        honest_users=honest_users,
        k=k,
        eps0=eps0,
        rounds=rounds,
        count=None if count is None else holders,
        randomizer=randomizer,
        participation=participation,
        direction=direction,
        release=release,
        neighbours=neighbours,
        shape=shape,
    )


def make_point(**arguments: Any) -> Points:
    """One point, for what follows from a whole curve. ValueError also for an argument with axes."""
    points = make_points(0.0, **arguments)
    for name in ("n", "k", "eps0", "colluding", "rounds"):
        if arguments.get(name) is not None:
            check_one(name, np.asarray(arguments[name]))
    return points


def points_of_randomizers(
    eps: Floats, users: npt.ArrayLike, randomizers: Sequence[Randomizer]
) -> Points:
    """Points of one round, each with its own randomizer; ``eps`` (points,), ``users`` broadcasts to it.

    Nothing is checked.
    """
    users = np.broadcast_to(np.asarray(users), eps.shape)
    return Points(
        eps=eps,
        n=users,
        honest_users=users,
        k=np.array([randomizer.k for randomizer in randomizers], dtype=int),
        eps0=np.array([randomizer.eps0 for randomizer in randomizers], dtype=float),
        rounds=np.ones(eps.shape, dtype=int),
        randomizer=randomizers,
        participation=1.0,
        count=None,
        direction=None,
        release="reports",
        neighbours=Neighbours.REPLACEMENT,
        shape=eps.shape,
    )


def in_callers_shape(
    points: Points, ln_delta: Floats, log10: bool, side: Side | None
) -> Floats | float:
    """What a door returns for ``ln_delta`` (points,), in the arguments' shape.

    It is log10 delta, or delta on its safe side.
    """
    log10_delta = ln_delta / LN10
    return points.shaped(log10_delta if log10 else delta_of_log10(log10_delta, side))


@functools.lru_cache(maxsize=_KEPT_RANDOMIZERS)
def _named_randomizer(name: str, k: int, eps0: float) -> Randomizer:
    return parse(name, k=k, eps0=eps0)
