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


def four_standard_errors(values):
    """Of the average of ``values`` (repetitions, ...): it is farther off once in 16,000 times."""
    return 4 * values.std(axis=0, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("name", ["grr", "subset:2", "rappor", "oue", "hadamard", "hash:5"])
def test_errors_of_every_randomizer(name):
    """1. `errors` are the mean absolute errors of 200 simulations. 2. So is `largest_error`, or it is larger.

    SHARES are the users' shares of five values. Reports are drawn from the full matrix, whose columns are the
    laws of the reports of each value. ``supports_of`` says which reports support which values. The tolerance
    is four standard errors of the simulated mean.
    """
    n, repetitions, rng = 100_000, 200, np.random.default_rng(20261122)
    k = len(SHARES)
    randomizer, matrix = parse(name, k=k, eps0=1.5), matrix_of(name, k, 1.5)
    # How many users send each report, (repetitions, reports): a sum over the users of each value.
    reports = sum(
        rng.multinomial(users, law, repetitions)
        for users, law in zip((SHARES * n).astype(int), matrix.T, strict=True)
    )
    # A report supports its user's value with probability p, and another one with q. This gives the estimates.
    frequencies = reports @ supports_of(name, k) / n
    p, q = randomizer.p_star, randomizer.q_star
    errors = np.abs((frequencies - q) / (p - q) - SHARES)
    expected = expected_errors.errors(randomizer, SHARES, n=n)
    assert np.all(abs(errors.mean(axis=0) - expected) < four_standard_errors(errors))

    # The expected largest error is that of independent estimates. For other estimates it is an upper bound.
    largest_errors = errors.max(axis=1)
    margin = four_standard_errors(largest_errors)
    expected = expected_errors.largest_error(np.sqrt(randomizer.variance(SHARES, n)))
    assert largest_errors.mean() < expected + margin
    if name in ("rappor", "oue", "hash:5"):
        assert largest_errors.mean() > expected - margin


@pytest.mark.parametrize("k", [1, 2, 100, 10**6])
def test_largest_error_is_the_integral(k):
    """E max |X_i| of k independent standard normals is the integral over t of P(max |X_i| > t)."""

    def probability_of_larger(t):
        return -np.expm1(k * np.log1p(-2 * stats.norm.sf(t))) if t else 1.0

    exact, _ = integrate.quad(probability_of_larger, 0, 12, epsabs=1e-13, epsrel=1e-12, limit=500)
    assert expected_errors.largest_error(np.ones(k)) == pytest.approx(exact, rel=1e-9)
    # Values with hardly any noise do not matter.
    found = expected_errors.largest_error([3.0] * k + [1e-9, 0.0])
    assert found == pytest.approx(3 * exact, rel=1e-6)


@pytest.mark.parametrize("eps0", [0.01, 1.0, 6.0])
@pytest.mark.parametrize("k", [2, 15, 408])
def test_noise_ratios_are_those_of_the_two_closed_forms(eps0, k):
    """`noise_ratios` are the errors of k-RR over those of a Gaussian mechanism that is as private.

    They are for many users. The Gaussian noise of a count has the standard deviation sqrt(n q) / (p - q)
    users, where p and q are k-RR's probabilities of the true value and of one given other value.
    """
    # Uneven random shares.
    shares = np.random.default_rng(4).dirichlet(np.full(k, 0.3))
    p, q, n = truth_probability(eps0, k), lie_probability(eps0, k), 10**6
    gaussian = expected_errors.gaussian_errors(k, n=n, sigma=np.sqrt(n * q) / (p - q))
    expected = expected_errors.krr_errors(shares, n=n, eps0=eps0) / gaussian
    ratios = expected_errors.noise_ratios(shares, eps0)
    assert ratios == pytest.approx(expected, rel=1e-9)
    # No histogram has a larger mean ratio than equal shares, and theirs is below the square root of 2.
    of_equal_shares = expected_errors.noise_ratios(np.full(k, 1 / k), eps0).mean()
    assert ratios.mean() <= of_equal_shares < np.sqrt(2)
    assert of_equal_shares == pytest.approx(np.sqrt((1 - 1 / k) * (1 + p - q)), rel=1e-12)
