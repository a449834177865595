"""The pairs of the clones and of the strong adversary: their definition in 50 digits, and very many users."""

import math

import mpmath as mp
import numpy as np
import pytest

from tests.library.at_points import at_points
from tests.library.bounds import dominating
from tightshuffle.literature import clones as module
from tightshuffle.literature import koskela

clones, stronger_clones = at_points(module.clones), at_points(module.stronger_clones)
koskela_strong = at_points(koskela.koskela_strong)

BOUNDS = {clones: "clones", stronger_clones: "stronger-clones", koskela_strong: "strong"}


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(
    ("n", "eps0"), [(1, 0.5), (2, 1.0), (3, 4.0), (12, 0.3), (60, 2.0), (100, 0.5)]
)
def test_against_the_definition_in_both_directions(bound, n, eps0):
    probabilities = dominating.PAIRS[BOUNDS[bound]](n, 7, eps0).values()
    for share in (0, 0.01, 0.2, 0.6, 0.95, 0.9999):
        wanted, reverse = (
            dominating.hockey_stick(share * eps0, probabilities, side) for side in (1, -1)
        )
        assert mp.almosteq(wanted, reverse, rel_eps=mp.mpf("1e-40"))
        got = bound(share * eps0, n=n, k=7, eps0=eps0)
        assert -1e-13 <= got - float(mp.log10(wanted)) <= 5e-7


@pytest.mark.parametrize(("n", "c"), [(50, 0.3), (3000, 0.02), (10**7, 2e-5)])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.6])
def test_sums_of_binomial_tails_against_thirty_digits(n, c, share):
    """E[(G_1 + ... + G_n)_+], over the number of messages that are not 0, with the gain 1."""
    fall = 1 + share
    with mp.workdps(30):
        mean, exact = n * c, mp.mpf(0)
        for m in range(
            max(1, int(mean - 12 * mean**0.5)), min(n, int(mean + 12 * mean**0.5) + 40) + 1
        ):
            least = math.floor(m * fall / (1 + fall)) + 1
            up, down = (
                mp.betainc(j, m - j, 0, 0.5, regularized=True) if 0 < j < m else int(j <= 0)
                for j in (least - 1, least)
            )
            chance = mp.binomial(n, m) * mp.mpf(c) ** m * (1 - mp.mpf(c)) ** (n - m)
            exact += chance * m / 2 * (up - mp.mpf(fall) * down)
        got = module.ln_positive_part_by_tails(n, 1.0, -fall, c / 2, 0.0)
        assert 0 <= got - float(mp.log(exact)) <= 5e-7


def test_a_long_sum_of_tails_and_one_that_leaves_out_too_much_are_left_to_the_engine(monkeypatch):
    usual = (3000, 1.0, -1.2, 0.01, 0.0)
    assert module.ln_positive_part_by_tails(*usual) < math.inf
    assert module.ln_positive_part_by_tails(10**9, 1.0, -1.2, 0.01, 0.0) == math.inf
    assert (
        module.ln_positive_part_by_tails(10**5, 1.0, -1e9, 0.2, 0.0) == math.inf
    )  # below the smallest float
    for name in ("DEPTH_BELOW", "DEPTH_ABOVE"):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 1.0)
            assert module.ln_positive_part_by_tails(*usual) == math.inf


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_billion_users(bound):
    eps = np.array([0, 1e-5, 1e-3, 0.3, 3.999])
    got = bound(eps, n=10**9, k=2, eps0=4.0)
    assert np.all(np.isfinite(got))
    assert np.all(np.diff(got) < 0)
    assert got[-1] < -1e6
    # At eps = 0 it is the total variation distance, which falls like 1 / sqrt(n).
    assert got[0] - bound(0, n=10**7, k=2, eps0=4.0) == pytest.approx(-1, abs=1e-4)


def test_the_strong_adversary_may_have_an_infinite_loss():
    """With the probability that no other user's uniform report is x1."""
    n, k, eps0 = 40, 4, 1.0
    alone = (1 - 1 / (np.exp(eps0) + k - 1)) ** (n - 1)
    for eps in (40.0, 1e308):
        assert 10 ** koskela_strong(eps, n=n, k=k, eps0=eps0) == pytest.approx(alone, rel=2e-6)
