"""The true delta of tiny cases of shuffled k-RR, by listing all datasets and all histograms."""

from itertools import combinations_with_replacement

import numpy as np


def worst_delta(eps, *, n, k, eps0):
    """The true delta of shuffled k-RR: the histograms' hockey-stick, over all datasets of the other n - 1."""
    grown = np.exp(eps0)
    one = np.full((k, k), 1 / (grown + k - 1)) + np.diag(np.full(k, (grown - 1) / (grown + k - 1)))
    worst = 0.0
    for others in combinations_with_replacement(range(k), n - 1):
        law = {(0,) * k: 1.0}
        for cell in others:
            law = _add_answer(law, one[cell])
        first, second = _add_answer(law, one[0]), _add_answer(law, one[1])
        worst = max(worst, sum(max(0.0, first[h] - np.exp(eps) * second[h]) for h in first))
    return worst


def _add_answer(law, chances):
    grown = {}
    for histogram, probability in law.items():
        for cell, chance in enumerate(chances):
            key = (*histogram[:cell], histogram[cell] + 1, *histogram[cell + 1 :])
            grown[key] = grown.get(key, 0.0) + probability * chance
    return grown
