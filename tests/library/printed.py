"""The paper's formulas word for word, in 60-digit arithmetic: what the fast code is compared with."""

from math import comb

import mpmath as mp

mp.mp.dps = 60


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
        sum_mu = sum_mu_tau = sum_moment = sum_second_moment = mp.mpf(0)
        for r in range(max(0, s - n + m), min(s, m) + 1):
            power = kappa1**r
            # kappa3 mu is the probability of r and s under Q, and kappa3 mu tau / (n - m) that under P.
            mu = comb(m, r) * comb(n - m, s - r) * power
            tau = kappa2 * (n - m) + (e_eps0 - kappa2) * (s - r)
            # This is mu (s - r) / (n - m).
            moment = comb(m, r) * comb(n - 1 - m, s - 1 - r) * power if r < s else 0
            sum_mu += mu
            sum_mu_tau += mu * tau
            sum_moment += moment
            sum_second_moment += (s - r) * moment
        p, q = kappa3 / (n - m) * sum_mu_tau, kappa3 * sum_mu
        printed_ratio = kappa2 + (e_eps0 - kappa2) * sum_second_moment / (n - m) / sum_mu
        exact_ratio = kappa2 + (e_eps0 - kappa2) * sum_moment / sum_mu
        terms.append((p, q, printed_ratio, exact_ratio))
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

    Each is a list of the probabilities of 0, ..., n. ``count`` of the n - 1 other users hold x0.
    """
    e_eps0 = mp.exp(mp.mpf(eps0))
    p, q = e_eps0 / (e_eps0 + k - 1), 1 / (e_eps0 + k - 1)
    of_others = [mp.mpf(1)]
    for probability in [p] * count + [q] * (n - 1 - count):
        of_others = add_user(of_others, probability)
    return add_user(of_others, p), add_user(of_others, q)


def add_user(distribution, probability):
    """The law of a count, a list from 0 on, with one more user who is counted with ``probability``."""
    stay = [value * (1 - probability) for value in distribution] + [mp.mpf(0)]
    step = [mp.mpf(0)] + [value * probability for value in distribution]
    return [a + b for a, b in zip(stay, step, strict=True)]


def hockey_stick(eps, first, second):
    """delta at eps: sum_s max(0, first(s) - e^eps second(s))."""
    e_eps = mp.exp(mp.mpf(eps))
    return sum(max(mp.mpf(0), a - e_eps * b) for a, b in zip(first, second, strict=True))
