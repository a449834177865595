"""How private is the shuffle model, and what does it cost in accuracy?

Each of n users holds one of k values. A randomizer with local budget eps0 turns the value into a report, and
a shuffler removes who sent which report. This package bounds the eps and delta of the shuffled reports, for
every dataset:

>>> import tightshuffle
>>> tightshuffle.delta(0.5, n=100_000, k=408, eps0=4)          # an upper bound on delta at eps = 0.5
>>> tightshuffle.epsilon(1e-6, n=100_000, k=408, eps0=4)       # the eps at this delta
>>> tightshuffle.lower(0.1, n=100_000, k=408, eps0=4)          # the worst dataset has at least this delta
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

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from typing import Generic, Required, TypedDict, TypeVar, Unpack

    import numpy.typing as npt
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from tightshuffle.arguments import Floats
    from tightshuffle.collection import Collection, Dummies, Group
    from tightshuffle.planning import Plan
    from tightshuffle.randomizers import Randomizer

    T = TypeVar("T")

    class _Round(TypedDict, Generic[T], total=False):
        """The arguments of one round; T is ``float``, or ``ArrayLike`` if arrays broadcast."""

        n: Required[T]
        k: T | None
        eps0: T | None
        randomizer: str | Randomizer
        colluding: T

    class _Rounds(_Round[T], Generic[T], total=False):
        """The arguments of several rounds."""

        compositions: T


__version__ = "0.2.0"
__all__ = [
    "Collection",
    "Dummies",
    "Group",
    "delta",
    "epsilon",
    "lower",
    "plan",
    "to_pld",
    "tradeoff",
    "upper",
]


def __getattr__(name: str) -> object:
    """The classes of `tightshuffle.collection`, which is imported on first use."""
    if name in ("Collection", "Dummies", "Group"):
        from tightshuffle import collection

        return getattr(collection, name)
    raise AttributeError(f"module 'tightshuffle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


@overload
def delta(
    eps: float,
    *,
    method: str = "upper",
    count: float | None = None,
    direction: str | None = None,
    log10: bool = False,
    **setting: "Unpack[_Rounds[float]]",
) -> float: ...


@overload
def delta(
    eps: "npt.ArrayLike",
    *,
    method: str = "upper",
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    log10: bool = False,
    **setting: "Unpack[_Rounds[npt.ArrayLike]]",
) -> "Floats": ...


def delta(
    eps: "npt.ArrayLike",
    *,
    method: str = "upper",
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    log10: bool = False,
    **setting: "Unpack[_Rounds[npt.ArrayLike]]",
) -> "Floats | float":
    """delta at eps, by default from the method `upper`: an upper bound for every dataset.

    Parameters
    ----------
    eps : >= 0
    n, k, eps0 : users, values, local budget; leave out k and eps0 if ``randomizer`` is a file or an object
    method : a name that ``tightshuffle methods`` lists
    randomizer : a name, "file:MATRIX.csv" or an object; for the methods upper, lower and single-value
    colluding : how many users reveal their reports to the adversary, or send none; a number below 1 is a
        share of the n users, rounded up. The guarantee is for the remaining users.
    compositions : rounds in which the same users report with fresh randomness, for the methods that compose.
        Values may change between rounds; the guarantee covers all values of one user together.
    count, direction : for the method count-exact: how many of the remaining n - 1 users hold x0; and
        "forward", "reverse", or "both" (the default), the larger of the two
    log10 : True to return log10 delta

    Returns
    -------
    delta, an array of the broadcast shape (a float for scalars). Upper bounds are rounded up, lower bounds
    down. nan, with an `OutsideRange` warning, where a theorem does not apply.

    Raises
    ------
    ValueError naming a bad argument.
    """
    from tightshuffle import methods
    from tightshuffle.numerics.powers import delta_of_log10

    logs = methods.delta(method, eps, count=count, direction=direction, **setting)
    if log10:
        return _plain(logs)
    kind = methods.METHODS[method].kind
    side = {methods.UPPER: 1, methods.LOWER: -1}.get(kind, 0)
    return _plain(delta_of_log10(logs, side))


@overload
def epsilon(
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    method: str = "upper",
    count: float | None = None,
    direction: str | None = None,
    **setting: "Unpack[_Rounds[float]]",
) -> float: ...


@overload
def epsilon(
    delta: "npt.ArrayLike | None" = None,
    *,
    log10_delta: "npt.ArrayLike | None" = None,
    method: str = "upper",
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    **setting: "Unpack[_Rounds[npt.ArrayLike]]",
) -> "Floats": ...


def epsilon(
    delta: "npt.ArrayLike | None" = None,
    *,
    log10_delta: "npt.ArrayLike | None" = None,
    method: str = "upper",
    **setting: Any,
) -> "Floats | float":
    """The smallest eps at which a method guarantees ``delta`` (or ``log10_delta``), rounded up.

    The other parameters are those of `delta`. Returns an array of the broadcast shape (a float for scalars).
    nan where the method does not guarantee this delta at any eps up to compositions * eps0, which holds
    without shuffling. Raises ValueError naming a bad argument.
    """
    from tightshuffle import methods

    return _plain(methods.epsilon(method, delta, log10_delta=log10_delta, **setting))


@overload
def upper(eps: float, *, log10: bool = False, **setting: "Unpack[_Rounds[float]]") -> float: ...


@overload
def upper(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats": ...


def upper(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats | float":
    """An upper bound on delta for every dataset: `delta` with the method "upper"."""
    return delta(eps, method="upper", log10=log10, **setting)


@overload
def lower(eps: float, *, log10: bool = False, **setting: "Unpack[_Rounds[float]]") -> float: ...


@overload
def lower(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats": ...


def lower(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats | float":
    """A lower bound on delta of the worst dataset: `delta` with the method "lower"."""
    return delta(eps, method="lower", log10=log10, **setting)


def plan(
    *,
    n: float | None = None,
    error: float | None = None,
    k: float,
    eps: float,
    delta: float | None = None,
    log10_delta: float | None = None,
    randomizer: str = "grr",
    colluding: float = 0,
    compositions: int = 1,
) -> "Plan":
    """The largest eps0 with which the shuffled reports are (eps, delta)-private, and the expected errors.

    Instead of ``n``, give the largest ``error`` that you accept: the plan is then for the fewest users with
    this guarantee and this error. Every parameter is one number. `tightshuffle.planning.make_plan` explains
    the parameters, and `tightshuffle.planning.Plan` the result.
    """
    from tightshuffle.planning import make_plan

    return make_plan(
        n,
        k,
        eps,
        delta,
        log10_delta=log10_delta,
        error=error,
        randomizer=randomizer,
        colluding=colluding,
        compositions=compositions,
    )


@overload
def tradeoff(alpha: float, **setting: "Unpack[_Round[float]]") -> float: ...


@overload
def tradeoff(alpha: "npt.ArrayLike", **setting: "Unpack[_Round[float]]") -> "Floats": ...


def tradeoff(alpha: "npt.ArrayLike", **setting: "Unpack[_Round[float]]") -> "Floats | float":
    """A lower bound on the false negative rate of any attack with false positive rate ``alpha``, by `upper`.

    ``alpha`` is a number or an array; `tightshuffle.bounds.tradeoff.tradeoff` explains the parameters.
    """
    from tightshuffle.bounds.tradeoff import tradeoff as curve

    return _plain(curve(alpha, **setting))


def to_pld(
    *, pessimistic: bool = True, spacing: float = 1e-4, **setting: "Unpack[_Round[float]]"
) -> "PrivacyLossDistribution":
    """One shuffled round as a privacy loss distribution of dp-accounting, to compose with other mechanisms.

    Two datasets are neighbours here if they differ in one user's value. dp-accounting does not check this:
    give every mechanism that you compose ``neighboring_relation=NeighboringRelation.REPLACE_ONE``, or eps is
    too small.

    `tightshuffle.bounds.pld.to_pld` explains the parameters. This function needs the extra ``pld``.
    """
    from tightshuffle.bounds.pld import to_pld as distribution

    return distribution(pessimistic=pessimistic, spacing=spacing, **setting)


def _plain(values: "Floats") -> "Floats | float":
    """A Python float for an array without axes."""
    return values if values.ndim else float(values)
