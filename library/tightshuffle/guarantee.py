"""The guarantee: the smallest proven upper bound on delta for every dataset, and its inverse.

`ln_upper_of_round` is the one place where a bound becomes part of the guarantee. Several rounds, trade-off
curves, loss distributions and plans all ask it.
"""

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds import pairs_of_matrix, privacy_blanket, rounds, single_value, sums
from tightshuffle.bounds.densities import epsilon_of_round
from tightshuffle.points import Points
from tightshuffle.randomizers import Finite
from tightshuffle.side import Side


def ln_upper_of_round(points: Points, *, width: float = privacy_blanket.WIDTH) -> Floats:
    """ln of the smallest proven upper bound on delta of one round; (points,), -inf where eps >= eps0.

    It is the smaller one of the privacy blanket's bound and the single value's; for a matrix, the largest of
    such smaller ones over all pairs of values (`pairs_of_matrix`). ``width``: what the computation of the
    first may add, relative to delta.
    """
    by_pairs = np.array(
        [pairs_of_matrix.is_searched(each) for each in points.randomizers], dtype=bool
    )
    if not by_pairs.any():
        blanket = privacy_blanket.ln_upper(points, width=width)
        return single_value.ln_smaller(points, blanket)

    result = np.empty(points.eps.size)
    result[by_pairs] = pairs_of_matrix.ln_upper(points.at(by_pairs), width=width)
    if not by_pairs.all():
        result[~by_pairs] = ln_upper_of_round(points.at(~by_pairs), width=width)
    return result


def is_blanket_alone(randomizer: object) -> bool:
    """Whether the upper bound of a round is that of the privacy blanket, as there are too many values."""
    return isinstance(randomizer, Finite) and not pairs_of_matrix.is_searched(randomizer)


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


def ln_lower_of_round(points: Points) -> Floats:
    """ln of a lower bound on delta of one round, of some dataset; (points,), -inf where eps >= eps0."""
    is_matrix = np.array([isinstance(each, Finite) for each in points.randomizers], dtype=bool)
    if not is_matrix.any():
        return privacy_blanket.ln_lower(points)

    result = np.empty(points.eps.size)
    result[is_matrix] = pairs_of_matrix.ln_lower(points.at(is_matrix))
    if not is_matrix.all():
        result[~is_matrix] = privacy_blanket.ln_lower(points.at(~is_matrix))
    return result


def epsilon_of_lower(target_ln_delta: float, point: Points) -> float:
    """The largest eps at which the lower bound of one round is at least e^``target_ln_delta``.

    It is 0 where the bound is at most that at eps = 0.
    """
    return epsilon_of_round(ln_lower_of_round, target_ln_delta, point, Side.LOWER)


def end_of_losses(point: Points) -> float:
    """The eps at which a grid of the losses of one round ends: delta is negligible from there on.

    It is eps0 if delta is never negligible. ``point`` has length 1.
    """
    from tightshuffle.bounds.pld import LN_NEGLIGIBLE

    last_eps = epsilon_of_upper(LN_NEGLIGIBLE, point)
    return point.eps0.item() if np.isnan(last_eps) else last_eps
