"""The numbers on the paper's experiments that texts state."""

from scripts.paper.trials.findings import GaussianScales, constants, delta_hat, gaussian_scales
from scripts.shared.findings import Range
from tests.report.world import EVERYTHING, results


def test_what_the_form_of_delta_hat_does_to_the_errors():
    """The ratios have no standard error here, so the ranges are those of the table."""
    hat = delta_hat(results([], **EVERYTHING))
    assert (hat.of, hat.smallest_eps, hat.beyond_floats, hat.above_1) == (2, 0.5, 1, 1)
    assert hat.orders == Range(100, 340)  # 106 and 338, rounded outwards
    assert hat.ratios == {
        "published": Range(3, 20),
        "diffprivlib": Range(0.7, 4),
        "exact": Range(1.2, 1.5),
    }
    assert hat.projected["published"] == Range(3, 5)


def test_the_range_of_ratios_is_over_all_choices_of_the_constants():
    ratios = constants(results([], **EVERYTHING))
    assert (ratios.floors, ratios.low, ratios.high) == ([1e-8, 1e-30], 3.5, 40.0)


def test_the_scales_of_the_gaussian_are_those_at_eps_4():
    """The library's is the published one, and the exact one is needed."""
    scales = gaussian_scales(results([]))
    assert scales == GaussianScales(delta=1e-30, library=2.2, needed=2.8)
