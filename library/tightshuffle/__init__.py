"""How private is the shuffle model, and what does it cost in accuracy?

Each of n users holds one of k values. A randomizer with local budget eps0 turns the value into a report, and
a shuffler removes who sent which report. This package bounds the eps and delta of the shuffled reports, for
every dataset:

>>> import tightshuffle
>>> tightshuffle.delta(0.5, n=100_000, k=408, eps0=4)          # an upper bound on delta at eps = 0.5
>>> tightshuffle.epsilon(1e-6, n=100_000, k=408, eps0=4)       # the eps at this delta
>>> tightshuffle.bracket(1e-6, n=100_000, k=408, eps0=4)       # between which eps the worst dataset's lies
>>> tightshuffle.plan(n=100_000, k=408, eps=0.5, delta=1e-6)   # the largest eps0, and the error
>>> tightshuffle.plan(error=0.05, k=408, eps=0.5, delta=1e-6)  # the fewest users for this error

``n``, ``k``, ``eps0`` and ``eps`` are numbers or arrays, which broadcast. A delta can be smaller than the
smallest float, about 1e-308. So ``log10=True`` returns log10 delta, and ``log10_delta=`` takes log10 delta
instead of delta. A bad argument raises a ValueError that names the argument.

``randomizer`` is "grr" (k-randomized response, the default), "subset:M", "rappor", "oue", "hadamard",
"hash:G", "file:MATRIX.csv" for a matrix of your own, or an object such as `tightshuffle.randomizers.Finite`.

`Collection` answers for collections as they are run: groups of users that differ in eps0 and participation
(`Group`), `Dummies`, and several rounds (docs/collections.md).

On the command line: ``tightshuffle --help``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightshuffle.collection import Collection, Dummies, Group
    from tightshuffle.doors import bracket, delta, epsilon, to_pld, tradeoff
    from tightshuffle.planning.plan import fewest_users, plan

__all__ = [
    "Collection",
    "Dummies",
    "Group",
    "bracket",
    "delta",
    "epsilon",
    "fewest_users",
    "plan",
    "to_pld",
    "tradeoff",
]


def __getattr__(name: str) -> object:
    """A public name: its module is imported on first use."""
    if name in ("bracket", "delta", "epsilon", "to_pld", "tradeoff"):
        from tightshuffle import doors

        return getattr(doors, name)
    if name in ("fewest_users", "plan"):
        from tightshuffle.planning import plan as module

        return getattr(module, name)
    if name in ("Collection", "Dummies", "Group"):
        from tightshuffle import collection

        return getattr(collection, name)
    raise AttributeError(f"module 'tightshuffle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
