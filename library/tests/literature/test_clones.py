"""The pairs of the clones and of the strong adversary: their definition in 50 digits, and very many users."""

import functools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from tests.at_points import log10_at_points
from tests.bounds import dominating
from tests.numerics.exact import exact_log_pmf
from tightshuffle.literature import clones as clones_module
from tightshuffle.literature import koskela

koskela_strong = log10_at_points(koskela.ln_koskela_strong)

BOUNDS = {
    "clones": log10_at_points(clones_module.ln_clones),
    "stronger-clones": log10_at_points(clones_module.ln_stronger_clones),
    "strong": koskela_strong,
}

SHARES = [0, 0.01, 0.2, 0.6, 0.95, 0.9999]  # of eps0


each_pair = pytest.mark.parametrize(
    ("name", "n", "eps0"),
    [
        (name, *setting)
        for name in BOUNDS
        for setting in ((1, 0.5), (2, 1.0), (3, 4.0), (12, 0.3), (60, 2.0), (70, 0.5))
    ],
)


@functools.cache
def pair_of(name, n, eps0):
    """{outcome: (P, Q)} of all outcomes in 50 digits, by the pair's definition."""
    return dominating.PAIRS[name](n, 7, eps0)


@each_pair
def test_delta_of_a_pair_is_that_over_all_its_outcomes(name, n, eps0):
    """log10 delta is rounded up by at most 1e-6 of delta, which is 4.4e-7 of its log10."""
    pair = pair_of(name, n, eps0).values()
    for eps in eps0 * np.array(SHARES):
        exact = float(mp.log10(dominating.hockey_stick(eps, pair)))
        found = BOUNDS[name](eps, n=n, k=7, eps0=eps0)
        assert -1e-13 <= found - exact <= 5e-7


@each_pair
def test_a_pair_is_its_own_mirror_image(name, n, eps0):
    """With x0 and x1 exchanged, P is Q. So delta is the same in both directions, at every eps."""
    pair = pair_of(name, n, eps0)
    for (n0, n1), (p, q) in pair.items():
        mirrored_p, mirrored_q = pair[n1, n0]
        assert mp.almosteq(p, mirrored_q, rel_eps=mp.mpf("1e-40"))
        assert mp.almosteq(q, mirrored_p, rel_eps=mp.mpf("1e-40"))


@functools.cache
def probabilities_of_messages(n, c):
    """{m: its probability} in mpmath for m ~ Bin(n, c), without m from 1 on that hardly occur."""
    mean = n * c
    # 12 standard deviations, and 40 more, as a small mean has a longer upper tail.
    reach = 12 * math.sqrt(mean)
    numbers = range(max(1, int(mean - reach)), min(n, int(mean + reach) + 40) + 1)
    return {m: mp.exp(exact_log_pmf(m, n, c)) for m in numbers}


def positive_part_of_messages(m, loss):
    """E[(A - ``loss`` (m - A))_+] of A ~ Bin(m, 1/2), as a fraction."""
    least = math.floor(m * loss / (1 + loss)) + 1  # the first A with a positive sum
    ways = {gains: math.comb(m, gains) for gains in range(least, m + 1)}
    gained = sum(gains * number for gains, number in ways.items())
    lost = sum((m - gains) * number for gains, number in ways.items())
    return (gained - loss * lost) / 2**m


def ln_positive_part(n, c, loss):
    """ln E[(G_1 + ... + G_n)_+] in mpmath: each G_i is 1 or -``loss`` with probability c / 2 each, else 0.

    It is the mean over m ~ Bin(n, c), how many G_i are not 0, of `positive_part_of_messages`.
    """
    terms = (
        probability * mp.mpf(positive_part_of_messages(m, Fraction(loss)))
        for m, probability in probabilities_of_messages(n, c).items()
    )
    return mp.log(mp.fsum(terms))


@pytest.mark.parametrize(("n", "c"), [(50, 0.3), (3000, 0.02), (10**7, 2e-5)])
@pytest.mark.parametrize("loss", [1.01, 1.2, 1.6])
def test_positive_part_by_tails_is_rounded_up(n, c, loss):
    """By 5e-7 at most: its bound on all errors is 5e-10 here at most."""
    found = clones_module.ln_positive_part_by_tails(
        n, gain=1.0, loss=-loss, probability=c / 2, ulps=0.0
    )
    assert 0 <= found - float(ln_positive_part(n, c, loss)) <= 5e-7


def ln_mean_by_sums(n, gain, loss, c, *, error=0.0):
    """ln E[(G_1 + ... + G_n)_+] by every m ~ Bin(n, c) and every number of gains among m.

    Both tails of `ln_positive_part_by_tails` may be wrong by the relative ``error``, to a larger mean.
    """
    mean = 0.0
    for m in range(1, n + 1):
        gains = np.arange(m + 1)
        probabilities = stats.binom.pmf(gains, m, 0.5)
        sums = gains * gain - (m - gains) * loss
        positive = sums > 0
        s_m = probabilities[positive] @ sums[positive]
        sizes = probabilities[positive] @ (gains * gain + (m - gains) * loss)[positive]
        mean += stats.binom.pmf(m, n, c) * (s_m + error * sizes)
    return math.log(mean)


FEW = {"n": 40, "gain": 1.0, "loss": -1.3, "probability": 0.1}


@pytest.mark.parametrize("n", [1, 3, 40])
def test_positive_part_by_tails_is_rounded_up_by_what_rounding_moved(n, monkeypatch):
    """Here gain, loss and probability may be wrong by 1e-5 of themselves."""
    monkeypatch.setattr(clones_module, "_ULP", 1e-6)
    found = clones_module.ln_positive_part_by_tails(**FEW | {"n": n}, ulps=10.0)
    moved = ln_mean_by_sums(n, 1 + 1e-5, 1.3 / (1 + 1e-5), 0.2 * (1 + 1e-5))
    assert moved <= found <= moved + 1e-4 * n


@pytest.mark.parametrize("error", [1e-11, 0.1])
def test_positive_part_by_tails_covers_the_numbers_that_are_left_out(error, monkeypatch):
    """Here these are far more, and tails may be wrong by the ``error``."""
    monkeypatch.setattr(clones_module, "DEPTH_ABOVE", 0.5)
    monkeypatch.setattr(clones_module, "_WIDTH", 1e3)
    monkeypatch.setattr(clones_module, "_ERROR_OF_MASS", error)
    found = clones_module.ln_positive_part_by_tails(**FEW, ulps=0.0) - 2 * error
    exact = ln_mean_by_sums(40, 1.0, 1.3, 0.2, error=error)
    assert exact <= found <= exact + 0.3


USUAL = {"n": 3000, "gain": 1.0, "loss": -1.2, "probability": 0.01, "ulps": 0.0}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"n": 10**9}, id="too many numbers of messages"),
        pytest.param({"n": 10**5, "loss": -1e9, "probability": 0.2}, id="no float is so small"),
    ],
)
def test_what_tails_cannot_give_is_left_to_the_engine(change):
    assert clones_module.ln_positive_part_by_tails(**USUAL | change) == math.inf


@pytest.mark.parametrize("depth", ["DEPTH_BELOW", "DEPTH_ABOVE"])
def test_tails_that_leave_out_too_much_are_left_to_the_engine(depth, monkeypatch):
    monkeypatch.setattr(clones_module, depth, 1.0)  # a share of e^-1 is left out
    assert clones_module.ln_positive_part_by_tails(**USUAL) == math.inf


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
def test_log10_delta_of_a_billion_users_falls_far_with_eps(bound):
    log10_delta = bound([0, 1e-5, 1e-3, 0.3, 3.999], n=10**9, k=2, eps0=4.0)
    assert np.all(np.isfinite(log10_delta))
    assert np.all(np.diff(log10_delta) < 0)
    assert log10_delta[-1] < -1e6


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
def test_delta_at_eps_0_falls_like_1_over_the_root_of_n(bound):
    """There it is the total variation distance."""
    log10_of_few = bound(0, n=10**7, k=2, eps0=4.0)
    log10_of_a_hundred_times_more = bound(0, n=10**9, k=2, eps0=4.0)
    assert log10_of_a_hundred_times_more - log10_of_few == pytest.approx(-1, abs=1e-4)


@pytest.mark.parametrize("eps", [40.0, 1e308])
def test_delta_of_the_strong_adversary_at_a_large_eps_is_the_probability_of_an_infinite_loss(eps):
    """It is the probability that no other user's uniform report is x1."""
    n, k, eps0 = 40, 4, 1.0
    nobody_hides = (1 - 1 / (math.exp(eps0) + k - 1)) ** (n - 1)
    delta = 10 ** koskela_strong(eps, n=n, k=k, eps0=eps0)
    assert delta == pytest.approx(nobody_hides, rel=2e-6)
