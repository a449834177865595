"""The statistics behind the verdicts: against scipy, by hand, and their level by simulation."""

import re

import numpy as np
import pytest
from scipy import stats

from scripts.beyond.statements.verdict_rules import (
    FAILS,
    HOLDS,
    LEVEL,
    MOSTLY,
    UNSETTLED,
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


def test_p_values_of_a_mean_are_those_of_the_t_test():
    sample = np.random.default_rng(2).normal(0, 1, 10)
    below = stats.ttest_1samp(sample, 0.5, alternative="less").pvalue
    above = stats.ttest_1samp(sample, 0.5, alternative="greater").pvalue
    mean = estimated_mean(sample)
    assert mean.p_value_for_below(0.5) == pytest.approx(below, rel=1e-12)
    assert mean.p_value_for_above(0.5) == pytest.approx(above, rel=1e-12)


def test_the_p_value_of_a_difference_is_that_of_welchs_t_test():
    rng = np.random.default_rng(2)
    first = rng.normal(0, 1, 10)
    second = rng.normal(1, 3, 25)
    expected = stats.ttest_ind(first, second, equal_var=False, alternative="less").pvalue
    difference = estimated_mean(first) - estimated_mean(second)
    assert difference.p_value_for_below() == pytest.approx(expected, rel=1e-12)


def test_without_spread_the_mean_decides():
    """The p-value is 0 where the claim "above" or "below" is true, else 1."""
    mean = estimated_mean([0.25] * 10)
    assert (mean.p_value_for_above(0.2), mean.p_value_for_below(0.2)) == (0, 1)
    assert (mean.p_value_for_above(0.25), mean.p_value_for_below(0.25)) == (1, 1)


@pytest.mark.parametrize("sample", [[0.1], [0.1, np.nan], [[0.1, 0.2]]])
def test_a_test_needs_repetitions_and_a_ratio_positive_means(sample):
    with pytest.raises(ValueError, match="two or more finite repetitions"):
        estimated_mean(sample)
    with pytest.raises(ValueError, match="a ratio of errors needs positive means; got 0 and 1"):
        ln_ratio_of_means([0.0, 0.0], [1.0, 1.0])


def test_holm_by_hand():
    corrected = holm_corrected([0.2, 0.001, 0.03, 0.001, 0.9])
    assert corrected == pytest.approx([0.4, 0.005, 0.09, 0.005, 0.9])


def is_within_level(false_signs, level):
    """Whether some of `SIMULATIONS` have false signs, but not clearly more than this ``level`` allows."""
    four_standard_errors = 4 * np.sqrt(level * (1 - level) / SIMULATIONS)
    return 0 < false_signs / SIMULATIONS <= level + four_standard_errors


@pytest.mark.slow
def test_a_false_sign_among_twenty_means_has_the_level():
    """Whether the mean of 10 standard normal numbers is below 0. It is 0, so that any sign is false."""
    rng = np.random.default_rng(4)
    false_signs = 0
    for _ in range(SIMULATIONS):
        means = [estimated_mean(sample) for sample in rng.standard_normal((20, 10))]
        false_signs += np.any(signs_below(means))
    assert is_within_level(false_signs, LEVEL)


@pytest.mark.slow
def test_a_false_sign_inside_and_one_outside_have_half_of_the_level_each():
    """Whether the ratio of two means is within a factor of 2. The true ratio is 2, on the edge."""
    rng = np.random.default_rng(4)
    inside = outside = 0
    for _ in range(SIMULATIONS):
        first, second = rng.normal(1, 0.05, (2, 200))
        [sign] = signs_within([ln_ratio_of_means(2 * first, second)], 2.0)
        inside += sign > 0
        outside += sign < 0
    assert is_within_level(inside, LEVEL / 2)
    assert is_within_level(outside, LEVEL / 2)


def test_equivalence_is_two_sided():
    ratios = [Estimate(np.log(ratio), 1e-4, 199) for ratio in (1.9, 0.55, 2.1, 0.45, 2.0)]
    assert signs_within(ratios, 2.0).tolist() == [1, 1, -1, -1, 0]


@pytest.mark.parametrize(
    ("shown", "neither", "against", "verdict"),
    [
        (2, 0, 0, HOLDS), (8, 2, 0, UNSETTLED), (9, 1, 0, MOSTLY),
        (18, 1, 1, MOSTLY), (17, 2, 1, FAILS), (94, 0, 6, FAILS),
    ],
)  # fmt: skip
def test_mostly_holds_is_nine_in_ten_for_and_one_in_twenty_against(
    shown, neither, against, verdict
):
    signs = np.repeat([1, 0, -1], [shown, neither, against])
    assert Comparisons(signs).verdict == verdict


@pytest.mark.parametrize(
    ("signs", "statistic"),
    [([-1], "false; km 3"), ([1, 1], "true in 2 of 2 cases; km 3"),
     ([1, -1, 0, 0], "true in 1, false in 1, undecided in 2 of 4 cases; km 3")],
)  # fmt: skip
def test_the_statistic_is_the_counts_and_the_number(signs, statistic):
    assert Comparisons(np.array(signs), "km", [3.0, 3.0]).statistic == statistic


# As published, on the exact reading, and of both together.
COMBINED = """
holds        | holds        | holds
holds        | mostly holds | mostly holds
mostly holds | fails        | holds only as published
not settled  | holds        | holds only there
holds        | untestable   | untestable
untestable   | not settled  | not settled
untestable   | fails        | fails
not settled  | fails        | fails
untestable   | untestable   | untestable
"""


@pytest.mark.parametrize("line", COMBINED.strip().splitlines())
def test_combined_verdicts_follow_the_readme(line):
    published, exact, of_both = re.split(r" *\| *", line)
    assert combined_verdict(published, exact, only_exact="holds only there") == of_both


def test_the_weakest_verdict_is_the_least_favourable_one():
    assert weakest_verdict([HOLDS, UNSETTLED, MOSTLY]) == UNSETTLED
