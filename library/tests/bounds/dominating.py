"""Pairs of distributions (P, Q) that dominate the shuffle model, in 50 digits, and their composition.

P is the distribution of a round's outcomes if the target user holds x0, and Q if the target user holds x1. A
pair is a dict {outcome: (its probability under P, its probability under Q)}. Every outcome starts with the
number of reports x0 and the number of reports x1.
"""

import itertools
import math
from collections import defaultdict

import mpmath as mp

from tests.bounds.enumeration import add_report


def binomial(trials, probability):
    """{number of successes: its probability}, in the arithmetic of ``probability``."""
    p, q = probability, 1 - probability
    return {i: math.comb(trials, i) * p**i * q ** (trials - i) for i in range(trials + 1)}


def _pair_of_two_counts(users, probability, at_x0, at_x1, at_neither=0):
    """The pair {(number of reports x0, number of reports x1): (P, Q)} of ``users`` users and the target user.

    Each of the ``users`` reports x0 or x1 with this ``probability`` for both together: half of it for each.
    Under P the target user reports x0 with the probability ``at_x0``, x1 with the probability ``at_x1``, and
    any other value with the probability ``at_neither``. Under Q ``at_x0`` and ``at_x1`` are exchanged. Equal
    counts that come about in several ways are one outcome, whose probabilities are added up.
    """
    pair = defaultdict(lambda: (0, 0))
    for reports, chance_of_reports in binomial(users, probability).items():
        for n0, chance_of_n0 in binomial(reports, mp.mpf(1) / 2).items():
            n1 = reports - n0
            chance = chance_of_reports * chance_of_n0
            # (The counts with the target user's report, its probability under P, and that under Q.)
            with_target = [
                ((n0 + 1, n1), at_x0, at_x1),
                ((n0, n1 + 1), at_x1, at_x0),
                ((n0, n1), at_neither, at_neither),
            ]
            for counts, p, q in with_target:
                p_before, q_before = pair[counts]
                pair[counts] = (p_before + chance * p, q_before + chance * q)
    return pair


@mp.workdps(50)
def strong(n, k, eps0):
    """The pair of Koskela's strong adversary, who knows which users report uniformly.

    The target user reports the truth, which is x0 under P, and x1 under Q.
    """
    return _pair_of_two_counts(n - 1, 2 / (mp.exp(eps0) + k - 1), at_x0=1, at_x1=0)


@mp.workdps(50)
def weak(n, k, eps0):
    """The pair of Koskela's weak adversary; an outcome is (reports x0, reports x1, B).

    k-RR is a uniform report with the probability gamma, and the truth otherwise. B of the n - 1 other users
    report uniformly, and a uniform report is x0 or x1 with the probability 2 / k. The adversary sees B, and
    how often these B reports and the report of the target user are x0 and x1.
    """
    gamma = k / (mp.exp(eps0) + k - 1)
    # The target user's own k-RR report, of the value x0 under P.
    of_target = {
        "at_x0": gamma / k + 1 - gamma,
        "at_x1": gamma / k,
        "at_neither": gamma * (k - 2) / k,
    }
    pair = {}
    for b, chance_of_b in binomial(n - 1, gamma).items():
        for counts, (p, q) in _pair_of_two_counts(b, mp.mpf(2) / k, **of_target).items():
            pair[*counts, b] = (chance_of_b * p, chance_of_b * q)
    return pair


@mp.workdps(50)
def clones(n, k, eps0):
    """The pair of "clones": with the probability e^-eps0 another user is a clone, who counts as x0 or x1."""
    truth = mp.exp(eps0) / (mp.exp(eps0) + 1)
    return _pair_of_two_counts(n - 1, 1 / mp.exp(eps0), truth, 1 - truth)


@mp.workdps(50)
def stronger_clones(n, k, eps0):
    """The pair of "stronger clones": another user is a clone with the probability 2 / (e^eps0 + 1)."""
    truth = mp.exp(eps0) / (mp.exp(eps0) + 1)
    return _pair_of_two_counts(n - 1, 2 / (mp.exp(eps0) + 1), truth, 1 - truth)


@mp.workdps(50)
def third_value(n, k, eps0):
    """The pair of the counts of x0 and x1 if all other users hold one third value; it does not dominate."""
    q = 1 / (mp.exp(eps0) + k - 1)
    return _pair_of_two_counts(n - 1, 2 * q, mp.exp(eps0) * q, q, (k - 2) * q)


def histogram_pair(matrix, others):
    """The pair {histogram of all reports: (P, Q)} of one dataset, in floats or fractions as in ``matrix``.

    The target user holds value 0 under P and value 1 under Q, and ``others`` are the values of all other
    users. ``matrix[report][value]`` is the probability of a report given a value.
    """
    sides = []
    for own in (0, 1):
        distribution = {(0,) * len(matrix): 1}
        for value in (own, *others):
            distribution = add_report(distribution, [row[value] for row in matrix])
        sides.append(distribution)
    return {histogram: (sides[0][histogram], sides[1][histogram]) for histogram in sides[0]}


PAIRS = {"strong": strong, "weak": weak, "clones": clones, "stronger-clones": stronger_clones}


def compose(pair, rounds):
    """The probabilities (P, Q) of all outcomes of ``rounds`` independent rounds of a ``pair``, as floats.

    ``pair`` is {outcome of one round: (P, Q)}. Outcomes of one round with the same ratio P / Q are put
    together first, which changes no delta and leaves fewer products. The result is a list of (P, Q).
    """
    by_ratio = defaultdict(lambda: (0.0, 0.0))
    for p, q in pair.values():
        ratio = float(p / q) if q else math.inf
        p_before, q_before = by_ratio[ratio]
        by_ratio[ratio] = (p_before + float(p), q_before + float(q))

    # Probabilities of independent rounds multiply.
    composed = [(1.0, 1.0)]
    for _ in range(rounds):
        outcomes = itertools.product(composed, by_ratio.values())
        composed = [
            (p * p_of_round, q * q_of_round) for (p, q), (p_of_round, q_of_round) in outcomes
        ]
    return composed


@mp.workdps(50)
def hockey_stick(eps, probabilities, direction=1):
    """delta at ``eps``: the sum of (P - e^eps Q)_+ over these ``probabilities`` (P, Q) of all outcomes.

    In ``direction`` -1 it is the sum of (Q - e^eps P)_+.
    """
    e_eps = mp.exp(eps)
    sides = (one_outcome[::direction] for one_outcome in probabilities)
    return sum(max(mp.mpf(0), first - e_eps * second) for first, second in sides)
