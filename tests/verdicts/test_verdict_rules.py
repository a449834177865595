"""The statistics behind the verdicts: against scipy, by hand, and their level by simulation."""

import numpy as np
import pytest
from scipy import stats

from scripts.verdicts.verdict_rules import (
    FAILS,
    HOLDS,
    LEVEL,
    MOSTLY,
    UNSETTLED,
    UNTESTABLE,
    Comparisons,
    Estimate,
    combine,
    corrected,
    log_ratio,
    mean,
    signs_below,
    signs_within,
    weakest,
)

SIMULATIONS = 1000


def test_means_and_differences_are_the_t_tests_of_scipy():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0, 1, 10), rng.normal(1, 3, 25)
    below = stats.ttest_1samp(first, 0.5, alternative="less").pvalue
    assert mean(first).below(0.5) == pytest.approx(below, rel=1e-12)
    assert mean(first).above(0.5) == pytest.approx(1 - below, rel=1e-12)
    welch = stats.ttest_ind(first, second, equal_var=False, alternative="less").pvalue
    assert (mean(first) - mean(second)).below() == pytest.approx(welch, rel=1e-12)


def test_constant_samples_are_decided_without_chance():
    same = mean(np.full(10, 0.25))
    assert (same.above(0.2), same.below(0.2), same.above(0.25), same.below(0.25)) == (0.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("sample", [[0.1], [0.1, np.nan], [[0.1, 0.2]]])
def test_a_test_needs_repetitions_and_a_ratio_positive_means(sample):
    with pytest.raises(ValueError, match="two or more finite repetitions"):
        mean(sample)
    with pytest.raises(ValueError, match="a ratio of errors needs positive means; got 0 and 1"):
        log_ratio([0.0, 0.0], [1.0, 1.0])


@pytest.mark.slow
def test_log_ratio_covers_the_true_ratio():
    """99 % intervals of the ratio of two correlated means: coverage within 4 binomial deviations of 99 %."""
    rng, hits = np.random.default_rng(3), 0
    for _ in range(SIMULATIONS):
        common = rng.gamma(20, 1, 200)
        ratio = log_ratio(2 * common + rng.gamma(20, 1, 200), common)  # means 60 and 20
        reach = stats.t.ppf(0.995, ratio.freedom) * ratio.error
        hits += abs(ratio.value - np.log(3)) <= reach
    assert abs(hits / SIMULATIONS - 0.99) <= 4 * np.sqrt(0.99 * 0.01 / SIMULATIONS)


def test_holm_by_hand():
    assert corrected([0.2, 0.001, 0.03, 0.001, 0.9]) == pytest.approx([0.4, 0.005, 0.09, 0.005, 0.9])


@pytest.mark.slow
def test_family_wise_level_with_ten_repetitions():
    """Twenty settings without any difference: some sign in at most LEVEL of the runs (4 deviations)."""
    rng, wrong = np.random.default_rng(4), 0
    for _ in range(SIMULATIONS):
        wrong += np.any(signs_below([mean(sample) for sample in rng.standard_normal((20, 10))]))
    assert wrong / SIMULATIONS <= LEVEL + 4 * np.sqrt(LEVEL * (1 - LEVEL) / SIMULATIONS)
    assert wrong > 0  # the level is used, not given away


@pytest.mark.slow
def test_equivalence_keeps_its_level_at_the_edge():
    """A true ratio on the edge of the factor is called inside or outside in at most LEVEL of the runs."""
    rng, inside, outside = np.random.default_rng(6), 0, 0
    for _ in range(SIMULATIONS):
        noise = rng.normal(1, 0.05, (2, 200))
        sign = signs_within([log_ratio(2 * noise[0], noise[1])], 2.0)[0]
        inside, outside = inside + (sign > 0), outside + (sign < 0)
    limit = LEVEL / 2 + 4 * np.sqrt(LEVEL / 2 / SIMULATIONS)
    assert inside / SIMULATIONS <= limit
    assert outside / SIMULATIONS <= limit


def test_equivalence_is_two_sided():
    ratios = [Estimate(np.log(ratio), 1e-4, 199) for ratio in (1.9, 0.55, 2.1, 0.45, 2.0)]
    assert signs_within(ratios, 2.0).tolist() == [1, 1, -1, -1, 0]


@pytest.mark.parametrize(
    ("shown", "neither", "against", "verdict"),
    [
        (2, 0, 0, HOLDS),
        (1, 1, 0, UNSETTLED),
        (1, 1, 1, FAILS),  # one sign against is enough
        (78, 0, 2, MOSTLY),  # 97.5 % for, 2.5 % against
        (18, 1, 1, MOSTLY),  # just 90 % and 5 %
        (17, 2, 1, FAILS),
        (9, 1, 0, MOSTLY),
        (8, 2, 0, UNSETTLED),
        (94, 0, 6, FAILS),
        (4, 0, 1, FAILS),  # of fewer than twenty none may be against
    ],
)
def test_mostly_holds_is_nine_in_ten_for_and_one_in_twenty_against(shown, neither, against, verdict):
    assert Comparisons(np.array([1] * shown + [0] * neither + [-1] * against)).verdict == verdict


@pytest.mark.parametrize(
    ("signs", "statistic"),
    [([-1], "false; km 3"), ([1, 1], "true in 2 of 2 cases; km 3"),
     ([1, -1, 0, 0], "true in 1, false in 1, undecided in 2 of 4 cases; km 3")],
)  # fmt: skip
def test_the_statistic_is_the_counts_and_the_number(signs, statistic):
    assert Comparisons(np.array(signs), "km", [3.0, 3.0]).statistic == statistic


@pytest.mark.parametrize(
    ("published", "exact", "verdict"),
    [
        (HOLDS, HOLDS, "holds"),
        (HOLDS, MOSTLY, "mostly holds"),
        (MOSTLY, FAILS, "holds only as published"),
        (UNSETTLED, HOLDS, "holds only exactly"),
        (HOLDS, UNTESTABLE, "untestable"),
        (UNTESTABLE, UNSETTLED, "not settled"),
        (UNTESTABLE, FAILS, "fails"),
        (UNSETTLED, FAILS, "fails"),
        (UNTESTABLE, UNTESTABLE, "untestable"),
    ],
)
def test_combined_verdicts_follow_the_readme(published, exact, verdict):
    assert combine(published, exact) == verdict
    assert weakest([HOLDS, UNSETTLED, MOSTLY]) == UNSETTLED
