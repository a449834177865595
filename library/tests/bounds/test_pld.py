"""A shuffled round in dp-accounting: against pairs written out, our own compositions, and a Gaussian."""

import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import privacy_loss_distribution
from scipy import integrate, stats

import tightshuffle
from tests.bounds.dominating import compose, histogram_pair, hockey_stick, weak
from tests.bounds.enumeration import enumerate_worst_case
from tests.randomizers.matrices import MATRIX_WHOSE_DIRECTIONS_DIFFER, matrix_of
from tightshuffle.bounds import pld
from tightshuffle.randomizers import Finite, KRandomizedResponse

TINY = {"n": 4, "k": 3, "eps0": 1.0}  # so few users that every dataset can be enumerated
# `to_pld` computes delta at about so many points, evenly from 0 to eps0 for this n.
POINTS = 500
TAILS = 3e-15  # of delta: what dp-accounting cuts, and the noise of its Fourier transforms
# Relative, of delta: the 500 points and the brackets of 1e-4 together, checked down to 1e-9 of a round.
CLOSE = 5e-3


def test_delta_of_one_round_is_the_bound_of_every_dataset():
    """delta of `to_pld`'s loss is at least that of every dataset, and close to `tightshuffle.delta`.

    Both compute the same bound. `upper` is at most 1e-4 of delta above it, so the loss may be a little below
    `upper`. It is at most CLOSE, 0.5 % of delta, above.
    """
    eps = np.array([0.0, 0.1, 0.35, 0.6, 0.9])
    worst = np.max(list(enumerate_worst_case(eps, **TINY).values()), axis=0)
    bound = tightshuffle.delta(eps, **TINY)
    delta = tightshuffle.to_pld(**TINY).get_delta_for_epsilon(eps)
    assert np.all(delta >= worst)
    assert np.all(delta >= bound * (1 - 2e-4))  # twice the 1e-4
    assert np.all(delta <= bound * (1 + CLOSE))


def test_delta_above_eps0_is_0():
    assert tightshuffle.to_pld(**TINY).get_delta_for_epsilon(TINY["eps0"] + 0.2) == 0


def test_delta_at_a_negative_eps_is_that_of_the_other_direction():
    loss = tightshuffle.to_pld(**TINY)
    expected = 1 - np.exp(-0.35) * (1 - loss.get_delta_for_epsilon(0.35))
    assert loss.get_delta_for_epsilon(-0.35) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("rounds", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_rounds_of_the_pessimistic_loss_are_those_of_the_weak_adversary(rounds):
    """`compose` has the (P, Q) of all outcomes of Koskela's weak adversary; dp-accounting composes losses."""
    loss = tightshuffle.to_pld(**TINY).self_compose(rounds)
    pair = compose(weak(**TINY), rounds)
    for eps in (0.0, 0.3, 0.8, 1.5):
        exact = float(hockey_stick(eps, pair))
        assert exact <= loss.get_delta_for_epsilon(eps) <= exact * (1 + CLOSE) + TAILS


def delta_with_a_gaussian(eps, pair, mu):
    """The mean of delta of the ``pair`` at eps - L, by quadrature: L is the loss of a Gaussian mechanism.

    L has the law N(mu^2 / 2, mu^2), where mu is the sensitivity over the standard deviation.
    """

    def integrand(gaussian_loss):
        e_rest = np.exp(eps - gaussian_loss)
        delta_of_pair = sum(max(p - e_rest * q, 0) for p, q in pair)
        return delta_of_pair * stats.norm.pdf(gaussian_loss, mu**2 / 2, mu)

    # The integrand has a kink where eps - gaussian_loss is a loss of the pair.
    kinks = sorted({eps - np.log(p / q) for p, q in pair})
    least, largest = -8, 8  # more than 9 standard deviations from the mean, for mu = 0.8
    return integrate.quad(integrand, least, largest, points=kinks, limit=500)[0]


def test_a_round_composes_with_a_gaussian_mechanism_of_dp_accounting():
    """delta of both is right to CLOSE, 0.5 %. That of the round is of `weak`, Koskela's weak adversary."""
    mu = 0.8
    # dp-accounting takes the sensitivity, here 1, for one user more. To replace one user moves the sum by 2,
    # so that mu is 2 over the deviation.
    gaussian = privacy_loss_distribution.from_gaussian_mechanism(
        2 / mu, neighboring_relation=NeighboringRelation.REPLACE_ONE
    )
    both = tightshuffle.to_pld(**TINY).compose(gaussian)
    pair = compose(weak(**TINY), rounds=1)
    for eps in (0.2, 1.0, 2.5):
        exact = delta_with_a_gaussian(eps, pair, mu)
        # 1e-6 is left to the quadrature, below which the result was never seen.
        assert exact * (1 - 1e-6) <= both.get_delta_for_epsilon(eps) <= exact * (1 + CLOSE)


def losses_of_rounds(rounds, **setting):
    """The pessimistic and the optimistic loss of so many rounds, which dp-accounting composes."""
    return [
        tightshuffle.to_pld(pessimistic=pessimistic, **setting).self_compose(rounds)
        for pessimistic in (True, False)
    ]


A_MATRIX = Finite(MATRIX_WHOSE_DIRECTIONS_DIFFER), MATRIX_WHOSE_DIRECTIONS_DIFFER
KRR = KRandomizedResponse(3, 1.0), matrix_of("grr", k=3, eps0=1.0)


@pytest.mark.parametrize(
    ("randomizer", "matrix", "others", "rounds", "points"),
    [
        pytest.param(*A_MATRIX, (2, 2), 2, 150, id="directions differ"),
        pytest.param(*KRR, (2, 2, 2), 2, POINTS, id="k-RR"),
        pytest.param(
            *(Finite(KRR[1]), KRR[1], (2, 2, 2), 3, POINTS),
            id="k-RR, 3 rounds",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_rounds_of_both_losses_enclose_delta_of_a_dataset(
    randomizer, matrix, others, rounds, points, monkeypatch
):
    """It is delta of P against Q, or of Q against P, if that is larger.

    The ``others`` are the values that the other users hold in every round. `compose` has the (P, Q) of all
    histograms of the rounds. A matrix takes milliseconds at each point, so there are fewer ``points``.
    """
    monkeypatch.setattr(pld, "_POINTS", points)
    pair = compose(histogram_pair(matrix, others), rounds)
    pessimistic, optimistic = losses_of_rounds(rounds, n=len(others) + 1, randomizer=randomizer)

    def larger_delta(eps):
        return max(float(hockey_stick(eps, pair, direction)) for direction in (1, -1))

    # The optimistic loss of each round may be too low by the distance of three of the points, as there may be
    # few different losses. (In two rounds it was less than one.)
    shift = 3 * rounds * randomizer.eps0 / points
    for eps in (0.0, 0.3, 0.8, 1.5):
        exact = larger_delta(eps)
        assert exact <= pessimistic.get_delta_for_epsilon(eps)
        found = optimistic.get_delta_for_epsilon(eps)
        assert larger_delta(eps + shift) <= found <= exact + TAILS


def test_delta_of_two_values_is_between_that_of_both_losses():
    """Exact is delta of the worst dataset in two rounds: m of five other users hold x0, and the rest x1."""
    setting, matrix = {"n": 6, "k": 2, "eps0": 1.0}, matrix_of("grr", 2, 1.0)
    datasets = [(0,) * m + (1,) * (5 - m) for m in range(6)]
    pairs = [compose(histogram_pair(matrix, others), rounds=2) for others in datasets]
    pessimistic, optimistic = losses_of_rounds(2, **setting)
    for eps in (0.0, 0.3, 0.8):
        worst = max(float(hockey_stick(eps, pair)) for pair in pairs)
        assert optimistic.get_delta_for_epsilon(eps) - TAILS <= worst
        assert worst <= pessimistic.get_delta_for_epsilon(eps)


@pytest.mark.parametrize("eps", [0.0, 0.002, 0.1])
def test_a_coarse_grid_is_still_a_bound(eps):
    """A spacing a thousand times coarser than the loss leaves one atom beside 0."""
    setting = {"n": 10**6, "k": 10, "eps0": 1.0}
    pessimistic = tightshuffle.to_pld(spacing=0.7, **setting)
    optimistic = tightshuffle.to_pld(spacing=0.7, pessimistic=False, **setting)
    width = 2e-4  # both bounds are brackets of 1e-4
    low, high = (
        tightshuffle.delta(eps, method="lower", **setting),
        tightshuffle.delta(eps, **setting),
    )
    assert optimistic.get_delta_for_epsilon(eps) <= low * (1 + width)
    assert high * (1 - width) <= pessimistic.get_delta_for_epsilon(eps)
