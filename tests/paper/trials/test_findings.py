"""The numbers on the paper's experiments that texts state."""

import pytest

from scripts.paper.trials.findings import GaussianScales, delta_hat, gaussian_scales, rerun
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
