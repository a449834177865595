"""Expected errors of the estimate from one round of a collection, and of a trusted curator's."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.collection.data import Data, Group
from tightshuffle.dummies.laws import Law
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.expected_errors import mean_absolute


def expected_error(data: Data, shares: npt.ArrayLike | None = None) -> float:
    """Expected total variation error of the unbiased estimate from one round; nan without one.

    ``shares`` (k,) are those of the users who hold each value, the same in every group; None is for uniform
    data. If groups differ in them, the estimate is biased (it weights a group by users * participation * (p -
    q)), and this error is too small. The error is that before projection, by the central limit theorem. It
    includes the error of not asking everybody, and colluding users' reports are used. It is nan for a matrix,
    unless everybody takes part. ValueError for ``shares`` that do not fit k.
    """
    return float(errors_of_values(data, _checked_shares(data, shares)).sum()) / 2


def errors_of_values(data: Data, shares: Floats) -> Floats:
    """Expected absolute errors of the estimated shares of values, (v,), which ``shares`` (v,) of users hold.

    The estimate of a value is unbiased: how many reports support it, less what is expected of users without
    it, over a slope. By the central limit theorem, but a law of dummies is taken as it is. The result is nan
    for a matrix, unless everybody takes part; there ``shares`` are those of all k values.
    """
    users = sum(group.users for group in data.groups)
    randomizer = data.randomizer_of(data.groups[0])
    if randomizer is not None and not isinstance(randomizer, SupportRandomizer):
        if any(group.participation < 1 for group in data.groups):
            return np.full(shares.shape, np.nan)
        return _mean_absolute(randomizer.variance(shares, users))

    of_dummies = data.dummies.variance(users, data.cells, _support_probability_of_dummy(data))
    variance = np.full(shares.shape, of_dummies)
    slope = 0.0
    for group in data.groups:
        p_star, q_star = _support_probabilities(data, group)
        p, q = group.participation * p_star, group.participation * q_star
        variance += group.users * (shares * p * (1 - p) + (1 - shares) * q * (1 - q))
        slope += group.users * (p - q)

    if slope == 0:  # eps0 is so small that both probabilities are the same float
        return np.full(shares.shape, np.inf)
    law = data.dummies.parsed_law
    if law is None:
        return _mean_absolute(variance / slope**2)
    variances, places = np.unique(variance, return_inverse=True)
    return np.array([_error_beside_normal(law, number) for number in variances])[places] / slope


def _error_beside_normal(law: Law, variance: float) -> float:
    """The mean absolute error of a count with a number of this law, and a normal error of this variance."""
    if variance == 0:
        return law.absolute_error
    return float(np.exp(law.log_mass) @ mean_absolute(math.sqrt(variance), law.distances()))


def _checked_shares(data: Data, shares: npt.ArrayLike | None) -> Floats:
    """``shares`` as an array (k,), those of uniform data for None. ValueError for another shape."""
    if shares is None:
        return np.full(data.cells, 1 / data.cells)
    numbers = np.asarray(shares, dtype=float)
    if numbers.shape != (data.cells,):
        raise ValueError(
            f"shares must be k = {data.cells} numbers, one per value; got the shape {numbers.shape}"
        )
    return numbers


def _support_probabilities(data: Data, group: Group) -> tuple[float, float]:
    """Probabilities that a report of this group supports the user's value, and another one."""
    randomizer = data.randomizer_of(group)
    if randomizer is None:
        return 1.0, 0.0
    assert isinstance(randomizer, SupportRandomizer)
    return randomizer.p_star, randomizer.q_star


def _support_probability_of_dummy(data: Data) -> float:
    """The probability that a dummy supports a value."""
    randomizer = data.randomizer_of(data.groups[0])
    if randomizer is None:
        return 1 / data.cells
    assert isinstance(randomizer, SupportRandomizer)
    return float(randomizer.patterns((0,))[1])


def gaussian_error(
    data: Data, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None
) -> float:
    """Expected total variation error of the analytic Gaussian mechanism in one round.

    The mechanism has this guarantee for all rounds together. A trusted curator adds its noise to the counts
    of the users who take part. ``shares`` are those of `expected_error`, and so is the error of not asking
    all.
    """
    shares = _checked_shares(data, shares)
    rounds = sum(stage.rounds for stage in (data, *data.then))
    # Of a user who has a value or none, one count changes by 1, else two.
    sensitivity_of_round = 1.0 if data.deletion else HISTOGRAM_SENSITIVITY
    sensitivity = sensitivity_of_round * math.sqrt(rounds)
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))

    variance = np.full(data.cells, sigma**2)
    for group in data.groups:
        variance += group.users * shares * group.participation * (1 - group.participation)
    expected_users = sum(group.users * group.participation for group in data.groups)
    return float(_mean_absolute(variance / expected_users**2).sum()) / 2


def _mean_absolute(variances: Floats) -> Floats:
    """The expected absolute values of normal variables of mean 0; variances may be 0."""
    return np.asarray(np.sqrt(2 / np.pi * variances))
