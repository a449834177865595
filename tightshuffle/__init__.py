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
gives its logarithm to base 10, ``log10_delta=`` takes it: below 1e-308 a float is 0. A bad argument is a
ValueError that names it. Users may run k-randomized response ("grr", the default) or another ``randomizer``:
"subset:M", "rappor", "oue", "hadamard", "hash:G", a matrix of your own, "file:MATRIX.csv", or an object of
`tightshuffle.mechanisms.randomizers`, for example ``Finite(matrix)``.

The same from a shell: ``tightshuffle --help``. The pipeline that regenerates the papers' figures is beside
this package, in the repository.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from tightshuffle.arguments import Floats
    from tightshuffle.experiments.plan import Plan
    from tightshuffle.mechanisms.randomizers import Randomizer

__version__ = "0.1.0"
__all__ = ["delta", "epsilon", "lower", "plan", "tight", "to_pld", "tradeoff", "upper"]


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
    log10: bool = False,
    **more: Any,
) -> "Floats":
    """delta at eps, by one method: by default `upper`, the guarantee for every dataset.

    Parameters
    ----------
    eps : >= 0
    n, k, eps0 : users, values, local budget; a ``randomizer`` that is an object knows the last two
    method : a name that ``tightshuffle methods`` lists
    randomizer : what users run, for the methods upper and lower
    colluding : how many users tell the adversary their reports, or send none: the rest must hide each other
    compositions : rounds with fresh randomness, for the methods that compose
    log10 : True for log10 delta
    more : ``count`` and ``direction`` of the methods count-exact and count-published

    Returns
    -------
    delta of the broadcast shape, a float for scalars; bounds are rounded to their safe side. nan, with a
    warning, where a theorem does not apply. ValueError names a bad argument.
    """
    import numpy as np

    from tightshuffle.privacy import methods

    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0, "randomizer": randomizer, "colluding": colluding}
    logs = methods.delta(method, eps, **setting, compositions=compositions, **more)
    if log10:
        return logs
    kind = methods.METHODS[method].kind
    # Powers lose units in the last place in proportion to the exponent.
    slack = 1e-12 * {methods.UPPER: 1, methods.LOWER: -1, methods.CONJECTURE: -1}.get(kind, 0)
    return np.minimum(np.power(10.0, logs) * (1 + slack), 1.0)[()]


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
    **more: Any,
) -> "Floats":
    """The smallest eps at which a method promises ``delta`` (or ``log10_delta``), rounded up.

    All else as for `delta`. nan where the method promises it at no eps up to compositions * eps0.
    """
    from tightshuffle.privacy import methods

    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0, "randomizer": randomizer, "colluding": colluding}
    return methods.epsilon(
        method, delta, log10_delta=log10_delta, **setting, compositions=compositions, **more
    )


def upper(eps: "npt.ArrayLike", **setting: Any) -> "Floats":
    """An upper bound on delta for every dataset: `delta` with method "upper" and the same ``setting``."""
    return delta(eps, method="upper", **setting)


def lower(eps: "npt.ArrayLike", **setting: Any) -> "Floats":
    """A lower bound on the worst dataset's delta: `delta` with method "lower" and the same ``setting``."""
    return delta(eps, method="lower", **setting)


def tight(eps: "npt.ArrayLike", **setting: Any) -> "Floats":
    """delta of the dataset that is the worst by conjecture, k-RR with k >= 3: `delta` with method "tight".

    Exact if the conjecture of docs/worst_case.md holds, a rigorous lower bound in any case; n up to 10^5.
    """
    return delta(eps, method="tight", **setting)


def plan(
    *,
    n: int | None = None,
    error: float | None = None,
    k: int,
    eps: float,
    delta: float | None = None,
    log10_delta: float | None = None,
    randomizer: str = "grr",
    colluding: float = 0,
    compositions: int = 1,
) -> "Plan":
    """The largest eps0 that meets (eps, delta) behind a shuffler, and the expected errors that it leaves.

    Give ``n``, or instead of it the largest ``error`` that you accept: then the plan is for the fewest users
    with this guarantee and error. See `tightshuffle.experiments.plan.make_plan` for the parameters, each of
    them one number, and `tightshuffle.experiments.plan.Plan` for the answer.
    """
    from tightshuffle.experiments.plan import make_plan

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


def tradeoff(alpha: "npt.ArrayLike", **setting: Any) -> "Floats":
    """A lower bound on the false negatives of every attack whose false positives are ``alpha``, from `upper`.

    See `tightshuffle.privacy.tradeoff.tradeoff` for the parameters.
    """
    from tightshuffle.privacy.tradeoff import tradeoff as curve

    return curve(alpha, **setting)


def to_pld(**setting: Any) -> "PrivacyLossDistribution":
    """One shuffled round as a privacy loss distribution of dp-accounting, which composes it with others.

    See `tightshuffle.privacy.pld.to_pld` for the parameters: n, k, eps0, randomizer, colluding, pessimistic,
    spacing. It needs dp-accounting (the extra ``pld``).
    """
    from tightshuffle.privacy.pld import to_pld as distribution

    return distribution(**setting)
