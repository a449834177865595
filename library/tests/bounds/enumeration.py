"""The shuffle model of tiny n and k in full: every dataset of the other users and every outcome."""

import itertools
from collections import defaultdict
from functools import cache

import numpy as np


def add_report(distribution, probabilities, chance_of_none=0):
    """The distribution {histogram: probability} after one more independent report.

    A histogram is a tuple, whose entry i counts the reports i. ``distribution`` is that of the reports so
    far. The new report is i with the probability ``probabilities[i]``. With the probability
    ``chance_of_none`` there is no new report, and the histogram stays as it is.
    """
    result = defaultdict(int)
    for histogram, mass in distribution.items():
        if chance_of_none:
            result[histogram] += mass * chance_of_none
        for report, probability in enumerate(probabilities):
            if probability:
                one_more = list(histogram)
                one_more[report] += 1
                result[tuple(one_more)] += mass * probability
    return result


def krr_probabilities(value, e_eps0, k):
    """The probabilities of the k reports of k-RR for a user with this ``value``, in the arithmetic of e^eps0.

    ``e_eps0`` None stands for an infinite eps0: the report is the value itself.
    """
    if e_eps0 is None:
        return [int(report == value) for report in range(k)]
    return [(e_eps0 if report == value else 1) / (e_eps0 + k - 1) for report in range(k)]


def hockey_stick(first, second, e_eps):
    """delta: the sum of (first - e^eps second)_+ over the outcomes of two distributions {outcome: mass}."""
    return sum(max(mass - e_eps * second.get(outcome, 0), 0) for outcome, mass in first.items())


class Shuffled:
    """n shuffled reports: the probabilities of their histograms, for every dataset.

    ``matrix[report, value]`` is the probability of a report given a value, and k the number of values. A
    dataset is a tuple of the values that users hold, ascending.
    """

    def __init__(self, matrix, n):
        self.matrix, self.n, self.k = matrix, n, matrix.shape[1]
        reports = range(len(matrix))
        self.outcomes = [
            tuple(map(outcome.count, reports))
            for outcome in itertools.combinations_with_replacement(reports, n)
        ]
        self.distribution, self.array = cache(self.distribution), cache(self.array)

    def distribution(self, dataset):
        """{histogram: probability} of the reports of users who hold the values of ``dataset``."""
        if not dataset:
            return {(0,) * len(self.matrix): 1.0}
        return add_report(self.distribution(dataset[:-1]), self.matrix[:, dataset[-1]])

    def array(self, dataset):
        """The probabilities of `distribution` as an array, in the same order for every dataset."""
        distribution = self.distribution(dataset)
        return np.array([distribution.get(outcome, 0.0) for outcome in self.outcomes])

    def delta(self, others, pair, eps):
        """delta with the shape of ``eps``, if the other users hold the values ``others``.

        The target user holds the first value of ``pair`` under P, and the second one under Q.
        """
        p, q = (self.array(tuple(sorted((*others, value)))) for value in pair)
        return np.maximum(p - np.exp(eps)[..., None] * q, 0).sum(axis=-1)

    def datasets(self):
        """All datasets of the n - 1 other users."""
        return itertools.combinations_with_replacement(range(self.k), self.n - 1)


def enumerate_worst_case(eps, *, n, k, eps0):
    """delta of k-RR at ``eps`` for every dataset: {histogram of the other users' values: delta}.

    The histogram is (how many hold x0, x1, x2, ...). The target user holds x0 under P and x1 under Q. By
    symmetry this pair of values suffices. Q against P is the entry with the first two counts exchanged.
    """
    matrix = np.array([krr_probabilities(value, np.exp(eps0), k) for value in range(k)])
    shuffled = Shuffled(matrix, n)
    deltas = {}
    for others in shuffled.datasets():
        histogram = tuple(np.bincount(others, minlength=k).tolist())
        deltas[histogram] = shuffled.delta(others, (0, 1), np.asarray(eps))
    return deltas
