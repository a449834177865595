"""Expected errors of the estimate from one round of a collection, and of a trusted curator's."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_shares
from tightshuffle.collection.setup import CollectionSetup, Group
from tightshuffle.dummies.laws import Law
from tightshuffle.mechanisms.gaussian import exact_scale
from tightshuffle.points import Neighbours
from tightshuffle.randomizers import WorstPair
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.expected_errors import Reporters, errors_of_count, mean_absolute


def expected_error(setup: CollectionSetup, shares: npt.ArrayLike | None = None) -> float:
    """Expected total variation error of the unbiased estimate from one round, in shares; nan without one.

    It is half the sum of `errors_of_values` over all values. The estimate is not projected on histograms. It
    includes the error of not asking everybody, and it uses the reports of colluding users.

    ``shares`` (k,) are the shares of users who hold each value, the same in every group; None is for uniform
    setup. If groups differ in them, the estimate is biased, and the result is too small: the estimate weights
    a group by users * participation * (p - q). Here p and q are the probabilities that a report supports the
    user's value, and another one. ValueError unless ``shares`` are k numbers >= 0 that sum to 1.
    """
    return float(errors_of_values(setup, _checked_shares(setup, shares)).sum()) / 2


def errors_of_values(setup: CollectionSetup, shares: Floats) -> Floats:
    """Expected absolute errors of the estimated shares of some values, (v,).

    ``shares`` (v,) are the true shares of users who hold these values. The unbiased estimate of a value is
    how many reports support it, less the number to be expected if nobody holds it, over the slope. The slope
    is by how much a user who holds the value raises this number, summed over all users. Errors are exact
    (`errors_of_count`), with two exceptions, where the number of users' reports is taken as normal (central
    limit theorem): beside dummies of a law, whose number has that law, and for a matrix.

    The result is nan for a `WorstPair`, which has no estimate, and for a matrix, unless everybody takes part.
    For a matrix, ``shares`` are those of all k values.
    """
    users = sum(group.users for group in setup.groups)
    randomizer = setup.randomizer_of(setup.groups[0])
    if isinstance(randomizer, WorstPair):
        return np.full(shares.shape, np.nan)
    if randomizer is not None and not isinstance(randomizer, SupportRandomizer):
        if any(group.participation < 1 for group in setup.groups):
            return np.full(shares.shape, np.nan)
        return _normal_absolute_errors(randomizer.variance(shares, users))

    reporters = [_reporters(setup, group) for group in setup.groups]
    slope = sum(group.users * (group.p - group.q) for group in reporters)
    if slope == 0:  # eps0 is so small that both probabilities are the same float
        return np.full(shares.shape, np.inf)
    law = setup.dummies.parsed_law
    if law is None:
        support = _support_probability_of_dummy(setup)
        binomials, poisson_mean = setup.dummies.supporting(users, setup.number_of_values, support)
        of_counts = errors_of_count(shares, reporters, dummies=binomials, poisson_mean=poisson_mean)
        return of_counts / slope

    variance = np.zeros(shares.shape)
    for number, p, q, p_complement, q_complement in reporters:
        variance += number * (shares * p * p_complement + (1 - shares) * q * q_complement)
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


def _checked_shares(setup: CollectionSetup, shares: npt.ArrayLike | None) -> Floats:
    """``shares`` as an array (k,), those of uniform data for None. ValueError unless they are k shares."""
    if shares is None:
        return np.full(setup.number_of_values, 1 / setup.number_of_values)
    return check_shares(shares, setup.number_of_values)


def _reporters(setup: CollectionSetup, group: Group) -> Reporters:
    """The users of a group, and the probabilities that one takes part and supports a value.

    A report supports a value if it counts in the estimate of that value. Without a randomizer the report
    is the user's value, and supports no other one.
    """
    share, absent = group.participation, 1 - group.participation
    randomizer = setup.randomizer_of(group)
    if randomizer is None:
        return Reporters(group.users, share, 0.0, absent, 1.0)
    assert isinstance(randomizer, SupportRandomizer)
    return Reporters(
        group.users,
        share * randomizer.p_star,
        share * randomizer.q_star,
        absent + share * randomizer.p_complement,
        absent + share * randomizer.q_complement,
    )


def _support_probability_of_dummy(setup: CollectionSetup) -> float:
    """The probability that a dummy, which no user's value determines, supports one given value."""
    randomizer = setup.randomizer_of(setup.groups[0])
    if randomizer is None:
        return 1 / setup.number_of_values
    assert isinstance(randomizer, SupportRandomizer)
    return float(randomizer.patterns((0,))[1])


def gaussian_error(
    setup: CollectionSetup, eps: float, log10_delta: float, shares: npt.ArrayLike | None = None
) -> float:
    """Expected total variation error of the estimate from one round of the analytic Gaussian mechanism.

    A trusted curator adds normal noise to the counts of the users who take part. The noise gives delta =
    10^``log10_delta`` at ``eps`` for all rounds together. The estimate divides by the expected number of
    users who take part, so it has the error of not asking everybody, too. ``shares`` (k,) are the shares of
    users who hold each value; None is for uniform setup. The result is half the sum over all values of the
    expected absolute errors of the estimated shares, which are taken as normal.
    """
    shares = _checked_shares(setup, shares)
    rounds = sum(stage.rounds for stage in (setup, *setup.then))
    sensitivity = Neighbours(setup.neighbours).sensitivity * math.sqrt(rounds)
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))

    # Of each count: that of the noise, and that of who takes part among the users who hold the value.
    variance = np.full(setup.number_of_values, sigma**2)
    for group in setup.groups:
        variance += group.users * shares * group.participation * (1 - group.participation)
    expected_users = sum(group.users * group.participation for group in setup.groups)
    return float(_normal_absolute_errors(variance / expected_users**2).sum()) / 2


def _normal_absolute_errors(variances: Floats) -> Floats:
    """The expected absolute values of normal variables of mean 0 with these ``variances``, which may be 0."""
    return np.asarray(np.sqrt(2 / np.pi * variances))
