"""The numbers on the paper's experiments that texts state."""

import pytest

from scripts.paper.trials.findings import GaussianScales, delta_hat, gaussian_scales, rerun
from tests.report.world import EVERYTHING, results


def test_what_the_form_of_delta_hat_does_to_the_errors():
    """Each ratio is a mean of the Gaussian over 0.04, the mean of shuffle+INV."""
    hat = delta_hat(results([], **EVERYTHING))
    assert (hat.of, hat.beyond_floats) == (2, 1)
    assert (hat.orders.low, hat.orders.high) == (106.0, 338.0)
    printed, exact = hat.ratios["published"], hat.ratios["exact"]
    assert (printed.low, printed.high) == pytest.approx((10.0, 20.0))
    assert (exact.low, exact.high) == pytest.approx((1.25, 1.5))


@pytest.fixture
def of_rerun():
    return rerun(results([], **EVERYTHING))


def test_the_rerun_has_the_range_of_all_intervals_over_every_choice(of_rerun):
    assert (of_rerun.low, of_rerun.high) == (0.8, 92.0)
    assert of_rerun.points == 3


def test_the_rerun_at_the_largest_n_has_boxplots_only(of_rerun):
    assert (of_rerun.largest_n.low, of_rerun.largest_n.high) == (27.0, 41.0)


def test_the_rerun_names_the_points_of_its_ends(of_rerun):
    """The smallest ratio is at our two constants already."""
    assert of_rerun.least == of_rerun.least_by_ours
    assert (of_rerun.least.title, of_rerun.least.n, of_rerun.least.ratio) == ("N(0, 2)", 1000, 0.9)
    assert (of_rerun.most.title, of_rerun.most.n, of_rerun.most.ratio) == ("Paris", 11190, 90.0)


def test_the_rerun_has_our_ratios_where_the_paper_prints_errors(of_rerun):
    assert [(row.n, row.ratio) for row in of_rerun.synthetic] == [(1000, 0.9), (100_000, 28.0)]


def test_the_rerun_says_how_precise_it_is(of_rerun):
    assert of_rerun.repetitions == 1000
    assert of_rerun.standard_error_percent == pytest.approx(1)  # 0.001 of 0.1
    assert of_rerun.confidence_percent == pytest.approx(95)


def test_the_scales_of_the_gaussian_are_those_at_eps_4():
    """The library's is the published one, and the exact one is needed."""
    expected = GaussianScales(library=2.2, needed=2.8, log10_reached=-17.8)
    assert gaussian_scales(results([])) == expected
