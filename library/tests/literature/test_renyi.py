"""Girgis' bound and conversions against the formulas in 60 digits; exact divergences against their laws."""

import functools
import math
from unittest.mock import patch

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import tightshuffle
from tests.at_points import log10_at_points
from tests.bounds import dominating
from tightshuffle.literature import renyi
from tightshuffle.literature.renyi import ln_delta_of_rdp, rdp_upper
from tightshuffle.literature.renyi_pairs import rdp_clones, rdp_two_counts

girgis = log10_at_points(renyi.ln_girgis)
ROUNDING = 1e-9  # of log10 delta


def theorem_3_1(lam, n, eps0):
    """The bound on the Renyi divergence of whole order ``lam`` by Theorem 3.1 of Girgis et al., as printed.

    It is in natural logarithms, with 60 digits. ``n_bar`` is the paper's n-bar, and ``moment`` bounds the
    mean of the likelihood ratio to the power lam.
    """
    with mp.workdps(60):
        e_eps0 = mp.exp(mp.mpf(eps0))
        n_bar = mp.floor((n - 1) / (2 * e_eps0)) + 1
        moment = 1 + mp.binomial(lam, 2) * (e_eps0 - 1) ** 2 / (n_bar * e_eps0)
        base = (e_eps0**2 - 1) ** 2 / (2 * e_eps0**2 * n_bar)
        for i in range(3, lam + 1):
            half = mp.mpf(i) / 2
            moment += mp.binomial(lam, i) * i * mp.gamma(half) * base**half
        moment += mp.exp(eps0 * mp.mpf(lam) - (n - 1) / (8 * e_eps0))
        return mp.log(moment) / (lam - 1)


def divergence(lam, probabilities):
    """The Renyi divergence of order ``lam`` of P from Q, by the probabilities (P, Q) of every outcome."""
    with mp.workdps(60):
        moment = sum(p**lam * q ** (1 - mp.mpf(lam)) for p, q in probabilities if p)
        return float(mp.log(moment) / (lam - 1))


@pytest.mark.parametrize(
    ("n", "eps0"),
    [(1, 0.3), (2, 2.0), (1000, 0.01), (10**4, 2.0), (10**6, 5.0), (10**9, 0.5), (50, 30.0)],
)
def test_rdp_upper_at_whole_orders_is_theorem_3_1(n, eps0):
    orders = [2, 3, 4, 17, 150]
    wanted = [float(theorem_3_1(lam, n, eps0)) for lam in orders]
    np.testing.assert_allclose(rdp_upper(orders, n=n, eps0=eps0), wanted, rtol=1e-10)


def test_rdp_upper_at_a_real_order_is_on_the_chord_of_the_log_moment():
    """(order - 1) times the divergence is convex in the order: 7.25 is between 7 and 8."""
    at_7 = 6 * theorem_3_1(7, n=5000, eps0=1.0)
    at_8 = 7 * theorem_3_1(8, n=5000, eps0=1.0)
    expected = float(0.75 * at_7 + 0.25 * at_8) / 6.25
    assert rdp_upper(7.25, n=5000, eps0=1.0) == pytest.approx(expected, rel=1e-10)


def test_rdp_upper_below_order_2_is_that_of_order_2():
    """The log moment is 0 at order 1, and divided by (order - 1) its chord is constant."""
    expected = float(theorem_3_1(2, n=5000, eps0=1.0))
    assert rdp_upper(1.3, n=5000, eps0=1.0) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("lam", [1.001, 1.5, 2, 9.7, 400])
@pytest.mark.parametrize("eps", [0.9, 3, 40])
def test_ln_delta_of_rdp_is_the_printed_conversion(lam, eps):
    """delta = e^((lam - 1) (rdp - eps)) / (lam - 1) (1 - 1 / lam)^lam, at most 1."""
    with mp.workdps(50):
        rdp, x = mp.mpf("0.7"), mp.mpf(lam)
        delta = mp.exp((x - 1) * (rdp - eps)) / (x - 1) * (1 - 1 / x) ** x
        expected = min(0.0, float(mp.log(delta)))
    assert ln_delta_of_rdp(eps, lam, 0.7) == pytest.approx(expected, abs=1e-11, rel=1e-11)


@functools.cache
def pair_of_clones(n, eps0):
    """The probabilities (P, Q) of all outcomes of the clones' pair, in 50 digits, by its definition."""
    return list(dominating.PAIRS["clones"](n, 3, eps0).values())


@pytest.mark.parametrize(("n", "eps0"), [(1, 1.0), (2, 0.2), (9, 3.0), (40, 1.0), (3, 30.0)])
@pytest.mark.parametrize("lam", [1.01, 1.7, 2, 11.3, 300, 5000])
def test_rdp_clones_is_the_divergence_of_their_pair(n, eps0, lam):
    """It is the same in both directions, as the pair is its own mirror image: `test_clones`."""
    exact = divergence(lam, pair_of_clones(n, eps0))
    assert rdp_clones(lam, n=n, eps0=eps0) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "k", "eps0"),
    [(1, 3, 1.0), (2, 3, 0.2), (2, 5, 0.7), (9, 3, 3.0), (25, 10, 2.0), (4, 3, 30.0)],
)
@pytest.mark.parametrize("lam", [1.01, 2, 11.3, 300])
def test_rdp_two_counts_is_the_divergence_of_the_two_counts(n, k, eps0, lam):
    """`third_value` has (P, Q) of all pairs of counts of x0 and x1, if others hold a third value."""
    pair = dominating.third_value(n, k, eps0).values()
    found = rdp_two_counts(lam, n=n, k=k, eps0=eps0)
    assert found == pytest.approx(divergence(lam, pair), rel=1e-9)


def test_two_counts_need_a_third_value():
    """For k = 2 the number was above the divergence of every dataset: 0.58447 for 0.55055 here."""
    with pytest.raises(ValueError, match="k must be at least 3"):
        rdp_two_counts(2.0, n=2, k=2, eps0=1.0)


@functools.cache
def ln_probabilities_of_zeros(n):
    """ln of the probability of 0, ..., n - 1 zeros among the messages of 0, ..., n - 1 clones; (n, n)."""
    return stats.binom.logpmf(np.arange(n), np.arange(n)[:, None], 0.5)


def clones_by_all_outcomes(lam, n, eps0):
    """The Renyi divergence of order ``lam`` of the clones' pair (P, Q), by a sum over every outcome.

    An outcome is how many clones there are, and how many of their messages and the target user's are 0. Each
    other user is a clone with probability e^-eps0. A clone's message is 0 with probability 1/2, the target
    user's with probability e^eps0 / (e^eps0 + 1) under P and 1 / (e^eps0 + 1) under Q.
    """
    ln_clones = stats.binom.logpmf(np.arange(n)[:, None], n - 1, math.exp(-eps0))
    # How many clones' messages are 0 if the target user's is not 0, and if it is.
    no_zeros = np.full((n, 1), -np.inf)
    ln_if_1 = np.hstack([ln_probabilities_of_zeros(n), no_zeros])
    ln_if_0 = np.hstack([no_zeros, ln_probabilities_of_zeros(n)])
    # Impossible outcomes, with more zeros than messages, have no finite logarithm.
    possible = np.isfinite(ln_if_0) | np.isfinite(ln_if_1)
    ln_if_1, ln_if_0 = ln_if_1[possible], ln_if_0[possible]
    ln_truth, ln_lie = special.log_expit(eps0), special.log_expit(-eps0)
    ln_of_number = np.broadcast_to(ln_clones, possible.shape)[possible]
    ln_p = ln_of_number + np.logaddexp(ln_truth + ln_if_0, ln_lie + ln_if_1)
    ln_q = ln_of_number + np.logaddexp(ln_lie + ln_if_0, ln_truth + ln_if_1)
    return special.logsumexp(lam * ln_p + (1 - lam) * ln_q) / (lam - 1)


# 40 and 300 at eps0 = 4: where the weight moves from the mean number of clones to hardly any.
@pytest.mark.parametrize(
    ("eps0", "lam"),
    [
        (0.5, 3.0),
        (2.0, 60.0),
        pytest.param(4.0, 12.0, marks=pytest.mark.slow),
        (4.0, 40.0),
        (4.0, 300.0),
    ],
)
def test_rdp_clones_of_1500_users_is_the_sum_over_all_outcomes(eps0, lam):
    """It leaves out outcomes, and interpolates between them."""
    wanted = clones_by_all_outcomes(lam, 1500, eps0)
    assert rdp_clones(lam, n=1500, eps0=eps0) == pytest.approx(wanted, rel=1e-8)


WHOLE_ORDERS = np.arange(2.0, 1000)


@functools.cache
def rdp_of_whole_orders(n, eps0):
    """The `rdp_upper` of one round at WHOLE_ORDERS."""
    return rdp_upper(WHOLE_ORDERS, n=n, eps0=eps0)


@pytest.mark.parametrize(
    ("n", "eps0", "rounds"),
    [(10**4, 2.0, 1), pytest.param(10**5, 1.0, 1000, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("eps", [0.1, 0.4, 1.5])
def test_girgis_is_the_least_over_the_renyi_orders(n, eps0, rounds, eps):
    """log10 delta by `girgis` is the least of 101 real orders around the best whole one, or up to 1e-3 less.

    Orders between whole ones gain less than a factor of ten of delta.
    """

    def log10_deltas(orders, rdp):
        """log10 delta of all rounds by each of the Renyi orders, of which one round has ``rdp``."""
        return ln_delta_of_rdp(eps, orders, rounds * rdp) / np.log(10)

    of_whole_orders = log10_deltas(WHOLE_ORDERS, rdp_of_whole_orders(n, eps0))
    best = WHOLE_ORDERS[of_whole_orders.argmin()]
    assert best < WHOLE_ORDERS[-1]  # so that 1000 orders are enough
    orders = np.linspace(max(1.0001, best - 1), best + 1, 101)
    least = log10_deltas(orders, rdp_upper(orders, n=n, eps0=eps0)).min()
    assert of_whole_orders.min() - 1 < least - ROUNDING
    found = girgis(eps, n=n, k=3, eps0=eps0, rounds=rounds)
    assert least - 1e-3 - ROUNDING <= found <= least + ROUNDING


EPS = np.array([0.5, 1.0, 1.5])
TWENTY_ROUNDS = {"n": 10**4, "k": 10, "eps0": 2.0, "rounds": 20}


@functools.cache
def exact_log10_delta_of_clones():
    """log10 delta of twenty rounds at EPS, from the loss distribution of the clones' pair."""
    return tightshuffle.delta(EPS, **TWENTY_ROUNDS, method="clones", log10=True)


def test_conversion_of_the_exact_divergence_of_several_rounds_is_above_their_exact_delta():
    """Lemma 2.1 loses a polynomial factor, here less than 30."""
    orders = np.geomspace(1.2, 400, 25)
    rdp = 20 * rdp_clones(orders, n=10**4, eps0=2.0)
    converted = ln_delta_of_rdp(EPS[:, None], orders, rdp).min(axis=1) / np.log(10)
    exact = exact_log10_delta_of_clones()
    assert np.all(exact < converted)
    assert np.all(converted < exact + np.log10(30))


def test_girgis_is_looser_than_the_clones():
    """Both bound every eps0-LDP randomizer."""
    assert np.all(exact_log10_delta_of_clones() < girgis(EPS, **TWENTY_ROUNDS))


def test_girgis_is_zero_where_every_round_alone_gives_it():
    below, at_both_budgets, above = girgis([1.9999, 2.0, 6.0], n=50, k=3, eps0=1.0, rounds=2)
    assert np.isfinite(below)
    assert at_both_budgets == above == -np.inf
    assert girgis(0.0, n=50, k=3, eps0=1.0) <= 0


def test_a_search_for_eps_computes_the_moment_of_an_order_once():
    """Moments do not depend on eps, and take nearly all of the time."""
    renyi._ln_moments.cache_clear()
    with patch.object(renyi, "_ln_moment", wraps=renyi._ln_moment) as spy:
        tightshuffle.epsilon(1e-6, method="girgis", n=1000, k=3, eps0=0.5)
    orders = [call.args[0] for call in spy.call_args_list]
    assert len(set(orders)) == len(orders) > 50
