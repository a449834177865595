"""The closed forms against exact laws and against the samplers."""

import numpy as np
import pytest
from scipy import integrate, stats

from tests.library.randomizers.matrices import matrix_of, supports_of
from tightshuffle.krr import lie_probability, truth_probability
from tightshuffle.randomizers import expected_errors, parse

SHARES = np.array([0.5, 0.3, 0.15, 0.05, 0.0])


@pytest.mark.parametrize(("bias", "deviation"), [(0.0, 2.0), (1.0, 2.0), (-3.0, 0.5), (40.0, 1.0)])
def test_mean_absolute_is_the_integral(bias, deviation):
    distribution = stats.norm(bias, deviation)
    ends = [bias - 9 * deviation, bias + 9 * deviation]
    value, _ = integrate.quad(
        lambda x: abs(x) * distribution.pdf(x), *ends, points=[0.0], epsabs=1e-13
    )
    assert expected_errors.mean_absolute(deviation, bias) == pytest.approx(value, rel=1e-9)


def within(values, mean, level=4):
    """Whether the values' average is within four standard errors (one in 16,000) of ``mean``."""
    return abs(values.mean() - mean) < level * values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("name", ["grr", "subset:2", "rappor", "oue", "hadamard", "hash:5"])
def test_errors_of_every_randomizer(name):
    """Each user's report drawn from the full matrix; every value of a normal error of this variance."""
    n, repetitions, rng = 100_000, 200, np.random.default_rng(20261122)
    randomizer, supports = parse(name, k=len(SHARES), eps0=1.5), supports_of(name, len(SHARES))
    matrix = matrix_of(name, len(SHARES), 1.5)
    users = zip((SHARES * n).astype(int), matrix.T, strict=True)
    drawn = [rng.multinomial(number, p, repetitions) for number, p in users]
    frequencies, p, q = np.sum(drawn, axis=0) @ supports / n, randomizer.p_star, randomizer.q_star
    misses = np.abs((frequencies - q) / (p - q) - SHARES)
    for cell, error in enumerate(expected_errors.errors(randomizer, SHARES, n=n)):
        assert within(misses[:, cell], error), cell
    largest = expected_errors.largest_error(np.sqrt(randomizer.variance(SHARES, n)))
    simulated = misses.max(axis=1)
    margin = 4 * simulated.std(ddof=1) / np.sqrt(repetitions)
    assert simulated.mean() < largest + margin
    if name in ("rappor", "oue", "hash:5"):
        assert simulated.mean() > largest - margin


@pytest.mark.parametrize("k", [1, 2, 100, 10**6])
def test_largest_error_is_the_integral(k):
    # P(max |X_i| > t) of independent standard normals
    def beyond(t):
        return -np.expm1(k * np.log1p(-2 * stats.norm.sf(t))) if t else 1.0

    exact, _ = integrate.quad(beyond, 0, 12, epsabs=1e-13, epsrel=1e-12, limit=500)
    assert expected_errors.largest_error(np.ones(k)) == pytest.approx(exact, rel=1e-9)
    assert expected_errors.largest_error([3.0] * k + [1e-9, 0.0]) == pytest.approx(
        3 * exact, rel=1e-6
    )


@pytest.mark.parametrize("eps0", [0.01, 1.0, 6.0])
@pytest.mark.parametrize("k", [2, 15, 408])
def test_the_limit_is_the_ratio_of_the_two_closed_forms(eps0, k):
    shares = np.random.default_rng(4).dirichlet(np.full(k, 0.3))
    p, q, n = truth_probability(eps0, k), lie_probability(eps0, k), 10**6
    sigma = np.sqrt(n * q) / (p - q)
    gaussian = expected_errors.gaussian_errors(k, n=n, sigma=sigma)
    ratio = expected_errors.krr_errors(shares, n=n, eps0=eps0) / gaussian
    assert expected_errors.noise_ratios(shares, eps0) == pytest.approx(ratio, rel=1e-9)
    # No histogram is worse than equal shares, and those stay below the square root of 2.
    worst = expected_errors.noise_ratios(np.full(k, 1 / k), eps0).mean()
    assert expected_errors.noise_ratios(shares, eps0).mean() <= worst < np.sqrt(2)
    assert worst == pytest.approx(np.sqrt((1 - 1 / k) * (1 + p - q)), rel=1e-12)
