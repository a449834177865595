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
    """Expected total variation error of the unbiased estimate from one round, in shares; nan without one.

    It is half the sum of `errors_of_values` over all values. The estimate is not projected on histograms. It
    includes the error of not asking everybody, and it uses the reports of colluding users.

    ``shares`` (k,) are the shares of users who hold each value, the same in every group; None is for uniform
    data. If groups differ in them, the estimate is biased, and the result is too small: the estimate weights
    a group by users * participation * (p - q). Here p and q are the probabilities that a report supports the
    user's value, and another one. ValueError for ``shares`` that do not fit k.
    """
    return float(errors_of_values(data, _checked_shares(data, shares)).sum()) / 2


def errors_of_values(data: Data, shares: Floats) -> Floats:
    """Expected absolute errors of the estimated shares of some values, (v,).

    ``shares`` (v,) are the true shares of users who hold these values. The unbiased estimate of a value is
    how many reports support it, less the number to be expected if nobody holds it, over the slope. The slope
    is by how much a user who holds the value raises this number, summed over all users. The variance of the
    number is a sum over all users and dummies, and its error is taken as normal (central limit theorem). Only
    dummies of a law are not taken as normal: their number has that law.

    The result is nan for a matrix, unless everybody takes part. For a matrix, ``shares`` are those of all k
    values.
    """
    users = sum(group.users for group in data.groups)
    randomizer = data.randomizer_of(data.groups[0])
    if randomizer is not None and not isinstance(randomizer, SupportRandomizer):
        if any(group.participation < 1 for group in data.groups):
            return np.full(shares.shape, np.nan)
        return _normal_absolute_errors(randomizer.variance(shares, users))

    # Variance of how many dummies support one value, but for those of a law.
    of_dummies = data.dummies.variance(users, data.cells, _support_probability_of_dummy(data))
    variance = np.full(shares.shape, of_dummies)
    slope = 0.0
    for group in data.groups:
        # The probabilities that a user of the group takes part, and supports the value: p if the user holds
        # it, else q.
        p_star, q_star = _support_probabilities(data, group)
        p, q = group.participation * p_star, group.participation * q_star
        variance += group.users * (shares * p * (1 - p) + (1 - shares) * q * (1 - q))
        slope += group.users * (p - q)

    if slope == 0:  # eps0 is so small that both probabilities are the same float
        return np.full(shares.shape, np.inf)
    law = data.dummies.parsed_law
    if law is None:
        return _normal_absolute_errors(variance / slope**2)
    # Each different variance is computed once.
    variances, places = np.unique(variance, return_inverse=True)
    errors_of_counts = np.array([_absolute_error_of_sum(law, number) for number in variances])
    return errors_of_counts[places] / slope


def _absolute_error_of_sum(law: Law, variance: float) -> float:
    """The mean absolute error of a count that has a number of dummies and a normal error.

    The number of dummies has the ``law``, less its mean. The normal error has the mean 0 and this
    ``variance``. The two are independent.
    """
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
    """Probabilities that a report of this group supports the user's value, and that it supports another one.

    A report supports a value if it counts in the estimate of that value. Without a randomizer the report
    is the user's value, and supports no other one.
    """
    randomizer = data.randomizer_of(group)
    if randomizer is None:
        return 1.0, 0.0
    assert isinstance(randomizer, SupportRandomizer)
    return randomizer.p_star, randomizer.q_star


def _support_probability_of_dummy(data: Data) -> float:
    """The probability that a dummy, which no user's value determines, supports one given value."""
    randomizer = data.randomizer_of(data.groups[0])
    if randomizer is None:
        return 1 / data.cells
    assert isinstance(randomizer, SupportRandomizer)
    return float(randomizer.patterns((0,))[1])


def gaussian_error(
    data: Data, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None
) -> float:
    """Expected total variation error of the estimate from one round of the analytic Gaussian mechanism.

    A trusted curator adds normal noise to the counts of the users who take part. The noise gives delta =
    10^``log10_delta`` at ``eps`` for all rounds together. The estimate divides by the expected number of
    users who take part, so it has the error of not asking everybody, too. ``shares`` (k,) are the shares of
    users who hold each value; None is for uniform data. The result is half the sum over all values of the
    expected absolute errors of the estimated shares.
    """
    shares = _checked_shares(data, shares)
    rounds = sum(stage.rounds for stage in (data, *data.then))
    # L2 sensitivity of the counts of one round: if a user's value is deleted, one count changes by 1. If it
    # is replaced, two do, and the sensitivity is sqrt(2).
    sensitivity_of_round = 1.0 if data.deletion else HISTOGRAM_SENSITIVITY
    sensitivity = sensitivity_of_round * math.sqrt(rounds)
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))

    # Of each count: that of the noise, and that of who takes part among the users who hold the value.
    variance = np.full(data.cells, sigma**2)
    for group in data.groups:
        variance += group.users * shares * group.participation * (1 - group.participation)
    expected_users = sum(group.users * group.participation for group in data.groups)
    return float(_normal_absolute_errors(variance / expected_users**2).sum()) / 2


def _normal_absolute_errors(variances: Floats) -> Floats:
    """The expected absolute values of normal variables of mean 0 with these ``variances``, which may be 0."""
    return np.asarray(np.sqrt(2 / np.pi * variances))
