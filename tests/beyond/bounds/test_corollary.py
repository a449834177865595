"""Corollary 1 read literally: against its formula over all reports, and at Table IV's default setting."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from scripts.beyond.bounds.compute_corollary_1 import corollary_1, corollary_table


def enumerated_delta(eps, n, k, growth, counts):
    """The delta of eq. (7), a float: max over n_x0 of the sum over s of P(s) max(0, 1 - e^eps / e^{v_s}).

    P(s) is the probability that s of the n reports are x0, where the target user and n_x0 of the others hold
    x0. ``counts`` are the possible n_x0. e^{v_s} is the largest of their ratios at s. A ratio, by Theorem 1:

        kappa_2 + (e^eps0 - kappa_2) / (n - n_x0) * numerator / denominator,   where
        numerator = sum over r of C(n_x0, r) kappa_1^r (s - r) C(n - 1 - n_x0, s - 1 - r)
        denominator = sum over r of C(n_x0, r) kappa_1^r C(n - n_x0, s - r)

    and r counts the reports of x0 by its n_x0 holders. kappa_1 and kappa_2 are defined below. ``growth`` is
    e^eps0, a `Fraction`, so that P(s) and e^{v_s} are exact.
    """
    p = growth / (growth + k - 1)  # the probability that a user reports the own value
    q = 1 / (growth + k - 1)  # the probability of any given other value
    kappa_1 = growth * (growth + k - 2) / (k - 1)
    kappa_2 = (k - 1) / (growth + k - 2)

    def probabilities(n_x0):
        """P(s) for s = 0 to n, from all 2^n ways in which each user does or does not report x0."""
        result = [Fraction(0)] * (n + 1)
        chances = [p] * (1 + n_x0) + [q] * (
            n - 1 - n_x0
        )  # that a user reports x0: one for each user
        for reports in product((0, 1), repeat=n):  # 1: this user's report is x0
            factors = (c if is_x0 else 1 - c for is_x0, c in zip(reports, chances, strict=True))
            result[sum(reports)] += math.prod(factors)
        return result

    def ratio(n_x0, s):
        """The printed ratio of one ``n_x0`` at s."""
        weights = [math.comb(n_x0, r) * kappa_1**r for r in range(s + 1)]
        # The term of r = s is 0.
        numerator = sum(weights[r] * (s - r) * math.comb(n - 1 - n_x0, s - 1 - r) for r in range(s))
        denominator = sum(weights[r] * math.comb(n - n_x0, s - r) for r in range(s + 1))
        return kappa_2 + (growth - kappa_2) / (n - n_x0) * numerator / denominator

    largest_ratios = [max(ratio(n_x0, s) for n_x0 in counts) for s in range(n + 1)]
    lost_shares = [max(0, 1 - math.exp(eps) / largest) for largest in largest_ratios]
    return max(np.dot(probabilities(n_x0), lost_shares) for n_x0 in counts)


@pytest.mark.parametrize("counts", [[3, 1, 0], [2, 2, 1], [5], [0]])
@pytest.mark.parametrize("eps", [0.05, 0.4, 1.0])
def test_corollary_1_is_its_formula_over_all_reports(counts, eps):
    n, k, growth = 6, 3, Fraction(3)
    expected = enumerated_delta(eps, n, k, growth, counts)
    log10_delta = corollary_1(eps, n=n, k=k, eps0=math.log(growth), counts=counts)
    assert 10**log10_delta == pytest.approx(float(expected), rel=1e-12)


def test_it_is_neither_too_small_everywhere_nor_a_guarantee():
    """Table IV's default setting, where `upper` guarantees 5.02e-2, 1.15e-3 and 4.47e-8 for every dataset.

    ``counts`` are how many other users hold each value. Expected are four digits, written down once.
    """

    def deltas(counts):
        return [10 ** corollary_1(eps, n=100, k=10, eps0=2, counts=counts) for eps in (0.1, 0.5, 1)]

    np.testing.assert_allclose(deltas([80, 20]), [4.580e-2, 2.851e-4, 2.377e-10], rtol=1e-3)
    np.testing.assert_allclose(deltas([80, 2]), [0.2540, 2.282e-2, 5.390e-7], rtol=1e-3)
    np.testing.assert_allclose(deltas([10, 9]), [3.697e-13, 1.566e-23, 4.871e-41], rtol=1e-3)


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
