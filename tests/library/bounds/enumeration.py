"""The shuffle model of tiny n and k in full: every dataset of the other users and every outcome."""

import itertools
from collections import defaultdict
from functools import cache

import numpy as np


def add(distribution, probabilities, none=0):
    """{counts: probability} after one more independent report, or with probability ``none`` without it."""
    result = defaultdict(int)
    for counts, mass in distribution.items():
        if none:
            result[counts] += mass * none
        for place, probability in enumerate(probabilities):
            if probability:
                result[*counts[:place], counts[place] + 1, *counts[place + 1 :]] += (
                    mass * probability
                )
    return result


def krr(value, growth, k):
    """Probabilities of the reports of k-RR with e^eps0 = growth; None: the value itself."""
    if growth is None:
        return [int(place == value) for place in range(k)]
    return [(growth if place == value else 1) / (growth + k - 1) for place in range(k)]


def hockey_stick(one, two, growth):
    """delta at e^eps = growth of two distributions {outcome: probability}."""
    return sum(max(mass - growth * two.get(outcome, 0), 0) for outcome, mass in one.items())


def histograms(users, values):
    """All ways to put ``users`` into ``values``, as tuples of counts."""
    for bars in itertools.combinations(range(users + values - 1), values - 1):
        edges = (-1, *bars, users + values - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


class Shuffled:
    """The distribution of the counts of n users' reports, for every dataset; ``matrix`` (reports, k)."""

    def __init__(self, matrix, n):
        self.matrix, self.n, self.k = matrix, n, matrix.shape[1]
        self.outcomes = list(histograms(n, len(matrix)))
        self.distribution, self.array = cache(self.distribution), cache(self.array)

    def distribution(self, dataset):
        """Of the users with these values, ascending."""
        if not dataset:
            return {(0,) * len(self.matrix): 1.0}
        return add(self.distribution(dataset[:-1]), self.matrix[:, dataset[-1]])

    def array(self, dataset):
        distribution = self.distribution(dataset)
        return np.array([distribution.get(outcome, 0.0) for outcome in self.outcomes])

    def delta(self, others, pair, eps):
        """At ``eps``, one or several, if the other users hold these values."""
        one, two = (self.array(tuple(sorted((*others, value)))) for value in pair)
        return np.maximum(one - np.exp(eps)[..., None] * two, 0).sum(axis=-1)

    def datasets(self):
        """The values of the other users."""
        return itertools.combinations_with_replacement(range(self.k), self.n - 1)


def enumerate_worst_case(eps, *, n, k, eps0):
    """{counts of the other users: delta of k-RR at ``eps``}, the target user holding value 0 (P) or 1 (Q).

    By symmetry this pair of values suffices. Q against P is the entry with the first two counts exchanged.
    """
    shuffled = Shuffled(np.array([krr(value, np.exp(eps0), k) for value in range(k)]), n)
    return {
        tuple(np.bincount(others, minlength=k).tolist()): shuffled.delta(
            others, (0, 1), np.asarray(eps)
        )
        for others in shuffled.datasets()
    }
