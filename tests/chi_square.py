"""Whether samples follow a law."""

import numpy as np
from scipy import stats

SIGNIFICANCE = 1e-4  # of every statistical test of the experiments; seeds are fixed


# A Poisson count of mean 5 exceeds this with a probability below 1e-10.
MOST_RARE = 25


def consistent(observed, law, least=5.0):
    """Whether counts of outcomes are those of a law: a chi-square test accepts it at `SIGNIFICANCE`.

    ``observed`` has the count of each outcome, ``law`` in the same shape the probability of each outcome.
    Outcomes that the law expects fewer than ``least`` times are taken together (5: the chi-square
    distribution's usual rule). Where they are too few even together, only their number is bounded.
    """
    observed, expected = np.ravel(observed), np.ravel(law) * np.sum(observed)
    rare = expected < least
    assert np.count_nonzero(~rare) >= 2  # else the test would say nothing
    seen, wanted = observed[~rare], expected[~rare]

    rare_seen, rare_wanted = observed[rare].sum(), expected[rare].sum()
    if rare_wanted >= least:
        seen, wanted = np.append(seen, rare_seen), np.append(wanted, rare_wanted)
    else:
        assert rare_seen <= MOST_RARE
        wanted = wanted * seen.sum() / wanted.sum()  # equal totals, as the test needs
    return stats.chisquare(seen, wanted, sum_check=False).pvalue > SIGNIFICANCE
