"""Binomial probabilities and expected excesses against 50-digit arithmetic, at any depth."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightshuffle.numerics.binomial import log_binomial_excess, log_binomial_pmf


def log_pmf(successes, trials, probability):
    with mp.workdps(50):
        ways = mp.loggamma(trials + 1) - mp.loggamma(successes + 1) - mp.loggamma(trials - successes + 1)
        return (
            ways
            + successes * mp.log(mp.mpf(probability))
            + (trials - successes) * mp.log1p(-mp.mpf(probability))
        )


@pytest.mark.parametrize("trials", [1, 5, 15, 16, 17, 1000, 10**6, 10**9])
def test_binomial_pmf(trials):
    for probability in (0.5, 0.0147, 0.9, 1e-8):
        spread = (trials * probability * (1 - probability)) ** 0.5
        near = [int(trials * probability + z * spread) for z in (-6, -1, 0, 2, 9)]
        for successes in {min(max(x, 0), trials) for x in [0, 1, trials // 2, trials, *near]}:
            expected = log_pmf(successes, trials, probability)
            error = float(log_binomial_pmf(successes, trials, probability) - expected)
            assert abs(error) < 1e-10 + 1e-15 * abs(float(expected))


def test_binomial_pmf_at_its_borders():
    assert log_binomial_pmf(-1, 5, 0.3) == log_binomial_pmf(6, 5, 0.3) == -np.inf
    assert log_binomial_pmf(0, 0, 0.3) == 0
    assert log_binomial_pmf(5, 5, 1.0) == 0
    assert log_binomial_pmf(4, 5, 1.0) == -np.inf
    assert np.exp(log_binomial_pmf(np.arange(31), 30, 0.2)).sum() == pytest.approx(1, abs=1e-13)


def log_excess(trials, threshold):
    """log of sum_{i >= c} (i - c) pmf(i), term by term in 50 digits."""
    with mp.workdps(50):
        i = max(0, int(mp.ceil(threshold)))
        weight = mp.exp(log_pmf(i, trials, mp.mpf(1) / 2))
        total, first = mp.mpf(0), weight
        while i <= trials and weight > first * mp.mpf(10) ** -45:
            total += (i - mp.mpf(threshold)) * weight
            weight *= mp.mpf(trials - i) / (i + 1)
            i += 1
        return mp.log(total)


@pytest.mark.parametrize("trials", [1, 2, 5, 30, 200, 4000, pytest.param(10**6, marks=pytest.mark.slow)])
def test_expected_excess(trials):
    for deviations, fraction in itertools.product([0, 0.3, 2, 6, 12, 36], [0.0, 0.35, 0.999]):
        threshold = trials // 2 + int(deviations * trials**0.5 / 2) + fraction
        actual = log_binomial_excess(trials, threshold)
        if threshold >= trials:
            assert actual == -np.inf
        else:
            expected = float(log_excess(trials, threshold))
            # What the docstring promises above and below 1e-100.
            assert abs(actual - expected) < (1e-9 if expected > -230 else 1e-8)


def test_expected_excess_of_thousands_of_orders():
    expected = log_excess(10**6, 9 * 10**5 + 0.5)
    assert expected < -3e5
    assert float(log_binomial_excess(10**6, 9 * 10**5 + 0.5)) == pytest.approx(float(expected), rel=1e-12)


@given(st.integers(0, 10**7), st.floats(-5, 10**7))
def test_excess_is_a_convex_falling_function_of_the_threshold(trials, threshold):
    before, here, after = np.exp(log_binomial_excess(trials, threshold + np.array([-1.0, 0.0, 1.0])))
    assert before >= here >= after >= 0
    assert here <= (before + after) / 2 * (1 + 1e-7) + 1e-300
    assert before - here <= 1 + 1e-7
