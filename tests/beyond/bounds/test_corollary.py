"""Corollary 1 read literally: against its formula over all reports, and at Table IV's default setting."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from scripts.beyond.bounds.compute_corollary_1 import corollary_1, corollary_table


def literal(eps, n, k, growth, counts):
    """Eq. (7) for e^eps0 = ``growth``: P(s) by listing all reports, e^{v_s} term by term as printed."""
    p = growth / (growth + k - 1)
    q = 1 / (growth + k - 1)
    kappa_1 = growth * (growth + k - 2) / (k - 1)
    kappa_2 = (k - 1) / (growth + k - 2)

    def mass(holders):
        result = [Fraction(0)] * (n + 1)
        # The chances that a user reports x0. The first user is the one in question.
        chances = [p] * (holders + 1) + [q] * (n - 1 - holders)
        for reports in product((0, 1), repeat=n):
            factors = (c if bit else 1 - c for bit, c in zip(reports, chances, strict=True))
            result[sum(reports)] += math.prod(factors, start=Fraction(1))
        return result

    def loss(holders, s):
        def total(term):
            return sum(term(r) * math.comb(holders, r) * kappa_1**r for r in range(s + 1))

        above = total(
            lambda r: (s - r) * math.comb(n - 1 - holders, s - 1 - r) if s - 1 - r >= 0 else 0
        )
        below = total(lambda r: math.comb(n - holders, s - r))
        return kappa_2 + (growth - kappa_2) / (n - holders) * above / below

    largest = [max(loss(holders, s) for holders in counts) for s in range(n + 1)]
    return max(
        sum(
            m * max(0.0, 1 - math.exp(eps) / v) for m, v in zip(mass(holders), largest, strict=True)
        )
        for holders in counts
    )


@pytest.mark.parametrize("counts", [[3, 1, 0], [2, 2, 1], [5], [0]])
@pytest.mark.parametrize("eps", [0.05, 0.4, 1.0])
def test_corollary_1_is_its_formula_over_all_reports(counts, eps):
    n, k, growth = 6, 3, Fraction(3)
    expected = literal(eps, n, k, growth, counts)
    log10_delta = corollary_1(eps, n=n, k=k, eps0=math.log(growth), counts=counts)
    assert 10**log10_delta == pytest.approx(float(expected), rel=1e-12)


def test_it_is_neither_too_small_everywhere_nor_a_guarantee():
    """Table IV's default setting: `upper` is 5.02e-2, 1.15e-3, 4.47e-8."""

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
