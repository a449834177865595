"""The numbers on the paper's experiments that texts state."""

import pytest

from scripts.paper.trials.findings import constants, delta_hat
from tests.report.world import results

SETTING = {"dataset": "synthetic", "n": 1000, "k": 15, "eps0": 4.0}


def errors_of(mechanism, values, form=""):
    """A row of delta_hat_trials for each of two eps, with one TV error each."""
    return [
        {**SETTING, "eps": eps, "form": form, "mechanism": mechanism, "value": value}
        for eps, value in zip((0.5, 1.0), values, strict=True)
    ]


def test_published_delta_hat_lies_orders_of_magnitude_below_the_exact_one():
    log10_delta_hats = [
        {**SETTING, "eps": 0.5, "published": -110.0, "exact": -4.0},
        {**SETTING, "eps": 1.0, "published": -350.0, "exact": -12.0},  # below every float
    ]
    trials = errors_of("shuffle+INV", [0.1, 0.1])
    trials += errors_of("gaussian", [0.1, 0.1], "published")
    trials += errors_of("gaussian", [0.1, 0.1], "exact")
    hat = delta_hat(results([], delta_hat=log10_delta_hats, delta_hat_trials=trials))
    assert (hat.of, hat.beyond_floats) == (2, 1)
    assert (hat.orders.low, hat.orders.high) == (110 - 4, 350 - 12)


def test_ratios_are_of_the_gaussians_mean_error_to_that_of_shuffle_inv_for_each_form():
    log10_delta_hats = [{**SETTING, "eps": 0.5, "published": -110.0, "exact": -4.0}]
    trials = errors_of("shuffle+INV", [0.03, 0.05])  # in the mean 0.04
    trials += errors_of("gaussian", [0.8, 0.4], "published")
    trials += errors_of("gaussian", [0.05, 0.06], "exact")
    ratios = delta_hat(results([], delta_hat=log10_delta_hats, delta_hat_trials=trials)).ratios
    assert (ratios["published"].low, ratios["published"].high) == pytest.approx((10.0, 20.0))
    assert (ratios["exact"].low, ratios["exact"].high) == pytest.approx((1.25, 1.5))


def test_the_range_of_ratios_is_over_all_choices_of_the_constants():
    table = [{"floor": 1e-30, "ratio": 3.5}, {"floor": 1e-8, "ratio": 40.0}]
    found = constants(results([], constants=table))
    assert (found.floors, found.low, found.high) == ([1e-8, 1e-30], 3.5, 40.0)
