"""A shuffled round in dp-accounting: against pairs written out, our own compositions, and a Gaussian."""

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution
from scipy import integrate, stats

import tightshuffle
from tests.library.bounds.dominating import compose, histograms, hockey_stick, weak
from tests.library.bounds.enumeration import enumerate_worst_case
from tests.library.randomizers.matrices import matrix_of
from tightshuffle.randomizers import Finite

TINY = {"n": 4, "k": 3, "eps0": 1.0}
STEP = TINY["eps0"] / 500  # of the points that are looked at
TAILS = 3e-15  # what dp-accounting cuts, and its Fourier transforms' noise
# Of delta: the 500 points and the brackets of 1e-4 together, checked down to 1e-9 of a round.
CLOSE = 5e-3


def both_sides(**setting):
    return [
        tightshuffle.to_pld(pessimistic=pessimistic, **setting) for pessimistic in (True, False)
    ]


def test_one_round_is_the_bound_of_every_dataset():
    eps = np.array([0.0, 0.1, 0.35, 0.6, 0.9, 1.2])
    worst = np.max(list(enumerate_worst_case(eps, **TINY).values()), axis=0)
    bound = tightshuffle.upper(eps, **TINY)
    reached = tightshuffle.to_pld(**TINY).get_delta_for_epsilon(eps)
    assert np.all(reached >= worst)
    assert np.all(reached >= bound * (1 - 2e-4))  # upper is a bracket of 1e-4
    assert np.all(reached[:-1] <= bound[:-1] * (1 + CLOSE))
    assert reached[-1] == 0
    # At a negative eps, where the other direction shows.
    other = tightshuffle.to_pld(**TINY).get_delta_for_epsilon(-0.35)
    assert other == pytest.approx(1 - np.exp(-0.35) * (1 - reached[2]), rel=1e-9)


@pytest.mark.parametrize("rounds", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_rounds_of_pairs_that_are_written_out(rounds):
    above, below = (one.self_compose(rounds) for one in both_sides(**TINY))
    dominating = compose(weak(*TINY.values()), rounds)
    dataset = compose(histograms(matrix_of("grr", 3, 1.0), (2, 2, 2), 4), rounds)
    for eps in (0.0, 0.3, 0.8, 1.5):
        bound = float(hockey_stick(eps, dominating))
        assert bound <= above.get_delta_for_epsilon(eps) <= bound * (1 + CLOSE) + TAILS
        # With few different losses each may lie three steps too low.
        least, real = (float(hockey_stick(e, dataset)) for e in (eps + 3 * rounds * STEP, eps))
        assert least <= below.get_delta_for_epsilon(eps) <= real + TAILS


def test_with_a_gaussian_mechanism():
    """delta of both is the mean of the round's delta at eps minus the Gaussian's loss, N(mu^2 / 2, mu^2)."""
    mu, pair = 0.8, compose(weak(*TINY.values()), 1)

    def together(eps):
        def part(loss):
            left = eps - loss
            value = sum(max(p - np.exp(left) * q, 0) for p, q in pair)
            return value * stats.norm.pdf(loss, mu**2 / 2, mu)

        kinks = sorted({eps - np.log(p / q) for p, q in pair})
        return integrate.quad(part, -8, 8, points=kinks, limit=500)[0]

    # Its sensitivity is to one user more: replacing one moves it twice as far.
    replace = {"neighboring_relation": NeighboringRelation.REPLACE_ONE}
    gaussian = privacy_loss_distribution.from_gaussian_mechanism(2 / mu, **replace)
    both = tightshuffle.to_pld(**TINY).compose(gaussian)
    for eps in (0.2, 1.0, 2.5):
        assert (
            together(eps) * (1 - 1e-6)
            <= both.get_delta_for_epsilon(eps)
            <= together(eps) * (1 + CLOSE)
        )


def test_a_matrix_whose_directions_differ():
    columns = np.array([[0.6, 0.2, 0.3], [0.3, 0.4, 0.3], [0.1, 0.4, 0.4]])
    own = Finite(columns)
    pair = compose(histograms(columns, (2, 2), 3), 2)
    above, below = (one.self_compose(2) for one in both_sides(n=3, randomizer=own))
    for eps in (0.0, 0.4, 1.1):
        least, real = (
            max(float(hockey_stick(e, pair, way)) for way in (1, -1))
            for e in (eps + 6 * own.eps0 / 500, eps)
        )
        assert above.get_delta_for_epsilon(eps) >= real
        assert least <= below.get_delta_for_epsilon(eps) <= real + TAILS


def test_two_values():
    setting = {"n": 6, "k": 2, "eps0": 1.0}
    above, below = (one.self_compose(2) for one in both_sides(**setting))
    pairs = [
        compose(histograms(matrix_of("grr", 2, 1.0), (0,) * m + (1,) * (5 - m), 6), 2)
        for m in range(6)
    ]
    for eps in (0.0, 0.3, 0.8):
        worst = max(float(hockey_stick(eps, pair)) for pair in pairs)
        assert below.get_delta_for_epsilon(eps) - TAILS <= worst <= above.get_delta_for_epsilon(eps)


def test_a_coarse_grid_is_still_a_bound():
    """A thousand times coarser than the loss: one atom beside 0."""
    setting = {"n": 10**6, "k": 10, "eps0": 1.0}
    above, below = both_sides(spacing=0.7, **setting)
    for eps in (0.0, 0.002, 0.1):
        assert below.get_delta_for_epsilon(eps) <= tightshuffle.lower(eps, **setting) * (1 + 2e-4)
        assert tightshuffle.upper(eps, **setting) * (1 - 2e-4) <= above.get_delta_for_epsilon(eps)
