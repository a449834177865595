"""Whether samples follow a law."""

import numpy as np
from scipy import stats

SIGNIFICANCE = 1e-4  # of every statistical test of the experiments; seeds are fixed


def consistent(observed, law, least=5.0):
    """Whether counts follow a law: chi-square, outcomes that are rarer than ``least`` taken together."""
    observed, expected = np.ravel(observed), np.ravel(law) * np.sum(observed)
    rare = expected < least
    assert np.count_nonzero(~rare) >= 2  # else the test would say nothing
    seen, wanted = observed[~rare], expected[~rare]
    pooled = expected[rare].sum()
    if pooled >= least:
        seen, wanted = np.append(seen, observed[rare].sum()), np.append(wanted, pooled)
    else:
        assert observed[rare].sum() <= 25  # beyond a Poisson law of mean 5 by 1e-10
        wanted = wanted * seen.sum() / wanted.sum()
    return stats.chisquare(seen, wanted, sum_check=False).pvalue > SIGNIFICANCE
