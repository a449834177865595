"""The guarantee: the smallest proven upper bound on delta for every dataset, its inverse, and what follows.

`log10_upper_of_round` is the one place where a bound becomes part of the guarantee. Several rounds, trade-off
curves, loss distributions and plans all ask it. Bounds of the literature are in `methods`.
"""

from typing import TYPE_CHECKING, NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_flag,
    check_installed,
    check_log10_delta,
    check_probability,
)
from tightshuffle.bounds import privacy_blanket, rounds, single_value, sums
from tightshuffle.bounds.inverse import epsilon_near_gaussian
from tightshuffle.points import (
    GuaranteeArguments,
    LowerArguments,
    Points,
    RoundArguments,
    answer,
    door,
    make_point,
    make_points,
)
from tightshuffle.side import Side

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_TRADEOFF_POINTS = 400  # values of eps whose lines bound the trade-off curve


class Bracket(NamedTuple):
    """A lower and an upper bound: floats, or arrays of one shape."""

    lower: Floats | float
    upper: Floats | float


# The bounds, at points that are checked.


def log10_upper_of_round(points: Points, *, width: float = privacy_blanket.WIDTH) -> Floats:
    """log10 of the smallest proven upper bound on delta of one round; (points,), -inf where eps >= eps0.

    It is the smaller one of the privacy blanket's bound and the single value's. ``width``: what the
    computation of the first may add, relative to delta.
    """
    blanket = privacy_blanket.log10_upper(points, width=width)
    return single_value.log10_smaller(points, blanket)


def log10_upper(points: Points) -> Floats:
    """log10 of the upper bound on delta of all rounds together; (points,).

    It is -inf where eps >= rounds * eps0.
    """
    if points.release == "sums":
        return sums.log10_delta(points)
    return rounds.log10_delta(log10_upper_of_round, points)


def epsilon_of_upper(target_log10_delta: float, point: Points) -> float:
    """The smallest eps at which the upper bound is at most 10^``target_log10_delta``, rounded up.

    The bound is up to 1e-5 smaller there, in log10 delta. ``point`` has length 1.
    """
    if point.release == "sums":
        return sums.epsilon(target_log10_delta, point)
    if point.rounds.item() > 1:
        return rounds.epsilon(log10_upper_of_round, target_log10_delta, point)
    return epsilon_near_gaussian(log10_upper_of_round, target_log10_delta, point, Side.UPPER)


def epsilon_of_lower(target_log10_delta: float, point: Points) -> float:
    """The largest eps at which the lower bound of one round is at least 10^``target_log10_delta``.

    It is 0 where the bound is at most that at eps = 0.
    """
    return epsilon_near_gaussian(privacy_blanket.log10_lower, target_log10_delta, point, Side.LOWER)


def end_of_losses(point: Points) -> float:
    """The eps at which a grid of the losses of one round ends: delta is negligible from there on.

    It is eps0 if delta is never negligible. ``point`` has length 1.
    """
    from tightshuffle.bounds.pld import NEGLIGIBLE

    last_eps = epsilon_of_upper(NEGLIGIBLE, point)
    return point.eps0.item() if np.isnan(last_eps) else last_eps


# The doors.


@overload
def upper(
    eps: float, *, log10: bool = False, **arguments: Unpack[GuaranteeArguments[float]]
) -> float: ...


@overload
def upper(
    eps: npt.ArrayLike,
    *,
    log10: bool = False,
    **arguments: Unpack[GuaranteeArguments[npt.ArrayLike]],
) -> Floats: ...


@door(GuaranteeArguments)
def upper(
    eps: npt.ArrayLike,
    *,
    log10: bool = False,
    **arguments: Unpack[GuaranteeArguments[npt.ArrayLike]],
) -> Floats | float:
    """An upper bound on delta at eps, for every dataset.

    Parameters
    ----------
    eps : float or array, at least 0
    {arguments}
    log10 : bool
        True to return log10 delta. delta can be smaller than the smallest float, about 1e-308.

    Returns
    -------
    delta, rounded up; a float, or an array of the shape to which all arguments broadcast.

    Raises
    ------
    ValueError that names a bad argument.
    """
    log10 = check_flag("log10", log10)
    points = make_points(eps, **arguments)
    return answer(points, log10_upper(points), log10, Side.UPPER)


@overload
def lower(
    eps: float, *, log10: bool = False, **arguments: Unpack[LowerArguments[float]]
) -> float: ...


@overload
def lower(
    eps: npt.ArrayLike, *, log10: bool = False, **arguments: Unpack[LowerArguments[npt.ArrayLike]]
) -> Floats: ...


@door(LowerArguments)
def lower(
    eps: npt.ArrayLike, *, log10: bool = False, **arguments: Unpack[LowerArguments[npt.ArrayLike]]
) -> Floats | float:
    """A lower bound on delta of the worst dataset in one round: some dataset has at least this delta.

    Parameters
    ----------
    eps : float or array, at least 0
    {arguments}
    log10 : bool
        True to return log10 delta.

    Returns
    -------
    delta, rounded down; a float, or an array of the shape to which all arguments broadcast.

    Raises
    ------
    ValueError that names a bad argument, or ``rounds`` above 1.
    """
    log10 = check_flag("log10", log10)
    points = make_points(eps, **arguments)
    refuse_rounds(points, "lower", able="upper")
    return answer(points, privacy_blanket.log10_lower(points), log10, Side.LOWER)


@door(RoundArguments)
def bracket(
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    **arguments: Unpack[RoundArguments[npt.ArrayLike]],
) -> Bracket:
    """Between which eps the worst dataset's lies: the smallest eps at which it is (eps, delta)-private.

    Parameters
    ----------
    delta : float or array, between 0 and 1
    log10_delta : float or array, below 0
        Instead of ``delta``.
    {arguments}

    Returns
    -------
    Bracket(lower, upper). At eps = upper every dataset has at most this delta. At eps = lower some dataset
    has at least this delta; but lower is 0 if the lower bound is at most this delta at eps = 0.

    Raises
    ------
    ValueError that names a bad argument.
    """
    targets = check_log10_delta(delta, log10_delta)
    points = make_points(np.zeros(targets.shape), **arguments)
    return Bracket(
        points.solved(epsilon_of_lower, targets), points.solved(epsilon_of_upper, targets)
    )


@overload
def tradeoff(alpha: float, **arguments: Unpack[RoundArguments[float]]) -> float: ...


@overload
def tradeoff(alpha: npt.ArrayLike, **arguments: Unpack[RoundArguments[float]]) -> Floats: ...


@door(RoundArguments)
def tradeoff(alpha: npt.ArrayLike, **arguments: Unpack[RoundArguments[float]]) -> Floats | float:
    """A lower bound on the false negative rate of any attack with false positive rate ``alpha``, by `upper`.

    It is at least max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)) at every eps (Wasserman and
    Zhou 2010; Dong, Roth and Su 2022, Proposition 3). The bound is the largest over 400 values of eps.

    Parameters
    ----------
    alpha : float or array, from 0 to 1
        It gives the shape of the result; all other arguments are one number each.
    {arguments}

    Raises
    ------
    ValueError that names a bad argument.
    """
    point = make_point(**arguments)
    rates = check_probability("alpha", alpha)

    # Dense near 0, where the curve of many users bends.
    eps = point.eps0 * np.concatenate([[0.0], np.geomspace(1e-6, 1, _TRADEOFF_POINTS - 1)])
    one_less_delta = 1 - 10 ** log10_upper_of_round(point.with_eps(eps))
    alphas = rates[..., None]
    forward = one_less_delta - np.exp(eps) * alphas
    reverse = np.exp(-eps) * (one_less_delta - alphas)
    lines = np.maximum(forward, reverse)
    bound = np.maximum(lines.max(axis=-1) * (1 - 1e-15) - 1e-16, 0.0)  # down by more than rounding
    return bound if bound.ndim else float(bound)


@door(RoundArguments)
def to_pld(
    *, pessimistic: bool = True, spacing: float = 1e-4, **arguments: Unpack[RoundArguments[float]]
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
    {arguments}
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

    point = make_point(**arguments)
    pessimistic = check_flag("pessimistic", pessimistic)
    last_eps = end_of_losses(point)
    if pessimistic:
        return pld.pessimistic_pld(
            lambda eps: log10_upper_of_round(point.with_eps(eps)), last_eps, spacing
        )
    return pld.optimistic_pld(point, last_eps, spacing)


def refuse_rounds(points: Points, method: str, able: str) -> None:
    """ValueError unless ``rounds`` is 1 everywhere; ``able``: the methods that compose rounds."""
    if np.any(points.rounds > 1):
        raise ValueError(f"rounds must be 1 for {method}; for more rounds use {able}")
