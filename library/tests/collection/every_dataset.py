"""One round of k-RR of a few users in full: every dataset, and every histogram of the reports.

The target user is the first of the first group. A dataset has, for each group, the values that the users who
hide the target user hold. Colluding users of the first group show their reports, and so hide nobody.
"""

import itertools
import math

import numpy as np

from tests.bounds.enumeration import add_report, krr_probabilities
from tightshuffle.dummies.laws import parse_law


def datasets(collection):
    """All datasets. The values of a group ascend, as it makes no difference who in the group holds which."""
    first, *rest = collection.groups
    numbers = [first.users - 1 - first.colluding, *[group.users for group in rest]]
    return itertools.product(
        *[
            itertools.combinations_with_replacement(range(collection.k), number)
            for number in numbers
        ]
    )


def histograms_of_dummies(collection):
    """{histogram: probability} of the dummies alone.

    There are so many uniform ones, or else of every value an independent number, with a Poisson or other law.
    """
    k, dummies = collection.k, collection.dummies
    law = dummies.parsed_law
    if dummies.poisson_per_value:
        law = parse_law(f"poisson:{dummies.poisson_per_value}")
    if law is None:
        distribution = {(0,) * k: 1.0}
        for _ in range(dummies.number):
            distribution = add_report(distribution, [1 / k] * k)
        return distribution

    probabilities = {}
    for number, ln in enumerate(law.log_mass, start=law.first):
        if ln > -20:  # rarer numbers hardly count
            probabilities[number] = math.exp(ln)
    histograms = itertools.product(probabilities, repeat=k)
    return {each: math.prod(probabilities[number] for number in each) for each in histograms}


def add_user(distribution, value, group, k, participation):
    """The ``distribution`` {histogram: probability} after one more user of the ``group`` with this ``value``.

    The user takes part with the probability ``participation``.
    """
    e_eps0 = None if group.eps0 == math.inf else math.exp(group.eps0)
    chances = [participation * p for p in krr_probabilities(value, e_eps0, k)]
    return add_report(distribution, chances, chance_of_none=1 - participation)


def pair_of_dataset(collection, dataset, unseen=False):
    """[P, Q], each {histogram: probability} of all reports: the target user holds 0 under P, and 1 under Q.

    With ``unseen`` the target user takes part with the probability of the group, else surely.
    """
    k = collection.k
    others = histograms_of_dummies(collection)
    for group, values in zip(collection.groups, dataset, strict=True):
        for value in values:
            others = add_user(others, value, group, k, group.participation)
    target_group = collection.groups[0]
    participation = target_group.participation if unseen else 1
    return [add_user(others, own, target_group, k, participation) for own in (0, 1)]


def delta_of_pair(p, q, eps):
    """delta with the shape of ``eps``: the sum of (P - e^eps Q)_+ over the outcomes of both.

    ``p`` and ``q`` are {outcome: probability}.
    """
    under_p, under_q = np.array([(mass, q.get(outcome, 0)) for outcome, mass in p.items()]).T
    return np.maximum(under_p - np.exp(eps)[..., None] * under_q, 0).sum(axis=-1)


def worst_delta(collection, eps, unseen=False):
    """The largest delta of all datasets, with the shape of ``eps``.

    By symmetry, other pairs of values and the other direction have no larger one. ``unseen`` is as for
    `pair_of_dataset`.
    """
    pairs = [pair_of_dataset(collection, dataset, unseen) for dataset in datasets(collection)]
    return np.max([delta_of_pair(p, q, eps) for p, q in pairs], axis=0)
