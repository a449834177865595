"""A shuffled round in dp-accounting: against pairs written out, our own compositions, and a Gaussian."""

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution
from scipy import integrate, stats

import tightshuffle
from tests.library.bounds.dominating import compose, histogram_pair, hockey_stick, weak
from tests.library.bounds.enumeration import enumerate_worst_case
from tests.library.randomizers.matrices import matrix_of
from tightshuffle.randomizers import Finite

TINY = {"n": 4, "k": 3, "eps0": 1.0}
# `to_pld` computes delta at about so many points, evenly from 0 to eps0 for this n.
POINTS = 500
TAILS = 3e-15  # of delta: what dp-accounting cuts, and the noise of its Fourier transforms
# Relative, of delta: the 500 points and the brackets of 1e-4 together, checked down to 1e-9 of a round.
CLOSE = 5e-3


def pessimistic_and_optimistic(**setting):
    """The round of this setting as two losses of dp-accounting: one from above, and one from below."""
    return [
        tightshuffle.to_pld(pessimistic=pessimistic, **setting) for pessimistic in (True, False)
    ]


def test_one_round_is_the_bound_of_every_dataset():
    """delta of `to_pld`'s loss is at least that of every dataset, and close to `tightshuffle.upper`.

    TINY are four users with k = 3 and eps0 = 1: so few that `enumerate_worst_case` can enumerate delta of
    every dataset, at all eps. `upper` and the loss compute the same bound. `upper` is at most 1e-4 of delta
    above that, so the loss may be a little below `upper`. It is at most CLOSE, 0.5 % of delta, above.
    """
    eps = np.array([0.0, 0.1, 0.35, 0.6, 0.9, 1.2])  # the last one is above eps0: delta is 0
    worst = np.max(list(enumerate_worst_case(eps, **TINY).values()), axis=0)
    bound = tightshuffle.upper(eps, **TINY)
    delta = tightshuffle.to_pld(**TINY).get_delta_for_epsilon(eps)
    assert np.all(delta >= worst)
    assert np.all(delta >= bound * (1 - 2e-4))  # twice the 1e-4
    assert np.all(delta[:-1] <= bound[:-1] * (1 + CLOSE))
    assert delta[-1] == 0

    # At -0.35, delta of one direction follows from that of the other direction at 0.35, which is delta[2].
    negative = tightshuffle.to_pld(**TINY).get_delta_for_epsilon(-0.35)
    assert negative == pytest.approx(1 - np.exp(-0.35) * (1 - delta[2]), rel=1e-9)


@pytest.mark.parametrize("rounds", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_rounds_of_pairs_that_are_written_out(rounds):
    """After some rounds, delta of both losses of `to_pld` is close to that of pairs that are multiplied out.

    delta of the pessimistic loss is above that of the pair of Koskela's weak adversary, and delta of the
    optimistic loss below that of a dataset. dp-accounting composes the losses. `compose` has the list of the
    probabilities (P, Q) of all outcomes of the rounds, and `hockey_stick` its delta. A round is TINY: four
    users, k = 3 and eps0 = 1. CLOSE is 0.5 %, TAILS what dp-accounting cuts, 3e-15 of delta. A loss is made
    from delta at POINTS eps from 0 to eps0, 500.
    """
    pessimistic, optimistic = (
        loss.self_compose(rounds) for loss in pessimistic_and_optimistic(**TINY)
    )
    dominating_pair = compose(weak(**TINY), rounds)
    # One dataset: all others hold value 2. Its outcomes are histograms of k-RR's reports.
    real_pair = compose(histogram_pair(matrix_of("grr", 3, 1.0), (2, 2, 2)), rounds)
    for eps in (0.0, 0.3, 0.8, 1.5):
        bound = float(hockey_stick(eps, dominating_pair))
        assert bound <= pessimistic.get_delta_for_epsilon(eps) <= bound * (1 + CLOSE) + TAILS

        # The optimistic loss of each round may be too low by the distance of three of the POINTS, as there
        # are few different losses. (In two rounds it was less than one.)
        shift = 3 * rounds * TINY["eps0"] / POINTS
        least, real = (float(hockey_stick(e, real_pair)) for e in (eps + shift, eps))
        assert least <= optimistic.get_delta_for_epsilon(eps) <= real + TAILS


def test_with_a_gaussian_mechanism():
    """delta of a shuffled round composed with a Gaussian mechanism in dp-accounting is right to CLOSE, 0.5 %.

    Expected is the mean, by quadrature, of the round's delta at eps less the Gaussian's loss, whose law is
    N(mu^2 / 2, mu^2). mu is the Gaussian's sensitivity / deviation. The round, TINY, has four users, k = 3
    and eps0 = 1. Its delta is that of `weak`, the pair of Koskela's weak adversary.
    """
    mu = 0.8
    pair = compose(weak(**TINY), 1)

    def delta_of_both(eps):
        def integrand(gaussian_loss):
            e_rest = np.exp(eps - gaussian_loss)
            delta_of_round = sum(max(p - e_rest * q, 0) for p, q in pair)
            return delta_of_round * stats.norm.pdf(gaussian_loss, mu**2 / 2, mu)

        # The integrand has a kink where eps - gaussian_loss is a loss of the round. -8 and 8 are more than
        # 9 standard deviations, mu = 0.8 each, from the mean, 0.32.
        kinks = sorted({eps - np.log(p / q) for p, q in pair})
        return integrate.quad(integrand, -8, 8, points=kinks, limit=500)[0]

    # dp-accounting takes the sensitivity, here 1, for one user more. To replace one user moves the sum by 2,
    # so that mu is 2 over the deviation.
    replace = {"neighboring_relation": NeighboringRelation.REPLACE_ONE}
    gaussian = privacy_loss_distribution.from_gaussian_mechanism(2 / mu, **replace)
    both = tightshuffle.to_pld(**TINY).compose(gaussian)
    for eps in (0.2, 1.0, 2.5):
        exact = delta_of_both(eps)
        # 1e-6 is left to the quadrature, below which the result was never seen.
        assert exact * (1 - 1e-6) <= both.get_delta_for_epsilon(eps) <= exact * (1 + CLOSE)


def test_a_matrix_whose_directions_differ():
    """Both losses of `to_pld` are for the direction, P against Q or Q against P, with the larger delta.

    Exact is delta of two rounds of three users, where both other users hold value 2, by enumeration of all
    histograms. ``matrix`` has P(report | value) in a column for each value. A loss is made from delta at
    POINTS eps from 0 to eps0, 500. dp-accounting cuts TAILS of delta, 3e-15.
    """
    matrix = np.array([[0.6, 0.2, 0.3], [0.3, 0.4, 0.3], [0.1, 0.4, 0.4]])
    randomizer = Finite(matrix)
    pair = compose(histogram_pair(matrix, (2, 2)), rounds=2)
    losses = pessimistic_and_optimistic(n=3, randomizer=randomizer)
    pessimistic, optimistic = (loss.self_compose(2) for loss in losses)

    def worse_delta(eps):
        return max(float(hockey_stick(eps, pair, direction)) for direction in (1, -1))

    for eps in (0.0, 0.4, 1.1):
        # The optimistic loss of each of the two rounds may be too low by the distance of three of the POINTS.
        # (It was less than one.)
        least = worse_delta(eps + 2 * 3 * randomizer.eps0 / POINTS)
        real = worse_delta(eps)
        assert pessimistic.get_delta_for_epsilon(eps) >= real
        assert least <= optimistic.get_delta_for_epsilon(eps) <= real + TAILS


def test_two_values():
    """For k = 2 and two rounds, delta of the worst dataset is between delta of both losses of `to_pld`.

    A dataset is how many of the five other users hold x0 in both rounds: m. The others hold x1. delta of all
    six is by enumeration of the histograms. TAILS, 3e-15 of delta, is what dp-accounting cuts.
    """
    setting = {"n": 6, "k": 2, "eps0": 1.0}
    pessimistic, optimistic = (
        loss.self_compose(2) for loss in pessimistic_and_optimistic(**setting)
    )
    matrix = matrix_of("grr", 2, 1.0)
    datasets = [(0,) * m + (1,) * (5 - m) for m in range(6)]
    pairs = [compose(histogram_pair(matrix, others), rounds=2) for others in datasets]
    for eps in (0.0, 0.3, 0.8):
        worst = max(float(hockey_stick(eps, pair)) for pair in pairs)
        assert optimistic.get_delta_for_epsilon(eps) - TAILS <= worst
        assert worst <= pessimistic.get_delta_for_epsilon(eps)


def test_a_coarse_grid_is_still_a_bound():
    """A thousand times coarser than the loss: one atom beside 0. 2e-4: both bounds are brackets of 1e-4."""
    setting = {"n": 10**6, "k": 10, "eps0": 1.0}
    above, below = pessimistic_and_optimistic(spacing=0.7, **setting)
    for eps in (0.0, 0.002, 0.1):
        assert below.get_delta_for_epsilon(eps) <= tightshuffle.lower(eps, **setting) * (1 + 2e-4)
        assert tightshuffle.upper(eps, **setting) * (1 - 2e-4) <= above.get_delta_for_epsilon(eps)
