"""Loss distributions on a grid, against every outcome in many digits: dominating pairs, their products."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tightshuffle.numerics import loss_grid
from tightshuffle.numerics.loss_grid import LossGrid, dominating_grid, grid_from_masses
from tightshuffle.side import Side

INF = math.inf


def ln_delta(eps, rounds, side):
    """`loss_grid.ln_delta` at one eps or several."""
    found = loss_grid.ln_delta(np.atleast_1d(eps), rounds, side)
    return found if np.ndim(eps) else float(found[0])


def grid(masses, spacing=0.25, infinite=-INF):
    """The `LossGrid` with the masses {index: probability}; ``infinite``: ln of the probability of inf."""
    return grid_from_masses(masses, spacing)._replace(log_infinite=infinite)


def exact_delta(eps, rounds):
    """delta of the rounds' product in mpmath, outcome by outcome, the masses as they are in the grids."""
    finite = {0: mp.mpf(1)}
    survives = mp.mpf(1)
    for own, times in rounds:
        held = ((own.first + i, log) for i, log in enumerate(own.log_mass.tolist()) if log > -INF)
        masses = [(loss, mp.exp(mp.mpf(log))) for loss, log in held]
        infinite = mp.exp(mp.mpf(own.log_infinite)) if own.log_infinite > -INF else mp.mpf(0)
        for _ in range(times):
            after = {}
            for (loss, mass), (more, weight) in itertools.product(finite.items(), masses):
                after[loss + more] = after.get(loss + more, mp.mpf(0)) + mass * weight
            finite, survives = after, survives * (1 - infinite)
    spacing = mp.mpf(rounds[0][0].spacing)
    above = [mass * (1 - mp.exp(mp.mpf(eps) - loss * spacing)) for loss, mass in finite.items()]
    return mp.fsum(part for part in above if part > 0) + 1 - survives


SYMMETRIC = {-4: 0.05 * math.exp(-1), 0: 1 - 0.05 - 0.05 * math.exp(-1), 4: 0.05}
ROUNDS = [
    [(grid({-4: 0.2, 0: 0.5, 4: 0.3}), 3)],
    [(grid({-8: 0.1, 1: 0.5, 2: 0.39}, infinite=math.log(0.01)), 2)],
    [(grid(SYMMETRIC), 5), (grid({-1: 0.45, 1: 0.55}), 4)],
    [(grid({-40: 1e-9, 0: 1 - 2e-9, 40: 1e-9}), 6)],  # a rare large loss
    [(grid({-1: 0.5, 1: 0.5}, infinite=-400.0), 30)],  # an infinite loss below the smallest float
    [(grid({0: 1 - 1e-12}, infinite=math.log(1e-12)), 7), (grid({-2: 0.4, 3: 0.6}), 2)],
]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_composed_rounds_against_every_outcome(rounds):
    top = sum(times * own.losses[-1] for own, times in rounds)
    eps = np.array([0.0, 0.01, 0.3, 0.9, 0.5 * top, 0.9 * top, top - 1e-6, top, top + 1])
    with mp.workdps(400):
        exact = [exact_delta(float(e), rounds) for e in eps]
        above = ln_delta(eps, rounds, side=Side.UPPER)
        below = ln_delta(eps, rounds, side=Side.LOWER)
        for e, truth, high, low in zip(eps, exact, above, below, strict=True):
            ln = mp.log(truth) if truth > 0 else -INF
            assert low <= ln <= high, e
            # Near the largest loss the sums cancel. A rare loss is far below what the transform rounds.
            if ln > -INF and e < 0.95 * top and rounds is not ROUNDS[3]:
                assert high - low < 1e-6, e


def test_a_tilt_reaches_any_depth():
    """30 rounds of a rare loss: delta falls from 1e-9 to 1e-270, each with all its digits."""
    rounds = [(grid({-4: 1e-9, 0: 1 - 2e-9, 4: 1e-9}), 30)]
    eps = np.arange(0.5, 29.6, 1.0)
    with mp.workdps(400):
        exact = [float(mp.log(exact_delta(float(e), rounds))) for e in eps]
    assert exact[-1] < -600
    above = ln_delta(eps, rounds, side=Side.UPPER)
    assert np.all(above >= exact)
    np.testing.assert_allclose(above, exact, atol=1e-6, rtol=0)


@pytest.mark.parametrize("bins", [2**14, 7])
def test_nothing_that_wraps_around_is_lost(bins, monkeypatch):
    """The transform is cut to where the sum nearly always is; what is outside weighs at most WRAPPED."""
    monkeypatch.setattr(loss_grid, "BINS", bins)  # few bins: each counts where it weighs most
    rng = np.random.default_rng(3)
    parts = [(rng.dirichlet(np.full(40, 0.2)), 9), (rng.dirichlet(np.full(5, 1.0)), 70)]
    first, composed, noise = loss_grid.convolve(parts)
    whole = np.ones(1)
    for masses, times in parts:
        for _ in range(times):
            whole = np.convolve(whole, masses)
    inside = whole[first : first + composed.size].copy()
    assert np.linalg.norm(composed[: inside.size] - inside) <= noise < 1e-12
    whole[first : first + composed.size] = 0
    assert whole.sum() <= loss_grid.WRAPPED


@pytest.mark.parametrize("times", [1, 100, 10_000, 200_000])
def test_a_sum_of_many_losses_is_as_long_as_its_deviation_is_wide(times):
    probabilities = np.array([0.5, *[0.0] * 21, 0.5])
    deviation = 11 * math.sqrt(times)
    _, composed, _ = loss_grid.convolve([(probabilities, times)])
    # A normal variable is within 9 deviations but for 1e-18, Chernoff's best bound within 9.2.
    assert composed.size <= min(22 * times + 1, 20 * deviation)
    assert composed.sum() == pytest.approx(1, abs=1e-12)


def test_what_is_cut_off_is_added_back():
    """A mass of 1e-18 at each end of the tilted distribution is kept; one below _CUT_MASS is paid for."""
    for rare in (1e-17, 3e-21):
        rounds = [(grid({-400: rare, 0: 1 - 2 * rare, 400: rare}), 2)]
        with mp.workdps(40):
            for e in (0.0, 50.0, 99.0):
                truth = mp.log(exact_delta(e, rounds))
                assert ln_delta(e, rounds, side=Side.UPPER) >= truth
                assert ln_delta(e, rounds, side=Side.LOWER) <= truth


@pytest.mark.parametrize("log_infinite", [-1e-3, -5.0, -40.0, -500.0, -700.0, -2000.0])
@pytest.mark.parametrize("times", [1, 3, 1000])
def test_infinite_losses_add_up(log_infinite, times):
    """1 - (1 - p)^t, also where p is below the smallest float; and the others' masses above 1 count."""
    rounds = [(grid({0: 1.0}, infinite=log_infinite), times)]
    with mp.workdps(1000):
        exact = mp.log(1 - (1 - mp.exp(mp.mpf(log_infinite))) ** times)
        assert ln_delta(1e9, rounds, side=Side.UPPER) >= exact - mp.mpf(10) ** -12
        below = ln_delta(1e9, rounds, side=Side.LOWER)
        assert exact - 2e-9 <= below <= exact + mp.mpf(10) ** -12


def test_masses_above_one_multiply():
    """Masses of one round that were rounded up make an infinite loss of another one likelier."""
    heavy = grid({0: 1.5}, infinite=-INF)
    rounds = [(heavy, 2), (grid({0: 0.5}, infinite=math.log(0.5)), 1)]
    assert ln_delta(5.0, rounds, side=Side.UPPER) >= min(math.log(1.5**2 * 0.5), 0.0)


def test_no_finite_loss():
    empty = LossGrid(0, 0.25, np.array([-INF]), math.log(0.3))
    assert ln_delta(0.0, [(empty, 1)], side=Side.UPPER) == pytest.approx(math.log(0.3), abs=1e-8)


def of_pair(pair, eps):
    """delta of a finite pair [(P, Q), ...] of fractions at eps, both directions, in mpmath."""
    exact = [tuple(mp.mpf(one.numerator) / one.denominator for one in side) for side in pair]
    grown = mp.exp(mp.mpf(eps))
    return max(mp.fsum(max(o[i] - grown * o[1 - i], 0) for o in exact) for i in (0, 1))


PAIRS = [  # percent; the third has an infinite loss, the last is not its own mirror image
    *[
        [(50, 20), (20, 50), (30, 30)],
        [(75, 25), (25, 75)],
        [(1, 0), (99, 100)],
        [(70, 10), (30, 90)],
    ]
]
PAIRS = [[(Fraction(p, 100), Fraction(q, 100)) for p, q in pair] for pair in PAIRS]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("spacing", "points"), [(0.1, 40), (0.4, 12), (0.03, 5)])
def test_connected_points_dominate_the_pair_and_its_mirror_image(pair, spacing, points):
    """From delta at the points only: between them, below and beyond them, and composed with itself."""
    index = np.unique(np.rint(np.linspace(0, 3 * points, points)).astype(int))
    with mp.workdps(30):
        deltas = [of_pair(pair, i * spacing) + mp.mpf(10) ** -60 for i in index.tolist()]
        logs = np.array([float(mp.log(delta)) for delta in deltas])
        own = dominating_grid(index, spacing, logs.copy())
        assert math.exp(own.log_infinite) + np.exp(own.log_mass).sum() >= 1 - 1e-12
        for eps in np.linspace(0, 3 * points * spacing * 1.2, 37):
            assert mp.exp(ln_delta(eps, [(own, 1)], side=Side.UPPER)) >= of_pair(pair, float(eps))
        twice = [(p * r, q * s) for (p, q), (r, s) in itertools.product(pair, pair)]
        for eps in np.linspace(0, 2, 9):
            assert mp.exp(ln_delta(eps, [(own, 2)], side=Side.UPPER)) >= of_pair(twice, float(eps))


def test_connected_points_are_met():
    """At the points, the pair has the delta that it was given, if that is convex in e^eps: no more."""
    index = np.arange(19)
    with mp.workdps(30):
        logs = np.array([float(mp.log(of_pair(PAIRS[0], i * 0.05))) for i in range(19)])
    own = dominating_grid(index, 0.05, logs.copy())
    np.testing.assert_allclose(
        ln_delta(0.05 * index[1:], [(own, 1)], Side.UPPER), logs[1:], atol=1e-6
    )
    # Its own mirror image: a loss is e^loss times as likely as the opposite one.
    held = np.isfinite(own.log_mass) & np.isfinite(own.log_mass[::-1])
    assert held.sum() == 3
    ratios = own.log_mass[held] - own.log_mass[::-1][held]
    np.testing.assert_allclose(ratios, own.losses[held], atol=1e-9)


def test_masses_are_rounded_up():
    """Each jump of the slope in e^eps, in 40 digits, is no more than the mass that it gives."""
    index, spacing = np.array([0, 1, 3, 4, 7]), 0.3
    logs = np.array([-1.1, -1.4, -3.5, -5.2, -14.0])
    own = dominating_grid(index, spacing, logs.copy())
    with mp.workdps(40):
        grown = [mp.exp(mp.mpf(float(i * spacing))) for i in index]
        deltas = [mp.exp(mp.mpf(log)) for log in logs.tolist()]
        ends = zip(itertools.pairwise(deltas), itertools.pairwise(grown), strict=True)
        steep = [(a - b) / (y - x) for (a, b), (x, y) in ends]
        jumps = [a - b for a, b in itertools.pairwise([*steep, mp.mpf(0)])]
        assert min(jumps) > 0  # the points are convex: every one is a corner
        for i, jump, grow in zip(index[1:].tolist(), jumps, grown[1:], strict=True):
            for place, exact in ((-i, jump), (i, jump * grow)):
                mass = mp.mpf(float(own.log_mass[place - own.first]))
                assert 0 <= mass - mp.log(exact) < 1e-10
        assert own.log_infinite >= mp.log(deltas[-1])


def test_the_delta_at_zero_is_no_more_than_the_other_points_allow():
    """(eps, delta) bounds the total variation distance by (e^eps - 1 + 2 delta) / (e^eps + 1)."""
    own = dominating_grid(np.array([0, 10, 20]), 0.1, np.log([0.9, 1e-9, 1e-12]))
    allowed = (math.e - 1 + 2e-9) / (math.e + 1)
    assert ln_delta(0.0, [(own, 1)], Side.UPPER) == pytest.approx(math.log(allowed), abs=1e-6)


def test_deltas_far_below_the_smallest_float():
    """Slopes are logarithms: a curve from e^-10 to e^-5000 keeps its shape."""
    index = np.arange(101)
    logs = -10 - 0.499 * index**2.0
    back = ln_delta(0.2 * index[1:100], [(dominating_grid(index, 0.2, logs.copy()), 1)], Side.UPPER)
    assert np.all(back >= logs[1:100])
    # Deeper, one tilt serves less well.
    np.testing.assert_allclose(back[:30], logs[1:31], atol=1e-5)


def test_a_jump_to_zero():
    """A last point with delta 0 leaves no infinite loss."""
    own = dominating_grid(np.arange(3), 0.5, np.array([math.log(0.3), math.log(0.1), -INF]))
    assert ln_delta(1.0, [(own, 1)], Side.UPPER) == own.log_infinite == -INF


def test_a_curve_that_rises_by_rounding_is_lowered():
    """delta falls with eps: of two points, the smaller one holds from the first on."""
    wavy = dominating_grid(np.arange(4), 0.5, np.log([0.2, 0.1, 0.1 * (1 + 1e-12), 0.05]))
    flat = dominating_grid(np.arange(4), 0.5, np.log([0.2, 0.1, 0.1, 0.05]))
    np.testing.assert_allclose(wavy.log_mass, flat.log_mass, atol=1e-9)
