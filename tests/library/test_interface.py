"""The functions of `import tightshuffle`: what the accountants say, as numbers."""

from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.randomizers import Finite, SubsetSelection

SETTING = {"n": 1000, "k": 10, "eps0": 2.0}


def test_numbers_and_logarithms():
    eps = np.array([0.05, 0.3])
    for function in (tightshuffle.upper, tightshuffle.lower):
        logs = function(eps, log10=True, **SETTING)
        np.testing.assert_allclose(function(eps, **SETTING), 10**logs, rtol=1e-11)
    assert tightshuffle.lower(0.3, **SETTING) <= tightshuffle.upper(0.3, **SETTING)
    assert tightshuffle.upper(0.3, **SETTING) == tightshuffle.delta(0.3, **SETTING)


@pytest.mark.parametrize("n", [300, 380, 400])
def test_bounds_below_the_smallest_normal_float_are_rounded_to_their_sides(n):
    setting = {"n": n, "k": 10, "eps0": 0.5}
    for eps in 0.5 * (1 - 10.0 ** -np.arange(1, 16)):
        with mpmath.workdps(30):
            for side, function in ((1, tightshuffle.lower), (-1, tightshuffle.upper)):
                exact = mpmath.mpf(10) ** mpmath.mpf(float(function(eps, log10=True, **setting)))
                assert side * function(eps, **setting) <= side * exact
    assert tightshuffle.upper(0.5, **setting) == 0


@pytest.mark.parametrize(
    "question",
    [
        partial(tightshuffle.delta, 0.2, n=20_000),
        partial(tightshuffle.epsilon, 1e-3, n=20_000, method="lower"),
        partial(tightshuffle.tradeoff, 0.1, n=10**6),
        lambda **own: tightshuffle.to_pld(n=10**6, **own).get_epsilon_for_delta(1e-6),
    ],
    ids=["delta", "epsilon", "tradeoff", "to_pld"],
)
def test_a_matrix_can_be_given_as_a_file_or_as_an_object(question, tmp_path):
    """It knows its number of values and its budget, so no k and no eps0 are given."""
    matrix = np.array([[0.6, 0.2, 0.3], [0.2, 0.6, 0.3], [0.2, 0.2, 0.4]])
    np.savetxt(tmp_path / "own.csv", matrix, delimiter=",")
    of_file = question(randomizer=f"file:{tmp_path / 'own.csv'}")
    assert of_file == question(randomizer=Finite(matrix))


def test_an_object_is_the_randomizer_of_its_name():
    by_name = tightshuffle.delta(0.2, n=20_000, k=3, eps0=1.0, randomizer="subset:2")
    subset = SubsetSelection(3, 1.0, 2)
    assert by_name == tightshuffle.delta(0.2, n=20_000, randomizer=subset)


def test_colluding_users_do_not_count():
    for n, share, count in ((1000, 0.07, 70), (1000, 0.0701, 71), (1, 0.5, 0)):
        fewer = tightshuffle.delta(0.1, n=n - count, k=10, eps0=2.0)
        for colluding in (share, count):
            assert tightshuffle.delta(0.1, n=n, k=10, eps0=2.0, colluding=colluding) == fewer


def test_the_trade_off_curve_bounds_the_count():
    """`tradeoff` bounds from below the error beta of every test by the count of x0, given its error alpha.

    alpha is the probability that a user with x1 is taken for one with x0, and beta the reverse. All other
    users hold x2. p and q are the probabilities that k-RR reports x0 for a user who holds x0, and who does
    not.
    """
    n, k, eps0 = 200, 5, 1.0
    p, q = np.exp(eps0) / (np.exp(eps0) + k - 1), 1 / (np.exp(eps0) + k - 1)
    count_of_others = stats.binom.pmf(np.arange(n), n - 1, q)
    if_x0 = np.convolve(count_of_others, [1 - p, p])  # probabilities of the counts 0, ..., n
    if_x1 = np.convolve(count_of_others, [1 - q, q])
    # Each test decides for x0 from some count on: from n, n - 1, ..., 0.
    alpha = np.cumsum(if_x1[::-1])
    beta = 1 - np.cumsum(if_x0[::-1])
    curve = tightshuffle.tradeoff(np.clip(alpha, 0, 1), n=n, k=k, eps0=eps0)
    assert np.all(curve <= beta + 1e-12)
    assert curve[0] > 0.99  # where alpha is nearly 0

    # The curve is not far below that of many users: of two normal distributions at the distance gaussian_mu.
    of_many_users = stats.norm.sf(stats.norm.ppf(alpha) + gaussian_mu(n=n, k=k, eps0=eps0))
    # Compared where alpha is not extreme.
    inner = (alpha > 0.01) & (alpha < 0.99)
    assert np.max(of_many_users[inner] - curve[inner]) < 0.03


def test_the_trade_off_curve_of_one_user_is_not_above_the_exact_one():
    alpha = np.append(np.linspace(0, 1 / (1 + np.e), 200), 0.14877995888720297)
    with mpmath.workdps(30):
        exact = [1 - mpmath.e * mpmath.mpf(one) for one in alpha.tolist()]
    found = tightshuffle.tradeoff(alpha, n=1, k=2, eps0=1.0)
    assert tightshuffle.tradeoff([0, 1], n=1, k=2, eps0=1.0).tolist() == [pytest.approx(1), 0]
    assert all(one <= other for one, other in zip(found.tolist(), exact, strict=True))
    assert max(map(abs, found - np.array(exact, dtype=float))) < 1e-3
