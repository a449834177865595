"""The paper's formulas word for word, in 60-digit arithmetic: what the fast code is compared with."""

from math import comb

import mpmath as mp

mp.mp.dps = 60


def printed_terms(*, n, k, eps0, count):
    """Per s: P(s) of eq. (6), Q(s) of eq. (9), e^{v_s} of Theorem 1 and of the step before it."""
    m, e = count, mp.exp(mp.mpf(eps0))
    kappa1, kappa2 = e * (e + k - 2) / (k - 1), (k - 1) / (e + k - 2)
    powers = [kappa1**r for r in range(m + 1)]
    terms = []
    for s in range(n + 1):
        ways = range(max(0, s - n + m), min(s, m) + 1)
        kappa3 = mp.mpf(k - 1) ** m * (e + k - 2) ** (n - m - s) / (e + k - 1) ** n
        mu = [comb(m, r) * comb(n - m, s - r) * powers[r] for r in ways]
        tau = [kappa2 * (n - m) + (e - kappa2) * (s - r) for r in ways]
        moments = [
            comb(m, r) * comb(n - 1 - m, s - 1 - r) * powers[r] if r < s else 0 for r in ways
        ]
        printed = sum((s - r) * moment for r, moment in zip(ways, moments, strict=True)) / mp.mpf(
            n - m
        )
        p = kappa3 / (n - m) * sum(a * b for a, b in zip(mu, tau, strict=True))
        losses = [kappa2 + (e - kappa2) * moment / sum(mu) for moment in (printed, sum(moments))]
        terms.append((p, kappa3 * sum(mu), *losses))
    return terms


def printed_delta(eps, terms, *, form, direction):
    """delta by eq. (6) from the terms; in reverse, by eq. (2) with the roles of P and Q exchanged."""
    bound, total = mp.exp(mp.mpf(eps)), mp.mpf(0)
    for p, q, published, exact in terms:
        ratio = published if form == "published" else exact
        total += (
            max(0, 1 - bound / ratio) * p
            if direction == "forward"
            else max(0, 1 - bound * ratio) * q
        )
    return total


def convolved_distributions(*, n, k, eps0, count):
    """P and Q of the count of x0 by adding one user's Bernoulli at a time: no binomials, no kappas."""
    e = mp.exp(mp.mpf(eps0))
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    remaining = [mp.mpf(1)]
    for probability in [p] * count + [q] * (n - 1 - count):
        remaining = add_user(remaining, probability)
    return add_user(remaining, p), add_user(remaining, q)


def add_user(distribution, probability):
    stay = [value * (1 - probability) for value in distribution] + [mp.mpf(0)]
    step = [mp.mpf(0)] + [value * probability for value in distribution]
    return [a + b for a, b in zip(stay, step, strict=True)]


def hockey_stick(eps, first, second):
    """sum_s max(0, first(s) - e^eps second(s))."""
    bound = mp.exp(mp.mpf(eps))
    return sum(max(mp.mpf(0), a - bound * b) for a, b in zip(first, second, strict=True))
