"""The guarantee: the smallest proven upper bound on delta for every dataset, and its inverse.

`ln_upper_of_round` is the one place where a bound becomes part of the guarantee. Several rounds, trade-off
curves, loss distributions and plans all ask it.
"""

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds import privacy_blanket, rounds, single_value, sums
from tightshuffle.bounds.densities import epsilon_of_round
from tightshuffle.points import Points
from tightshuffle.side import Side


def ln_upper_of_round(points: Points, *, width: float = privacy_blanket.WIDTH) -> Floats:
    """ln of the smallest proven upper bound on delta of one round; (points,), -inf where eps >= eps0.

    It is the smaller one of the privacy blanket's bound and the single value's. ``width``: what the
    computation of the first may add, relative to delta.
    """
    blanket = privacy_blanket.ln_upper(points, width=width)
    return single_value.ln_smaller(points, blanket)


def ln_upper(points: Points) -> Floats:
    """ln of the upper bound on delta of all rounds together; (points,).

    It is -inf where eps >= rounds * eps0.
    """
    if points.release == "sums":
        return sums.ln_delta(points)
    return rounds.ln_delta(ln_upper_of_round, points)


def epsilon_of_upper(target_ln_delta: float, point: Points) -> float:
    """The smallest eps at which the upper bound is at most e^``target_ln_delta``, rounded up.

    The bound is smaller by `inverse.TOLERANCE` there at most, in ln delta. ``point`` has length 1.
    """
    if point.release == "sums":
        return sums.epsilon(target_ln_delta, point)
    if point.rounds.item() > 1:
        return rounds.epsilon(ln_upper_of_round, target_ln_delta, point)
    return epsilon_of_round(ln_upper_of_round, target_ln_delta, point, Side.UPPER)


def epsilon_of_lower(target_ln_delta: float, point: Points) -> float:
    """The largest eps at which the lower bound of one round is at least e^``target_ln_delta``.

    It is 0 where the bound is at most that at eps = 0.
    """
    return epsilon_of_round(privacy_blanket.ln_lower, target_ln_delta, point, Side.LOWER)


def end_of_losses(point: Points) -> float:
    """The eps at which a grid of the losses of one round ends: delta is negligible from there on.

    It is eps0 if delta is never negligible. ``point`` has length 1.
    """
    from tightshuffle.bounds.pld import LN_NEGLIGIBLE

    last_eps = epsilon_of_upper(LN_NEGLIGIBLE, point)
    return point.eps0.item() if np.isnan(last_eps) else last_eps
