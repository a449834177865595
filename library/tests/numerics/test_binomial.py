"""Binomial probabilities against 60-digit arithmetic, at any depth."""

import math

import numpy as np
import pytest

from tests.numerics.exact import exact_log_pmf
from tightshuffle.numerics.binomial import log_binomial_pmf


@pytest.mark.parametrize("trials", [1, 5, 15, 16, 17, 1000, 10**6, 10**9])
@pytest.mark.parametrize("probability", [0.5, 0.0147, 0.9, 1e-8])
def test_log_of_the_binomial_pmf_is_that_of_60_digits(trials, probability):
    """For the ends, the middle, and some numbers of successes up to 9 standard deviations from the mean."""
    mean = trials * probability
    deviation = math.sqrt(mean * (1 - probability))
    near_mean = [int(mean + z * deviation) for z in (-6, -1, 0, 2, 9)]
    for successes in np.clip([0, 1, trials // 2, trials, *near_mean], 0, trials).tolist():
        expected = float(exact_log_pmf(successes, trials, probability))
        found = log_binomial_pmf(successes, trials, probability)
        # 1e-15: the rounding of the float that the logarithm is.
        assert abs(found - expected) < 1e-10 + 1e-15 * abs(expected)


@pytest.mark.parametrize(
    ("successes", "trials", "probability", "log_pmf"),
    [
        (-1, 5, 0.3, -np.inf),
        (6, 5, 0.3, -np.inf),
        (0, 0, 0.3, 0),
        (5, 5, 1.0, 0),
        (4, 5, 1.0, -np.inf),
    ],
)
def test_log_of_the_binomial_pmf_at_its_borders(successes, trials, probability, log_pmf):
    assert log_binomial_pmf(successes, trials, probability) == log_pmf


def test_binomial_pmf_sums_to_1():
    assert np.exp(log_binomial_pmf(np.arange(31), 30, 0.2)).sum() == pytest.approx(1, abs=1e-13)
