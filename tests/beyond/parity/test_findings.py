"""The numbers on errors at equal privacy that texts state."""

import pytest

from scripts.beyond.parity.findings import (
    LargerRatios,
    MeasuredRatio,
    UsersEps,
    equal_privacy,
    papers_extremes,
    papers_settings,
    unequal_privacy,
)
from tests.report.world import EVERYTHING, parity_rows, real_verdicts, results

VERDICTS = real_verdicts()


def test_the_range_of_ratios_is_over_informative_settings():
    ratios = equal_privacy(
        results(VERDICTS, parity_ratio=parity_rows((0.1, 1, 6), datasets=("paris",)))
    )
    # two n and two deltas of each eps0; 0.1 tells nothing
    assert (ratios.settings, ratios.uninformative, ratios.of, ratios.nearly) == (12, 4, 8, 4)
    assert (ratios.low, ratios.high) == pytest.approx((1 + 1 / 30, 1.2))
    assert (ratios.paired.low, ratios.paired.high) == pytest.approx((0.8, 1 - 1 / 30))
    assert (ratios.repetitions, ratios.published) == (200, None)
    assert ratios.far_percent == pytest.approx(0)


def test_each_budget_has_its_informative_settings_and_the_papers_are_marked():
    ratios = equal_privacy(
        results(VERDICTS, parity_ratio=parity_rows((0.1, 1, 6), datasets=("paris",)))
    )
    assert ratios.eps0 == [0.1, 1, 6]
    assert [row.eps0 for row in ratios.rows] == ratios.eps0
    assert [row.informative for row in ratios.rows] == [0, 4, 4]
    assert [row.own for row in ratios.rows] == [False, False, True]


def test_settings_like_the_papers_are_those_that_it_ran():
    ratios = papers_settings(results(VERDICTS, **EVERYTHING))
    # two n and two deltas, of N(0, 2) at 4, of Paris at 4 and 6
    assert ratios.of == 12
    assert (ratios.low, ratios.high) == pytest.approx((1 + 4 / 30, 1.2))
    assert (ratios.paired.low, ratios.paired.high) == pytest.approx((0.8, 1 - 4 / 30))
    assert ratios.paired.better == 12
    assert ratios.above == LargerRatios(dataset=["synthetic"], eps0=[6], users=100_000)


def test_the_extremes_are_of_the_papers_settings_with_their_own_intervals():
    rows = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    for setting in rows:
        measured = (setting["bound"], setting["comparison"], setting["metric"])
        place = (setting["dataset"], setting["n"], setting["eps0"], setting["delta"])
        if measured == ("upper", "projected", "tv") and place == ("paris", 1000, 4, 1e-6):
            setting.update(ratio=0.5, low=0.4, high=0.6)

    extremes = papers_extremes(results(VERDICTS, parity_ratio=rows))
    assert extremes.tv.least == MeasuredRatio(
        title="Paris", ratio=0.5, low=0.4, high=0.6, n=1000, eps0=4, delta_rule="1e-06"
    )
    assert extremes.tv.most.ratio == pytest.approx(1.2)  # without N(0, 2) at eps0 = 6
    assert extremes.popular.most.ratio == pytest.approx(51.2)


def test_the_papers_own_comparison_is_at_unequal_privacy():
    privacy = unequal_privacy(results(VERDICTS, **EVERYTHING))
    assert privacy.gaussian == pytest.approx(3.04907, abs=1e-5)  # of the scale 2.1517
    assert privacy.shuffled == [UsersEps(n=1000, eps=0.25), UsersEps(n=100_000, eps=0.25)]
