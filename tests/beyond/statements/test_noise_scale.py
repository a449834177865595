"""Which scales of the Gaussian fit the printed errors: against draws that are printed as text.

What fits the paper's own errors is in tests/report/test_findings.py.
"""

from decimal import ROUND_DOWN, Decimal

import numpy as np
import pytest

from scripts.beyond.statements.noise_scale import Error, likely_scales, ln_likelihood_of_scales


@pytest.mark.parametrize(
    ("printed", "digits", "n", "cells", "text"),
    [
        (3e-3, 1, 1000, 1, "3e-03"),
        (1.2e-3, 2, 1000, 1, "1.2e-03"),
        (1e-5, 1, 100_000, 1, "1e-05"),  # from 0.95e-5, as 9e-6 is the number before
        (0.014, 2, 1000, 15, "1.4e-02"),
    ],
)
def test_likelihoods_are_shares_of_draws_that_are_printed_so(printed, digits, n, cells, text):
    scale, runs = 2.152, 200_000
    sums = np.abs(np.random.default_rng(5).standard_normal((runs, cells))).sum(axis=1)
    draws = scale * sums / (n if cells == 1 else 2 * n)
    share = np.mean([f"{draw:.{digits - 1}e}" == text for draw in draws])
    found = float(ln_likelihood_of_scales([Error(printed, digits, n, cells)], scale))
    assert np.exp(found) == pytest.approx(share, abs=5 * np.sqrt(share / runs))


@pytest.mark.parametrize(
    ("printed", "digits", "n", "cells"),
    [(3e-3, 1, 1000, 1), (1.2e-3, 2, 1000, 1), (1e-5, 1, 100_000, 1), (0.014, 2, 1000, 15)],
)
def test_likelihoods_are_shares_of_draws_whose_digits_are_cut_off(printed, digits, n, cells):
    scale, runs = 2.152, 200_000
    sums = np.abs(np.random.default_rng(6).standard_normal((runs, cells))).sum(axis=1)
    draws = scale * sums / (n if cells == 1 else 2 * n)
    last_digit = Decimal(1).scaleb(int(np.floor(np.log10(printed))) - digits + 1)
    wanted = Decimal(str(printed)).quantize(last_digit)
    share = np.mean([Decimal(draw).quantize(last_digit, ROUND_DOWN) == wanted for draw in draws])
    likelihood = float(
        ln_likelihood_of_scales([Error(printed, digits, n, cells)], scale, cut_off=True)
    )
    assert np.exp(likelihood) == pytest.approx(share, abs=5 * np.sqrt(share / runs))


def test_the_likely_scales_are_those_around_the_one_that_was_drawn():
    rng = np.random.default_rng(8)
    drawn = [float(f"{2.5 * abs(rng.standard_normal()) / 1000:.1e}") for _ in range(2000)]
    low, high = likely_scales([Error(value, 2, 1000, 1) for value in drawn])
    assert 2.3 < low < 2.5 < high < 2.7
    assert high - low == pytest.approx(2 * 1.96 * 2.5 / np.sqrt(2 * 2000), rel=0.1)
