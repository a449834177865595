"""The pairs of the clones and of the strong adversary: their definition in 50 digits, and very many users."""

import math

import mpmath as mp
import numpy as np
import pytest

from tests.library.at_points import at_points
from tests.library.bounds import dominating
from tightshuffle.literature import clones as clones_module
from tightshuffle.literature import koskela

clones = at_points(clones_module.clones)
stronger_clones = at_points(clones_module.stronger_clones)
koskela_strong = at_points(koskela.koskela_strong)

BOUNDS = {"clones": clones, "stronger-clones": stronger_clones, "strong": koskela_strong}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize(
    ("n", "eps0"), [(1, 0.5), (2, 1.0), (3, 4.0), (12, 0.3), (60, 2.0), (100, 0.5)]
)
def test_against_the_definition_in_both_directions(name, n, eps0):
    """log10 delta of the pair (P, Q), outcome by outcome; that of (Q, P) is the same."""
    pair = dominating.PAIRS[name](n, 7, eps0).values()
    for share in (0, 0.01, 0.2, 0.6, 0.95, 0.9999):
        eps = share * eps0
        exact, reverse = (dominating.hockey_stick(eps, pair, direction) for direction in (1, -1))
        assert mp.almosteq(exact, reverse, rel_eps=mp.mpf("1e-40"))
        found = BOUNDS[name](eps, n=n, k=7, eps0=eps0)
        # Rounded up by at most 1e-6 of delta, which is 4.4e-7 of its log10.
        assert -1e-13 <= found - float(mp.log10(exact)) <= 5e-7


@pytest.mark.parametrize(("n", "c"), [(50, 0.3), (3000, 0.02), (10**7, 2e-5)])
@pytest.mark.parametrize("loss", [1.01, 1.2, 1.6])
def test_positive_part_by_tails_against_thirty_digits(n, c, loss):
    """ln E[(G_1 + ... + G_n)_+], where each G_i is 1 or -loss with probability c / 2 each, and else 0.

    `ln_positive_part_by_tails` rounds it up, by 5e-7 at most. The exact number is summed in 30 digits as a
    mean over m ~ Bin(n, c), how many G_i are not 0. If t or more of these are 1, the sum is positive. With
    B ~ Bin(m - 1, 1/2), the mean of its positive part is m / 2 (P(B >= t - 1) - loss P(B >= t)).
    """
    with mp.workdps(30):
        mean, exact = n * c, mp.mpf(0)
        # All m within 12 standard deviations of the mean, and 40 more, as the upper tail of a small mean is
        # longer.
        reach = 12 * mean**0.5
        for m in range(max(1, int(mean - reach)), min(n, int(mean + reach) + 40) + 1):
            t = math.floor(m * loss / (1 + loss)) + 1
            # P(B >= j) is a regularized incomplete beta function for 0 < j < m, else 1 or 0.
            tail_from_t_minus_1, tail_from_t = (
                mp.betainc(j, m - j, 0, 0.5, regularized=True) if 0 < j < m else int(j <= 0)
                for j in (t - 1, t)
            )
            positive_part = mp.mpf(m) / 2 * (tail_from_t_minus_1 - mp.mpf(loss) * tail_from_t)
            probability = mp.binomial(n, m) * mp.mpf(c) ** m * (1 - mp.mpf(c)) ** (n - m)
            exact += probability * positive_part
        found = clones_module.ln_positive_part_by_tails(
            n, gain=1.0, loss=-loss, probability=c / 2, ulps=0.0
        )
        # `found` is never below, as it contains a bound for all errors, which is 5e-10 here at most.
        assert 0 <= found - float(mp.log(exact)) <= 5e-7


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"n": 10**9}, id="too many numbers of messages"),
        pytest.param({"n": 10**5, "loss": -1e9, "probability": 0.2}, id="no float is so small"),
    ],
)
def test_what_tails_cannot_give_is_left_to_the_engine(change):
    """They return inf then, and where they leave out too much, see below."""
    usual = {"n": 3000, "gain": 1.0, "loss": -1.2, "probability": 0.01, "ulps": 0.0}
    assert clones_module.ln_positive_part_by_tails(**usual) < math.inf
    assert clones_module.ln_positive_part_by_tails(**usual | change) == math.inf


@pytest.mark.parametrize("depth", ["DEPTH_BELOW", "DEPTH_ABOVE"])
def test_tails_that_leave_out_too_much_are_left_to_the_engine(depth, monkeypatch):
    """Beyond a depth of 1 a share of e^-1 is left out."""
    monkeypatch.setattr(clones_module, depth, 1.0)
    assert clones_module.ln_positive_part_by_tails(3000, 1.0, -1.2, 0.01, ulps=0.0) == math.inf


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
def test_a_billion_users(bound):
    eps = np.array([0, 1e-5, 1e-3, 0.3, 3.999])
    got = bound(eps, n=10**9, k=2, eps0=4.0)
    assert np.all(np.isfinite(got))
    assert np.all(np.diff(got) < 0)
    assert got[-1] < -1e6
    # At eps = 0 it is the total variation distance, which falls like 1 / sqrt(n).
    assert got[0] - bound(0, n=10**7, k=2, eps0=4.0) == pytest.approx(-1, abs=1e-4)


def test_the_strong_adversary_may_have_an_infinite_loss():
    """With the probability that no other user's uniform report is x1; it is delta at any large eps."""
    n, k, eps0 = 40, 4, 1.0
    nobody_hides = (1 - 1 / (np.exp(eps0) + k - 1)) ** (n - 1)
    for eps in (40.0, 1e308):
        found = 10 ** koskela_strong(eps, n=n, k=k, eps0=eps0)
        assert found == pytest.approx(nobody_hides, rel=2e-6)
