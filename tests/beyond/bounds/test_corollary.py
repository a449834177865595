"""Corollary 1 read literally: against its formula, and at Table IV's default setting."""

import math

import numpy as np
import pytest

from scripts.beyond.bounds.compute_corollary_1 import corollary_1, corollary_table


def count_distribution(n, n_x0, p, q):
    """P(s) for s = 0 to n: the probability that s of n reports are x0.

    The target user and ``n_x0`` others hold x0, and report it with probability ``p``. The rest report it with
    probability ``q``.
    """
    distribution = np.ones(1)
    for probability in [p] * (1 + n_x0) + [q] * (n - 1 - n_x0):
        distribution = np.convolve(distribution, [1 - probability, probability])
    return distribution


def ratio_of_theorem_1(s, n, k, eps0, n_x0):
    """The printed ratio at s reports of x0, where ``n_x0`` of the others hold x0:

        kappa_2 + (e^eps0 - kappa_2) / (n - n_x0) * numerator / denominator,   where
        numerator = sum over r of C(n_x0, r) kappa_1^r (s - r) C(n - 1 - n_x0, s - 1 - r)
        denominator = sum over r of C(n_x0, r) kappa_1^r C(n - n_x0, s - r)

    and r counts the reports of x0 by its n_x0 holders.
    """
    growth = math.exp(eps0)
    kappa_1 = growth * (growth + k - 2) / (k - 1)
    kappa_2 = (k - 1) / (growth + k - 2)
    numerator = denominator = 0
    for r in range(s + 1):
        weight = math.comb(n_x0, r) * kappa_1**r
        denominator += weight * math.comb(n - n_x0, s - r)
        if r < s:  # else the numerator's term is 0
            numerator += weight * (s - r) * math.comb(n - 1 - n_x0, s - 1 - r)
    return kappa_2 + (growth - kappa_2) / (n - n_x0) * numerator / denominator


def delta_of_equation_7(eps, n, k, eps0, counts):
    """max over n_x0 of the sum over s of P(s) max(0, 1 - e^eps / e^{v_s}), where n_x0 is one of ``counts``.

    e^{v_s} is the largest ratio of Theorem 1 at s over all n_x0. P(s) is the probability of s reports of x0.
    """
    p = math.exp(eps0) / (math.exp(eps0) + k - 1)
    q = 1 / (math.exp(eps0) + k - 1)
    lost_shares = []
    for s in range(n + 1):
        largest_ratio = max(ratio_of_theorem_1(s, n, k, eps0, n_x0) for n_x0 in counts)
        lost_shares.append(max(0, 1 - math.exp(eps) / largest_ratio))
    return max(count_distribution(n, n_x0, p, q) @ lost_shares for n_x0 in counts)


@pytest.mark.parametrize("counts", [[3, 1, 0], [2, 2, 1], [5], [0]])
@pytest.mark.parametrize("eps", [0.05, 0.4, 1.0])
def test_corollary_1_is_its_formula(counts, eps):
    setting = {"n": 6, "k": 3, "eps0": math.log(3), "counts": counts}
    expected = delta_of_equation_7(eps, **setting)
    assert 10 ** corollary_1(eps, **setting) == pytest.approx(expected, rel=1e-12)


# Four digits, written down once. `upper` guarantees 5.02e-2, 1.15e-3 and 4.47e-8 for every dataset.
@pytest.mark.parametrize(
    ("counts", "deltas"),
    [
        ([80, 20], [4.580e-2, 2.851e-4, 2.377e-10]),
        ([80, 2], [0.2540, 2.282e-2, 5.390e-7]),  # above the guarantee
        ([10, 9], [3.697e-13, 1.566e-23, 4.871e-41]),
    ],
)
def test_corollary_1_at_table_ivs_default_setting(counts, deltas):
    found = [10 ** corollary_1(eps, n=100, k=10, eps0=2, counts=counts) for eps in (0.1, 0.5, 1)]
    np.testing.assert_allclose(found, deltas, rtol=1e-3)


def test_corollary_1_is_above_the_guarantee_and_below_the_truth():
    rows = corollary_table().set_index(["remaining_users", "eps"])
    skewed, flat = rows.loc["80, 3 and eight times 2"], rows.loc["nine times 10 and 9"]
    assert np.all(skewed["log10_corollary_1"] > skewed["log10_upper"])
    assert np.all(flat["log10_corollary_1"] < flat["log10_count"] - 10)
    assert np.all(rows["log10_count"] <= rows["log10_lower"])


@pytest.mark.parametrize(
    ("n", "counts", "message"),
    [(100, [], "counts must not be empty"), (100, [100], "^count must"), (2000, [80], "^n must")],
)
def test_bad_arguments_are_named(n, counts, message):
    with pytest.raises(ValueError, match=message):
        corollary_1(0.5, n=n, k=10, eps0=2.0, counts=counts)
