"""Pairs of laws that dominate the shuffle model, outcome by outcome in 50 digits, and their composition.

A pair is {outcome: (its probability under P, and under Q)}; an outcome starts with the counts of x0 and x1.
"""

import itertools
from collections import defaultdict
from math import comb

import mpmath as mp

from tests.library.bounds.enumeration import add


def binomial(trials, probability):
    p, q = probability, 1 - probability
    return {i: comb(trials, i) * p**i * q ** (trials - i) for i in range(trials + 1)}


def _two_counts(users, probability, at_x0, at_x1, elsewhere=0):
    """``users`` users report x0 or x1 with ``probability``, each half of the time; what the last user reports
    with the other three probabilities, Q has with x0 and x1 exchanged."""
    pair = defaultdict(lambda: (0, 0))
    for both, outer in binomial(users, probability).items():
        for n1, half in binomial(both, mp.mpf(1) / 2).items():
            n2, weight = both - n1, outer * half
            ends = [
                ((n1 + 1, n2), at_x0, at_x1),
                ((n1, n2 + 1), at_x1, at_x0),
                ((n1, n2), *[elsewhere] * 2),
            ]
            for counts, p, q in ends:
                before = pair[counts]
                pair[counts] = (before[0] + weight * p, before[1] + weight * q)
    return pair


@mp.workdps(50)
def strong(n, k, eps0):
    """Koskela's strong adversary knows which users report uniformly, and the victim's cell."""
    return _two_counts(n - 1, 2 / (mp.exp(eps0) + k - 1), 1, 0)


@mp.workdps(50)
def weak(n, k, eps0):
    """Koskela's weak adversary sees B, and the counts of B uniform answers and the victim's k-RR answer."""
    gamma = k / (mp.exp(eps0) + k - 1)
    victim = (gamma / k + 1 - gamma, gamma / k, gamma * (k - 2) / k)
    return {
        (*counts, b): (probability * p, probability * q)
        for b, probability in binomial(n - 1, gamma).items()
        for counts, (p, q) in _two_counts(b, mp.mpf(2) / k, *victim).items()
    }


@mp.workdps(50)
def clones(n, k, eps0):
    truth = mp.exp(eps0) / (mp.exp(eps0) + 1)
    return _two_counts(n - 1, 1 / mp.exp(eps0), truth, 1 - truth)


@mp.workdps(50)
def stronger_clones(n, k, eps0):
    truth = mp.exp(eps0) / (mp.exp(eps0) + 1)
    return _two_counts(n - 1, 2 / (mp.exp(eps0) + 1), truth, 1 - truth)


@mp.workdps(50)
def third_value(n, k, eps0):
    """No dominating pair: the counts of x0 and x1 if all other users hold one third value."""
    q = 1 / (mp.exp(eps0) + k - 1)
    return _two_counts(n - 1, 2 * q, mp.exp(eps0) * q, q, (k - 2) * q)


def histograms(columns, values, n):
    """Probabilities (P, Q) of all histograms: the user holds 0 or 1, the other n - 1 hold ``values``.

    ``columns[report][value]`` are floats or fractions, and so is the result.
    """
    assert len(values) == n - 1
    sides = []
    for own in (0, 1):
        distribution = {(0,) * len(columns): 1}
        for value in (own, *values):
            distribution = add(distribution, [column[value] for column in columns])
        sides.append(distribution)
    return {histogram: (sides[0][histogram], sides[1][histogram]) for histogram in sides[0]}


PAIRS = {"strong": strong, "weak": weak, "clones": clones, "stronger-clones": stronger_clones}


def compose(pair, rounds):
    """The probabilities of all outcomes of ``rounds`` rounds, from one outcome per ratio P / Q."""
    merged = defaultdict(lambda: (0.0, 0.0))
    for p, q in pair.values():
        ratio = float(p / q) if q else None
        merged[ratio] = (merged[ratio][0] + float(p), merged[ratio][1] + float(q))
    composed = [(1.0, 1.0)]
    for _ in range(rounds):
        composed = [
            (a * c, b * d) for (a, b), (c, d) in itertools.product(composed, merged.values())
        ]
    return composed


@mp.workdps(50)
def hockey_stick(eps, probabilities, direction=1):
    """sum (P - e^eps Q)_+ over pairs of probabilities, or of Q against P in direction -1."""
    grown = mp.exp(eps)
    return sum(
        max(mp.mpf(0), first - grown * second)
        for first, second in (c[::direction] for c in probabilities)
    )
