"""Loss distributions on a grid, against every outcome in many digits: dominating pairs, their products."""

import functools
import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tests.numerics.exact import convolved
from tightshuffle.numerics import loss_grid
from tightshuffle.numerics.loss_grid import (
    ComposedLosses,
    LossGrid,
    dominating_grid,
    grid_from_masses,
)
from tightshuffle.numerics.side import Side

INF = math.inf
SPACING = 0.25


def upper_ln_delta(eps, rounds):
    """ln of the upper bounds on delta at several ``eps``.

    ``rounds`` are pairs (`LossGrid` of a round, how many rounds have it).
    """
    return ComposedLosses(rounds, Side.UPPER).ln_delta(np.array(eps))


def lower_ln_delta(eps, rounds):
    """The same for the lower bounds."""
    return ComposedLosses(rounds, Side.LOWER).ln_delta(np.array(eps))


def grid(probabilities, ln_infinite=-INF):
    """The `LossGrid` with these ``probabilities`` {loss, a multiple of 1/4: its probability}.

    ``ln_infinite`` is the natural log of the probability of an infinite loss.
    """
    by_index = {round(loss / SPACING): p for loss, p in probabilities.items()}
    return grid_from_masses(by_index, SPACING)._replace(log_infinite=ln_infinite)


def exact_masses(grid):
    """{index of a finite loss: its probability} of a `LossGrid`, in mpmath. The loss is index * spacing."""
    masses = enumerate(grid.log_mass.tolist(), start=grid.first)
    return {index: mp.exp(mp.mpf(ln_mass)) for index, ln_mass in masses if ln_mass > -INF}


def exact_deltas(all_eps, rounds):
    """delta of all rounds together in mpmath: the mean of (1 - e^(eps - loss))_+ over the sum of all losses.

    There is one for each eps. ``rounds`` has pairs (`LossGrid` of a round, how many rounds have it). The mean
    counts an infinite loss 1.
    """
    every_round = [grid for grid, times in rounds for _ in range(times)]
    masses = functools.reduce(convolved, map(exact_masses, every_round))
    all_finite = mp.fprod(1 - mp.exp(mp.mpf(grid.log_infinite)) for grid in every_round)
    spacing = mp.mpf(every_round[0].spacing)
    for eps in all_eps:
        finite = [
            mass * -mp.expm1(eps - index * spacing)
            for index, mass in masses.items()
            if index * spacing > eps
        ]
        yield mp.fsum(finite) + 1 - all_finite


def exact_ln_delta(all_eps, rounds):
    """Natural logs of `exact_delta`, -inf for 0. It may be about e^-600, so mpmath has 400 digits."""
    with mp.workdps(400):
        deltas = list(exact_deltas([float(eps) for eps in all_eps], rounds))
        return np.array([mp.log(delta) if delta > 0 else -INF for delta in deltas])


# Lists of (the `LossGrid` of a round, how many rounds have it).
SYMMETRIC = {-1: 0.05 * math.exp(-1), 0: 1 - 0.05 - 0.05 * math.exp(-1), 1: 0.05}
ROUNDS = [
    [(grid({-1: 0.2, 0: 0.5, 1: 0.3}), 3)],
    [(grid({-2: 0.1, 0.25: 0.5, 0.5: 0.39}, ln_infinite=math.log(0.01)), 2)],
    [(grid(SYMMETRIC), 5), (grid({-0.25: 0.45, 0.25: 0.55}), 4)],
    [(grid({-0.25: 0.5, 0.25: 0.5}, ln_infinite=-400.0), 30)],  # far below the rounding of 1
    [(grid({0: 1 - 1e-12}, ln_infinite=math.log(1e-12)), 7), (grid({-0.5: 0.4, 0.75: 0.6}), 2)],
]


def rare_losses(loss, probability, times):
    """Rounds: each has the ``loss`` and its opposite with this probability, and else the loss 0."""
    return [(grid({-loss: probability, 0: 1 - 2 * probability, loss: probability}), times)]


ROUNDS_OF_RARE_LOSSES = [
    rare_losses(10, 1e-9, times=6),  # far below what the Fourier transform of the masses rounds
    # The ends of a distribution are cut off and added back.
    rare_losses(100, 1e-17, times=2),  # with a mass of 1e-18 at each end when tilted, which is kept
    rare_losses(100, 3e-21, times=2),  # with a smaller mass than `_CUT_MASS`
]


def largest_finite_loss(rounds):
    """The largest finite loss of all ``rounds`` together."""
    return sum(times * of_round.losses[-1] for of_round, times in rounds)


@pytest.mark.parametrize("rounds", ROUNDS + ROUNDS_OF_RARE_LOSSES)
def test_bounds_of_composed_rounds_enclose_delta_over_every_outcome(rounds):
    """At eps = ``largest``, the largest finite loss, delta is the probability of an infinite loss.

    `exact_ln_delta` is by mpmath.
    """
    largest = largest_finite_loss(rounds)
    near_largest = [0.9 * largest, largest - 1e-6, largest, largest + 1]
    eps = [0.0, 0.01, 0.3, 0.9, 0.5 * largest, *near_largest]
    exact = exact_ln_delta(eps, rounds)
    assert np.all(lower_ln_delta(eps, rounds) <= exact)
    assert np.all(exact <= upper_ln_delta(eps, rounds))


@pytest.mark.parametrize("rounds", ROUNDS)
def test_bounds_of_composed_rounds_are_close_below_the_largest_loss(rounds):
    """Near the largest loss they are not, as sums cancel there."""
    largest = largest_finite_loss(rounds)
    eps = [0.0, 0.01, 0.3, 0.9, 0.5 * largest, 0.9 * largest]
    assert np.all(upper_ln_delta(eps, rounds) - lower_ln_delta(eps, rounds) < 1e-6)


def test_upper_bound_is_tight_where_delta_falls_to_1e_minus_270():
    """All 30 losses have to be 1 for the largest eps. `exact_ln_delta` is by mpmath."""
    rounds = rare_losses(1, 1e-9, times=30)
    eps = np.arange(0.5, 29.6, 1.0)
    exact = exact_ln_delta(eps, rounds)
    assert exact[-1] < -600
    above = upper_ln_delta(eps, rounds)
    assert np.all(above >= exact)
    np.testing.assert_allclose(above, exact.astype(float), atol=1e-6, rtol=0)


@pytest.mark.parametrize("bins", [2**14, 7])
def test_convolve_returns_all_masses_of_a_sum_but_1e_minus_18(bins, monkeypatch):
    """``parts`` are random masses of the indices 0, 1, ... of summands, and how many summands have each.

    `convolve` returns the index of the first mass, masses, and a bound on the norm of their errors. The exact
    masses are convolved one summand at a time. To bound the range of the sum, neighbouring indices are put
    into about ``bins`` bins.
    """
    monkeypatch.setattr(loss_grid, "BINS", bins)
    rng = np.random.default_rng(3)
    parts = [(rng.dirichlet(np.full(40, 0.2)), 9), (rng.dirichlet(np.full(5, 1.0)), 70)]
    exact = functools.reduce(np.convolve, [masses for masses, times in parts for _ in range(times)])
    first, composed, noise = loss_grid.convolve(parts)
    before, inside, after = np.split(exact, [first, first + composed.size])
    assert np.linalg.norm(composed[: inside.size] - inside) <= noise < 1e-12
    assert before.sum() + after.sum() <= loss_grid.WRAPPED


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


@pytest.mark.parametrize("ln_infinite", [-1e-3, -5.0, -40.0, -500.0, -700.0, -2000.0])
@pytest.mark.parametrize("times", [1, 3, 1000])
def test_infinite_losses_add_up(ln_infinite, times):
    """delta far out is 1 - (1 - p)^times, also where the probability p of a round is below the least float.

    p is e^``ln_infinite``. The lower bound leaves out 1e-9 for rounding.
    """
    rounds = [(grid({0: 1.0}, ln_infinite), times)]
    with mp.workdps(1000):
        exact = mp.log(1 - (1 - mp.exp(mp.mpf(ln_infinite))) ** times)
        rounding = mp.mpf(10) ** -12
        assert upper_ln_delta([1e9], rounds) >= exact - rounding
        assert exact - 2e-9 <= lower_ln_delta([1e9], rounds) <= exact + rounding


def test_masses_above_one_multiply():
    """Masses of one round that were rounded up make an infinite loss of another one likelier."""
    rounds = [(grid({0: 1.5}), 2), (grid({0: 0.5}, ln_infinite=math.log(0.5)), 1)]
    assert upper_ln_delta([5.0], rounds) >= min(math.log(1.5**2 * 0.5), 0.0)


def test_delta_without_a_finite_loss_is_the_probability_of_an_infinite_one():
    empty = LossGrid(0, 0.25, np.array([-INF]), math.log(0.3))
    assert upper_ln_delta([0.0], [(empty, 1)]) == pytest.approx(math.log(0.3), abs=1e-8)


@mp.workdps(30)
def delta_of_pair(pair, eps):
    """delta of a pair [(P, Q) of each outcome] of fractions at eps, in the worse direction, in mpmath."""
    e_eps = mp.exp(mp.mpf(eps))
    forward = mp.fsum(max(p - e_eps * q, 0) for p, q in pair)
    reverse = mp.fsum(max(q - e_eps * p, 0) for p, q in pair)
    return max(forward, reverse)


def pair_of_percents(*percents):
    """The pair [(P, Q) of each outcome] as fractions."""
    return [(Fraction(p, 100), Fraction(q, 100)) for p, q in percents]


THREE_LOSSES = pair_of_percents((50, 20), (20, 50), (30, 30))
each_pair = pytest.mark.parametrize(
    "pair",
    [
        pytest.param(THREE_LOSSES, id="three losses"),
        pytest.param(pair_of_percents((75, 25), (25, 75)), id="two losses"),
        pytest.param(pair_of_percents((1, 0), (99, 100)), id="infinite loss"),
        pytest.param(pair_of_percents((70, 10), (30, 90)), id="not its mirror image"),
    ],
)
# The last eps is 3 * points * spacing.
each_grid = pytest.mark.parametrize(("spacing", "points"), [(0.1, 40), (0.4, 12), (0.03, 5)])


def grid_that_dominates(pair, spacing, points):
    """`dominating_grid` of the pair's ln delta at about so many eps: multiples of the spacing."""
    index = np.unique(np.rint(np.linspace(0, 3 * points, points)).astype(int))
    tiny = mp.mpf(10) ** -60  # so that delta 0 has a logarithm
    ln_deltas = [mp.log(delta_of_pair(pair, i * spacing) + tiny) for i in index.tolist()]
    return dominating_grid(index, spacing, np.array(ln_deltas, float))


@each_pair
@each_grid
def test_dominating_grid_has_all_of_the_probability(pair, spacing, points):
    """``log_mass`` and ``log_infinite`` are natural logs of the probabilities of the losses."""
    grid = grid_that_dominates(pair, spacing, points)
    assert math.exp(grid.log_infinite) + np.exp(grid.log_mass).sum() >= 1 - 1e-12


@each_pair
@each_grid
def test_dominating_grid_has_at_least_the_delta_of_the_pair_and_its_mirror_image(
    pair, spacing, points
):
    """Also between the eps that the grid was made from, and beyond them. `delta_of_pair` is by mpmath."""
    rounds = [(grid_that_dominates(pair, spacing, points), 1)]
    eps = np.linspace(0, 1.2 * 3 * points * spacing, 37)
    exact = [delta_of_pair(pair, one_eps) for one_eps in eps.tolist()]
    assert np.all(np.exp(upper_ln_delta(eps, rounds)) >= exact)


@each_pair
@each_grid
def test_dominating_grid_has_at_least_the_delta_of_two_rounds(pair, spacing, points):
    """`delta_of_pair` is by mpmath, from all pairs of outcomes."""
    rounds = [(grid_that_dominates(pair, spacing, points), 2)]
    twice = [(p * r, q * s) for (p, q), (r, s) in itertools.product(pair, pair)]
    eps = np.linspace(0, 2, 9)
    exact = [delta_of_pair(twice, one_eps) for one_eps in eps.tolist()]
    assert np.all(np.exp(upper_ln_delta(eps, rounds)) >= exact)


def grid_of_three_losses():
    """The eps 0, 0.05, ..., 0.9, ln delta of THREE_LOSSES there by mpmath, and their `dominating_grid`."""
    index, spacing = np.arange(19), 0.05
    eps = spacing * index
    ln_deltas = [float(mp.log(delta_of_pair(THREE_LOSSES, one))) for one in eps.tolist()]
    return eps, ln_deltas, dominating_grid(index, spacing, np.array(ln_deltas))


def test_dominating_grid_has_just_the_deltas_that_it_was_made_from():
    """They are convex in e^eps."""
    eps, ln_deltas, grid = grid_of_three_losses()
    found = upper_ln_delta(eps[1:], [(grid, 1)])
    np.testing.assert_allclose(found, ln_deltas[1:], atol=1e-6)


def test_a_loss_of_a_dominating_grid_is_e_to_the_loss_times_as_likely_as_its_opposite():
    """P and Q may be swapped. The losses that occur are -0.9, 0 and 0.9."""
    _, _, grid = grid_of_three_losses()
    occurs = np.isfinite(grid.log_mass)
    ln_mass = grid.log_mass[occurs]
    np.testing.assert_allclose(grid.losses[occurs], [-0.9, 0, 0.9])
    np.testing.assert_allclose(ln_mass - ln_mass[::-1], [-0.9, 0, 0.9], atol=1e-9)


def jumps_of_slope(x, y):
    """By how much the slope of y(x) jumps at each point but the first.

    Between two points y is linear, and beyond the last one constant.
    """
    slopes = np.diff(y) / np.diff(x)
    return np.diff([*slopes, 0])


def test_dominating_grid_rounds_masses_up():
    """Those of finite losses by less than 1e-10 in their natural logs. The exact ones have 40 digits.

    Where the slope of delta, as a function of e^eps, jumps, the jump is the mass of the loss -eps, and e^eps
    times the jump that of the loss eps. What is left of delta at the last eps is the mass of an infinite
    loss. A loss is its index times the spacing, and ``grid.first`` the first index.
    """
    index, spacing = np.array([0, 1, 3, 4, 7]), 0.3
    ln_deltas = np.array([-1.1, -1.4, -3.5, -5.2, -14.0])
    grid = dominating_grid(index, spacing, ln_deltas.copy())
    with mp.workdps(40):
        e_eps = np.array([mp.exp(mp.mpf(eps)) for eps in (index * spacing).tolist()])
        deltas = np.array([mp.exp(mp.mpf(ln_delta)) for ln_delta in ln_deltas.tolist()])
        jumps = jumps_of_slope(e_eps, deltas)
        assert min(jumps) > 0  # the points are convex: every one is a corner
        for losses, masses in ((-index[1:], jumps), (index[1:], e_eps[1:] * jumps)):
            excess = grid.log_mass[losses - grid.first] - [mp.log(mass) for mass in masses]
            assert np.all((excess >= 0) & (excess < 1e-10))
        assert grid.log_infinite >= mp.log(deltas[-1])


def test_delta_at_zero_is_no_more_than_the_other_points_allow():
    """(eps, delta) bounds the total variation distance by (e^eps - 1 + 2 delta) / (e^eps + 1).

    Here it is eps = 1 with delta = 1e-9.
    """
    grid = dominating_grid(np.array([0, 10, 20]), 0.1, np.log([0.9, 1e-9, 1e-12]))
    allowed = (math.e - 1 + 2e-9) / (math.e + 1)
    assert upper_ln_delta([0.0], [(grid, 1)]) == pytest.approx(math.log(allowed), abs=1e-6)


def test_dominating_grid_keeps_deltas_far_below_the_smallest_float():
    """Slopes are logarithms: a curve from e^-10 to e^-5000 keeps its shape."""
    index = np.arange(101)
    ln_deltas = -10 - 0.499 * index**2.0
    rounds = [(dominating_grid(index, 0.2, ln_deltas.copy()), 1)]
    above = upper_ln_delta(0.2 * index[1:100], rounds)
    assert np.all(above >= ln_deltas[1:100])
    # Deeper, one tilt serves less well.
    np.testing.assert_allclose(above[:30], ln_deltas[1:31], atol=1e-5)


def test_a_last_point_with_delta_0_leaves_no_infinite_loss():
    grid = dominating_grid(np.arange(3), 0.5, np.array([math.log(0.3), math.log(0.1), -INF]))
    assert upper_ln_delta([1.0], [(grid, 1)]) == grid.log_infinite == -INF


def test_a_delta_that_rises_by_rounding_is_lowered_to_that_of_the_smaller_eps():
    wavy = dominating_grid(np.arange(4), 0.5, np.log([0.2, 0.1, 0.1 * (1 + 1e-12), 0.05]))
    flat = dominating_grid(np.arange(4), 0.5, np.log([0.2, 0.1, 0.1, 0.05]))
    np.testing.assert_allclose(wavy.log_mass, flat.log_mass, atol=1e-9)
