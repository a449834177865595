"""Girgis' bound and conversions against the formulas in 60 digits; exact divergences against their laws."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import tightshuffle
from tests.library.at_points import at_points
from tests.library.bounds import dominating
from tightshuffle.literature import renyi
from tightshuffle.literature.renyi import rdp_to_delta, rdp_upper
from tightshuffle.literature.renyi_pairs import rdp_clones, rdp_two_counts

girgis = at_points(renyi.girgis)


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
def test_theorem_3_1_to_the_letter(n, eps0):
    orders = [2, 3, 4, 17, 150]
    wanted = [float(theorem_3_1(lam, n, eps0)) for lam in orders]
    np.testing.assert_allclose(rdp_upper(orders, n=n, eps0=eps0), wanted, rtol=1e-10)


def test_real_orders_lie_on_the_chord_of_the_moment():
    """The log of the moment, (order - 1) times the divergence, is convex: 7.25 is between 7 and 8."""
    at_7, at_8 = ((order - 1) * float(theorem_3_1(order, n=5000, eps0=1.0)) for order in (7, 8))
    expected = (0.75 * at_7 + 0.25 * at_8) / 6.25
    assert rdp_upper(7.25, n=5000, eps0=1.0) == pytest.approx(expected, rel=1e-10)
    # It is 0 at order 1: between 1 and 2 the bound is that of order 2.
    expected = float(theorem_3_1(2, n=5000, eps0=1.0))
    assert rdp_upper(1.3, n=5000, eps0=1.0) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("lam", [1.001, 1.5, 2, 9.7, 400])
def test_conversion_as_printed(lam):
    with mp.workdps(50):
        rdp, x = mp.mpf("0.7"), mp.mpf(lam)
        for eps in (0.9, 3, 40):
            wanted = mp.exp((x - 1) * (rdp - eps)) / (x - 1) * (1 - 1 / x) ** x
            got = rdp_to_delta(eps, lam, 0.7)
            assert got == pytest.approx(min(0.0, float(mp.log10(wanted))), abs=1e-11, rel=1e-11)


@pytest.mark.parametrize(("n", "eps0"), [(1, 1.0), (2, 0.2), (9, 3.0), (40, 1.0), (3, 30.0)])
def test_clones_divergence_from_the_laws(n, eps0):
    probabilities = dominating.PAIRS["clones"](n, 3, eps0).values()
    for lam in (1.01, 1.7, 2, 11.3, 300, 5000):
        wanted = divergence(lam, probabilities)
        assert wanted == pytest.approx(divergence(lam, [c[::-1] for c in probabilities]), rel=1e-14)
        assert rdp_clones(lam, n=n, eps0=eps0) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "k", "eps0"),
    [(1, 3, 1.0), (2, 3, 0.2), (2, 5, 0.7), (9, 3, 3.0), (25, 10, 2.0), (4, 3, 30.0)],
)
def test_two_counts_divergence_from_the_laws(n, k, eps0):
    probabilities = dominating.third_value(n, k, eps0).values()
    for lam in (1.01, 2, 11.3, 300):
        found = rdp_two_counts(lam, n=n, k=k, eps0=eps0)
        assert found == pytest.approx(divergence(lam, probabilities), rel=1e-9)


def test_two_counts_need_a_third_value():
    """For k = 2 the number was above the divergence of every dataset: 0.58447 for 0.55055 here."""
    with pytest.raises(ValueError, match="k must be at least 3"):
        rdp_two_counts(2.0, n=2, k=2, eps0=1.0)


def clones_by_all_outcomes(lam, n, eps0):
    """The Renyi divergence of order ``lam`` of the clones' pair (P, Q), by a sum over every outcome.

    An outcome is ``messages``, how many clones and target user there are, and how many of their messages are
    0. Each other user is a clone with probability e^-eps0. A clone's message is 0 with probability 1/2, the
    target user's with probability e^eps0 / (e^eps0 + 1) under P and 1 / (e^eps0 + 1) under Q.
    """
    messages, zeros = np.arange(1, n + 1)[:, None], np.arange(n + 1)
    ln_messages = stats.binom.logpmf(messages - 1, n - 1, math.exp(-eps0))
    # How many clones' messages are 0 if the target user's is 0, and if not.
    ln_if_0 = stats.binom.logpmf(zeros - 1, messages - 1, 0.5)
    ln_if_1 = stats.binom.logpmf(zeros, messages - 1, 0.5)
    ln_truth, ln_lie = special.log_expit(eps0), special.log_expit(-eps0)
    ln_p = ln_messages + np.logaddexp(ln_truth + ln_if_0, ln_lie + ln_if_1)
    ln_q = ln_messages + np.logaddexp(ln_lie + ln_if_0, ln_truth + ln_if_1)
    # Impossible outcomes, with more zeros than messages, have no finite logarithm.
    possible = np.isfinite(ln_p)
    ln_moment = special.logsumexp(lam * ln_p[possible] + (1 - lam) * ln_q[possible])
    return ln_moment / (lam - 1)


# 40 and 300 at eps0 = 4: where the weight moves from the mean number of clones to hardly any.
@pytest.mark.parametrize(
    ("eps0", "lam"), [(0.5, 3.0), (2.0, 60.0), (4.0, 12.0), (4.0, 40.0), (4.0, 300.0)]
)
def test_strided_and_interpolated_sums_against_all_outcomes(eps0, lam):
    wanted = clones_by_all_outcomes(lam, 1500, eps0)
    assert rdp_clones(lam, n=1500, eps0=eps0) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "eps0", "rounds"),
    [(10**4, 2.0, 1), pytest.param(10**5, 1.0, 1000, marks=pytest.mark.slow)],
)
def test_girgis_is_the_best_over_the_orders(n, eps0, rounds):
    """log10 delta by `girgis` is at most that of any of 401 Renyi orders, and at most 1e-3 below the least.

    These orders are around the best whole order below 2000. ``rdp_upper`` bounds the Renyi divergence of one
    round at an order, and ``rdp_to_delta`` turns the divergence of all rounds into log10 delta.
    """

    def log10_deltas(eps, orders):
        """log10 delta of all rounds by each of the Renyi orders."""
        return rdp_to_delta(eps, orders, rounds * rdp_upper(orders, n=n, eps0=eps0))

    whole_orders = np.arange(2.0, 2000)
    for eps in (0.1, 0.4, 1.5):
        if eps < rounds * eps0:
            of_whole_orders = log10_deltas(eps, whole_orders)
            best = whole_orders[np.argmin(of_whole_orders)]
            assert best < whole_orders[-1]  # so that 2000 orders are enough
            near_best = np.linspace(max(1.0001, best - 1), best + 1, 401)
            least = log10_deltas(eps, near_best).min()
            # The orders between the whole ones gain something, but less than a factor of ten of delta.
            assert of_whole_orders.min() - 1 < least - 1e-9
            found = girgis(eps, n=n, k=3, eps0=eps0, rounds=rounds)
            # 1e-9 is for rounding.
            assert least - 1e-3 <= found + 1e-9
            assert found <= least + 1e-9


def test_exact_divergence_and_loss_distribution_agree_after_several_rounds():
    """Lemma 2.1 loses a polynomial factor: the exact delta is below, but not by more than a factor of 30."""
    eps, orders = np.array([0.5, 1.0, 1.5]), np.geomspace(1.2, 400, 25)
    rdp = 20 * rdp_clones(orders, n=10**4, eps0=2.0)
    converted = rdp_to_delta(eps[:, None], orders, rdp).min(axis=1)
    exact = tightshuffle.delta(eps, n=10**4, k=10, eps0=2.0, rounds=20, method="clones", log10=True)
    assert np.all(exact < converted)
    assert np.all(converted < exact + np.log10(30))
    # Girgis' theorem bounds every eps0-LDP randomizer as the clones do, and is known to be looser.
    assert np.all(exact < girgis(eps, n=10**4, k=10, eps0=2.0, rounds=20))


def test_girgis_is_zero_where_every_round_alone_gives_it():
    below, at_both_budgets, above = girgis([1.9999, 2.0, 6.0], n=50, k=3, eps0=1.0, rounds=2)
    assert np.isfinite(below)
    assert at_both_budgets == above == -np.inf
    assert girgis(0.0, n=50, k=3, eps0=1.0) <= 0
