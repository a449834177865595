"""How private is the shuffle model, and what does it cost in accuracy?

Each of n users holds one of k values, randomizes it with local budget eps0, and a shuffler removes who sent
what. These functions say how private the shuffled reports are, whatever the other users hold:

>>> import tightshuffle
>>> tightshuffle.delta(0.5, n=100_000, k=408, eps0=4)          # what eps = 0.5 costs: a rigorous upper bound
>>> tightshuffle.epsilon(1e-6, n=100_000, k=408, eps0=4)       # the eps at this delta
>>> tightshuffle.lower(0.1, n=100_000, k=408, eps0=4)          # some dataset is at least that bad
>>> tightshuffle.plan(n=100_000, k=408, eps=0.5, delta=1e-6)   # the largest eps0, and the accuracy it leaves
>>> tightshuffle.plan(error=0.05, k=408, eps=0.5, delta=1e-6)  # the fewest users for this error

``n``, ``k``, ``eps0``, ``eps`` are numbers or arrays, which broadcast. delta is a number; ``log10=True``
gives its logarithm to base 10, ``log10_delta=`` takes it: floats end near 1e-308. A bad argument is a
ValueError that names it. Users may run k-randomized response ("grr", the default) or another ``randomizer``:
"subset:M", "rappor", "oue", "hadamard", "hash:G", a matrix of your own, "file:MATRIX.csv", or an object of
`tightshuffle.randomizers`, for example ``Finite(matrix)``.

The same from a shell: ``tightshuffle --help``. The pipeline that regenerates the papers' figures is beside
this package, in the repository.
"""

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from typing import Generic, Required, TypedDict, TypeVar, Unpack

    import numpy.typing as npt
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from tightshuffle.arguments import Floats
    from tightshuffle.planning import Plan
    from tightshuffle.randomizers import Randomizer

    T = TypeVar("T")

    class _Round(TypedDict, Generic[T], total=False):
        """What describes one round; T is ``float``, or ``ArrayLike`` where arrays broadcast."""

        n: Required[T]
        k: T | None
        eps0: T | None
        randomizer: str | Randomizer
        colluding: T

    class _Rounds(_Round[T], Generic[T], total=False):
        """What describes several rounds."""

        compositions: T


__version__ = "0.1.0"
__all__ = ["delta", "epsilon", "lower", "plan", "tight", "to_pld", "tradeoff", "upper"]


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
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    method: str = "upper",
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    log10: bool = False,
) -> "Floats | float":
    """delta at eps, by one method: by default `upper`, the guarantee for every dataset.

    Parameters
    ----------
    eps : >= 0
    n, k, eps0 : users, values, local budget; a ``randomizer`` that is a file or an object knows the last two
    method : a name that ``tightshuffle methods`` lists
    randomizer : what users run, for the methods upper and lower
    colluding : how many users tell the adversary their reports, or send none: the rest must hide each other.
        Below 1 it is their share of the n users, rounded up.
    compositions : rounds of the same users with fresh randomness, for the methods that compose. Values may
        change from round to round: the guarantee is for all values of one user together.
    count, direction : for count-exact only, see `tightshuffle.methods.delta`
    log10 : True for log10 delta

    Returns
    -------
    delta of the broadcast shape, a float for scalars; bounds are rounded to their safe side. nan, with a
    warning, where a theorem does not apply. ValueError names a bad argument.
    """
    given = dict(locals())
    del given["log10"]
    import numpy as np

    from tightshuffle import methods

    logs = methods.delta(**given)
    if log10:
        return _plain(logs)
    kind = methods.METHODS[method].kind
    side = {methods.UPPER: 1, methods.LOWER: -1, methods.CONJECTURE: -1}.get(kind, 0)
    # Powers lose units in the last place in proportion to the exponent; below 1e-307 a unit is 5e-324.
    unit = np.where((-np.inf < logs) & (logs < -307), 1e-323, 0.0)
    return _plain(np.clip(np.power(10.0, logs) * (1 + 1e-12 * side) + side * unit, 0.0, 1.0))


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
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    method: str = "upper",
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
) -> "Floats | float":
    """The smallest eps at which a method promises ``delta`` (or ``log10_delta``), rounded up.

    All else as for `delta`. nan where the method promises it at no eps up to compositions * eps0.
    """
    given = dict(locals())
    from tightshuffle import methods

    return _plain(methods.epsilon(**given))


@overload
def upper(eps: float, *, log10: bool = False, **setting: "Unpack[_Rounds[float]]") -> float: ...


@overload
def upper(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats": ...


def upper(
    eps: "npt.ArrayLike",
    *,
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    log10: bool = False,
) -> "Floats | float":
    """An upper bound on delta for every dataset: `delta` with method "upper"."""
    return delta(method="upper", **locals())


@overload
def lower(eps: float, *, log10: bool = False, **setting: "Unpack[_Rounds[float]]") -> float: ...


@overload
def lower(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats": ...


def lower(
    eps: "npt.ArrayLike",
    *,
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    log10: bool = False,
) -> "Floats | float":
    """A lower bound on the worst dataset's delta: `delta` with method "lower"."""
    return delta(method="lower", **locals())


@overload
def tight(eps: float, *, log10: bool = False, **setting: "Unpack[_Rounds[float]]") -> float: ...


@overload
def tight(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Rounds[npt.ArrayLike]]"
) -> "Floats": ...


def tight(
    eps: "npt.ArrayLike",
    *,
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    log10: bool = False,
) -> "Floats | float":
    """delta of the dataset that is the worst by conjecture, k-RR with k >= 3: `delta` with method "tight".

    Exact if the conjecture of docs/worst_case.md holds, a rigorous lower bound in any case; n up to 10^5.
    """
    return delta(method="tight", **locals())


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
    """The largest eps0 that meets (eps, delta) behind a shuffler, and the expected errors that it leaves.

    Give ``n``, or instead of it the largest ``error`` that you accept: then the plan is for the fewest users
    with this guarantee and error. See `tightshuffle.planning.make_plan` for the parameters, each of
    them one number, and `tightshuffle.planning.Plan` for the answer.
    """
    given = dict(locals())
    from tightshuffle.planning import make_plan

    return make_plan(**given)


@overload
def tradeoff(alpha: float, **setting: "Unpack[_Round[float]]") -> float: ...


@overload
def tradeoff(alpha: "npt.ArrayLike", **setting: "Unpack[_Round[float]]") -> "Floats": ...


def tradeoff(
    alpha: "npt.ArrayLike",
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: float = 0,
) -> "Floats | float":
    """A lower bound on the false negatives of every attack whose false positives are ``alpha``, from `upper`.

    See `tightshuffle.bounds.tradeoff.tradeoff` for the parameters.
    """
    given = dict(locals())
    from tightshuffle.bounds.tradeoff import tradeoff as curve

    return _plain(curve(**given))


def to_pld(
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: float = 0,
    pessimistic: bool = True,
    spacing: float = 1e-4,
) -> "PrivacyLossDistribution":
    """One shuffled round as a privacy loss distribution of dp-accounting, which composes it with others.

    Two datasets differ in one user's value here. dp-accounting cannot tell: every other mechanism that you
    compose with it needs ``neighboring_relation=NeighboringRelation.REPLACE_ONE``, or eps is too small.

    See `tightshuffle.bounds.pld.to_pld` for the parameters. It needs dp-accounting (the extra ``pld``).
    """
    given = dict(locals())
    from tightshuffle.bounds.pld import to_pld as distribution

    return distribution(**given)


def _plain(values: "Floats") -> "Floats | float":
    """A float of Python for an array without axes."""
    return values if values.ndim else float(values)
