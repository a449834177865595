"""The lower bound of one third value: ratios of probabilities, and many reports against the sum of terms."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.library.bounds.enumeration import add
from tightshuffle import Collection, Group
from tightshuffle.bounds import third_value
from tightshuffle.bounds.cover import Cover
from tightshuffle.collection import bounds


@pytest.mark.parametrize(
    ("n", "share"), [(50, 0.9), (100, 0.998), (300, 0.05), (1000, 0.99), (2000, 0.5), (10**9, 0.01)]
)
def test_ratios_of_binomial_probabilities(n, share):
    """Probabilities that rounding would hide have no ratio: too small a ratio would make delta too large."""
    deviations = np.array([-8, -5, -3, -2, -1, -0.5, 0, 1, 3])
    m = np.clip(np.floor(n * share + deviations * math.sqrt(n * share)), 1, n)
    exact = (n - m + 1) / m * share / (1 - share)
    found = third_value._ratio(Cover.of([(n, share)]), m)
    some = np.isfinite(found)
    np.testing.assert_allclose(found[some], exact[some], rtol=1e-8)
    assert some.sum() >= 3


@pytest.mark.parametrize(
    ("n", "k", "eps0", "eps"),
    [(100, 1000, 1.0, [0.1, 0.3]), (400, 3, 2.0, [0.1, 0.2]), (300, 10, 1.0, [0.02, 0.1])],
)
def test_one_slope_gives_no_more_than_the_slopes_of_each_number(n, k, eps0, eps, monkeypatch):
    collection, group = Collection(k, (Group("a", n, eps0),)), Group("a", n, eps0)
    points = np.array(eps)

    def ln_delta():
        q = bounds._lie(collection, group)
        gains, cover = bounds._uniform_gains(collection, points, group), Cover.of([(n - 1, (k - 1) * q)])
        return third_value.ln_delta_of_third_value(points, gains, q, k, cover, ulps=200.0)

    one_slope = ln_delta()
    fewer = third_value._log_fewer
    with monkeypatch.context() as patch:  # what the slope gives away below l is taken off
        patch.setattr(third_value, "_log_fewer", lambda *given: fewer(*given) + 1)
        assert np.any(ln_delta() < one_slope - 1e-9)
    monkeypatch.setattr(third_value, "few", lambda cover: True)
    each = ln_delta()
    assert np.all(one_slope <= each + 1e-4)
    assert one_slope[0] >= each[0] - 0.4  # further out a line fits less well


def test_fewer_reports_are_no_likelier_than_their_bound():
    """P(J' < l, G_1 + ... + G_J' > 0), term by term."""
    values, masses, n, share = np.array([2.0, -3.0, -0.1]), np.array([0.3, 0.3, 0.4]), 40, 0.4
    one = {(0, 0, 0): 1.0}
    exact, chances = [], stats.binom.pmf(np.arange(n + 1), n, share)
    for j in range(13):
        above = sum(mass for counts, mass in one.items() if np.dot(counts, values) > 1e-9)
        exact.append(exact[-1] + chances[j] * above if exact else 0.0)
        one = add(one, masses)
    least = np.array([2.0, 6.0, 12.0])
    rows = np.broadcast_to(values, (3, 3)), np.broadcast_to(masses, (3, 3))
    found = third_value._log_fewer(*rows, Cover.of([(n, share)]), least)
    truth = np.log(np.array(exact)[least.astype(int) - 1])
    assert np.all(truth <= found)
    assert np.all(found < truth + 3)
