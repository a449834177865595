"""The mean absolute deviation of a sum of binomial and Poisson numbers, against sums over all numbers."""

import functools
import math

import numpy as np
import pytest
from scipy import stats

from tightshuffle.numerics.binomial_sum import NORMAL_VARIANCE, mean_absolute_deviation


def deviation_by_definition(trials, probabilities, poisson_mean):
    """E|S - E S|, where the distribution of S is the convolution of those of its parts."""
    most = int(poisson_mean + 40 * math.sqrt(poisson_mean) + 40)
    laws = [stats.poisson.pmf(np.arange(most + 1), poisson_mean)]
    for number, probability in zip(trials, probabilities, strict=True):
        laws.append(stats.binom.pmf(np.arange(number + 1), number, probability))
    law = functools.reduce(np.convolve, laws)
    mean = trials @ probabilities + poisson_mean
    return law @ abs(np.arange(law.size) - mean)


def test_it_is_the_sum_over_all_numbers():
    """Of 300 random sums of one to four binomial numbers, up to 1000 trials each, and a Poisson number."""
    rng = np.random.default_rng(20261130)
    for _ in range(300):
        parts = rng.integers(1, 5)
        trials = (10 ** rng.uniform(-0.3, 3, parts)).astype(int)
        rare = 10 ** rng.uniform(-6, 0, parts)
        probabilities = np.where(rng.random(parts) < 0.5, rare, 1 - rare)
        poisson_mean = rng.choice([0.0, 10 ** rng.uniform(-5, 2)])
        found = mean_absolute_deviation(trials, probabilities, 1 - probabilities, poisson_mean)
        expected = deviation_by_definition(trials, probabilities, poisson_mean)
        assert found == pytest.approx([expected], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("trials", [1, 7, 1000, 10**6, 10**12])
@pytest.mark.parametrize("mean", [1e-9, 0.3, 1.0, 5.999, 6.0, 40.5, 9000.0])
def test_of_one_number_it_is_de_moivres_formula(trials, mean):
    """2 v (1 - p) P(B = v) for a binomial number B, where v is the least whole number above its mean."""
    probability = mean / trials
    if probability >= 1:
        return
    v = math.floor(mean * (1 + 1e-15)) + 1
    expected = 2 * v * (1 - probability) * stats.binom.pmf(v, trials, probability)
    found = mean_absolute_deviation(trials, probability, 1 - probability)
    assert found == pytest.approx([expected], rel=1e-9)
    # As many failures deviate by as much, also where 1 - p is a float's last digit.
    assert mean_absolute_deviation(trials, 1 - probability, probability) == pytest.approx(found)


@pytest.mark.parametrize("probability", [1e-6, 0.1, 0.5])
def test_of_large_variance_it_is_that_of_a_normal_number(probability):
    """Just below the variance from which on it is taken as normal, the two differ by 1e-6 at most."""
    variance_of_one = probability * (1 - probability)
    trials = math.floor(NORMAL_VARIANCE / variance_of_one) - np.arange(1, 6)[:, None]
    assert np.all(trials * variance_of_one < NORMAL_VARIANCE)
    found = mean_absolute_deviation(trials, probability, 1 - probability)
    normal = np.sqrt(2 / np.pi * trials[:, 0] * variance_of_one)
    assert np.all(found != normal)
    assert found == pytest.approx(normal, rel=1e-6)


def test_rows_are_sums_and_nothing_random_has_no_deviation():
    trials = np.array([[10, 90], [10, 90], [0, 100], [100, 0]])
    probabilities = np.array([0.5, 0.0])
    found = mean_absolute_deviation(trials, probabilities, 1 - probabilities, [0.0, 2.0, 0.0, 0.0])
    expected = [
        deviation_by_definition(np.array([10]), np.array([0.5]), 0.0),
        deviation_by_definition(np.array([10]), np.array([0.5]), 2.0),
        0.0,
        deviation_by_definition(np.array([100]), np.array([0.5]), 0.0),
    ]
    assert found == pytest.approx(expected, rel=1e-9)
