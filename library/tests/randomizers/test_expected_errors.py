"""The closed forms against exact laws and against the samplers."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from tests.randomizers.matrices import matrix_of, supports_of
from tightshuffle.mechanisms.krr import lie_probability, truth_probability
from tightshuffle.randomizers import BY_KEY, expected_errors, parse


@pytest.mark.parametrize(("bias", "deviation"), [(0.0, 2.0), (1.0, 2.0), (-3.0, 0.5), (40.0, 1.0)])
def test_mean_absolute_is_that_of_a_folded_normal_distribution(bias, deviation):
    expected = stats.foldnorm(abs(bias) / deviation, scale=deviation).mean()
    assert expected_errors.mean_absolute(deviation, bias) == pytest.approx(expected, rel=1e-9)


USERS = 100_000
SHARES = np.array([0.5, 0.3, 0.15, 0.05, 0.0])  # of the users, who hold five values
EPS0 = 1.5
of_five_values = pytest.mark.parametrize(
    "randomizer",
    [
        parse(name, k=5, eps0=EPS0)
        for name in ("grr", "subset:2", "rappor", "oue", "hadamard", "hash:3")
    ],
    ids=lambda randomizer: randomizer.name,
)


@functools.cache
def simulated_errors(randomizer):
    """The absolute errors of all estimated shares in 200 simulations; (repetitions, values).

    USERS hold five values in the proportions of SHARES. Reports are drawn from the full matrix, whose columns
    are the laws of the reports of each value. A report supports its user's value with the probability
    p_star, and another one with q_star.
    """
    rng, repetitions = np.random.default_rng(20261122), 200
    laws = matrix_of(randomizer.name, 5, EPS0).T
    # How many users send each report, (repetitions, reports): a sum over the users of each value.
    reports = sum(
        rng.multinomial(int(share * USERS), law, repetitions)
        for share, law in zip(SHARES, laws, strict=True)
    )
    frequencies = reports @ supports_of(randomizer.name, 5) / USERS
    p, q = randomizer.p_star, randomizer.q_star
    return np.abs((frequencies - q) / (p - q) - SHARES)


def four_standard_errors(values):
    """Of the average of ``values`` (repetitions, ...): it is farther off once in 16,000 times."""
    return 4 * values.std(axis=0, ddof=1) / np.sqrt(len(values))


@of_five_values
def test_errors_are_the_mean_absolute_errors_of_simulations(randomizer):
    simulated = simulated_errors(randomizer)
    expected = expected_errors.errors(randomizer, SHARES, n=USERS)
    assert np.all(abs(simulated.mean(axis=0) - expected) < four_standard_errors(simulated))


@of_five_values
def test_errors_of_few_users_are_the_means_over_all_numbers_of_supporting_reports(randomizer):
    """20 users hold the five values, in the proportions of SHARES: 10, 6, 3, 1 and 0 of them.

    A user's report supports each value with a probability of p_star or q_star, so that the number of reports
    that support it is the sum of two binomial numbers.
    """
    users = 20
    randomizer = parse(randomizer.name, k=5, eps0=4.0)
    p, q = randomizer.p_star, randomizer.q_star
    supports = np.arange(users + 1)
    exact = []
    for share in SHARES:
        holders = round(share * users)
        of_holders = stats.binom.pmf(np.arange(holders + 1), holders, p)
        of_others = stats.binom.pmf(np.arange(users - holders + 1), users - holders, q)
        chances = np.convolve(of_holders, of_others)
        exact.append(chances @ np.abs((supports / users - q) / (p - q) - share))
    found = expected_errors.errors(randomizer, SHARES, n=users)
    assert found == pytest.approx(exact, rel=1e-10)


def test_errors_of_shares_between_whole_numbers_are_those_of_the_values_that_are_most_alike():
    """Of eight values and 20 users, three hold each of four values, and two each of the other four."""
    randomizer = parse("grr", k=8, eps0=3.0)
    of_uniform_data = expected_errors.errors(randomizer, np.full(8, 1 / 8), n=20)
    of_whole_numbers = expected_errors.errors(randomizer, np.repeat([3, 2], 4) / 20, n=20)
    assert of_uniform_data == pytest.approx(np.full(8, of_whole_numbers.mean()), rel=1e-12)
    assert expected_errors.errors(randomizer, 1 / 8, n=20) == pytest.approx(of_uniform_data[0])


@pytest.mark.parametrize("datasets", [200, pytest.param(600, marks=pytest.mark.slow)])
def test_uniform_data_have_nearly_the_largest_error_of_krr_if_ten_reports_of_an_empty_value_come(
    datasets,
):
    """Within 2 %, and else within a factor of two: of random datasets, a third with one value only."""
    rng = np.random.default_rng(20261201)
    ratios = {True: [], False: []}
    for number in range(datasets):
        k, n = int(rng.integers(2, 60)), int(10 ** rng.uniform(0, 4.5))
        randomizer = parse("grr", k=k, eps0=rng.uniform(0.3, 9))
        shares = rng.multinomial(n, rng.dirichlet(np.full(k, 0.3))) / n
        if number % 3 == 0:
            shares = np.eye(k)[0]
        error = expected_errors.errors(randomizer, shares, n=n).sum()
        error_of_uniform = expected_errors.errors(randomizer, np.full(k, 1 / k), n=n).sum()
        ratios[n * randomizer.q_star >= 10].append(error / error_of_uniform)
    assert len(ratios[True]) > datasets / 6
    assert max(ratios[True]) <= 1.02
    assert 1.5 < max(ratios[False]) <= 2


def test_errors_of_several_numbers_of_users_are_rows():
    randomizer = parse("oue", k=5, eps0=3.0)
    rows = expected_errors.errors(randomizer, SHARES, n=[20, 1000])
    for users, row in zip((20, 1000), rows, strict=True):
        assert np.array_equal(row, expected_errors.errors(randomizer, SHARES, n=users))


@of_five_values
def test_largest_error_is_the_mean_largest_error_of_simulations_or_larger(randomizer):
    """It is the expected one of independent estimates. For other estimates it is an upper bound."""
    simulated = simulated_errors(randomizer).max(axis=1)
    margin = four_standard_errors(simulated)
    deviations = np.sqrt(randomizer.variance(SHARES, USERS))
    expected = expected_errors.largest_error(deviations)
    assert simulated.mean() < expected + margin
    if randomizer.name in ("rappor", "oue", "hash:3"):  # independent estimates
        assert simulated.mean() > expected - margin


@pytest.mark.parametrize("k", [1, 2, 100, 10**6])
def test_largest_error_is_the_integral(k):
    """E max |X_i| of k independent standard normals is the integral over t of P(max |X_i| > t)."""

    def probability_of_larger(t):
        return -np.expm1(k * np.log1p(-2 * stats.norm.sf(t))) if t else 1.0

    exact, _ = integrate.quad(probability_of_larger, 0, 12, epsabs=1e-13, epsrel=1e-12, limit=500)
    assert expected_errors.largest_error(np.ones(k)) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 100, 10**6])
def test_values_with_hardly_any_noise_do_not_change_the_largest_error(k):
    expected = 3 * expected_errors.largest_error(np.ones(k))
    found = expected_errors.largest_error([3.0] * k + [1e-9, 0.0])
    assert found == pytest.approx(expected, rel=1e-6)


for_any_krr = pytest.mark.parametrize(
    ("eps0", "k"), list(itertools.product((0.01, 1.0, 6.0), (2, 15, 408)))
)


@for_any_krr
def test_noise_ratios_are_those_of_the_two_closed_forms(eps0, k):
    """`noise_ratios` are the errors of k-RR over those of a Gaussian mechanism that is as private.

    They are for many users. The Gaussian noise of a count has the standard deviation sqrt(n q) / (p - q)
    users, where p and q are k-RR's probabilities of the true value and of one given other value.
    """
    uneven_shares = np.random.default_rng(4).dirichlet(np.full(k, 0.3))
    p, q, n = truth_probability(eps0, k), lie_probability(eps0, k), 10**6
    of_gaussian = expected_errors.gaussian_errors(k, n=n, sigma=np.sqrt(n * q) / (p - q))
    of_krr = expected_errors.krr_errors(uneven_shares, n=n, eps0=eps0)
    found = expected_errors.noise_ratios(uneven_shares, eps0)
    assert found == pytest.approx(of_krr / of_gaussian, rel=1e-9)


@for_any_krr
def test_equal_shares_have_the_largest_mean_noise_ratio_below_the_root_of_2(eps0, k):
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    of_equal_shares = expected_errors.noise_ratios(np.full(k, 1 / k), eps0).mean()
    assert of_equal_shares == pytest.approx(np.sqrt((1 - 1 / k) * (1 + p - q)), rel=1e-12)
    uneven_shares = np.random.default_rng(4).dirichlet(np.full(k, 0.3))
    of_uneven_shares = expected_errors.noise_ratios(uneven_shares, eps0).mean()
    assert of_uneven_shares <= of_equal_shares < np.sqrt(2)


def difference_factor(name, eps0):
    """V D / 4: the variance of the estimated difference of two empty cells, over the Gaussian's.

    The Gaussian is the one of equal privacy for many users (docs/theory.md). The cells are those of the
    values 0 and 1, and all users hold value 2. V is the variance of the estimate by one user's report. D is
    the chi-square distance between the reports of value 0 and of value 1: the sum of their squared
    differences of probability, over the probability with value 2.
    """
    k = 3 if name == "hash" else 4  # hashing has g^k functions
    randomizer = BY_KEY[name].tuned(k, eps0)
    # Both have a row for each possible report and a column for each value.
    probabilities = matrix_of(randomizer.name, k, eps0)
    supports = supports_of(randomizer.name, k).astype(float)
    of_value_2 = probabilities[:, 2]
    chi_square = ((probabilities[:, 0] - probabilities[:, 1]) ** 2 / of_value_2).sum()

    estimate = (supports[:, 0] - supports[:, 1]) / (randomizer.p_star - randomizer.q_star)
    # Its mean is right for users with each of the three values.
    assert estimate @ probabilities[:, :3] == pytest.approx([1, -1, 0], abs=1e-12)
    variance = of_value_2 @ estimate**2 - (of_value_2 @ estimate) ** 2
    return variance * chi_square / 4


@pytest.mark.parametrize("eps0", [0.1, 1.0, 2.0])  # at 3 hashing has 9,261 functions
def test_no_randomizer_beats_the_gaussian_on_the_difference_of_two_empty_cells(eps0):
    factors = {name: difference_factor(name, eps0) for name in BY_KEY}
    assert min(factors.values()) >= 1 - 1e-12
    assert factors["grr"] == pytest.approx(1, rel=1e-12)
    e = math.exp(eps0)
    # Closed forms of docs/theory.md.
    assert factors["oue"] == pytest.approx(2 * (e**2 + 1) / (e + 1) ** 2, rel=1e-12)
    assert factors["rappor"] == pytest.approx(2 * math.cosh(eps0 / 2) - 1, rel=1e-12)
