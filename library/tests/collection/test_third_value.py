"""The lower bound of one third value: ratios of probabilities, and many reports against the sum of terms."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.bounds.enumeration import add_report
from tightshuffle import Collection, Group
from tightshuffle.collection import lower, third_value
from tightshuffle.collection.cover import Cover
from tightshuffle.collection.gains import uniform_gains
from tightshuffle.mechanisms.krr import lie_probability, truth_probability


@pytest.mark.parametrize(
    ("n", "share"), [(50, 0.9), (100, 0.998), (300, 0.05), (1000, 0.99), (2000, 0.5), (10**9, 0.01)]
)
def test_ratio_of_binomial_probabilities_is_that_of_the_formula(n, share):
    """P(m) / P(m - 1) of Binomial(n, share), or a number that is not finite, for m around the mean.

    Probabilities that rounding would hide have no ratio: too small a ratio would make delta too large.
    """
    deviations = np.array([-8, -5, -3, -2, -1, -0.5, 0, 1, 3])
    m = np.clip(np.floor(n * share + deviations * math.sqrt(n * share)), 1, n)
    exact = (n - m + 1) / m * share / (1 - share)
    found = third_value.probability_ratio(Cover.from_numbers([(n, share)]), m)
    is_known = np.isfinite(found)
    np.testing.assert_allclose(found[is_known], exact[is_known], rtol=1e-8)
    assert is_known.sum() >= 3


def ln_bound_of_third_value(n, k, eps0, eps):
    """Natural log of the lower bound on delta of k-RR where all n - 1 other users hold one third value."""
    eps, group = np.array(eps), Group("a", n, eps0)
    gains = uniform_gains(Collection(k, (group,)), eps, group)
    lie = float(lie_probability(eps0, k))  # the probability of reporting one given other value
    reports_of_other_values = Cover.from_numbers([(n - 1, (k - 1) * lie)])
    return third_value.ln_delta_of_third_value(
        eps,
        gains,
        lie,
        k,
        reports_of_other_values,
        ulps=200.0,  # more than gains lose by rounding
    )


MANY_REPORTS = pytest.mark.parametrize(  # eps has two points
    ("n", "k", "eps0", "eps"),
    [(250, 1000, 2.0, [0.1, 0.3]), (1000, 3, 2.0, [0.05, 0.1]), (300, 10, 1.0, [0.02, 0.1])],
)


@MANY_REPORTS
def test_probability_of_fewer_reports_is_taken_off_the_bound_for_many(n, k, eps0, eps, monkeypatch):
    """If the bound on this probability is e times as large, the bound on delta falls."""
    bound = ln_bound_of_third_value(n, k, eps0, eps)
    ln_fewer = third_value.ln_probability_of_fewer
    monkeypatch.setattr(third_value, "ln_probability_of_fewer", lambda *given: ln_fewer(*given) + 1)
    assert np.any(ln_bound_of_third_value(n, k, eps0, eps) < bound - 1e-9)


@MANY_REPORTS
def test_one_slope_gives_no_more_than_the_slopes_of_each_number(n, k, eps0, eps, monkeypatch):
    """The bound is a sum over the number of reports. From each term's gains a slope is subtracted.

    For many reports one slope serves all terms, at a loss. Bounds are natural logs.
    """
    of_one_slope = ln_bound_of_third_value(n, k, eps0, eps)
    monkeypatch.setattr(third_value, "has_few_reports", lambda cover: True)
    of_all_slopes = ln_bound_of_third_value(n, k, eps0, eps)
    assert np.all(of_one_slope <= of_all_slopes + 1e-4)  # 1e-4: the width of both brackets
    assert of_one_slope[0] >= of_all_slopes[0] - 0.4  # further out a line fits less well


def delta_of_third_value(n, k, eps0, eps):
    """delta of k-RR where all n - 1 other users hold one third value: a sum over all outcomes; (points,).

    An outcome has three counts: of reports x0, of reports x1, and of all others but the third value. A user
    reports the own value with the probability ``truth``, and each other value with ``lie``.
    """
    lie, truth = float(lie_probability(eps0, k)), float(truth_probability(eps0, k))
    counts = np.indices((n, n, n)).reshape(3, -1)
    counts = counts[:, counts.sum(axis=0) < n]
    counts_and_third = np.vstack([counts, n - 1 - counts.sum(axis=0)])
    chances = [lie, lie, (k - 3) * lie, truth]
    of_others = np.zeros((n + 1, n + 1, n + 1))  # one axis for each count
    of_others[tuple(counts)] = stats.multinomial.pmf(counts_and_third.T, n - 1, chances)

    def with_target(chance_of_x0, chance_of_x1):
        """The probabilities of the counts with the target user's report, a third value with ``lie``."""
        result = lie * of_others
        for axis, chance in enumerate([chance_of_x0, chance_of_x1, (k - 3) * lie]):
            result = result + chance * np.roll(of_others, 1, axis)
        return result

    p, q = with_target(truth, lie), with_target(lie, truth)
    return np.array([np.maximum(p - math.exp(one) * q, 0).sum() for one in eps])


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(2, 3, 1.0), (20, 408, 1.0), (50, 10, 2.0), (80, 10, 1.0)]
)
def test_lower_bound_for_few_users_is_delta_where_all_others_hold_a_third_value(n, k, eps0):
    """`delta_of_third_value` is this delta, a sum over all outcomes."""
    eps = eps0 * np.array([0.0, 0.1, 0.3, 0.7, 0.95])
    exact = delta_of_third_value(n, k, eps0, eps)
    group = Group("a", n, eps0)
    found = np.exp(lower.ln_lower_of_third_value(Collection(k, (group,)), eps, group, width=1e-4))
    assert np.all(found <= exact * (1 + 1e-9))
    assert np.all(found >= exact * (1 - 2e-4))  # relative: twice the width that is asked for


def test_fewer_reports_are_no_likelier_than_their_bound():
    """The bound on ln P(J < l, G_1 + ... + G_J > 0) is at least the exact number, and less than 3 above it.

    J is Binomial(40, 0.4), and the gains G are 2, -3 or -0.1. The exact number is a sum over J = 0, 1, ...
    and over how many of J gains have each value.
    """
    values, masses = np.array([2.0, -3.0, -0.1]), np.array([0.3, 0.3, 0.4])
    least = np.array([2, 6, 12])  # l
    counts_of_values = {(0, 0, 0): 1.0}  # {how many gains have each value: probability}
    terms = []
    for j in range(12):
        # 1e-9: rounding, as 3 * 2.0 + 2 * (-3.0) is 0.
        positive = [p for counts, p in counts_of_values.items() if np.dot(counts, values) > 1e-9]
        terms.append(stats.binom.pmf(j, 40, 0.4) * sum(positive))
        counts_of_values = add_report(counts_of_values, masses)  # one more gain
    exact = np.log(np.cumsum(terms)[least - 1])

    one_row_per_l = np.ones((3, 1))
    found = third_value.ln_probability_of_fewer(
        one_row_per_l * values, one_row_per_l * masses, Cover.from_numbers([(40, 0.4)]), least
    )
    assert np.all(exact <= found)
    assert np.all(found < exact + 3)  # Chernoff's bound says something
