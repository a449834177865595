"""The protocol at (eps, delta-hat) with eps < eps0."""

import math

import numpy as np
import pytest

from scripts.paper.delta.compute_delta_hat import compute_delta_hat, sample_of
from scripts.paper.trials.compute_constants import expected_tv_of_noise
from scripts.paper.trials.delta_hat_ratios import gaussian_ratios
from scripts.paper.trials.run_delta_hat_trials import run_delta_hat_trials
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


def test_mean_tv_error_of_the_gaussian_is_the_expected_one(trials):
    """The noise has the standard deviation in the column scale, in users. All groups have the same draws."""
    gaussian = trials[trials["mechanism"] == "gaussian"]
    for (_eps, _form, scale), rows in gaussian.groupby(["eps", "form", "scale"]):
        expected = expected_tv_of_noise(scale, n=20_000, k=5)
        standard_error = rows["value"].std() / math.sqrt(REPETITIONS)
        assert abs(rows["value"].mean() - expected) < 5 * standard_error


def test_mean_tv_error_of_shuffle_inv_is_below_the_expected_one_before_the_projection(trials):
    """The error after the projection to the simplex has no closed form."""
    sample = sample_of(COUNTS, dataset="toy", n=20_000, seed=5)
    expected_errors = krr_errors(sample / sample.sum(), n=20_000, eps0=3.0)  # of each cell
    tv_before_projection = expected_errors.sum() / 2
    inverted = trials[trials["mechanism"] == "shuffle+INV"]
    assert len(inverted) == REPETITIONS
    # Here the mean is 0.80 times the error before the projection. Less than half of that would not be
    # plausible: something else would be measured.
    assert 0.5 * tv_before_projection < inverted["value"].mean() < tv_before_projection


def test_the_ratio_is_the_gaussians_mean_over_that_of_shuffle_inv(trials):
    row = gaussian_ratios(trials).iloc[0]
    gaussian = trials[(trials["eps"] == row["eps"]) & (trials["form"] == row["form"])]
    inverted = trials[trials["mechanism"] == "shuffle+INV"]
    expected = gaussian["value"].mean() / inverted["value"].mean()
    assert row["ratio"] == pytest.approx(expected, rel=1e-12)
