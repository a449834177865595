"""One round of k-RR of a few users in full: every dataset, and every histogram of the reports.

The target user is the first of the first group. A dataset has, for each group, the values that the users who
hide the target user hold. Colluding users of the first group show their reports, and so hide nobody.

A distribution of histograms is an array with an axis for each of the k values: the place (i, j, ...) has the
probability that i reports are the first value, j the second one, and so on.
"""

import functools
import math

import numpy as np

from tests.bounds.enumeration import krr_probabilities
from tightshuffle.dummies.laws import parse_law


def histograms_of_dummies(collection):
    """The distribution of the dummies alone.

    There are so many uniform ones, or else of every value an independent number, with a Poisson or other law.
    """
    k, dummies = collection.k, collection.dummies
    law = dummies.parsed_law
    if dummies.poisson_per_value:
        law = parse_law(f"poisson:{dummies.poisson_per_value}")
    if law is None:
        distribution = np.ones((1,) * k)
        for _ in range(dummies.number):
            distribution = add_report(with_room(distribution, 1), [1 / k] * k)
        return distribution

    likely = np.flatnonzero(law.log_mass > -20)  # rarer numbers hardly count
    of_value = np.pad(np.exp(law.log_mass[: likely[-1] + 1]), (law.first, 0))
    return functools.reduce(np.multiply.outer, [of_value] * k)


def with_room(distribution, reports):
    """The same distribution in an array in which so many further reports have their places."""
    return np.pad(distribution, (0, reports))


def add_report(distribution, probabilities, chance_of_none=0.0):
    """The distribution after one more independent report, for which there is room.

    The new report is the value i with the probability ``probabilities[i]``. With the probability
    ``chance_of_none`` there is no new report.
    """
    result = chance_of_none * distribution
    for value, probability in enumerate(probabilities):
        one_more = result.swapaxes(0, value)[1:]  # a view of the result
        one_more += probability * distribution.swapaxes(0, value)[:-1]
    return result


def add_user(distribution, value, group, participation):
    """The ``distribution`` after one more user of the ``group`` with this ``value``.

    The user takes part with the probability ``participation``.
    """
    e_eps0 = None if group.eps0 == math.inf else math.exp(group.eps0)
    probabilities = krr_probabilities(value, e_eps0, k=distribution.ndim)
    chances = [participation * p for p in probabilities]
    return add_report(distribution, chances, chance_of_none=1 - participation)


def of_every_dataset(distribution, groups, least_value=0):
    """Yield the ``distribution`` after one more user of each of the ``groups``, for every dataset.

    The groups of several users come several times. The values of a group ascend from ``least_value`` on, as
    it makes no difference who in the group holds which.
    """
    if not groups:
        yield distribution
        return
    group, *others = groups
    for value in range(least_value, distribution.ndim):
        with_user = add_user(distribution, value, group, group.participation)
        same_group = others and others[0] is group
        yield from of_every_dataset(with_user, others, least_value=value if same_group else 0)


def pairs_of_datasets(collection, unseen=False):
    """Yield for each dataset [P, Q], the distributions of all reports.

    The target user holds 0 under P, and 1 under Q. With ``unseen`` the target user takes part with the
    probability of the group, else surely. In the last dataset all others hold the last value.
    """
    target_group, *rest = collection.groups
    hiding = [target_group] * (target_group.users - 1 - target_group.colluding)
    for group in rest:
        hiding += [group] * group.users
    participation = target_group.participation if unseen else 1.0

    dummies = with_room(histograms_of_dummies(collection), len(hiding) + 1)
    for others in of_every_dataset(dummies, hiding):
        yield [add_user(others, own, target_group, participation) for own in (0, 1)]


def delta_of_pair(p, q, eps):
    """delta with the shape of ``eps``: the sum of (P - e^eps Q)_+ over the outcomes of both.

    ``p`` and ``q`` have the probabilities of all outcomes.
    """
    return np.maximum(p.ravel() - np.exp(eps)[..., None] * q.ravel(), 0).sum(axis=-1)


def worst_delta(collection, eps, unseen=False):
    """The largest delta of all datasets, with the shape of ``eps``.

    By symmetry, other pairs of values and the other direction have no larger one. ``unseen`` is as for
    `pairs_of_datasets`.
    """
    pairs = pairs_of_datasets(collection, unseen)
    return np.max([delta_of_pair(p, q, eps) for p, q in pairs], axis=0)
