"""The arguments of a bound (users, values, budget, randomizer, ...), checked once."""

import dataclasses
import functools
import reprlib
from collections.abc import Callable, Sequence
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
    check_compositions,
    check_count,
    check_eps0,
    check_flag,
    check_k,
    check_n,
    check_one,
    check_positive,
)
from tightshuffle.randomizers import Randomizer, check_given, parse

SMALLEST_EPS = 1e-100  # of a guarantee: below it the local model's error overflows for many cells
RELEASES = ("reports", "sums")

LARGEST_N = 10**9  # above it some bounds take minutes or too much memory
LARGEST_EPS0 = 20.0  # above it some bounds lose too many digits
LARGEST_N_OF_UPPER, LARGEST_EPS0_OF_UPPER = 10**12, 50.0  # of lower, too
LARGEST_K_OF_COLLECTION = 10**7  # above it the bounds take minutes, and an error per value fills the memory
LARGEST_COMPOSITIONS = 10**5  # above it the convolutions take minutes


def check_guarantee(eps: npt.ArrayLike) -> float:
    """The ``eps`` for which parameters are looked for; ValueError unless it is from 1e-100 to 20."""
    wanted = float(check_one("eps", check_positive("eps", eps)))
    if not SMALLEST_EPS <= wanted < LARGEST_EPS0:
        raise ValueError(f"eps must be at least {SMALLEST_EPS:g} and below {LARGEST_EPS0:g}; got {wanted:g}")
    return wanted


def check_rounds_of_sums(rounds: npt.ArrayLike, deletion: bool, name: str = "compositions") -> None:
    """ValueError, which calls the argument ``name``, if sums of so many ``rounds`` show too many counts."""
    counts = 1 if deletion else 2  # of which one user changes the law, per round
    most = LARGEST_COMPOSITIONS // counts
    if np.any(np.asarray(rounds) > most):
        raise ValueError(
            f"{name} must be at most {most} for sums, which show {counts} counts per round; got"
            f" {np.max(rounds)}"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Setting:
    """The checked arguments of a bound, as arrays that broadcast. Use `make_setting` to make one."""

    n: Integers
    k: Integers
    eps0: Floats
    randomizer: str | Randomizer  # k and eps0 above are those of the object, if it is one
    colluding: Integers
    compositions: Integers
    count: Integers | None
    direction: str | None
    release: str = "reports"
    deletion: bool = False

    @property
    def hidden(self) -> Integers:
        """The number of users who do not collude."""
        return self.n - self.colluding

    @property
    def local(self) -> Floats:
        """The eps that holds without shuffling: compositions * eps0."""
        return self.compositions * self.eps0

    def one(self) -> tuple[int, Randomizer]:
        """`hidden` and the randomizer, if every argument is one number; else a ValueError that names one."""
        check_one("n", self.n)
        check_one("k", self.k)
        check_one("eps0", self.eps0)
        check_one("colluding", self.colluding)
        return self.hidden.item(), self.randomizers([self.k.item()], [self.eps0.item()])[0]

    def randomizers(self, k: Sequence[int], eps0: Sequence[float]) -> list[Randomizer]:
        """The randomizer for each k and eps0, or the object that was given."""
        own = self.randomizer
        if not isinstance(own, str):
            return [own] * len(k)
        made = functools.cache(lambda values, budget: parse(own, k=values, eps0=budget))
        return [made(*point) for point in zip(k, eps0, strict=True)]

    def at(self, shape: tuple[int, ...], where: Any) -> "Setting":
        """The arguments, broadcast to ``shape``, at some points: ``where`` is an index of all points."""

        def part(values: Any) -> Any:
            return np.broadcast_to(values, shape).ravel()[where]

        return dataclasses.replace(
            self,
            n=part(self.n),
            k=part(self.k),
            eps0=part(self.eps0),
            colluding=part(self.colluding),
            compositions=part(self.compositions),
            count=None if self.count is None else part(self.count),
        )

    def shape(self, values: Floats) -> tuple[int, ...]:
        """The shape to which ``values`` and all arguments broadcast."""
        arguments = (self.hidden, self.k, self.eps0, self.compositions)
        counts = () if self.count is None else (self.count,)
        return np.broadcast(values, *arguments, *counts).shape

    def each(self, bound: Callable[..., Floats], eps: npt.ArrayLike) -> Floats:
        """``bound(eps, randomizers, n=users)``, log10 of a bound of one round; -inf where eps >= eps0."""
        points = np.broadcast_arrays(eps, self.hidden, self.k, self.eps0)
        at, users, values, budgets = (point.ravel() for point in points)
        result = np.full(at.shape, -np.inf)
        asked = np.flatnonzero(at < budgets)
        if asked.size:
            owns = self.randomizers(values[asked].tolist(), budgets[asked].tolist())
            result[asked] = bound(at[asked], owns, n=users[asked])
        return result.reshape(points[0].shape)[()]

    def solve(self, solve_one: Callable[[float, "Setting"], float], values: Floats) -> Floats:
        """``solve_one(value, setting)`` at every point, where all arguments of its setting are numbers."""
        shape = self.shape(values)
        aims = np.broadcast_to(values, shape).ravel()
        solved = [solve_one(aim, self.at(shape, index)) for index, aim in enumerate(aims.tolist())]
        return np.array(solved, dtype=float).reshape(shape)[()]


def make_setting(
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    compositions: npt.ArrayLike = 1,
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    release: str = "reports",
    deletion: bool = False,
) -> Setting:
    """The checked `Setting` of these arguments, which `tightshuffle.delta` explains.

    A file or an object has its own k and eps0. Raises ValueError naming an argument that is bad or missing.
    """
    if not isinstance(randomizer, str | Randomizer):
        raise ValueError(f"randomizer must be a name or a Randomizer; got {reprlib.repr(randomizer)}")
    if isinstance(randomizer, str) and randomizer.startswith("file:"):
        randomizer = parse(randomizer, k=k, eps0=eps0)  # type: ignore[arg-type]
    values: npt.ArrayLike
    budget: npt.ArrayLike
    if isinstance(randomizer, str):
        values, budget = check_given(randomizer, k, eps0)
    else:
        values, budget = randomizer.own(k, eps0)
    users = check_n(n)
    known = check_colluding(colluding, users)
    made = Setting(
        n=users,
        k=check_k(values),
        eps0=check_eps0(budget),
        randomizer=randomizer,
        colluding=known,
        compositions=check_compositions(compositions),
        count=None if count is None else check_count(count, users - known),
        direction=None if direction is None else check_choice("direction", direction, DIRECTIONS),
        release=check_choice("release", release, RELEASES),
        deletion=check_flag("deletion", deletion),
    )
    if made.deletion and made.release != "sums":
        raise ValueError('deletion must be left out unless release is "sums"')
    check_at_most("compositions", made.compositions, LARGEST_COMPOSITIONS)
    if made.release == "sums":
        check_rounds_of_sums(made.compositions, made.deletion)
    check_at_most("n", made.n, LARGEST_N_OF_UPPER)
    check_at_most("eps0", made.eps0, LARGEST_EPS0_OF_UPPER)
    return made
