"""The paper's formulas word for word, in 60 digits: what the fast code is compared with."""

import functools
from math import comb

import mpmath as mp
import numpy as np


def printed_terms(*, n, k, eps0, count):
    """The list of (P(s), Q(s), printed ratio, exact ratio) for every count s of reports of x0, from 0 to n.

    ``count`` = m of the n - 1 other users hold x0. P(s) is the probability of s if the target user holds x0,
    eq. (6) of Biswas et al., and Q(s) that if not, eq. (9). Letters are the paper's: r of the m users and
    s - r of the n - m other ones report x0. With the mean E over r, given s, the exact P(s) / Q(s) is
    kappa2 + (e^eps0 - kappa2) E[(s - r) / (n - m)], as in the step before Theorem 1. In the ratio that
    Theorem 1 prints, e^{v_s}, (s - r) / (n - m) is squared.
    """
    m, e_eps0 = count, mp.exp(mp.mpf(eps0))
    kappa1 = e_eps0 * (e_eps0 + k - 2) / (k - 1)
    kappa2 = (k - 1) / (e_eps0 + k - 2)
    terms = []
    for s in range(n + 1):
        kappa3 = mp.mpf(k - 1) ** m * (e_eps0 + k - 2) ** (n - m - s) / (e_eps0 + k - 1) ** n
        # kappa3 mu(r) is the probability of r and s under Q.
        mu = {
            r: comb(m, r) * comb(n - m, s - r) * kappa1**r
            for r in range(max(0, s - n + m), min(s, m) + 1)
        }
        sum_mu = sum(mu.values())
        mean = sum(mu[r] * (s - r) for r in mu) / sum_mu / (n - m)
        mean_square = sum(mu[r] * (s - r) ** 2 for r in mu) / sum_mu / (n - m) ** 2
        exact_ratio = kappa2 + (e_eps0 - kappa2) * mean
        printed_ratio = kappa2 + (e_eps0 - kappa2) * mean_square
        q = kappa3 * sum_mu
        terms.append((exact_ratio * q, q, printed_ratio, exact_ratio))
    return terms


def printed_delta(eps, terms, *, form, direction):
    """delta by eq. (6), or for ``direction`` "reverse" by eq. (2) with P and Q exchanged.

    ``terms`` are the `printed_terms`. ``form`` is which ratio is taken: "published" for the printed one, or
    "exact".
    """
    e_eps, delta = mp.exp(mp.mpf(eps)), mp.mpf(0)
    for p, q, printed_ratio, exact_ratio in terms:
        ratio = printed_ratio if form == "published" else exact_ratio
        if direction == "forward":
            delta += max(0, 1 - e_eps / ratio) * p
        else:
            delta += max(0, 1 - e_eps * ratio) * q
    return delta


def convolved_distributions(*, n, k, eps0, count):
    """The laws of the count of x0 if the target user holds x0 (P) and if not (Q): no binomials, no kappas.

    Each has the probabilities of 0, ..., n. ``count`` of the n - 1 other users hold x0.
    """
    e_eps0 = mp.exp(mp.mpf(eps0))
    # The probabilities with which k-RR reports x0 for a user who holds x0, and for another user.
    p, q = e_eps0 / (e_eps0 + k - 1), 1 / (e_eps0 + k - 1)
    of_others = functools.reduce(add_user, [p] * count + [q] * (n - 1 - count), [mp.mpf(1)])
    return add_user(of_others, p), add_user(of_others, q)


def add_user(distribution, probability):
    """The law of a count, from 0 on, with one more user who is counted with ``probability``."""
    return np.convolve(distribution, [1 - probability, probability])


def hockey_stick(eps, first, second):
    """delta at eps: sum_s max(0, first(s) - e^eps second(s))."""
    e_eps = mp.exp(mp.mpf(eps))
    return sum(max(0, a - e_eps * b) for a, b in zip(first, second, strict=True))
