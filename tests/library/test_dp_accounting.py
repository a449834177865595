"""Shuffled rounds in dp-accounting's accountant: the same eps as our own composition, and its ledger."""

import functools
import math
import time

import dp_accounting
import numpy as np
import pytest
from dp_accounting import (
    ComposedDpEvent,
    NeighboringRelation,
    RandomizedResponseDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import PLDAccountant

import tightshuffle
from tightshuffle import Collection, Group
from tightshuffle.dp_accounting import ShuffleAccountant, ShuffledDpEvent

WEEK = {"n": 10_000, "k": 20, "eps0": 3.0}
DELTA = 1e-6


def eps_of(*events):
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


def test_with_another_mechanism_the_ledger_and_a_calibration():
    """Noise on a histogram beside a round: worse than each, better than their sum."""
    # The relation doubles its sensitivity.
    noise = dp_accounting.GaussianDpEvent(2 * 2 / math.sqrt(2))
    round_, both = eps_of(ShuffledDpEvent(**WEEK)), eps_of(ShuffledDpEvent(**WEEK), noise)
    assert max(round_, eps_of(noise)) < both < round_ + eps_of(noise)
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(**WEEK), 3).compose(noise)
    assert ShuffledDpEvent(**WEEK) in [
        getattr(event, "event", event) for event in accountant.ledger.events
    ]
    rounds = dp_accounting.calibrate_dp_mechanism(
        ShuffleAccountant,
        lambda count: SelfComposedDpEvent(ShuffledDpEvent(**WEEK), count),
        target_epsilon=1.0,
        target_delta=DELTA,
        bracket_interval=dp_accounting.ExplicitBracketInterval(1, 1000),
        discrete=True,
    )
    fit, over = (
        tightshuffle.epsilon(DELTA, rounds=count, **WEEK) for count in (rounds, rounds + 2)
    )
    assert fit <= 1 < over


def test_every_round_of_randomized_response_counts():
    one_by_one = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    for _ in range(5):
        one_by_one.compose(RandomizedResponseDpEvent(0.5, 4))
    wanted = one_by_one.get_epsilon(DELTA)
    assert eps_of(SelfComposedDpEvent(RandomizedResponseDpEvent(0.5, 4), 5)) == pytest.approx(
        wanted
    )


@pytest.mark.parametrize("count", [2, 5, 30])
def test_many_rounds_of_randomized_response_have_at_least_the_exact_eps(count):
    """Of four values with noise 1/2: the value is reported with probability 5/8; losses log 5, 0, -log 5."""
    event = RandomizedResponseDpEvent(0.5, 4)
    at_once, one_by_one = eps_of(SelfComposedDpEvent(event, count)), eps_of(*[event] * count)
    assert at_once == pytest.approx(one_by_one, rel=1e-6)
    up = np.array([1 / 8, 2 / 8, 5 / 8])
    masses = functools.reduce(np.convolve, [up] * count)
    losses = math.log(5) * np.arange(-count, count + 1)
    # The accountant rounds each loss up to its grid of 1e-4.
    with_it, with_less = (
        float(masses @ np.maximum(-np.expm1(eps - losses), 0))
        for eps in (at_once, at_once - 1e-4 * count)
    )
    assert with_it <= DELTA < with_less


def test_thousands_of_rounds_are_one_composition():
    start = time.process_time()
    accountant = ShuffleAccountant(1e-3).compose(RandomizedResponseDpEvent(0.9, 4), 10_000)
    assert 0 < accountant.get_epsilon(DELTA) < math.inf
    assert time.process_time() - start < 10


def test_a_bad_event_leaves_nothing_composed():
    accountant = ShuffleAccountant()
    with pytest.raises(ValueError, match="eps0 must be"):
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
