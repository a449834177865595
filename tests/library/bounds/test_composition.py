"""Composition: against pairs written out, against dp-accounting, and its properties."""

import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from tests.library.bounds import dominating
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import composition, dominating_pairs
from tightshuffle.bounds.composition import (
    ESTIMATES,
    balle_analytic,
    composed,
    composed_epsilon,
    eps0_of_blanket,
    koskela_strong,
)
from tightshuffle.bounds.histogram import upper
from tightshuffle.literature.clones import clones, stronger_clones
from tightshuffle.numerics import loss_grid

PAIRS = dominating_pairs.PAIRS
EPS0_1A = eps0_of_blanket(0.25, 4)


def interval(eps, pair, **setting):
    """delta of the optimistic and the pessimistic estimate."""
    low, high = (composed(eps, pair, estimate=estimate, **setting) for estimate in ESTIMATES[::-1])
    return 10**low, 10**high


# One round ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("n", "k", "eps0"), [(1, 3, 1.0), (2, 2, 0.3), (12, 4, 2.5), (30, 10, 1.0)])
def test_one_round_is_the_pair_written_out(pair, n, k, eps0):
    pairs = dominating.PAIRS[pair](n, k, eps0).values()
    for eps in (0.0, 0.2 * eps0, 0.9 * eps0):
        expected = float(dominating.hockey_stick(eps, pairs))
        assert expected == pytest.approx(float(dominating.hockey_stick(eps, pairs, -1)), rel=1e-14)
        low, high = interval(eps, pair, n=n, k=k, eps0=eps0)
        assert low <= expected <= high
        assert high == pytest.approx(expected, rel=2.1e-9)  # twice the error that the estimates allow for
        assert low == pytest.approx(expected, rel=2.1e-9)


def test_one_round_far_below_the_smallest_float():
    n, eps0, eps = 8000, 2.0, 4.0
    with mp.workdps(40):
        e, probability, tail = mp.exp(eps), 2 / (mp.exp(mp.mpf(eps0)) + 3), mp.mpf(0)
        outer = (1 - probability) ** (n - 1)
        for c in range(1500):  # far more clones weigh nothing
            first = max(1, math.ceil((c + 1) * e / (1 + e)))
            ways = mp.mpf(math.comb(c, first - 1))
            for n1 in range(first, min(c + 1, first + 40) + 1):
                more = ways * (c - n1 + 1) / n1  # C(c, n1) from C(c, n1 - 1)
                tail += outer * (ways - e * more) / mp.mpf(2) ** c
                ways = more
            outer *= probability / (1 - probability) * (n - 1 - c) / (c + 1)
        expected = float(mp.log10(tail))
    assert expected < -308
    for estimate in ESTIMATES:
        assert koskela_strong(eps, n=n, k=4, eps0=eps0, estimate=estimate) == pytest.approx(
            expected, abs=1e-8
        )
    deep = koskela_strong(3.0, n=10**5, k=4, eps0=EPS0_1A)
    assert -5000 < deep < -1000
    assert koskela_strong(3.0, n=10**5, k=4, eps0=EPS0_1A, estimate="optimistic") == pytest.approx(
        deep, abs=1e-8
    )


@pytest.mark.slow
def test_one_round_agrees_with_the_other_modules():
    for n, k, eps0, most in ((100, 10, 0.5, 0.5), (1000, 15, 4.0, 0.3), (10**5, 408, 4.0, 0.03)):
        for relative in (0.02, most):
            setting = {"n": n, "k": k, "eps0": eps0}
            eps = relative * eps0
            low, high = (composed(eps, estimate=estimate, **setting) for estimate in ESTIMATES[::-1])
            other = upper(eps, **setting)  # at most 1e-3 above the pair's delta, by blocks of B, as ours is
            assert low <= other
            assert other == pytest.approx(high, abs=6e-4)
            # `clones` is rounded up, by 1e-6 of delta at most; the convolution's own error is below 2e-9.
            for rounds, one in (
                (composed(eps, "clones", **setting), clones(eps, **setting)),
                (composed(eps, "stronger-clones", **setting), stronger_clones(eps, **setting)),
            ):
                assert rounds - 2e-9 <= one <= rounds + math.log10(1 + 1e-6) + 2e-9


# Several rounds -------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("n", "k", "eps0", "compositions"), [(1, 3, 1.0, 3), (4, 3, 1.5, 3), (6, 4, 0.4, 2)])
def test_interval_holds_the_rounds_multiplied_out(pair, n, k, eps0, compositions):
    pairs = dominating.compose(dominating.PAIRS[pair](n, k, eps0), compositions)
    for eps in (0.0, 0.3 * eps0, 1.1 * eps0, 1.9 * eps0):
        expected = float(dominating.hockey_stick(eps, pairs))
        low, high = interval(eps, pair, n=n, k=k, eps0=eps0, compositions=compositions)
        assert low <= expected <= high
        # Few outcomes: the optimistic estimate is off by about the spacing, in every round.
        assert high - low <= compositions * (eps0 + 1) / 512


@pytest.mark.parametrize("pair", ["strong", "weak", "stronger-clones"])
def test_dp_accounting_gives_the_same_within_its_spacing(pair):
    n, k, eps0, compositions, spacing = 25, 4, 1.0, 4, 2e-4
    distributions = dominating.PAIRS[pair](n, k, eps0)
    p, q = ({o: float(mp.log(c[i])) for o, c in distributions.items() if c[i]} for i in (0, 1))
    for estimate in ESTIMATES:
        theirs = pld.from_two_probability_mass_functions(
            q, p, estimate == "pessimistic", spacing, symmetric=False
        ).self_compose(compositions, 0)
        eps = np.array([0.1, 0.5, 1.0])
        expected = np.log10([theirs.get_delta_for_epsilon(e) for e in eps])
        ours = composed(eps, pair, n=n, k=k, eps0=eps0, compositions=compositions, estimate=estimate)
        # They round every loss up (or down) by at most the spacing: delta is that of a shifted eps.
        shift = (-1 if estimate == "pessimistic" else 1) * compositions * spacing
        limit = composed(eps + shift, pair, n=n, k=k, eps0=eps0, compositions=compositions, estimate=estimate)
        low, high = np.minimum(ours, limit), np.maximum(ours, limit)
        assert np.all((low - 1e-3 <= expected) & (expected <= high + 1e-3))


@pytest.mark.parametrize(
    "pair", [pytest.param(pair, marks=pytest.mark.slow if pair == "weak" else ()) for pair in PAIRS]
)
def test_estimates_are_ordered_close_and_fall_with_eps(pair):
    eps = np.linspace(0, 2.4, 25)
    setting = {"n": 1000, "k": 4, "eps0": EPS0_1A, "compositions": 4}
    low, high = (composed(eps, pair, estimate=estimate, **setting) for estimate in ESTIMATES[::-1])
    assert np.all(low <= high)
    assert np.all(high <= 0)
    assert np.max(high - low) < 2e-3
    assert np.all(np.diff(high) < 0)
    assert np.all(np.diff(low) < 0)
    coarse_high = composed(eps, pair, spacing=2e-2, **setting)
    coarse_low = composed(eps, pair, spacing=2e-2, estimate="optimistic", **setting)
    assert np.all(coarse_low <= high)
    assert np.all(low <= coarse_high)
    assert np.max(coarse_high - coarse_low) > np.max(high - low)


def test_order_of_the_pairs_and_of_the_rounds():
    eps = np.array([0.05, 0.3, 0.8])
    setting = {"n": 200, "k": 4, "eps0": EPS0_1A}
    before = {pair: np.full(3, -np.inf) for pair in PAIRS}
    for compositions in (1, 2, 5):
        now = {pair: composed(eps, pair, compositions=compositions, **setting) for pair in PAIRS}
        assert np.all(now["strong"] >= now["weak"])
        assert np.all(now["clones"] >= now["stronger-clones"])
        assert np.all(now["stronger-clones"] >= now["weak"])
        assert all(np.all(now[pair] > before[pair]) for pair in PAIRS)
        before = now


def test_rounds_far_below_what_a_fourier_transform_can_see():
    # At least: the event that both rounds have a loss of at least eps / 2 + 0.02. At most: Chernoff's bound
    # at any tilt. A sandwich that shares nothing with the convolution.
    n, k, eps0, eps = 400, 4, 2.0, 3.0
    rows = dominating_pairs.rows("stronger-clones", n, k, eps0, depth=900, blocks=n, round_up=True)
    parts = list(dominating_pairs.outcomes(rows, 900))
    loss, log_mass = (np.concatenate(column) for column in zip(*parts, strict=True))
    grid = np.arange(0.0, 60.0, 0.5)
    chernoff = min(2 * np.logaddexp.reduce(log_mass + t * loss) - t * eps for t in grid) / math.log(10)
    tail = np.logaddexp.reduce(log_mass[loss >= eps / 2 + 0.02])
    event = (2 * tail + math.log(-math.expm1(-0.04))) / math.log(10)
    setting = {"n": n, "k": k, "eps0": eps0, "compositions": 2}
    low, high = (composed(eps, "stronger-clones", estimate=e, **setting) for e in ESTIMATES[::-1])
    assert chernoff < -22
    assert event < low <= high < chernoff
    assert high - low < 1e-3


@pytest.mark.slow
def test_large_problems():
    low, high = interval(0.1, "weak", n=10**5, k=408, eps0=4, compositions=8)
    assert low <= high <= 1.02 * low
    low, high = interval(0.02, "strong", n=10**6, k=408, eps0=4, compositions=8)
    assert low <= high <= 1.02 * low
    with pytest.raises(ValueError, match=r"^n must be smaller .*weak pair"):
        composed(0.3, n=10**9, k=4, eps0=1, compositions=2)


@pytest.mark.slow
def test_one_round_of_a_billion_users_is_as_deep_as_the_histograms_bound():
    setting = {"n": 10**9, "k": 408, "eps0": 4.0}
    deep = upper(0.003, **setting)
    assert -400 < deep < -100
    assert composed(0.003, **setting) == deep
    assert composed(0.003, estimate="optimistic", **setting) <= deep


def test_no_delta_beyond_the_local_budget():
    assert composed(2.0, n=50, k=4, eps0=1, compositions=2) == -np.inf
    assert composed([0.9999999, 1.0], "clones", n=50, k=4, eps0=1)[1] == -np.inf
    assert koskela_strong(2.0, n=50, k=4, eps0=1, compositions=2) > -np.inf
    assert koskela_strong(5.0, n=1, k=4, eps0=1, compositions=3) == 0  # nobody to hide among


def test_shapes_and_inverse():
    eps = np.array([[0.2], [0.4]])
    table = composed(eps, "clones", n=500, k=4, eps0=1.5, compositions=[1, 2, 3])
    assert table.shape == (2, 3)
    alone = composed(0.4, "clones", n=500, k=4, eps0=1.5, compositions=3)
    assert table[1, 2] == pytest.approx(alone, abs=1e-11)
    assert composed_epsilon(0.9, "weak", n=500, k=4, eps0=0.2) == 0
    assert np.isnan(composed_epsilon(1e-9, "strong", n=2, k=4, eps0=1.0))  # infinite losses weigh more


# The pieces -----------------------------------------------------------------------------------


@mp.workdps(50)
def only_the_largest_loss(eps, pair, n, k, eps0, rounds):
    """log10 delta where no loss but ``rounds`` times the largest, eps0, exceeds eps; None where others do."""
    bound = rounds * mp.mpf(eps0)
    losses = [(mp.log(p / q), p) for p, q in dominating.PAIRS[pair](n, k, mp.mpf(eps0)).values() if q]
    largest = [p for loss, p in losses if loss > eps0 * (1 - mp.mpf("1e-40"))]
    if max(loss for loss, _ in losses if loss < eps0 * (1 - mp.mpf("1e-40"))) + bound - eps0 >= eps:
        return None
    return mp.log10(sum(largest) ** rounds * -mp.expm1(eps - bound))


def test_estimates_hold_next_to_the_largest_loss():
    cases = [
        (79.999992, "weak", 3, 3, 20.0, 4),
        (41.999958, "clones", 2, 2, 14.0, 3),
        (79.999992, "clones", 2, 4, 20.0, 4),
        (39.99996, "clones", 2, 3, 20.0, 2),
        (0.00099999999999999, "weak", 1, 4, 0.001, 1),
        (3.99999999999996, "weak", 1, 7, 4.0, 1),
        (0.001 * (1 - 1e-9), "weak", 3, 7, 0.001, 1),
        (1.998, "weak", 5, 2, 1.0, 2),
    ]
    rng = np.random.default_rng(25)
    for _ in range(60):
        pair = ("weak", "clones", "stronger-clones")[rng.integers(3)]
        n, k, rounds = int(rng.integers(1, 5)), int(rng.integers(2, 8)), int(rng.choice([1, 1, 2, 3, 4]))
        eps0 = float(rng.choice([0.001, 0.1, 1, 4, 14, 20]))
        cases.append((rounds * eps0 * (1 - 10 ** -rng.uniform(3, 14)), pair, n, k, eps0, rounds))
    compared = 0
    for eps, pair, n, k, eps0, rounds in cases:
        setting = {"n": n, "k": k, "eps0": eps0, "compositions": rounds}
        truth = only_the_largest_loss(eps, pair, n, k, eps0, rounds)
        if truth is None:
            continue
        compared += 1
        low, high = (composed(eps, pair, estimate=estimate, **setting) for estimate in ESTIMATES[::-1])
        assert low <= truth <= high, (eps, pair, setting)
        assert rounds > 1 or high - low < 1e-9, (eps, pair, setting)
    assert compared > 50


def test_estimates_keep_the_mass_and_move_the_mean_to_their_side():
    rng = np.random.default_rng(5)
    loss = np.sort(rng.normal(0.05, 0.3, 4000))
    log_mass = np.log(rng.dirichlet(1 + np.exp(rng.normal(0, 2, loss.size))))
    cells = loss_grid.gather([(loss[:900], log_mass[:900]), (loss[900:], log_mass[900:])], 0.003, 2.0)
    mean = np.exp(log_mass - loss).sum()
    for grid, sign in ((loss_grid.pessimistic(cells), 1), (loss_grid.optimistic(cells), -1)):
        masses = np.exp(grid.log_mass)
        assert masses.sum() == pytest.approx(1, abs=1e-12)
        inverse = masses @ np.exp(-grid.losses)
        assert inverse == pytest.approx(mean, abs=1e-12) if sign == 1 else inverse >= mean - 1e-12
        for eps in np.linspace(-0.8, 0.9, 18):
            exact = np.sum(np.exp(log_mass) * np.maximum(0, -np.expm1(eps - loss)))
            estimate = np.sum(masses * np.maximum(0, -np.expm1(eps - grid.losses)))
            assert sign * (estimate - exact) >= -1e-13


def test_a_row_less_never_counts_for_the_optimist():
    for pair in PAIRS:
        kept = dominating_pairs.rows(pair, 300, 5, 1.0, depth=6.0, blocks=8, round_up=False)
        mass = sum(np.exp(log_mass).sum() for _, log_mass in dominating_pairs.outcomes(kept, 6.0))
        assert mass < 1
        kept = dominating_pairs.rows(pair, 300, 5, 1.0, depth=6.0, blocks=8, round_up=True)
        mass = sum(np.exp(log_mass).sum() for _, log_mass in dominating_pairs.outcomes(kept, 6.0))
        assert mass + np.exp(kept.log_left_out) > 1


def test_shallow_depths_still_bound(monkeypatch):
    setting = {"n": 300, "k": 5, "eps0": 1.0, "compositions": 3}
    exact = {pair: interval(0.6, pair, **setting) for pair in ("weak", "stronger-clones")}
    monkeypatch.setattr(composition, "_DEPTH", 5.0)
    monkeypatch.setattr(composition, "_CLEAR", -100.0)  # be content with the first depth
    monkeypatch.setattr(composition, "_OUTCOMES", 2e3)  # and with few blocks
    for pair, (low, high) in exact.items():
        rough_low, rough_high = interval(0.6, pair, **setting)
        assert rough_low < low
        assert rough_high > high


def test_balle_analytic():
    setting = {"n": 1000, "k": 4, "eps0": EPS0_1A}
    eps = 0.8
    delta = 10 ** balle_analytic(eps, **setting)
    assert 14 * 4 * math.log(2 / delta) / (999 * eps**2) == pytest.approx(0.25, rel=1e-12)
    for outside, words in ((1.01, "eps <= 1"), (0.43, "gamma >= 27 k")):
        with pytest.warns(OutsideRange, match=words):
            assert np.isnan(balle_analytic(outside, **setting))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert balle_analytic([0.5, 1.0], **setting).max() <= 0
    assert np.all(balle_analytic([0.5, 1.0], **setting) > koskela_strong([0.5, 1.0], **setting))


def test_eps0_of_blanket():
    assert 4 / (math.exp(eps0_of_blanket(0.25, 4)) + 3) == pytest.approx(0.25, rel=1e-14)
