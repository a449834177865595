"""Binomial probabilities against 50-digit arithmetic, at any depth."""

import mpmath as mp
import numpy as np
import pytest

from tightshuffle.numerics.binomial import log_binomial_pmf


def exact_log_pmf(successes, trials, probability):
    """Natural log of the probability of exactly ``successes`` in ``trials`` trials, in mpmath with 50 digits.

    ``probability`` is that of one success.
    """
    with mp.workdps(50):
        log_ways = (  # of the binomial coefficient
            mp.loggamma(trials + 1)
            - mp.loggamma(successes + 1)
            - mp.loggamma(trials - successes + 1)
        )
        return (
            log_ways
            + successes * mp.log(mp.mpf(probability))
            + (trials - successes) * mp.log1p(-mp.mpf(probability))
        )


@pytest.mark.parametrize("trials", [1, 5, 15, 16, 17, 1000, 10**6, 10**9])
def test_binomial_pmf(trials):
    """Natural logs of binomial probabilities are within 1e-10 of mpmath's, and 1e-15 of their size.

    The numbers of successes are the ends, the middle and some up to 9 standard deviations from the mean.
    """
    for probability in (0.5, 0.0147, 0.9, 1e-8):
        spread = (trials * probability * (1 - probability)) ** 0.5
        # z standard deviations from the mean.
        near = [int(trials * probability + z * spread) for z in (-6, -1, 0, 2, 9)]
        for successes in {min(max(x, 0), trials) for x in [0, 1, trials // 2, trials, *near]}:
            expected = exact_log_pmf(successes, trials, probability)
            error = float(log_binomial_pmf(successes, trials, probability) - expected)
            # 1e-15: the rounding of the float that the logarithm is.
            assert abs(error) < 1e-10 + 1e-15 * abs(float(expected))


def test_binomial_pmf_at_its_borders():
    assert log_binomial_pmf(-1, 5, 0.3) == log_binomial_pmf(6, 5, 0.3) == -np.inf
    assert log_binomial_pmf(0, 0, 0.3) == 0
    assert log_binomial_pmf(5, 5, 1.0) == 0
    assert log_binomial_pmf(4, 5, 1.0) == -np.inf
    assert np.exp(log_binomial_pmf(np.arange(31), 30, 0.2)).sum() == pytest.approx(1, abs=1e-13)
