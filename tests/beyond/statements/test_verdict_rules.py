"""The statistics behind the verdicts: against scipy, by hand, and their level by simulation."""

import numpy as np
import pytest
from scipy import stats

from scripts.beyond.statements.verdict_rules import (
    FAILS,
    HOLDS,
    LEVEL,
    MOSTLY,
    UNSETTLED,
    UNTESTABLE,
    Comparisons,
    Estimate,
    combined_verdict,
    estimated_mean,
    holm_corrected,
    ln_ratio_of_means,
    signs_below,
    signs_within,
    weakest_verdict,
)

SIMULATIONS = 1000


def test_means_and_differences_are_the_t_tests_of_scipy():
    """`estimated_mean` has the one-sided p-values of the t-test, for a mean below or above a limit.

    Expected is scipy's t-test for one mean, and Welch's for the difference of two, with the default limit, 0.
    p-values for below and above sum to 1. A small p-value speaks for the claim "the mean is below".
    """
    rng = np.random.default_rng(2)
    first = rng.normal(0, 1, 10)
    second = rng.normal(1, 3, 25)
    mean = estimated_mean(first)
    below = stats.ttest_1samp(first, 0.5, alternative="less").pvalue
    assert mean.p_value_for_below(0.5) == pytest.approx(below, rel=1e-12)
    assert mean.p_value_for_above(0.5) == pytest.approx(1 - below, rel=1e-12)

    welch = stats.ttest_ind(first, second, equal_var=False, alternative="less").pvalue
    difference = mean - estimated_mean(second)
    assert difference.p_value_for_below() == pytest.approx(welch, rel=1e-12)

    # A sample without spread decides without chance: the p-value is 0 if the claim is true, else 1.
    constant = estimated_mean(np.full(10, 0.25))
    assert constant.p_value_for_above(0.2) == 0
    assert (
        constant.p_value_for_below(0.2)
        == constant.p_value_for_above(0.25)
        == constant.p_value_for_below(0.25)
        == 1
    )


@pytest.mark.parametrize("sample", [[0.1], [0.1, np.nan], [[0.1, 0.2]]])
def test_a_test_needs_repetitions_and_a_ratio_positive_means(sample):
    with pytest.raises(ValueError, match="two or more finite repetitions"):
        estimated_mean(sample)
    with pytest.raises(ValueError, match="a ratio of errors needs positive means; got 0 and 1"):
        ln_ratio_of_means([0.0, 0.0], [1.0, 1.0])


def test_holm_by_hand():
    assert holm_corrected([0.2, 0.001, 0.03, 0.001, 0.9]) == pytest.approx(
        [0.4, 0.005, 0.09, 0.005, 0.9]
    )


@pytest.mark.slow
def test_both_tests_have_their_level_and_use_it():
    """Signs are false in some of 1000 simulations, but in no larger share of them than their level, `LEVEL`.

    1. `signs_below` asks for twenty samples of 10 standard normal numbers whether the mean is below 0. The
       true mean is 0, so that any sign but 0 is wrong. The level is that of all twenty together.
    2. `signs_within` asks whether a ratio of means is within a factor of 2. The true ratio is 2, on the edge.
       The signs 1 (inside) and -1 (outside) have half of the level each.

    Four binomial standard deviations above a level are allowed.
    """
    rng = np.random.default_rng(4)
    wrong = inside = outside = 0
    for _ in range(SIMULATIONS):
        wrong += np.any(
            signs_below([estimated_mean(sample) for sample in rng.standard_normal((20, 10))])
        )
        first, second = rng.normal(1, 0.05, (2, 200))
        [sign] = signs_within([ln_ratio_of_means(2 * first, second)], 2.0)
        inside += sign > 0
        outside += sign < 0
    for found, level in ((wrong, LEVEL), (inside, LEVEL / 2), (outside, LEVEL / 2)):
        assert 0 < found / SIMULATIONS <= level + 4 * np.sqrt(level * (1 - level) / SIMULATIONS)


def test_equivalence_is_two_sided():
    ratios = [Estimate(np.log(ratio), 1e-4, 199) for ratio in (1.9, 0.55, 2.1, 0.45, 2.0)]
    assert signs_within(ratios, 2.0).tolist() == [1, 1, -1, -1, 0]


@pytest.mark.parametrize(
    ("shown", "neither", "against", "verdict"),
    [
        (2, 0, 0, HOLDS), (1, 1, 0, UNSETTLED), (8, 2, 0, UNSETTLED), (9, 1, 0, MOSTLY),
        (18, 1, 1, MOSTLY), (17, 2, 1, FAILS), (94, 0, 6, FAILS), (4, 0, 1, FAILS), (1, 1, 1, FAILS),
    ],
)  # fmt: skip
def test_mostly_holds_is_nine_in_ten_for_and_one_in_twenty_against(
    shown, neither, against, verdict
):
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
        (HOLDS, HOLDS, "holds"), (HOLDS, MOSTLY, "mostly holds"), (MOSTLY, FAILS, "holds only as published"),
        (UNSETTLED, HOLDS, "holds only exactly"), (HOLDS, UNTESTABLE, "untestable"),
        (UNTESTABLE, UNSETTLED, "not settled"), (UNTESTABLE, FAILS, "fails"), (UNSETTLED, FAILS, "fails"),
        (UNTESTABLE, UNTESTABLE, "untestable"),
    ],
)  # fmt: skip
def test_combined_verdicts_follow_the_readme(published, exact, verdict):
    assert combined_verdict(published, exact) == verdict
    assert weakest_verdict([HOLDS, UNSETTLED, MOSTLY]) == UNSETTLED
