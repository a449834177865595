"""Which scales of the Gaussian fit the printed errors: against draws that are printed as text."""

from decimal import ROUND_DOWN, Decimal

import numpy as np
import pytest

from scripts.beyond.statements.fit_noise_scale import fitting_scales
from scripts.beyond.statements.noise_scale import Error, likely_scales, ln_likelihood_of_scales
from scripts.shared.printed import read_values
from tests import ROOT

SCALE = 2.152  # standard deviation of the noise in each cell, in users
RUNS = 200_000
PRINTED = {
    "3e-03": Error(3e-3, digits=1, users=1000, cells=1),
    "1.2e-03": Error(1.2e-3, digits=2, users=1000, cells=1),
    # From 0.95e-5, as 9e-6 is the number before.
    "1e-05": Error(1e-5, digits=1, users=100_000, cells=1),
    "1.4e-02": Error(0.014, digits=2, users=1000, cells=15),
}


def drawn_errors(error, seed):
    """`RUNS` errors of the kind of ``error``, as shares of its users: of one cell, or half the sum of all."""
    noise = np.random.default_rng(seed).standard_normal((RUNS, error.cells))
    sums = SCALE * np.abs(noise).sum(axis=1)
    return sums / (error.users if error.cells == 1 else 2 * error.users)


def near_share(share):
    """The expected ``share`` of `RUNS` draws, within five standard errors."""
    return pytest.approx(share, abs=5 * np.sqrt(share / RUNS))


@pytest.mark.parametrize("text", PRINTED)
def test_likelihoods_are_shares_of_draws_that_are_printed_so(text):
    error = PRINTED[text]
    share = np.mean([f"{draw:.{error.digits - 1}e}" == text for draw in drawn_errors(error, 5)])
    likelihood = np.exp(ln_likelihood_of_scales([error], SCALE))
    assert likelihood == near_share(share)


@pytest.mark.parametrize("text", PRINTED)
def test_likelihoods_are_shares_of_draws_whose_digits_are_cut_off(text):
    error = PRINTED[text]
    printed = Decimal(text)  # with the exponent of the last digit
    cut_off = [Decimal(draw).quantize(printed, ROUND_DOWN) for draw in drawn_errors(error, 6)]
    share = np.mean([value == printed for value in cut_off])
    likelihood = np.exp(ln_likelihood_of_scales([error], SCALE, cut_off=True))
    assert likelihood == near_share(share)


def test_the_likely_scales_are_those_around_the_one_that_was_drawn():
    """The scale 2.5, from 2,000 errors of 1,000 users in two digits."""
    rng = np.random.default_rng(8)
    drawn = [float(f"{2.5 * abs(rng.standard_normal()) / 1000:.1e}") for _ in range(2000)]
    low, high = likely_scales([Error(value, digits=2, users=1000, cells=1) for value in drawn])
    assert 2.3 < low < 2.5 < high < 2.7
    # The maximum likelihood estimate of a scale from N values has a standard error of scale / sqrt(2 N).
    assert high - low == pytest.approx(2 * 1.96 * 2.5 / np.sqrt(2 * 2000), rel=0.1)


VALUES = read_values(ROOT / "data/published/values.csv")


def test_the_scales_that_fit_the_papers_errors_are_those_of_the_errata():
    """28 errors of single cells and two distances, by the users of both cities."""
    table = fitting_scales(VALUES, {"san_francisco": 123026, "paris": 11190})
    assert table.round(2).to_dict("records") == [
        {"digits": "rounded", "errors": 30, "low": 1.56, "high": 2.34},
        {"digits": "cut off", "errors": 30, "low": 1.72, "high": 2.63},
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the logarithm of 0
@pytest.mark.parametrize("users", [{"paris": 11190}, {"san_francisco": 10**12, "paris": 11190}])
def test_no_scale_fits_without_a_city_or_with_far_too_many_users(users):
    table = fitting_scales(VALUES, users)
    assert list(table) == ["digits", "errors", "low", "high"]
    assert table.empty
