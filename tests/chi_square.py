"""Whether samples follow a law."""

import numpy as np
from scipy import stats

SIGNIFICANCE = 1e-4  # of every statistical test of the experiments; seeds are fixed
LEAST_EXPECTED = 5.0  # the usual rule for the count of an outcome in a chi-square test
MOST_RARE = 25  # a Poisson count of mean 5 exceeds this with a probability of 3e-11


def consistent(observed, law):
    """Whether counts of outcomes fit a law: the p-value of a chi-square test is above `SIGNIFICANCE`.

    ``observed`` has the count of each outcome, ``law`` in the same shape the probability of each outcome.
    Outcomes with an expected count below `LEAST_EXPECTED` are tested as a single one, by the sum of their
    counts. If even this sum is expected to be below that, it is left out of the test. Then the observed sum
    must be at most `MOST_RARE` (asserted).
    """
    observed, expected = np.ravel(observed), np.ravel(law) * np.sum(observed)
    rare = expected < LEAST_EXPECTED
    assert np.count_nonzero(~rare) >= 2  # else the test would say nothing
    tested, expected_of_tested = observed[~rare], expected[~rare]

    rare_observed, rare_expected = observed[rare].sum(), expected[rare].sum()
    if rare_expected >= LEAST_EXPECTED:
        tested = np.append(tested, rare_observed)
        expected_of_tested = np.append(expected_of_tested, rare_expected)
    else:
        assert rare_observed <= MOST_RARE
        # The totals are made equal, as the test needs.
        expected_of_tested = expected_of_tested * tested.sum() / expected_of_tested.sum()
    return stats.chisquare(tested, expected_of_tested).pvalue > SIGNIFICANCE
