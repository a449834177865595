"""The functions of `import tightshuffle`: what the accountants say, as numbers."""

from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tightshuffle import doors, to_pld
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.randomizers import Finite, SubsetSelection

SETTING = {"n": 1000, "k": 10, "eps0": 2.0}


def test_numbers_and_logarithms():
    eps = np.array([0.05, 0.3])
    for method in ("upper", "lower"):
        logs = tightshuffle.delta(eps, method=method, log10=True, **SETTING)
        numbers = tightshuffle.delta(eps, method=method, **SETTING)
        np.testing.assert_allclose(numbers, 10**logs, rtol=1e-11)
    assert tightshuffle.delta(0.3, method="lower", **SETTING) <= tightshuffle.delta(0.3, **SETTING)
    assert tightshuffle.delta(0.3, **SETTING) == tightshuffle.delta(0.3, method="upper", **SETTING)


@pytest.mark.parametrize("n", [300, 380, 400])
def test_bounds_below_the_smallest_normal_float_are_rounded_to_their_sides(n):
    setting = {"n": n, "k": 10, "eps0": 0.5}
    eps = 0.5 * (1 - 10.0 ** -np.arange(1, 16))
    for method in ("lower", "upper"):
        logs = tightshuffle.delta(eps, method=method, log10=True, **setting)
        numbers = tightshuffle.delta(eps, method=method, **setting)
        for log10_delta, number in zip(logs, numbers, strict=True):
            with mpmath.workdps(30):
                exact = mpmath.mpf(10) ** log10_delta
            assert number <= exact if method == "lower" else number >= exact
    assert tightshuffle.delta(0.5, **setting) == 0


@pytest.mark.parametrize(
    "question",
    [
        partial(tightshuffle.delta, 0.2, n=20_000),
        partial(tightshuffle.epsilon, 1e-3, n=20_000, method="lower"),
        partial(tightshuffle.tradeoff, 0.1, n=10**6),
        lambda **own: to_pld(n=20_000, spacing=0.01, **own).get_epsilon_for_delta(1e-6),
    ],
    ids=["delta", "epsilon", "tradeoff", "to_pld"],
)
def test_a_matrix_can_be_given_as_a_file_or_as_an_object(question, tmp_path, monkeypatch):
    """It knows its number of values and its budget, so no k and no eps0 are given."""
    monkeypatch.setattr(doors, "_TRADEOFF_POINTS", 20)  # to save time
    matrix = np.array([[0.6, 0.2, 0.3], [0.2, 0.6, 0.3], [0.2, 0.2, 0.4]])
    np.savetxt(tmp_path / "own.csv", matrix, delimiter=",")
    of_file = question(randomizer=f"file:{tmp_path / 'own.csv'}")
    assert of_file == question(randomizer=Finite(matrix))


def test_an_object_is_the_randomizer_of_its_name():
    by_name = tightshuffle.delta(0.2, n=20_000, k=3, eps0=1.0, randomizer="subset:2")
    subset = SubsetSelection(3, 1.0, 2)
    assert by_name == tightshuffle.delta(0.2, n=20_000, randomizer=subset)


@pytest.mark.parametrize(
    ("n", "share", "count"), [(1000, 0.07, 70), (1000, 0.0701, 71), (1, 0.5, 0)]
)
def test_colluding_users_do_not_count(n, share, count):
    delta = partial(tightshuffle.delta, 0.1, k=10, eps0=2.0)
    assert delta(n=n, colluding=count) == delta(n=n - count)
    assert delta(n=n, colluding=share) == delta(n=n - count)


def errors_of_tests_by_the_count_of_x0(*, n, k, eps0):
    """(alpha, beta) of the tests that decide for x0 from some number of reports of x0 on: n, n - 1, ..., 0.

    alpha is the probability that a user with x1 is taken for one with x0, and beta the reverse. The users
    report by k-RR, and all others hold x2.
    """
    truth, other = np.array([np.exp(eps0), 1]) / (np.exp(eps0) + k - 1)
    count_of_others = stats.binom.pmf(np.arange(n), n - 1, other)
    law_if_x0 = np.convolve(count_of_others, [1 - truth, truth])
    law_if_x1 = np.convolve(count_of_others, [1 - other, other])
    return np.cumsum(law_if_x1[::-1]), 1 - np.cumsum(law_if_x0[::-1])


def test_the_trade_off_curve_is_below_that_of_every_test_and_near_that_of_many_users():
    """Many users' is that of two normal distributions at the distance `gaussian_mu`."""
    setting = {"n": 200, "k": 5, "eps0": 1.0}
    of_tests, beta = errors_of_tests_by_the_count_of_x0(**setting)
    of_limit = np.linspace(0.01, 0.99, 99)
    curve = tightshuffle.tradeoff(np.append(np.clip(of_tests, 0, 1), of_limit), **setting)
    at_tests, at_limit = np.split(curve, [of_tests.size])
    assert np.all(at_tests <= beta + 1e-12)  # rounding
    assert at_tests[0] > 0.99  # where alpha is nearly 0
    in_the_limit = stats.norm.sf(stats.norm.ppf(of_limit) + gaussian_mu(**setting))
    assert np.max(in_the_limit - at_limit) < 0.03


def test_the_trade_off_curve_of_one_user_is_just_below_the_exact_one():
    """Up to alpha = 1 / (1 + e) it is 1 - e^eps0 alpha, with eps0 = 1, and beyond e^-eps0 (1 - alpha)."""
    alpha = np.append(np.linspace(0, 1, 600), 0.14877995888720297)
    found = tightshuffle.tradeoff(alpha, n=1, k=2, eps0=1.0)
    with mpmath.workdps(30):
        below_the_exact_one = [
            max(1 - mpmath.e * a, (1 - mpmath.mpf(a)) / mpmath.e) - curve
            for a, curve in zip(alpha, found, strict=True)
        ]
    assert min(below_the_exact_one) >= 0
    assert max(below_the_exact_one) < 1e-3
    assert tightshuffle.tradeoff([0, 1], n=1, k=2, eps0=1.0).tolist() == [pytest.approx(1), 0]
