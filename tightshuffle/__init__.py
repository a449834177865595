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

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from typing import Generic, Required, TypedDict, TypeVar, Unpack

    import numpy.typing as npt
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from tightshuffle.arguments import Floats
    from tightshuffle.collection import Collection, Dummies, Group
    from tightshuffle.planning import fewest_users, plan
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

    class _Released(_Rounds[T], Generic[T], total=False):
        """The arguments of the guarantee."""

        release: str
        deletion: bool

    class _Asked(_Released[T], Generic[T], total=False):
        """The arguments of any method."""

        method: str
        count: T | None
        direction: str | None


__version__ = "0.2.0"
__all__ = [
    "Collection",
    "Dummies",
    "Group",
    "delta",
    "epsilon",
    "fewest_users",
    "lower",
    "plan",
    "to_pld",
    "tradeoff",
    "upper",
]


def __getattr__(name: str) -> object:
    """What `tightshuffle.collection` and `tightshuffle.planning` hold; both are imported on first use."""
    if name in ("Collection", "Dummies", "Group"):
        from tightshuffle import collection

        return getattr(collection, name)
    if name in ("fewest_users", "plan"):
        from tightshuffle import planning

        return getattr(planning, name)
    raise AttributeError(f"module 'tightshuffle' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


@overload
def delta(eps: float, *, log10: bool = False, **setting: "Unpack[_Asked[float]]") -> float: ...


@overload
def delta(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Asked[npt.ArrayLike]]"
) -> "Floats": ...


def delta(
    eps: "npt.ArrayLike",
    *,
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    method: str = "upper",
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    release: str = "reports",
    deletion: bool = False,
    log10: bool = False,
) -> "Floats | float":
    """delta at eps, by default from the method `upper`: an upper bound for every dataset.

    Parameters
    ----------
    eps : >= 0
    n, k, eps0 : users, values, local budget; leave out k and eps0 if ``randomizer`` is a file or an object
    randomizer : a name, "file:MATRIX.csv" or an object; for the methods upper, lower,
        privacy-blanket and single-value
    colluding : how many users reveal their reports to the adversary, or send none; a number below 1 is a
        share of the n users, rounded up. The guarantee is for the other users.
    compositions : rounds in which the same users report with fresh randomness, for the methods that compose.
        Values may change between rounds; the guarantee covers all values of one user together.
    method : a name that ``tightshuffle methods`` lists
    count, direction : for the method count-exact: how many of the other n - 1 users hold x0; and
        "forward", "reverse", or "both" (the default), the larger of the two
    release : what the analyst sees: all "reports", shuffled; or only their "sums", one count per value, as
        from Prio, DAP or secure aggregation, for rappor and oue
    deletion : for sums: whether neighbours differ in one user's having a value or none (a report all of whose
        bits are drawn as for a value that the user does not hold), not in the value
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
    from tightshuffle.arguments import check_flag
    from tightshuffle.setting import make_setting

    log10 = check_flag("log10", log10)
    setting = make_setting(
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        compositions=compositions,
        count=count,
        direction=direction,
        release=release,
        deletion=deletion,
    )
    logs = methods.log10_delta(method, eps, setting)
    side = {methods.UPPER: 1, methods.LOWER: -1}.get(methods.METHODS[method].kind, 0)
    return _answer(logs, log10, side)


@overload
def epsilon(
    delta: float | None = None, *, log10_delta: float | None = None, **setting: "Unpack[_Asked[float]]"
) -> float: ...


@overload
def epsilon(
    delta: "npt.ArrayLike | None" = None,
    *,
    log10_delta: "npt.ArrayLike | None" = None,
    **setting: "Unpack[_Asked[npt.ArrayLike]]",
) -> "Floats": ...


def epsilon(
    delta: "npt.ArrayLike | None" = None,
    *,
    log10_delta: "npt.ArrayLike | None" = None,
    n: "npt.ArrayLike",
    k: "npt.ArrayLike | None" = None,
    eps0: "npt.ArrayLike | None" = None,
    randomizer: "str | Randomizer" = "grr",
    colluding: "npt.ArrayLike" = 0,
    compositions: "npt.ArrayLike" = 1,
    method: str = "upper",
    count: "npt.ArrayLike | None" = None,
    direction: str | None = None,
    release: str = "reports",
    deletion: bool = False,
) -> "Floats | float":
    """The smallest eps at which a method guarantees ``delta`` (or ``log10_delta``), rounded up.

    For the method lower, eps is rounded down: some dataset has at least this delta there. The other
    parameters are those of `delta`. Returns an array of the broadcast shape (a float for scalars). nan where
    the method does not guarantee this delta at any eps up to compositions * eps0, which holds without
    shuffling. Raises ValueError naming a bad argument.
    """
    from tightshuffle import methods
    from tightshuffle.arguments import check_log10_delta
    from tightshuffle.setting import make_setting

    setting = make_setting(
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        compositions=compositions,
        count=count,
        direction=direction,
        release=release,
        deletion=deletion,
    )
    bound = methods.chosen(method, setting).bound
    return _plain(bound.epsilon(check_log10_delta(delta, log10_delta), setting))


@overload
def upper(eps: float, *, log10: bool = False, **setting: "Unpack[_Released[float]]") -> float: ...


@overload
def upper(
    eps: "npt.ArrayLike", *, log10: bool = False, **setting: "Unpack[_Released[npt.ArrayLike]]"
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
    release: str = "reports",
    deletion: bool = False,
    log10: bool = False,
) -> "Floats | float":
    """An upper bound on delta for every dataset: `delta` with the method "upper"."""
    from tightshuffle.arguments import check_eps, check_flag
    from tightshuffle.bounds import upper
    from tightshuffle.setting import make_setting

    log10 = check_flag("log10", log10)
    setting = make_setting(
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        compositions=compositions,
        release=release,
        deletion=deletion,
    )
    return _answer(upper.log10_delta(check_eps(eps), setting), log10, side=1)


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
    """A lower bound on delta of the worst dataset, for one round: `delta` with the method "lower"."""
    from tightshuffle import methods
    from tightshuffle.arguments import check_flag
    from tightshuffle.setting import make_setting

    log10 = check_flag("log10", log10)
    setting = make_setting(
        n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding, compositions=compositions
    )
    return _answer(methods.log10_delta("lower", eps, setting), log10, side=-1)


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
    """A lower bound on the false negative rate of any attack with false positive rate ``alpha``, by `upper`.

    ``alpha`` in [0, 1] is a number or an array, which gives the shape of the result. The other parameters are
    those of `delta`, one number each. Raises ValueError naming a bad argument.
    """
    from tightshuffle.bounds.tradeoff import tradeoff
    from tightshuffle.setting import make_setting

    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    return _plain(tradeoff(alpha, setting))


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
    """One shuffled round as a privacy loss distribution of dp-accounting, to compose with other mechanisms.

    Two datasets are neighbours here if they differ in one user's value. dp-accounting does not check this:
    give every mechanism that you compose ``neighboring_relation=NeighboringRelation.REPLACE_ONE``, or eps is
    too small. The distribution is rigorous up to the rounding of dp-accounting, which cuts tails of 1e-15. So
    do not use it for a smaller delta.

    Parameters
    ----------
    n, k, eps0, randomizer, colluding : as for `delta`, one number each
    pessimistic : True for a guarantee: in every composition, delta of every dataset is at most the one
        returned. False for a lower bound: delta of the dataset in which all other users hold one third value
        in every round is at least the one returned. (For k = 2 the other users draw new values in every
        round; some fixed values have at least this delta.)
    spacing : distance of the grid points of the loss, by default that of dp-accounting. Two distributions
        compose if they have the same. The bounds are wide if it is much larger than the standard deviation of
        the loss, about `gaussian_limit.gaussian_mu`.

    Raises
    ------
    ValueError naming a bad argument; ModuleNotFoundError without dp-accounting (the extra ``pld``).
    """
    from tightshuffle.bounds.pld import to_pld
    from tightshuffle.setting import make_setting

    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    return to_pld(setting, pessimistic=pessimistic, spacing=spacing)


def _answer(logs: "Floats", log10: bool, side: int) -> "Floats | float":
    """log10 delta, or delta rounded up (``side`` 1), down (-1) or to the nearest float (0)."""
    from tightshuffle.numerics.powers import delta_of_log10

    return _plain(logs if log10 else delta_of_log10(logs, side))


def _plain(values: "Floats") -> "Floats | float":
    """A Python float for an array without axes."""
    return values if values.ndim else float(values)
