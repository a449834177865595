"""Shares of noise: those of the honest sum to the noise, all have the stated error; noise on one sum."""

import functools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from tightshuffle.dummies.shares import (
    STEPS,
    deviation_of_sum,
    error_of_shares,
    geometric_losses,
    variance_of_shares,
)


def half_share(deviation, honest, length):
    """The first probabilities of half a share, a Polya number, by its definition."""
    shape, ratio = mpmath.mpf(1) / honest, mpmath.exp(-1 / mpmath.mpf(deviation))
    return [
        mpmath.rf(shape, j) / mpmath.factorial(j) * ratio**j * (1 - ratio) ** shape
        for j in range(length)
    ]


def convolved(first, second):
    """The first probabilities of the sum of two numbers, as many as each list has."""
    return [mpmath.fsum(first[i] * second[j - i] for i in range(j + 1)) for j in range(len(first))]


@pytest.mark.parametrize(("deviation", "honest"), [(2, 4), (0.7, 2), (5, 9), (3, 1)])
def test_half_shares_of_the_honest_sum_to_a_geometric_number(deviation, honest):
    """So the difference of two such sums is two-sided geometric."""
    with mpmath.workdps(50):
        one = half_share(deviation, honest, 30)
        ratio = mpmath.exp(-1 / mpmath.mpf(deviation))
        for j, probability in enumerate(functools.reduce(convolved, [one] * honest)):
            assert mpmath.almosteq(probability, (1 - ratio) * ratio**j, 1e-40)


def sum_of_all_shares(deviation, parties, honest):
    """The values and the probabilities of the sum of all parties' shares, by convolution."""
    largest = math.ceil(45 * deviation * max(1, math.log(parties)) + 45)
    half = stats.nbinom.pmf(np.arange(largest), 1 / honest, 1 - math.exp(-1 / deviation))
    half_of_all = functools.reduce(np.convolve, [half] * parties)
    probabilities = np.convolve(half_of_all, half_of_all[::-1])
    return np.arange(probabilities.size) - half_of_all.size + 1, probabilities


SHARES = pytest.mark.parametrize(
    ("deviation", "parties", "honest"),
    [(2.0, 4, 4), (2.0, 10, 9), (0.3, 3, 2), (30.0, 2, 1), (1.5, 20, 7)],
)


@SHARES
def test_error_and_variance_of_all_shares(deviation, parties, honest):
    numbers, probabilities = sum_of_all_shares(deviation, parties, honest)
    error = float(probabilities @ abs(numbers))
    variance = float(probabilities @ numbers**2)
    assert error_of_shares(deviation, parties, honest) == pytest.approx(error, rel=1e-9)
    assert variance_of_shares(deviation, parties, honest) == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize(("parties", "honest"), [(3, 2), (10, 9)])
def test_error_of_wide_noise_by_its_characteristic_function(parties, honest):
    """The mean of |z| is that of (1 - f(t)) / (1 - cos t) over a period, here on a million nodes.

    f is (1 + u)^(-parties / honest), with u = 2 a (1 - cos t) / (1 - a)^2.
    """
    ratio = math.exp(-1 / 2000)
    t = (np.arange(2**20) + 0.5) * (math.pi / 2**20)
    u = 4 * ratio * np.sin(t / 2) ** 2 / (1 - ratio) ** 2
    one_minus_f = -np.expm1(-parties / honest * np.log1p(u))
    mean = float(np.mean(one_minus_f / (2 * np.sin(t / 2) ** 2)))
    assert error_of_shares(2000.0, parties, honest) == pytest.approx(mean, rel=1e-9)


def losses_by_definition(eps_of_round, units, change):
    """Losses ln P(z) / P(z + change), and P(z). With ``units`` the noise is ``eps_of_round``-private."""
    deviation = units / eps_of_round
    numbers = np.arange(-math.ceil(40 * deviation), math.ceil(40 * deviation))
    probabilities = np.exp(-abs(numbers) / deviation) * math.tanh(0.5 / deviation)
    return (abs(numbers + change) - abs(numbers)) / deviation, probabilities


def delta_by_definition(eps, eps_of_round, units, change, rounds):
    """delta of ``rounds`` equal rounds, all of whose losses are added up one by one.

    A loss is from -largest to largest, and |z + change| - |z| is odd or even as the change is. So losses are
    two units apart.
    """
    losses, probabilities = losses_by_definition(eps_of_round, units, change)
    step, largest = 2 * eps_of_round / units, eps_of_round * change / units
    one = np.bincount(np.rint((losses + largest) / step).astype(int), probabilities)
    total = functools.reduce(np.convolve, [one] * rounds)
    sums = np.arange(total.size) * step - rounds * largest
    return float(total @ np.maximum(-np.expm1(np.minimum(eps - sums, 0.0)), 0.0))


def test_losses_of_noise_on_a_sum_are_those_of_its_definition():
    grid = geometric_losses(0.8)
    losses, probabilities = losses_by_definition(0.8, STEPS, STEPS)
    index = np.rint(losses / (2 * 0.8 / STEPS)).astype(int) + STEPS // 2
    assert np.exp(grid.log_mass) == pytest.approx(np.bincount(index, probabilities), rel=1e-11)
    assert grid.losses == pytest.approx(0.8 * np.linspace(-1, 1, STEPS + 1))


@pytest.mark.parametrize(("units", "change"), [(2 * STEPS, 2 * STEPS), (STEPS, 700), (3000, 2999)])
def test_finer_units_and_smaller_changes_are_not_less_private(units, change):
    """By enumeration, for one round and for three. 3,000 is no multiple of 1,024."""
    for eps, rounds in ((0.3, 1), (0.9, 3), (1.5, 3)):
        largest = delta_by_definition(eps, 0.8, STEPS, STEPS, rounds)
        found = delta_by_definition(eps, 0.8, units, change, rounds)
        assert found < largest * (1 + 1e-4)
        assert found > 0.999 * largest or change < 0.999 * units


@pytest.mark.parametrize(
    ("eps", "delta", "rounds"), [(1.0, 1e-6, 7), (1.0, 1e-6, 30), (0.2, 1e-9, 12), (3.0, 1e-4, 2)]
)
def test_the_deviation_on_a_sum_has_the_guarantee_and_a_smaller_one_misses_it(eps, delta, rounds):
    deviation = deviation_of_sum(eps, delta, rounds=rounds)
    assert deviation < rounds / eps
    assert delta_by_definition(eps, 1 / deviation, STEPS, STEPS, rounds) <= delta
    smaller = 0.9999 * deviation
    assert delta_by_definition(eps, 1 / smaller, STEPS, STEPS, rounds) > delta


def test_one_round_on_a_sum_has_delta_0():
    for delta in (1e-9, 0.5):
        assert deviation_of_sum(0.7, delta) == 1 / 0.7


def test_shares_have_less_error_than_full_noise_from_each():
    """The errors of two-sided geometric noise, of 9 honest of 10, and of full noise, at (1, 1e-6)."""
    assert error_of_shares(2.0, 4, 4) == pytest.approx(1.919, abs=5e-4)
    assert error_of_shares(2.0, 10, 9) == pytest.approx(2.055, abs=5e-4)


def test_drawn_shares_have_the_stated_error():
    """Of 400,000 sums of shares: within four standard errors, which one of 16,000 seeds would miss."""
    rng = np.random.default_rng(20261129)
    deviation, parties, honest = 2.0, 3, 2
    success = 1 - math.exp(-1 / deviation)
    shape = (parties, 400_000)
    halves = [stats.nbinom.rvs(1 / honest, success, size=shape, random_state=rng) for _ in "ab"]
    sums = (halves[0] - halves[1]).sum(axis=0)
    standard_error = abs(sums).std() / math.sqrt(sums.size)
    assert abs(abs(sums).mean() - error_of_shares(deviation, parties, honest)) < 4 * standard_error
