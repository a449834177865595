"""The arguments of a bound (users, values, budget, randomizer, ...), checked once."""

from dataclasses import dataclass

import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    Integers,
    check_choice,
    check_colluding,
    check_compositions,
    check_count,
    check_eps0,
    check_k,
    check_n,
    check_one,
)
from tightshuffle.randomizers import Randomizer, check_given, parse

DIRECTIONS = ("forward", "reverse", "both")

LARGEST_N = 10**9  # above it some bounds take minutes or too much memory
LARGEST_EPS0 = 20.0  # above it some bounds lose too many digits
LARGEST_N_OF_UPPER, LARGEST_EPS0_OF_UPPER = 10**12, 50.0  # of lower, too
LARGEST_K_OF_COLLECTION = 10**7  # above it the bounds take minutes, and an error per value fills the memory
LARGEST_COMPOSITIONS = 10**5  # above it the convolutions take minutes


@dataclass(frozen=True, eq=False)
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

    @property
    def hidden(self) -> Integers:
        """The number of users who do not collude."""
        return self.n - self.colluding

    def one(self) -> tuple[int, Randomizer]:
        """`hidden` and the randomizer, if every argument is one number; else a ValueError that names one."""
        for name in ("n", "k", "eps0", "colluding"):
            check_one(name, getattr(self, name))
        if not isinstance(self.randomizer, str):
            return self.hidden.item(), self.randomizer
        return self.hidden.item(), parse(self.randomizer, k=self.k.item(), eps0=self.eps0.item())


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
) -> Setting:
    """The checked `Setting` of these arguments, which `tightshuffle.methods.delta` explains.

    A file or an object has its own k and eps0. Raises ValueError naming an argument that is bad or missing.
    """
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
    return Setting(
        n=users,
        k=check_k(values),
        eps0=check_eps0(budget),
        randomizer=randomizer,
        colluding=known,
        compositions=check_compositions(compositions),
        count=None if count is None else check_count(count, users - known),
        direction=None if direction is None else check_choice("direction", direction, DIRECTIONS),
    )
