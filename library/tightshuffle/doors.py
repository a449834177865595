"""The public functions of a setting: delta, eps, their brackets, and what follows from the guarantee.

A function gathers its arguments into `Points`, which are checked once, asks one method, and gives the answer
the shape of the arguments. `delta` explains the arguments that all functions share.
"""

from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_flag,
    check_installed,
    check_log10_delta,
    check_probability,
)
from tightshuffle.bounds.guarantee import end_of_losses, ln_upper_of_round
from tightshuffle.methods import METHODS, chosen_method
from tightshuffle.numerics.powers import LN10
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    in_callers_shape,
    make_point,
    make_points,
)
from tightshuffle.randomizers import Density, Randomizer

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_TRADEOFF_POINTS = 400  # values of eps whose lines bound the trade-off curve


class Bracket(NamedTuple):
    """A lower and an upper bound: floats, or arrays of one shape."""

    lower: Floats | float
    upper: Floats | float


@overload
def delta(
    eps: float,
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
    participation: float = 1.0,
    rounds: float = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: float | None = None,
    direction: str | None = None,
    method: str = "upper",
    log10: bool = False,
) -> float: ...


@overload
def delta(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
    rounds: npt.ArrayLike = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    method: str = "upper",
    log10: bool = False,
) -> Floats: ...


def delta(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
    rounds: npt.ArrayLike = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    method: str = "upper",
    log10: bool = False,
) -> Floats | float:
    """delta at ``eps``: by default an upper bound for every dataset.

    Numbers may be arrays, which broadcast, where this says so.

    Parameters
    ----------
    eps : number or array, at least 0
    n : number or array, from 1 to 10^12
        Users who send a report in each round; with ``participation``, users who could.
    k : number or array, at least 2
        Values. Leave it out if ``randomizer`` is a file, a density or an object, which has its own,
        or if it is "support:ALPHA:BETA", where nothing depends on it.
    eps0 : number or array, above 0 and at most 50
        Local budget of one report. Leave it out if ``randomizer`` is a file, a density, an object or
        "unary:P:Q".
    randomizer : str or Randomizer
        A name, "file:MATRIX.csv", a density, or an object; "grr" is k-randomized response. The methods upper,
        lower, privacy-blanket and single-value take every randomizer, all others take "grr" only. A density,
        such as "density:laplace:SCALE", is that of noise that is added to an input from 0 to 1; single-value
        does not take it.
    colluding : number or array, at least 0
        Users who reveal their reports to the adversary, or send none; below 1, a share of the n users,
        rounded up. The guarantee is for the other users.
    participation : float, above 0 and at most 1
        The probability that a user reports in a round, independently of all else, for the methods upper and
        lower and for randomizers with a name. The guarantee is for a user who reports in every round, and
        does not hide who reports.
    rounds : number or array, at least 1
        Rounds in which the same users report with fresh randomness, for the methods that compose. Values may
        change between rounds. The guarantee covers all values of one user together.
    release : str
        What the analyst sees: "reports", all of them shuffled; or "sums", one count per value, as from Prio,
        DAP or secure aggregation. Sums are for the method upper and the randomizers rappor, oue and unary.
    neighbours : str
        "replacement": two datasets differ in the value of one user; or, for sums, "deletion": in one user's
        having a value or none. All bits of a report without a value are drawn as for a value that the user
        does not hold.
    count, direction : number or array from 0 to n - 1, and str
        For the method count-exact: how many of the other n - 1 users hold x0; and "forward", "reverse", or
        "both", the larger of the two, which is the default.
    method : str
        A name that ``tightshuffle methods`` lists.
    log10 : bool
        True to return log10 delta. delta can be smaller than the smallest float, about 1e-308.

    Returns
    -------
    delta; a float, or an array of the shape to which all arguments broadcast. Upper bounds are rounded up,
    lower bounds down. nan, with an `OutsideRange` warning, where a theorem does not apply.

    Raises
    ------
    ValueError that names a bad argument.
    """
    log10 = check_flag("log10", log10)
    points = make_points(
        eps,
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        participation=participation,
        rounds=rounds,
        release=release,
        neighbours=neighbours,
        count=count,
        direction=direction,
    )
    chosen = chosen_method(method, points)
    return in_callers_shape(points, chosen.ln_delta(points), log10, chosen.side)


@overload
def epsilon(
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
    participation: float = 1.0,
    rounds: float = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: float | None = None,
    direction: str | None = None,
    method: str = "upper",
) -> float: ...


@overload
def epsilon(
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
    rounds: npt.ArrayLike = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    method: str = "upper",
) -> Floats: ...


def epsilon(
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
    rounds: npt.ArrayLike = 1,
    release: str = "reports",
    neighbours: str = "replacement",
    count: npt.ArrayLike | None = None,
    direction: str | None = None,
    method: str = "upper",
) -> Floats | float:
    """The smallest eps at which a method guarantees ``delta``, rounded up.

    For the method lower, eps is rounded down: some dataset has at least this delta there. eps is 0 where the
    lower bound is at most this delta at eps = 0.

    Parameters
    ----------
    delta : number or array, between 0 and 1
    log10_delta : number or array, below 0
        Instead of ``delta``, which can be smaller than the smallest float.
    n, k, eps0, randomizer, colluding, participation, rounds, release, neighbours, count, direction, method
        As for `tightshuffle.delta`.

    Returns
    -------
    eps; a float, or an array of the shape to which all arguments broadcast. nan where the method does not
    guarantee this delta at any eps up to rounds * eps0, which holds without shuffling.

    Raises
    ------
    ValueError that names a bad argument.
    """
    targets = check_log10_delta(delta, log10_delta)
    points = make_points(
        np.zeros(targets.shape),
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        participation=participation,
        rounds=rounds,
        release=release,
        neighbours=neighbours,
        count=count,
        direction=direction,
    )
    return points.solved(chosen_method(method, points).epsilon, targets * LN10)


def bracket(
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    participation: float = 1.0,
) -> Bracket:
    """Between which eps the worst dataset's lies: the smallest eps at which it is (eps, delta)-private.

    Parameters
    ----------
    delta : number or array, between 0 and 1
    log10_delta : number or array, below 0
        Instead of ``delta``.
    n, k, eps0, randomizer, colluding, participation
        As for `tightshuffle.delta`.

    Returns
    -------
    Bracket(lower, upper). At eps = upper every dataset has at most this delta. At eps = lower some dataset
    has at least this delta; but lower is 0 if the lower bound is at most this delta at eps = 0.

    Raises
    ------
    ValueError that names a bad argument.
    """
    targets = check_log10_delta(delta, log10_delta)
    points = make_points(
        np.zeros(targets.shape),
        n=n,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        participation=participation,
    )
    ends = [points.solved(METHODS[name].epsilon, targets * LN10) for name in ("lower", "upper")]
    return Bracket(*ends)


@overload
def tradeoff(
    alpha: float,
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
) -> float: ...


@overload
def tradeoff(
    alpha: npt.ArrayLike,
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
) -> Floats: ...


def tradeoff(
    alpha: npt.ArrayLike,
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
) -> Floats | float:
    """A lower bound on the false negative rate of any attack with false positive rate ``alpha``.

    It is at least max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)) at every eps, with the upper
    bound on delta (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 3). The result is the largest
    over 400 values of eps.

    Parameters
    ----------
    alpha : number or array, from 0 to 1
        It gives the shape of the result.
    n, k, eps0, randomizer, colluding
        As for `tightshuffle.delta`, one number each.

    Raises
    ------
    ValueError that names a bad argument.
    """
    point = make_point(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    rates = check_probability("alpha", alpha)

    # Dense near 0, where the curve of many users bends.
    largest_eps = np.minimum(point.eps0, LARGEST_EPS0_OF_UPPER)  # which may be infinite
    eps = largest_eps * np.concatenate([[0.0], np.geomspace(1e-6, 1, _TRADEOFF_POINTS - 1)])
    one_less_delta = -np.expm1(ln_upper_of_round(point.with_eps(eps)))
    alphas = rates[..., None]
    forward = one_less_delta - np.exp(eps) * alphas
    reverse = np.exp(-eps) * (one_less_delta - alphas)
    lines = np.maximum(forward, reverse)
    bound = np.maximum(lines.max(axis=-1) * (1 - 1e-15) - 1e-16, 0.0)  # down by more than rounding
    return bound if bound.ndim else float(bound)


def to_pld(
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
    pessimistic: bool = True,
    spacing: float = 1e-4,
) -> "PrivacyLossDistribution":
    """One shuffled round as a privacy loss distribution of dp-accounting, to compose with other mechanisms.

    Two datasets are neighbours here if they differ in one user's value. dp-accounting does not check this:
    give every mechanism that you compose ``neighboring_relation=NeighboringRelation.REPLACE_ONE``, or eps is
    too small.

    The distribution is rigorous, but dp-accounting rounds when it composes: its Fourier transforms are wrong
    by up to about 1e-16 per round, in either direction, and it cuts tails of 1e-15. So do not use a composed
    distribution for delta below 1e-14 times the number of rounds. There, ask `epsilon` or `delta` with
    ``rounds``, or compose with `tightshuffle.dp_accounting.ShuffleAccountant`: they bound their rounding.

    Parameters
    ----------
    n, k, eps0, randomizer, colluding
        As for `tightshuffle.delta`, one number each.
    pessimistic : bool
        True for a guarantee: in every composition, delta of every dataset is at most the one returned. False
        for a lower bound: delta of the dataset in which all other users hold one third value in every round
        is at least the one returned. (For k = 2 the other users draw new values in every round; some fixed
        values have at least this delta.) Both but for dp-accounting's rounding.
    spacing : float, above 0
        Distance of the grid points of the loss, by default that of dp-accounting. Two distributions compose
        if they have the same. The bounds are wide if it is much larger than the standard deviation of the
        loss, about `gaussian_limit.gaussian_mu`.

    Raises
    ------
    ValueError that names a bad argument.
    ModuleNotFoundError without dp-accounting (the extra ``pld``).
    """
    check_installed("pld", "dp_accounting")
    from tightshuffle.bounds import pld

    point = make_point(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    if isinstance(point.randomizer, Density):
        raise ValueError(f"randomizer must be no density here; got {point.randomizer.name}")
    pessimistic = check_flag("pessimistic", pessimistic)
    last_eps = end_of_losses(point)
    if pessimistic:
        return pld.pessimistic_pld(
            lambda eps: ln_upper_of_round(point.with_eps(eps)), last_eps, spacing
        )
    return pld.optimistic_pld(point, last_eps, spacing)
