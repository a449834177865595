"""The lower bound of one third value: ratios of probabilities, and many reports against the sum of terms."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.library.bounds.enumeration import add
from tightshuffle import Collection, Group
from tightshuffle.collection import bounds, third_value
from tightshuffle.collection.cover import Cover
from tightshuffle.krr import lie_probability, truth_probability


@pytest.mark.parametrize(
    ("n", "share"), [(50, 0.9), (100, 0.998), (300, 0.05), (1000, 0.99), (2000, 0.5), (10**9, 0.01)]
)
def test_ratios_of_binomial_probabilities(n, share):
    """Probabilities that rounding would hide have no ratio: too small a ratio would make delta too large."""
    deviations = np.array([-8, -5, -3, -2, -1, -0.5, 0, 1, 3])
    m = np.clip(np.floor(n * share + deviations * math.sqrt(n * share)), 1, n)
    exact = (n - m + 1) / m * share / (1 - share)
    found = third_value.probability_ratio(Cover.from_numbers([(n, share)]), m)
    some = np.isfinite(found)
    np.testing.assert_allclose(found[some], exact[some], rtol=1e-8)
    assert some.sum() >= 3


@pytest.mark.parametrize(
    ("n", "k", "eps0", "eps"),
    [(250, 1000, 2.0, [0.1, 0.3]), (1000, 3, 2.0, [0.05, 0.1]), (300, 10, 1.0, [0.02, 0.1])],
)
def test_one_slope_gives_no_more_than_the_slopes_of_each_number(n, k, eps0, eps, monkeypatch):
    group = Group("a", n, eps0)
    points, lie = np.array(eps), float(lie_probability(eps0, k))
    gains = bounds.uniform_gains(Collection(k, (group,)), points, group)
    cover = Cover.from_numbers([(n - 1, (k - 1) * lie)])

    def ln_delta():
        return third_value.ln_delta_of_third_value(points, gains, lie, k, cover, ulps=200.0)

    assert not third_value.has_few_reports(cover)
    one_slope = ln_delta()
    fewer = third_value.ln_probability_of_fewer
    with monkeypatch.context() as patch:  # what the slope gives away below l is taken off
        patch.setattr(third_value, "ln_probability_of_fewer", lambda *given: fewer(*given) + 1)
        assert np.any(ln_delta() < one_slope - 1e-9)
    monkeypatch.setattr(third_value, "has_few_reports", lambda cover: True)
    each = ln_delta()
    assert np.all(one_slope <= each + 1e-4)
    assert one_slope[0] >= each[0] - 0.4  # further out a line fits less well


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(2, 3, 1.0), (20, 408, 1.0), (50, 10, 2.0), (80, 10, 1.0)]
)
def test_few_users_against_the_sum_over_all_counts(n, k, eps0):
    """How many reports are x0, x1, or another value but the third: all but the target user's are alike."""
    eps = eps0 * np.array([0.0, 0.1, 0.3, 0.7, 0.95])
    collection, group = Collection(k, (Group("a", n, eps0),)), Group("a", n, eps0)
    lie, truth = float(lie_probability(eps0, k)), float(truth_probability(eps0, k))
    chances = [lie, lie, (k - 3) * lie, truth]
    counts = np.indices((n, n, n)).reshape(3, -1)
    counts = counts[:, counts.sum(axis=0) < n]
    others = np.zeros((n + 1, n + 1, n + 1))
    others[tuple(counts)] = stats.multinomial.pmf(
        np.vstack([counts, n - 1 - counts.sum(axis=0)]).T, n - 1, chances
    )

    def distribution(of_x0, of_x1):
        result = lie * others
        for axis, chance in enumerate([of_x0, of_x1, (k - 3) * lie]):
            result = result + chance * np.roll(others, 1, axis)
        return result

    p, q = distribution(truth, lie), distribution(lie, truth)
    exact = np.array([np.maximum(p - math.exp(e) * q, 0).sum() for e in eps])
    found = 10 ** bounds.log10_lower_of_third_value(collection, eps, group, width=1e-4)
    assert np.all(found <= exact * (1 + 1e-9))
    assert np.all(found >= exact * (1 - 2e-4))


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
    found = third_value.ln_probability_of_fewer(*rows, Cover.from_numbers([(n, share)]), least)
    truth = np.log(np.array(exact)[least.astype(int) - 1])
    assert np.all(truth <= found)
    assert np.all(found < truth + 3)
