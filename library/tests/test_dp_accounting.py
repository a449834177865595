"""Shuffled rounds in dp-accounting's accountant: the same eps as our own composition, and its ledger."""

import functools
import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import (
    ComposedDpEvent,
    RandomizedResponseDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

import tightshuffle
from tightshuffle import Collection, Group
from tightshuffle.dp_accounting import ShuffleAccountant, ShuffledDpEvent

WEEK = {"n": 10_000, "k": 20, "eps0": 3.0}  # a shuffled round per week
DELTA = 1e-6


def eps_of(*events):
    """eps at DELTA of all events together, by our accountant."""
    accountant = ShuffleAccountant()
    for event in events:
        accountant.compose(event)
    return accountant.get_epsilon(DELTA)


@pytest.mark.parametrize(
    "more", [{}, {"randomizer": "subset:2"}, {"randomizer": "oue"}, {"colluding": 2000}]
)
def test_rounds_are_those_of_the_package(more):
    ours = tightshuffle.epsilon(DELTA, rounds=3, **WEEK, **more)
    theirs = eps_of(SelfComposedDpEvent(ShuffledDpEvent(**WEEK, **more), 3))
    assert ours * 0.999 <= theirs <= ours * 1.01
    assert eps_of(*[ShuffledDpEvent(**WEEK, **more)] * 3) == pytest.approx(theirs, rel=1e-3)


def test_with_another_mechanism():
    """Noise on a histogram beside a round: worse than each, better than their sum."""
    # Of standard deviation 2 for the sensitivity sqrt(2), which the event counts as 1. The accountant's
    # neighbouring relation, a replaced user, doubles it.
    noise = dp_accounting.GaussianDpEvent(2 * 2 / math.sqrt(2))
    week = ShuffledDpEvent(**WEEK)
    eps_of_both = eps_of(week, noise)
    assert max(eps_of(week), eps_of(noise)) < eps_of_both < eps_of(week) + eps_of(noise)


def test_the_ledger_has_the_event():
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(**WEEK), 3)
    accountant.compose(dp_accounting.GaussianDpEvent(1.0))
    # Of an event that is composed several times, the ledger has a SelfComposedDpEvent.
    events = [getattr(entry, "event", entry) for entry in accountant.ledger.events]
    assert ShuffledDpEvent(**WEEK) in events


def test_a_calibration_finds_the_most_rounds():
    """By the package, the calibrated rounds stay within the target eps of 1, and two more do not."""
    setting = {"n": 10_000, "k": 20, "eps0": 3.0}
    rounds = dp_accounting.calibrate_dp_mechanism(
        make_fresh_accountant=ShuffleAccountant,
        make_event_from_param=lambda count: SelfComposedDpEvent(ShuffledDpEvent(**setting), count),
        target_epsilon=1.0,
        target_delta=1e-6,
        bracket_interval=dp_accounting.ExplicitBracketInterval(1, 1000),
        discrete=True,
    )
    assert tightshuffle.epsilon(1e-6, rounds=rounds, **setting) <= 1
    # One more may be possible, as the accountant's eps is up to 1 % larger than ours.
    assert tightshuffle.epsilon(1e-6, rounds=rounds + 2, **setting) > 1


def delta_of_randomized_response(eps, *, rounds):
    """The exact delta of this many rounds with four values and the noise 1/2.

    P(truth) = 1/2 + 1/8 = 5/8 and P(one given other value) = 1/8. So the privacy loss of a round is log 5, 0
    or -log 5, with the probabilities 5/8, 2/8 and 1/8. delta is the mean of max(0, 1 - e^(eps - loss)) over
    the sum of all losses.
    """
    of_one_round = np.array([1 / 8, 2 / 8, 5 / 8])
    probabilities = functools.reduce(np.convolve, [of_one_round] * rounds)
    losses = math.log(5) * np.arange(-rounds, rounds + 1)
    return float(probabilities @ np.maximum(-np.expm1(eps - losses), 0))


@pytest.mark.parametrize("rounds", [2, 5, 30])
def test_eps_of_many_rounds_of_randomized_response_is_the_exact_one_rounded_up(rounds):
    event = RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=4)
    eps = eps_of(SelfComposedDpEvent(event, rounds))
    # The accountant rounds each loss up to its grid of 1e-4.
    exact_delta = delta_of_randomized_response(eps, rounds=rounds)
    assert exact_delta <= DELTA < delta_of_randomized_response(eps - 1e-4 * rounds, rounds=rounds)


@pytest.mark.parametrize("rounds", [2, 5, 30])
def test_rounds_of_randomized_response_together_have_the_eps_of_one_by_one(rounds):
    event = RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=4)
    together = eps_of(SelfComposedDpEvent(event, rounds))
    assert together == pytest.approx(eps_of(*[event] * rounds), rel=1e-6)


def test_thousands_of_rounds_are_one_composition(monkeypatch):
    """An accountant composes what it has with the rounds: twice here, and not once for each round."""
    compositions = []
    compose = PrivacyLossDistribution.compose

    def recorded_composition(first, second, *tail_mass):
        compositions.append((first, second))
        return compose(first, second, *tail_mass)

    monkeypatch.setattr(PrivacyLossDistribution, "compose", recorded_composition)
    accountant = ShuffleAccountant(1e-3).compose(RandomizedResponseDpEvent(0.9, 4), 10_000)
    assert 0 < accountant.get_epsilon(DELTA) < math.inf
    assert len(compositions) <= 2


def test_a_bad_event_leaves_nothing_composed():
    accountant = ShuffleAccountant()
    with pytest.raises(ValueError, match=r"^eps0 must be finite and > 0"):
        accountant.compose(
            ComposedDpEvent([ShuffledDpEvent(**WEEK), ShuffledDpEvent(**WEEK | {"eps0": -1})])
        )
    assert accountant.get_epsilon(DELTA) == 0


def test_a_collection():
    groups = (Group("a", 8000, 3.0), Group("b", 4000, 2.0, participation=0.5))
    collection = Collection(k=20, groups=groups, rounds=4)
    for group in ("a", "b"):
        ours = collection.epsilon(DELTA, group=group)
        theirs = collection.to_pld(group=group).get_epsilon_for_delta(DELTA)
        assert ours * 0.999 <= theirs <= ours * 1.01
