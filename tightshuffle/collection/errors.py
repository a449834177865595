"""Expected errors of the estimate from one round of a collection, and of a trusted curator's."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.collection.data import Data, Group
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.randomizers.base import SupportRandomizer


def expected_error(data: Data, shares: npt.ArrayLike | None = None) -> float:
    """Expected total variation error of the unbiased estimate from one round; nan without one.

    ``shares`` (k,): of the users who hold each value, the same in every group; None for uniform data. If
    groups differ in them, the estimate is biased (it weights a group by users * participation * (p - q)), and
    this error is too small. Before projection, by the central limit theorem. It includes the error of not
    asking everybody; colluding users' reports are used. nan for a matrix, unless everybody takes part.
    ValueError for ``shares`` that do not fit k.
    """
    held = _shares(data, shares)
    own = data.own(data.groups[0])
    if own is not None and not isinstance(own, SupportRandomizer):
        if any(group.participation < 1 for group in data.groups):
            return math.nan
        variances = own.variance(held, sum(group.users for group in data.groups))
        return _half_sum_of_errors(variances)
    sent = sum(group.users for group in data.groups)
    dummies = data.dummies.variance(sent, data.cells, _support_probabilities(data, None)[0])
    variance, slope = np.full(data.cells, dummies), 0.0
    for group in data.groups:
        p, q = (group.participation * each for each in _support_probabilities(data, group))
        variance += group.users * (held * p * (1 - p) + (1 - held) * q * (1 - q))
        slope += group.users * (p - q)
    if slope == 0:  # eps0 is so small that both probabilities are the same float
        return math.inf
    return _half_sum_of_errors(variance / slope**2)


def _shares(data: Data, shares: npt.ArrayLike | None) -> Floats:
    if shares is None:
        return np.full(data.cells, 1 / data.cells)
    held = np.asarray(shares, dtype=float)
    if held.shape != (data.cells,):
        raise ValueError(
            f"shares must be k = {data.cells} numbers, one per value; got the shape {held.shape}"
        )
    return held


def _support_probabilities(data: Data, group: Group | None) -> tuple[float, float]:
    """Probabilities that a report supports the user's value, and another one; None: of a dummy."""
    own = data.own(group or data.groups[0])
    if own is None:
        return (1.0, 0.0) if group else (1 / data.cells,) * 2
    assert isinstance(own, SupportRandomizer)
    return (own.p_star, own.q_star) if group else (float(own.patterns((0,))[1]),) * 2


def gaussian_error(data: Data, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None) -> float:
    """`expected_error` of the analytic Gaussian mechanism with this guarantee for all rounds together.

    A trusted curator adds the noise to the values of the users who take part.
    """
    held = _shares(data, shares)
    rounds = sum(stage.rounds for stage in (data, *data.then))
    # Of a user who has a value or none, one count changes.
    sensitivity = (1.0 if data.deletion else HISTOGRAM_SENSITIVITY) * math.sqrt(rounds)
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
    variance = np.full(data.cells, sigma**2)
    for group in data.groups:
        variance += group.users * held * group.participation * (1 - group.participation)
    taking = sum(group.users * group.participation for group in data.groups)
    return _half_sum_of_errors(variance / taking**2)


def _half_sum_of_errors(variances: Floats) -> float:
    """Half the expected absolute values of normal variables of mean 0, summed; variances may be 0."""
    return float(np.sqrt(2 / np.pi * variances).sum()) / 2
