"""The lower bound of one third value: ratios of probabilities, and many reports against the sum of terms."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.library.bounds.enumeration import add_report
from tightshuffle import Collection, Group
from tightshuffle.collection import bounds, third_value
from tightshuffle.collection.cover import Cover
from tightshuffle.krr import lie_probability, truth_probability


@pytest.mark.parametrize(
    ("n", "share"), [(50, 0.9), (100, 0.998), (300, 0.05), (1000, 0.99), (2000, 0.5), (10**9, 0.01)]
)
def test_ratios_of_binomial_probabilities(n, share):
    """P(m) / P(m - 1) of Binomial(n, share) is that of the formula, or not finite, but for three m at least.

    The m are some standard deviations from the mean. Probabilities that rounding would hide have no ratio:
    too small a ratio would make delta too large.
    """
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
    """A lower bound with one slope is no larger than one with a slope for each number of reports, and close.

    The bound is for k-RR where all other users hold one third value. It is a sum over the number m of
    reports, and a slope is subtracted from each gain. For many reports there is one slope for all m from some
    l on. What this gives away below l is taken off, by the bound `ln_probability_of_fewer` on the probability
    of fewer than l reports. If that is made e times larger, the result falls. Results are natural logs of
    delta. ``lie`` is the probability of reporting one given other value.
    """
    group = Group("a", n, eps0)
    eps, lie = np.array(eps), float(lie_probability(eps0, k))
    gains = bounds.uniform_gains(Collection(k, (group,)), eps, group)
    # The number of the other users' reports that are not the third value.
    cover = Cover.from_numbers([(n - 1, (k - 1) * lie)])

    # By ``ulps`` units in the last place gains may be wrong: 200 are more than they lose.
    def ln_bound():
        return third_value.ln_delta_of_third_value(eps, gains, lie, k, cover, ulps=200.0)

    # One slope, because reports are many.
    assert not third_value.has_few_reports(cover)
    of_one_slope = ln_bound()
    ln_fewer = third_value.ln_probability_of_fewer
    with monkeypatch.context() as patch:
        patch.setattr(third_value, "ln_probability_of_fewer", lambda *given: ln_fewer(*given) + 1)
        assert np.any(ln_bound() < of_one_slope - 1e-9)

    # All slopes, as if reports were few.
    monkeypatch.setattr(third_value, "has_few_reports", lambda cover: True)
    of_all_slopes = ln_bound()
    assert np.all(of_one_slope <= of_all_slopes + 1e-4)  # 1e-4: the width of both brackets
    assert of_one_slope[0] >= of_all_slopes[0] - 0.4  # further out a line fits less well


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(2, 3, 1.0), (20, 408, 1.0), (50, 10, 2.0), (80, 10, 1.0)]
)
def test_few_users_against_the_sum_over_all_counts(n, k, eps0):
    """The lower bound for one round of k-RR is delta where all other users hold a third value.

    That delta is summed over all outcomes. The bound is never above it, and at most 2e-4 below, relatively:
    twice the ``width`` that is asked for. An outcome has three counts: of reports x0, of reports x1, and of
    all others but the third value. A user reports the own value with the probability ``truth``, and each
    other value with ``lie``.
    """
    eps = eps0 * np.array([0.0, 0.1, 0.3, 0.7, 0.95])
    group = Group("a", n, eps0)
    lie, truth = float(lie_probability(eps0, k)), float(truth_probability(eps0, k))

    # The probabilities of the n - 1 other users' counts, by one axis for each count.
    counts = np.indices((n, n, n)).reshape(3, -1)
    counts = counts[:, counts.sum(axis=0) < n]
    counts_and_third = np.vstack([counts, n - 1 - counts.sum(axis=0)])
    chances = [lie, lie, (k - 3) * lie, truth]
    others = np.zeros((n + 1, n + 1, n + 1))
    others[tuple(counts)] = stats.multinomial.pmf(counts_and_third.T, n - 1, chances)

    def with_target(chance_of_x0, chance_of_x1):
        """The probabilities of the counts with the target user's report, a third value with ``lie``."""
        result = lie * others
        for axis, chance in enumerate([chance_of_x0, chance_of_x1, (k - 3) * lie]):
            result = result + chance * np.roll(others, 1, axis)
        return result

    p, q = with_target(truth, lie), with_target(lie, truth)
    exact = np.array([np.maximum(p - math.exp(one) * q, 0).sum() for one in eps])
    found = 10 ** bounds.log10_lower_of_third_value(Collection(k, (group,)), eps, group, width=1e-4)
    assert np.all(found <= exact * (1 + 1e-9))
    assert np.all(found >= exact * (1 - 2e-4))


def test_fewer_reports_are_no_likelier_than_their_bound():
    """The bound on ln P(J' < l, G_1 + ... + G_J' > 0) is at least the exact number, and less than 3 above it.

    J' is a binomial number of independent gains G, of ``values`` with probabilities ``masses``. The exact
    number, for l = 2, 6 and 12, is summed over the number j of gains and how many of them have each value.
    `add_report` adds one gain to the distribution of these counts.
    """
    values, masses = np.array([2.0, -3.0, -0.1]), np.array([0.3, 0.3, 0.4])
    n, share = 40, 0.4
    l_of_points = np.array([2.0, 6.0, 12.0])
    chances_of_j = stats.binom.pmf(np.arange(n + 1), n, share)
    counts_of_values = {(0, 0, 0): 1.0}  # of j gains
    terms = []
    for j in range(12):
        # 1e-9: rounding, as 3 * 2.0 + 2 * (-3.0) is 0.
        positive = [p for counts, p in counts_of_values.items() if np.dot(counts, values) > 1e-9]
        terms.append(chances_of_j[j] * sum(positive))
        counts_of_values = add_report(counts_of_values, masses)
    exact = np.log(np.cumsum(terms)[l_of_points.astype(int) - 1])

    gains = np.broadcast_to(values, (3, 3)), np.broadcast_to(masses, (3, 3))  # one row for each l
    cover = Cover.from_numbers([(n, share)])  # the law of J'
    found = third_value.ln_probability_of_fewer(*gains, cover, l_of_points)
    assert np.all(exact <= found)
    assert np.all(found < exact + 3)  # Chernoff's bound says something
