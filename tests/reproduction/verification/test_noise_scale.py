"""Which scales of the Gaussian fit the printed errors: against draws that are printed as text."""

import csv

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction.verification import joint
from reproduction.verification.noise_scale import (
    Error,
    gaussian_errors,
    likely,
    log_likelihood,
    p_value,
    sum_distribution,
)
from tests import ROOT

USERS = {"san_francisco": 123_026, "paris": 11_190}


@pytest.fixture(scope="module")
def rows():
    with open(ROOT / "data/published/values.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def errors(rows):
    return gaussian_errors(pd.DataFrame(rows), USERS)


def test_the_printed_errors_are_28_of_single_cells_and_two_distances(errors):
    assert sorted(error.cells for error in errors) == [1] * 28 + [15] * 2
    assert Error(0.0012, 2, 1000, 1) in errors
    assert Error(1e-4, 1, 11_190, 1) in errors
    assert Error(0.014, 2, 1000, 15) in errors


@pytest.mark.parametrize(("scale", "cut"), [(1.739, False), (2.833, True)])
def test_p_values_are_those_of_draws_that_are_printed(scale, cut, rows, errors):
    """`joint.p_value` on quantiles among 5,000 quantiles of the noise, each of them rounded as a text."""
    lines, distribution = [], stats.halfnorm.ppf((np.arange(5000) + 0.5) / 5000)
    for row in rows:
        if row["quantity"] == "individual_error" and row["mechanism"] == "gaussian":
            n = USERS[row["dataset"]] if row["n"] == "all" else int(row["n"])
            draws = [f"{scale * value / n:.16e}" for value in distribution]
            digits = len(row["printed"].partition("E")[0])
            if cut:
                draws = [f"{text[: digits + (digits > 1)]}{text[-4:]}" for text in draws]
            printed, runs = joint.quantiles(row["printed"], np.array(draws, dtype=float))
            lines.append(joint.Line("", "gaussian", "", "", np.array([printed]), runs[:, None]))
    _, expected = joint.p_value(lines, joint.kolmogorov_smirnov, np.random.default_rng(1))
    found = p_value(errors, scale, cut=cut, rng=np.random.default_rng(2))
    assert found == pytest.approx(expected, abs=4 * np.sqrt(2 * expected / joint.RUNS) + 0.03 * expected)


@pytest.mark.parametrize(
    ("printed", "digits", "n", "cells", "texts"),
    [
        (3e-3, 1, 1000, 1, {"3e-03"}),
        (1.2e-3, 2, 1000, 1, {"1.2e-03"}),
        (1e-5, 1, 100_000, 1, {"1e-05"}),  # from 0.95e-5, as 9e-6 is the number before
        (0.014, 2, 1000, 15, {"1.4e-02"}),
    ],
)
def test_likelihoods_are_shares_of_draws_that_are_printed_so(printed, digits, n, cells, texts):
    scale, runs = 2.152, 200_000
    sums = np.abs(np.random.default_rng(5).standard_normal((runs, cells))).sum(axis=1)
    draws = scale * sums / (n if cells == 1 else 2 * n)
    share = np.mean([f"{draw:.{digits - 1}e}" in texts for draw in draws])
    found = float(log_likelihood([Error(printed, digits, n, cells)], scale, cut=False))
    assert np.exp(found) == pytest.approx(share, abs=5 * np.sqrt(share / runs))


def test_the_sum_of_absolute_values_has_the_moments_of_their_law():
    at, below = sum_distribution(15)
    mass = np.diff(below, prepend=0)
    mean = mass @ at
    assert below[-1] == pytest.approx(1, abs=1e-12)
    assert mean == pytest.approx(15 * np.sqrt(2 / np.pi), abs=2e-3)
    assert mass @ (at - mean) ** 2 == pytest.approx(15 * (1 - 2 / np.pi), rel=1e-4)


def test_the_likely_scales_are_those_around_the_one_that_was_drawn():
    rng = np.random.default_rng(8)
    drawn = [float(f"{2.5 * abs(rng.standard_normal()) / 1000:.1e}") for _ in range(2000)]
    low, high, best = likely([Error(value, 2, 1000, 1) for value in drawn], cut=False)
    assert 2.3 < low < 2.5 < high < 2.7
    assert high - low == pytest.approx(2 * 1.96 * 2.5 / np.sqrt(2 * 2000), rel=0.1)
    assert best < 0


def test_no_scale_is_singled_out_by_what_is_printed(errors):
    """The library's limit 2.152 and 1.974, sensitivity sqrt(2) at delta = 1e-8, are both well inside."""
    for cut in (False, True):
        low, high, best = likely(errors, cut=cut)
        assert low < 1.974 < 2.152 < high
        assert (best - log_likelihood(errors, [1.974, 2.152], cut=cut) < 1).all()
