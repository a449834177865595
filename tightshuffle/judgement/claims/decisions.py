"""From numbers to a verdict: signs of single comparisons, and what they say together.

Every comparison ends in a sign: +1 it shows what is claimed, -1 it shows the contrary, 0 it shows neither.
Comparisons of samples are two-sided t-tests, corrected by Holm so that a verdict that rests on any false sign
has at most the probability `LEVEL`. (Ranks cannot do this here: with the paper's 10 repetitions the smallest
two-sided p-value of Wilcoxon's test is 1/512, above LEVEL over the number of settings. The distances are
sums over many cells, hence nearly normal, and the errors of single cells come with 1,000 repetitions.)
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.01
HOLDS, FAILS, UNSETTLED, UNTESTABLE = "holds", "fails", "not settled", "untestable"
HOLDS_AS_PUBLISHED = "holds only as published"


@dataclass(frozen=True)
class Outcome:
    """What one reading says about one statement: verdict, the numbers in short, and one sentence."""

    verdict: str
    statistic: str
    why: str


@dataclass(frozen=True)
class Estimate:
    """An estimated number, its standard error and degrees of freedom (of Student's t)."""

    value: float
    error: float
    freedom: float

    def __sub__(self, other):
        """Difference from an independent estimate, degrees of freedom after Welch and Satterthwaite."""
        first, second = self.error**2, other.error**2
        total = first + second
        if total == 0:
            return Estimate(self.value - other.value, 0.0, min(self.freedom, other.freedom))
        freedom = total**2 / (first**2 / self.freedom + second**2 / other.freedom)
        return Estimate(self.value - other.value, float(np.sqrt(total)), float(freedom))

    def __abs__(self):
        return Estimate(abs(self.value), self.error, self.freedom)

    def above(self, threshold=0.0):
        """One-sided p-value against "the true number is at most ``threshold``"."""
        excess = self.value - threshold
        if self.error == 0:
            return 0.0 if excess > 0 else 1.0
        return float(stats.t.sf(excess / self.error, self.freedom))

    def below(self, threshold=0.0):
        """One-sided p-value against "the true number is at least ``threshold``"."""
        return Estimate(-self.value, self.error, self.freedom).above(-threshold)


def mean(sample):
    """The mean of independent repetitions, shape (repetitions >= 2,), as an `Estimate`."""
    sample = np.asarray(sample, dtype=float)
    if sample.ndim != 1 or sample.size < 2 or not np.all(np.isfinite(sample)):
        raise ValueError("a test needs two or more finite repetitions")
    return Estimate(
        float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(sample.size)), float(sample.size - 1)
    )


def log_ratio(first, second):
    """log of the ratio of the means of two paired samples of positive mean (delta method)."""
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    means = first.mean(), second.mean()
    if min(means) <= 0:
        raise ValueError(f"a ratio of errors needs positive means; got {means[0]:g} and {means[1]:g}")
    spread = mean(first / means[0] - second / means[1])
    return Estimate(float(np.log(means[0] / means[1])), spread.error, spread.freedom)


def holm(p_values, level=LEVEL):
    """Which hypotheses Holm's procedure rejects at family-wise ``level``: booleans, shape (tests,)."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    passed = p_values[order] <= level / (p_values.size - np.arange(p_values.size))
    rejected = np.zeros(p_values.size, dtype=bool)
    rejected[order] = np.logical_and.accumulate(passed)
    return rejected


def signs(for_it, against_it, level=LEVEL):
    """Signs from one-sided p-values for the claim and for its contrary, half the level each."""
    return holm(for_it, level / 2).astype(int) - holm(against_it, level / 2).astype(int)


def signs_below(estimates, threshold=0.0, level=LEVEL):
    """+1 where the true number is below ``threshold``, -1 where above."""
    return signs(
        [estimate.below(threshold) for estimate in estimates],
        [estimate.above(threshold) for estimate in estimates],
        level,
    )


def signs_within(log_ratios, factor, level=LEVEL):
    """+1 where the true ratio lies within ``factor`` both ways (two one-sided tests), -1 where outside."""
    edge = np.log(factor)
    inside = [max(ratio.below(edge), ratio.above(-edge)) for ratio in log_ratios]
    outside = [min(1.0, 2 * min(ratio.above(edge), ratio.below(-edge))) for ratio in log_ratios]
    return signs(inside, outside, level)


def falling(low, high, *, rising=False):
    """Signs of the steps of numbers known to lie in [low, high], shape (steps + 1,), -inf for an exact 0.

    +1: the next number is smaller whatever both are; -1: larger; 0: the intervals overlap. Two zeros in a
    row are no step and left out.
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    steps = (high[1:] < low[:-1]).astype(int) - (low[1:] > high[:-1]).astype(int)
    zeros = np.isneginf(high)
    steps = steps[~(zeros[1:] & zeros[:-1])]
    return -steps if rising else steps


def verdict_of(found):
    """``holds`` if every sign is +1, ``fails`` if one is -1, else ``not settled``."""
    found = np.asarray(found)
    if found.size == 0:
        raise ValueError("a verdict needs at least one comparison")
    if np.any(found < 0):
        return FAILS
    return HOLDS if np.all(found > 0) else UNSETTLED


def tally(found):
    """How many comparisons are for and against, in words."""
    found = np.asarray(found)
    return f"{np.sum(found > 0)} of {found.size} for, {np.sum(found < 0)} against"


def span(values):
    """The range of numbers as text: "0.5 to 2", or one number if they are the same to three digits."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def change(before, after):
    """How ranges of numbers change as text: "from 0.5 .. 2 to 1 .. 3"."""
    return "from {} to {}".format(*(span(values).replace(" to ", " .. ") for values in (before, after)))


def combine(published, exact):
    """The verdict on a statement from the verdicts of its two readings; the rule stands in the README."""
    if exact == HOLDS:
        return HOLDS
    if published == HOLDS and exact != UNTESTABLE:
        return HOLDS_AS_PUBLISHED
    return FAILS if FAILS in (published, exact) else UNTESTABLE
