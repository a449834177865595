"""The numbers on errors at equal privacy that texts state."""

import pandas as pd
import pytest

from scripts.beyond.parity.findings import (
    LargerRatios,
    MeasuredRatio,
    UsersEps,
    _simultaneous_range,
    equal_privacy,
    papers_extremes,
    papers_settings,
    unequal_privacy,
)
from scripts.shared.findings import Range
from tests.report.world import EVERYTHING, parity_rows, real_verdicts, results

# Judged printed values, which these findings need beside the ratios of `parity_rows`.
VERDICTS = real_verdicts()


@pytest.fixture
def ratios():
    """The findings on `parity_rows` at eps0 = 0.1, 1 and 6, each for two n and two deltas.

    At eps0 = 0.1 no setting is informative.
    """
    rows = parity_rows((0.1, 1, 6), datasets=("paris",))
    return equal_privacy(results(VERDICTS, parity_ratio=rows))


def test_the_range_of_ratios_is_over_informative_settings(ratios):
    assert (ratios.settings, ratios.uninformative, ratios.of) == (3 * 4, 4, 2 * 4)
    assert (ratios.low, ratios.high) == pytest.approx((1 + 1 / 30, 1 + 6 / 30))
    assert (ratios.paired.low, ratios.paired.high) == pytest.approx((1 - 6 / 30, 1 - 1 / 30))
    assert ratios.repetitions == 200
    assert ratios.far_percent == pytest.approx(0)  # every closed form is its ratio


def test_each_budget_has_its_informative_settings_and_the_papers_are_marked(ratios):
    rows = [(row.eps0, row.informative, row.own) for row in ratios.rows]
    assert rows == [(0.1, 0, False), (1, 4, False), (6, 4, True)]


def test_settings_like_the_papers_are_those_that_it_ran():
    """For two n and two deltas each: N(0, 2) at eps0 = 4, Paris at 4 and 6; not N(0, 2) at 6.

    The ratio is larger only where the paper ran nothing.
    """
    ratios = papers_settings(results(VERDICTS, **EVERYTHING))
    assert ratios.of == 3 * 4
    assert (ratios.low, ratios.high) == pytest.approx((1 + 4 / 30, 1 + 6 / 30))
    assert (ratios.paired.low, ratios.paired.high) == pytest.approx((1 - 6 / 30, 1 - 4 / 30))
    assert ratios.paired.better == 3 * 4
    assert ratios.above == LargerRatios(dataset=["synthetic"], eps0=[6], users=100_000)


def test_the_least_ratio_has_its_own_interval_and_setting():
    """`parity_rows` has ratios above 1. That of one setting is set to 0.5, with the interval [0.4, 0.6]."""
    rows = pd.DataFrame(parity_rows(datasets=("paris", "san_francisco", "synthetic")))
    is_projected = rows.eval("bound == 'upper' and comparison == 'projected' and metric == 'tv'")
    is_setting = rows.eval("dataset == 'paris' and n == 1000 and eps0 == 4 and delta == 1e-6")
    rows.loc[is_projected & is_setting, ["ratio", "low", "high"]] = [0.5, 0.4, 0.6]
    least = papers_extremes(results(VERDICTS, parity_ratio=rows)).tv.least
    assert least == MeasuredRatio(
        title="Paris", ratio=0.5, low=0.4, high=0.6, n=1000, eps0=4, delta_rule="1e-06"
    )


def test_the_largest_ratio_is_of_a_setting_that_the_paper_ran():
    """Ratios are 1 + eps0 / 30, of popular values larger by 50, and larger by 1 for "synthetic" at eps0 = 6.

    The paper ran the cities up to eps0 = 6, but not "synthetic" there.
    """
    rows = parity_rows(datasets=("paris", "san_francisco", "synthetic"))
    extremes = papers_extremes(results(VERDICTS, parity_ratio=rows))
    assert extremes.tv.most.ratio == pytest.approx(1 + 6 / 30)
    assert extremes.popular.most.ratio == pytest.approx(51 + 6 / 30)


def test_the_papers_own_comparison_is_at_unequal_privacy():
    """At each of two deltas, and at the smaller one both mechanisms are said to have eps = 4."""
    privacy = unequal_privacy(results(VERDICTS, **EVERYTHING))
    assert (privacy.delta, privacy.gaussian) == (1e-6, 3.0)
    assert privacy.shuffled == [UsersEps(n=1000, eps=1.4), UsersEps(n=100_000, eps=0.1)]
    floor = privacy.at_floor
    assert (floor.delta, floor.said, floor.gaussian) == (1e-17, 4, 7.6)
    assert floor.shuffled == [UsersEps(n=1000, eps=2.9), UsersEps(n=100_000, eps=0.3)]


def test_the_simultaneous_range_is_that_of_wider_intervals_rounded_outwards():
    """Two intervals of 95 % each become two of 97.5 %: 2.2414 instead of 1.96 standard errors."""
    rows = pd.DataFrame({"ratio": [1.2, 1.4], "low": [1.1, 1.38], "high": [1.3, 1.45]})
    # 1.2 - 0.1 * 1.1436 = 1.0856 and 1.4 + 0.05 * 1.1436 = 1.4572
    assert _simultaneous_range(rows) == Range(1.0, 1.5)
    narrow = rows.assign(low=rows["ratio"] - 0.001, high=rows["ratio"] + 0.001)
    assert _simultaneous_range(narrow) == Range(1.1, 1.5)
