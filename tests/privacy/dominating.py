"""Koskela's pairs written down outcome by outcome in exact fractions, and composed by multiplying all out."""

import itertools
from collections import defaultdict
from fractions import Fraction
from math import comb, exp

import mpmath as mp


def binomial(trials, chance):
    return {i: comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(trials + 1)}


def strong(n, k, eps0):
    """(N1 + 1, N2) against (N1, N2 + 1), the other n - 1 users' uniform answers on x0 and x1."""
    cell = 1 / (Fraction(exp(eps0)) + k - 1)
    p, q = defaultdict(Fraction), defaultdict(Fraction)
    for both, chance in binomial(n - 1, 2 * cell).items():
        for n1, half in binomial(both, Fraction(1, 2)).items():
            p[n1 + 1, both - n1] += chance * half
            q[n1, both - n1 + 1] += chance * half
    return p, q


def weak(n, k, eps0):
    """What the weak adversary sees: the counts of x0 and x1 of B uniform answers and k-RR's own, and B."""
    gamma = k / (Fraction(exp(eps0)) + k - 1)
    laws = []
    for held in (0, 1):
        own = [gamma / k + (1 - gamma) * (cell == held) for cell in (0, 1)]
        law = defaultdict(Fraction)
        for b, chance in binomial(n - 1, gamma).items():
            for both, inside in binomial(b, Fraction(2, k)).items():
                for n1, half in binomial(both, Fraction(1, 2)).items():
                    weight = chance * inside * half
                    law[n1 + 1, both - n1, b] += weight * own[0]
                    law[n1, both - n1 + 1, b] += weight * own[1]
                    law[n1, both - n1, b] += weight * (1 - sum(own))
        laws.append(law)
    return laws


def _clones(n, eps0, chance):
    truth = Fraction(exp(eps0)) / (Fraction(exp(eps0)) + 1)
    p, q = defaultdict(Fraction), defaultdict(Fraction)
    for c, outer in binomial(n - 1, chance).items():
        for a, half in binomial(c, Fraction(1, 2)).items():
            for delta, bernoulli in ((1, truth), (0, 1 - truth)):
                p[a + delta, c - a + 1 - delta] += outer * half * bernoulli
                q[a + 1 - delta, c - a + delta] += outer * half * bernoulli
    return p, q


def clones(n, k, eps0):
    return _clones(n, eps0, 1 / Fraction(exp(eps0)))


def stronger_clones(n, k, eps0):
    return _clones(n, eps0, 2 / (Fraction(exp(eps0)) + 1))


PAIRS = {"strong": strong, "weak": weak, "clones": clones, "stronger-clones": stronger_clones}


def rounds(laws, compositions):
    """The pair of ``compositions`` independent rounds: pairs of probabilities, equal ratios put together."""
    p, q = laws
    merged = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for outcome in p.keys() | q.keys():
        a, b = p.get(outcome, Fraction(0)), q.get(outcome, Fraction(0))
        ratio = a / b if b else None
        merged[ratio][0] += a
        merged[ratio][1] += b
    pairs = [tuple(map(float, pair)) for pair in merged.values()] if compositions > 1 else merged.values()
    result = [(1, 1)]
    for _ in range(compositions):
        result = [(a * c, b * d) for (a, b), (c, d) in itertools.product(result, pairs)]
    return result


def hockey_stick(eps, pairs, direction=1):
    """sum (P - e^eps Q)_+ (or Q against P), to 50 digits where the pairs are fractions."""
    with mp.workdps(50):
        grown = mp.exp(mp.mpf(eps))
        total = mp.mpf(0)
        for a, b in pairs:
            a, b = (a, b)[::direction]
            if isinstance(a, Fraction):
                a, b = (mp.mpf(x.numerator) / x.denominator for x in (a, b))
            total += max(mp.mpf(0), a - grown * b)
        return total
