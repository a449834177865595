"""The numbers on the paper's experiments that texts state."""

import pytest

from scripts.paper.trials.findings import GaussianScales, constants, delta_hat, gaussian_scales
from tests.report.world import EVERYTHING, results


def test_what_the_form_of_delta_hat_does_to_the_errors():
    """Each ratio is a mean of the Gaussian over 0.04, the mean of shuffle+INV."""
    hat = delta_hat(results([], **EVERYTHING))
    assert (hat.of, hat.beyond_floats) == (2, 1)
    assert (hat.orders.low, hat.orders.high) == (106.0, 338.0)
    printed, exact = hat.ratios["published"], hat.ratios["exact"]
    assert (printed.low, printed.high) == pytest.approx((10.0, 20.0))
    assert (exact.low, exact.high) == pytest.approx((1.25, 1.5))


def test_the_range_of_ratios_is_over_all_choices_of_the_constants():
    ratios = constants(results([], **EVERYTHING))
    assert (ratios.low, ratios.high) == (3.5, 40.0)


def test_the_scales_of_the_gaussian_are_those_at_eps_4():
    """The library's is the published one, and the exact one is needed."""
    assert gaussian_scales(results([])) == GaussianScales(library=2.2, needed=2.8)
