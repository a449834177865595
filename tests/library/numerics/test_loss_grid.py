"""Loss distributions on a grid, against every outcome in many digits: dominating pairs, their products."""

import itertools
import math
from collections import defaultdict
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


def grid(masses, spacing=0.25, ln_infinite=-INF):
    """The `LossGrid` with the probability ``masses[i]`` of the loss i * ``spacing``.

    ``ln_infinite`` is the natural log of the probability of an infinite loss.
    """
    return grid_from_masses(masses, spacing)._replace(log_infinite=ln_infinite)


def exact_delta(eps, rounds):
    """delta of all rounds together in mpmath, outcome by outcome, with the masses that the grids have.

    ``rounds`` has pairs (`LossGrid`, how often). A grid has the natural logs of its probabilities:
    ``log_mass`` of the losses with the indices ``first``, ``first`` + 1, ..., and ``log_infinite`` of an
    infinite loss. The loss of index i is i times the spacing. delta is the mean of (1 - e^(eps - loss))_+,
    which is 1 for an infinite loss.
    """
    mass_of_index = {0: mp.mpf(1)}  # of the sum of the indices of all rounds so far
    all_finite = mp.mpf(1)  # the probability of no infinite loss
    for of_round, times in rounds:
        indices = range(of_round.first, of_round.first + of_round.log_mass.size)
        logs = of_round.log_mass.tolist()
        masses = [(i, mp.exp(mp.mpf(log))) for i, log in zip(indices, logs, strict=True)]
        infinite = mp.exp(mp.mpf(of_round.log_infinite))
        for _ in range(times):
            longer = defaultdict(mp.mpf)
            for (i, mass), (j, weight) in itertools.product(mass_of_index.items(), masses):
                if weight:
                    longer[i + j] += mass * weight
            mass_of_index, all_finite = longer, all_finite * (1 - infinite)

    spacing = mp.mpf(rounds[0][0].spacing)
    finite = [
        mass * max(-mp.expm1(mp.mpf(eps) - i * spacing), 0) for i, mass in mass_of_index.items()
    ]
    return mp.fsum(finite) + 1 - all_finite


SYMMETRIC = {-4: 0.05 * math.exp(-1), 0: 1 - 0.05 - 0.05 * math.exp(-1), 4: 0.05}
# A rare loss of 10 is far below what the transform of 6 such rounds rounds.
RARE_LARGE_LOSS = [(grid({-40: 1e-9, 0: 1 - 2e-9, 40: 1e-9}), 6)]
ROUNDS = [
    [(grid({-4: 0.2, 0: 0.5, 4: 0.3}), 3)],
    [(grid({-8: 0.1, 1: 0.5, 2: 0.39}, ln_infinite=math.log(0.01)), 2)],
    [(grid(SYMMETRIC), 5), (grid({-1: 0.45, 1: 0.55}), 4)],
    RARE_LARGE_LOSS,
    [(grid({-1: 0.5, 1: 0.5}, ln_infinite=-400.0), 30)],  # far below the rounding of 1
    [(grid({0: 1 - 1e-12}, ln_infinite=math.log(1e-12)), 7), (grid({-2: 0.4, 3: 0.6}), 2)],
]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_composed_rounds_against_every_outcome(rounds):
    """The bounds of `ln_delta` enclose ln delta of all rounds, by mpmath over every outcome (`exact_delta`).

    ``rounds`` has pairs (`LossGrid`, how often). At eps = largest, the sum of the largest finite losses,
    delta is the probability of an infinite loss. This may be about e^-400, so mpmath has 400 digits. Below
    0.95 of the largest, both bounds are within 1e-6 in ln delta, but for `RARE_LARGE_LOSS`: its large losses
    are so rare that the rounding of the Fourier transform hides them.
    """
    largest = sum(times * of_round.losses[-1] for of_round, times in rounds)
    next_to_largest = [0.9 * largest, largest - 1e-6, largest, largest + 1]
    all_eps = np.array([0.0, 0.01, 0.3, 0.9, 0.5 * largest, *next_to_largest])
    above = ln_delta(all_eps, rounds, side=Side.UPPER)
    below = ln_delta(all_eps, rounds, side=Side.LOWER)
    with mp.workdps(400):
        for eps, high, low in zip(all_eps, above, below, strict=True):
            delta = exact_delta(float(eps), rounds)
            exact = mp.log(delta) if delta > 0 else -INF
            assert low <= exact <= high, eps
            # Near the largest loss the sums cancel.
            if delta > 0 and eps < 0.95 * largest and rounds is not RARE_LARGE_LOSS:
                assert high - low < 1e-6, eps


def test_a_tilt_reaches_any_depth():
    """ln delta of 30 rounds of a rare loss is within 1e-6 of mpmath's where delta falls from 1e-9 to 1e-270.

    A loss is 1 or -1 with probability 1e-9 each, else 0: the indices 4, -4 and 0 of `grid`, whose spacing is
    1/4. eps is up to 29.5, where all 30 losses have to be 1. `exact_delta` is mpmath's delta.
    """
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
    """`convolve` has the masses of a sum where the sum nearly always is; at most WRAPPED = 1e-18 is outside.

    ``parts`` are random masses of indices 0, 1, ... and how many summands have each. The exact masses are
    convolved one summand at a time. ``first`` is the index of the first mass that is returned, and ``noise``
    bounds the norm of all errors. To bound the range of the sum, neighbouring indices are put into about
    ``bins`` bins; few have to do, too.
    """
    monkeypatch.setattr(loss_grid, "BINS", bins)
    rng = np.random.default_rng(3)
    parts = [(rng.dirichlet(np.full(40, 0.2)), 9), (rng.dirichlet(np.full(5, 1.0)), 70)]
    first, composed, noise = loss_grid.convolve(parts)
    exact = np.ones(1)
    for masses, times in parts:
        for _ in range(times):
            exact = np.convolve(exact, masses)
    inside = exact[first : first + composed.size].copy()
    assert np.linalg.norm(composed[: inside.size] - inside) <= noise < 1e-12

    exact[first : first + composed.size] = 0  # what is outside is left
    assert exact.sum() <= loss_grid.WRAPPED


@pytest.mark.parametrize("times", [1, 100, 10_000, 200_000])
def test_a_sum_of_many_losses_is_as_long_as_its_deviation_is_wide(times):
    """`convolve` returns the masses of a sum of ``times`` losses up to 10 standard deviations from the mean.

    A loss has index 0 or 22, each with probability 1/2. Of few losses all possible sums are returned.
    """
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
    rounds = [(grid({0: 1.0}, ln_infinite=log_infinite), times)]
    with mp.workdps(1000):
        exact = mp.log(1 - (1 - mp.exp(mp.mpf(log_infinite))) ** times)
        assert ln_delta(1e9, rounds, side=Side.UPPER) >= exact - mp.mpf(10) ** -12
        below = ln_delta(1e9, rounds, side=Side.LOWER)
        assert exact - 2e-9 <= below <= exact + mp.mpf(10) ** -12


def test_masses_above_one_multiply():
    """Masses of one round that were rounded up make an infinite loss of another one likelier."""
    heavy = grid({0: 1.5})
    rounds = [(heavy, 2), (grid({0: 0.5}, ln_infinite=math.log(0.5)), 1)]
    assert ln_delta(5.0, rounds, side=Side.UPPER) >= min(math.log(1.5**2 * 0.5), 0.0)


def test_no_finite_loss():
    empty = LossGrid(0, 0.25, np.array([-INF]), math.log(0.3))
    assert ln_delta(0.0, [(empty, 1)], side=Side.UPPER) == pytest.approx(math.log(0.3), abs=1e-8)


def delta_of_pair(pair, eps):
    """delta of a pair [(P, Q), ...] of fractions at eps, in the worse direction, in mpmath."""
    exact = [tuple(mp.mpf(one.numerator) / one.denominator for one in outcome) for outcome in pair]
    e_eps = mp.exp(mp.mpf(eps))
    return max(
        mp.fsum(max(p - e_eps * q, 0) for p, q in exact),
        mp.fsum(max(q - e_eps * p, 0) for p, q in exact),
    )


THREE_LOSSES = [(50, 20), (20, 50), (30, 30)]  # percent
TWO_LOSSES = [(75, 25), (25, 75)]
INFINITE_LOSS = [(1, 0), (99, 100)]
NOT_ITS_MIRROR_IMAGE = [(70, 10), (30, 90)]
PAIRS = [
    [(Fraction(p, 100), Fraction(q, 100)) for p, q in percent]
    for percent in (THREE_LOSSES, TWO_LOSSES, INFINITE_LOSS, NOT_ITS_MIRROR_IMAGE)
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("spacing", "points"), [(0.1, 40), (0.4, 12), (0.03, 5)])
def test_connected_points_dominate_the_pair_and_its_mirror_image(pair, spacing, points):
    """`dominating_grid` makes a grid from ln delta of a pair (P, Q). Its delta is nowhere below the pair's.

    ln delta is given at the eps ``index`` * ``spacing``, with about ``points`` whole numbers from 0 to 3
    ``points`` as index. delta is compared between these eps and beyond them, and for two rounds. A pair is a
    list of outcomes with their probabilities (p, q). `delta_of_pair` is the larger one of delta of P against
    Q and of Q against P, in mpmath. `ln_delta` takes rounds (grid, how often). ``log_mass`` and
    ``log_infinite`` are the logs of a grid's probabilities.
    """
    index = np.unique(np.rint(np.linspace(0, 3 * points, points)).astype(int))
    tiny = mp.mpf(10) ** -60  # so that delta 0 has a logarithm
    with mp.workdps(30):
        ln_deltas = [mp.log(delta_of_pair(pair, i * spacing) + tiny) for i in index.tolist()]
        dominating = dominating_grid(index, spacing, np.array(ln_deltas, float))
        mass = math.exp(dominating.log_infinite) + np.exp(dominating.log_mass).sum()
        assert mass >= 1 - 1e-12
        for eps in np.linspace(0, 3 * points * spacing * 1.2, 37):
            bound = mp.exp(ln_delta(eps, [(dominating, 1)], side=Side.UPPER))
            assert bound >= delta_of_pair(pair, float(eps))

        twice = [(p * r, q * s) for (p, q), (r, s) in itertools.product(pair, pair)]
        for eps in np.linspace(0, 2, 9):
            bound = mp.exp(ln_delta(eps, [(dominating, 2)], side=Side.UPPER))
            assert bound >= delta_of_pair(twice, float(eps))


def test_connected_points_are_met():
    """`dominating_grid` has just the delta that it was given, at its points, if that is convex in e^eps.

    It was given ln delta of the pair ``PAIRS[0]`` by mpmath, up to eps = 0.9. The losses of this pair are -ln
    2.5, 0 and ln 2.5. The finite losses of the grid are -0.9, 0 and 0.9.
    """
    index, spacing = np.arange(19), 0.05
    with mp.workdps(30):
        ln_deltas = [float(mp.log(delta_of_pair(PAIRS[0], i * spacing))) for i in range(19)]
    dominating = dominating_grid(index, spacing, np.array(ln_deltas))
    found = ln_delta(spacing * index[1:], [(dominating, 1)], Side.UPPER)
    np.testing.assert_allclose(found, ln_deltas[1:], atol=1e-6)

    # P and Q may be swapped: each loss is e^loss times as likely as the loss with the other sign.
    ln_mass, ln_mass_of_opposite = dominating.log_mass, dominating.log_mass[::-1]
    occurs = np.isfinite(ln_mass) & np.isfinite(ln_mass_of_opposite)
    assert occurs.sum() == 3
    ratios = ln_mass[occurs] - ln_mass_of_opposite[occurs]
    np.testing.assert_allclose(ratios, dominating.losses[occurs], atol=1e-9)


def test_masses_are_rounded_up():
    """`dominating_grid` rounds masses up: those of finite losses by less than 1e-10 in their natural logs.

    delta is given at five eps, ``index`` * ``spacing``, and linear in e^eps between them. Where its slope
    jumps, at some eps, the jump is the mass of the loss -eps, and e^eps times the jump that of the loss eps.
    What is left of delta at the last eps is the mass of an infinite loss. The exact masses have 40 digits.
    """
    index, spacing = np.array([0, 1, 3, 4, 7]), 0.3
    ln_deltas = np.array([-1.1, -1.4, -3.5, -5.2, -14.0])
    dominating = dominating_grid(index, spacing, ln_deltas.copy())
    with mp.workdps(40):
        e_eps = [mp.exp(mp.mpf(float(i * spacing))) for i in index]
        deltas = [mp.exp(mp.mpf(log)) for log in ln_deltas.tolist()]
        # Slopes with the other sign: delta falls, and beyond the last point it is constant.
        falls = [before - after for before, after in itertools.pairwise(deltas)]
        slopes = [
            fall / (after - before)
            for fall, (before, after) in zip(falls, itertools.pairwise(e_eps), strict=True)
        ]
        jumps = [before - after for before, after in itertools.pairwise([*slopes, mp.mpf(0)])]
        assert min(jumps) > 0  # the points are convex: every one is a corner
        for i, jump, growth in zip(index[1:].tolist(), jumps, e_eps[1:], strict=True):
            for loss, exact in ((-i, jump), (i, jump * growth)):
                ln_mass = mp.mpf(float(dominating.log_mass[loss - dominating.first]))
                assert 0 <= ln_mass - mp.log(exact) < 1e-10
        assert dominating.log_infinite >= mp.log(deltas[-1])


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
