"""The protocol at (eps, delta-hat) with eps < eps0, and the errors under other constants."""

import math

import numpy as np
import pandas as pd
import pytest

from scripts.paper.delta.compute_delta_hat import compute_delta_hat, sample_of
from scripts.paper.trials.compute_constants import compute_constants, expected_tv_of_noise
from scripts.paper.trials.run_delta_hat_trials import gaussian_ratios, run_delta_hat_trials
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.randomizers.expected_errors import krr_errors

COUNTS = np.array([40_000, 3_000, 0, 25_000, 10])
REPETITIONS = 400


@pytest.fixture(scope="module")
def delta_hats():
    """A row for each of three eps, with log10 of delta-hat in the columns published and exact."""
    return compute_delta_hat(COUNTS, dataset="toy", n=[20_000], eps0=[3], steps=3, seed=5)


@pytest.fixture(scope="module")
def trials(delta_hats):
    """The TV error of each repetition: of shuffle+INV, and of the Gaussian for each eps and form of delta."""
    return run_delta_hat_trials(
        COUNTS, delta_hats, repetitions=REPETITIONS, sensitivity=1.5, seed=5
    )


def test_the_gaussian_is_private_with_exactly_the_delta_hat_of_the_table(trials, delta_hats):
    gaussian = trials[trials["mechanism"] == "gaussian"].drop_duplicates(["eps", "form"])
    assert len(gaussian) == 2 * len(delta_hats)
    for row in gaussian.to_dict("records"):
        (delta_hat,) = delta_hats.loc[delta_hats["eps"] == row["eps"], row["form"]]
        reached = log10_delta_of_scale(row["eps"], scale=row["scale"], sensitivity=1.5)
        assert reached == pytest.approx(delta_hat, rel=1e-9)


def test_the_errors_have_the_size_that_theory_says(trials):
    """``trials`` has the TV errors of 400 repetitions of each mechanism, in the column value.

    1. The Gaussian adds noise of the standard deviation scale (a column), in users. Its mean error is within
       five standard errors of the expected one. All eps and forms of delta have the same draws, scaled.
    2. shuffle+INV projects the inverted reports, which makes the error smaller. There is no closed form for
       the error after the projection.
    """
    for _, rows in trials[trials["mechanism"] == "gaussian"].groupby(["eps", "form"]):
        expected = expected_tv_of_noise(rows["scale"].iloc[0], n=20_000, k=5)
        standard_error = rows["value"].std() / math.sqrt(REPETITIONS)
        assert abs(rows["value"].mean() - expected) < 5 * standard_error

    # The expected TV error before the projection is half the sum of the k cells' expected errors.
    sample = sample_of(COUNTS, dataset="toy", n=20_000, seed=5)
    unprojected_tv = krr_errors(sample / sample.sum(), n=20_000, eps0=3.0).sum() / 2
    inverted = trials[trials["mechanism"] == "shuffle+INV"]
    assert len(inverted) == REPETITIONS
    # Here the mean is 0.80 times the error before the projection. Less than half of that would not be
    # plausible: something else would be measured.
    assert 0.5 * unprojected_tv < inverted["value"].mean() < unprojected_tv


def test_the_ratio_is_the_gaussians_mean_over_that_of_shuffle_inv(trials):
    row = gaussian_ratios(trials).iloc[0]
    chosen = trials[(trials["eps"] == row["eps"]) & (trials["form"] == row["form"])]
    inverted = trials[trials["mechanism"] == "shuffle+INV"]
    assert row["ratio"] == pytest.approx(
        chosen["value"].mean() / inverted["value"].mean(), rel=1e-12
    )


def test_the_constants_are_judged_at_the_largest_n_of_every_budget():
    """A row for each of two floors (deltas of the Gaussian) and two sensitivities (in users).

    Its column gaussian is the Gaussian's expected TV error, and ratio the error of shuffle+INV over it. This
    error is the trials' mean at the largest n of the budget: 0.2 here. The trials' own Gaussian (0.9) does
    not count. The column scale is the standard deviation of diffprivlib's noise, in users.
    """
    trials = pd.DataFrame(
        columns=["mechanism", "n", "value"],
        data=[("shuffle+INV", 100, 0.4), ("shuffle+INV", 1000, 0.2), ("gaussian", 1000, 0.9)],
    )
    trials = trials.assign(dataset="toy", eps0=4.0, eps=4.0, k=5, metric="tv")
    table = compute_constants([trials], floors=[1e-8, 1e-30], sensitivities=[1, 2])
    assert set(table["n"]) == {1000}
    assert len(table) == 2 * 2
    for row in table.to_dict("records"):
        assert row["scale"] == published_scale(4.0, row["floor"], row["sensitivity"])
        # TV is half the sum over k = 5 cells; the mean of |N(0, 1)| is sqrt(2 / pi).
        expected = 5 * row["scale"] * math.sqrt(2 / math.pi) / (2 * 1000)
        assert row["gaussian"] == pytest.approx(expected, rel=1e-12)
        assert row["ratio"] == pytest.approx(0.2 / expected, rel=1e-12)


def test_the_expected_error_of_noise_is_that_of_many_draws():
    noise = np.random.default_rng(11).standard_normal((20_000, 7)) * 3.0
    errors = np.abs(noise / 50).sum(axis=1) / 2
    standard_error = errors.std() / math.sqrt(len(errors))
    assert abs(errors.mean() - expected_tv_of_noise(3.0, n=50, k=7)) < 4 * standard_error
