"""Shuffled rounds in dp-accounting's accountant: the same eps as our own composition, and its ledger."""

import functools
import math

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
from scipy import stats

import tightshuffle
from tightshuffle import Collection, Group
from tightshuffle.dp_accounting import ShuffleAccountant, ShuffledDpEvent

WEEK = {"n": 10_000, "k": 20, "eps0": 3.0}  # a shuffled round per week
DELTA = 1e-6
RANDOMIZED_RESPONSE = RandomizedResponseDpEvent(noise_parameter=0.5, num_buckets=4)


def eps_of(*events):
    """eps at DELTA of all events together, by our accountant."""
    accountant = ShuffleAccountant()
    for event in events:
        accountant.compose(event)
    return accountant.get_epsilon(DELTA)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"randomizer": "oue"},
        pytest.param({"randomizer": "subset:2"}, marks=pytest.mark.slow),
        {"colluding": 2000},
    ],
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
    eps_of_week, eps_of_noise = eps_of(week), eps_of(noise)
    assert max(eps_of_week, eps_of_noise) < eps_of(week, noise) < eps_of_week + eps_of_noise


def test_the_ledger_has_the_event():
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(**WEEK), 3)
    accountant.compose(RANDOMIZED_RESPONSE)
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


def delta_of_one_user(eps, *, eps0, rounds):
    """The exact delta of so many rounds of one user with two values: nobody hides the reports.

    The privacy loss of a round is eps0 for a true report, and -eps0 for a false one. So all losses together
    follow from the binomial number of true reports.
    """
    true_reports = np.arange(rounds + 1)
    losses = eps0 * (2 * true_reports - rounds)
    probabilities = stats.binom.pmf(true_reports, rounds, 1 / (1 + math.exp(-eps0)))
    return float(probabilities @ -np.expm1(np.minimum(eps - losses, 0)))


@pytest.mark.parametrize(
    ("eps0", "delta"),
    [(0.01, 1e-9), (0.01, 1e-13), pytest.param(0.1, 1e-12, marks=pytest.mark.slow)],
)
def test_eps_of_thousands_of_rounds_is_the_exact_one_also_for_a_tiny_delta(eps0, delta):
    """Rounding adds up over the rounds: that of dp-accounting's own transforms exceeds these delta."""
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(n=1, k=2, eps0=eps0), 10_000)
    eps = accountant.get_epsilon(delta)
    assert delta_of_one_user(eps, eps0=eps0, rounds=10_000) <= delta
    assert delta < delta_of_one_user(eps * (1 - 1e-6), eps0=eps0, rounds=10_000)
    assert delta * (1 - 1e-6) <= accountant.get_delta(eps) <= delta


def test_eps_of_thousands_of_rounds_is_above_our_lower_bound():
    setting = {"k": 408, "groups": (Group("all", 10**6, 4.0),), "rounds": 10_000}
    accountant = ShuffleAccountant().compose(ShuffledDpEvent(n=10**6, k=408, eps0=4.0), 10_000)
    low = Collection(**setting).epsilon(1e-13, bound="lower")
    assert low <= accountant.get_epsilon(1e-13) <= low * 1.005


def test_of_two_directions_the_larger_delta_counts():
    """A Gaussian on a sample of the users: its losses differ in the two directions."""
    event = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(3.0))
    both = PLDAccountant(NeighboringRelation.REPLACE_ONE).compose(event, 50)
    expected = both.get_epsilon(DELTA)
    assert eps_of(SelfComposedDpEvent(event, 50)) == pytest.approx(expected, rel=1e-8)


def test_what_reveals_everything_or_nothing():
    nothing = ShuffleAccountant().compose(dp_accounting.NoOpDpEvent())
    assert nothing.get_epsilon(DELTA) == nothing.get_delta(0.0) == 0
    everything = ShuffleAccountant().compose(dp_accounting.NonPrivateDpEvent())
    assert (everything.get_epsilon(DELTA), everything.get_delta(9.0)) == (math.inf, 1)


def test_with_delta_0_eps_is_the_largest_loss():
    accountant = ShuffleAccountant().compose(RANDOMIZED_RESPONSE, 2)
    assert accountant.get_epsilon(0) == pytest.approx(2 * math.log(5), abs=2e-4)
    assert accountant.get_delta(accountant.get_epsilon(0)) == 0


@functools.cache
def eps_of_randomized_response(rounds):
    """eps at DELTA of so many rounds of four values with the noise 1/2, composed at once."""
    return eps_of(SelfComposedDpEvent(RANDOMIZED_RESPONSE, rounds))


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
    eps = eps_of_randomized_response(rounds)
    # The accountant rounds each loss up to its grid of 1e-4.
    exact_delta = delta_of_randomized_response(eps, rounds=rounds)
    assert exact_delta <= DELTA < delta_of_randomized_response(eps - 1e-4 * rounds, rounds=rounds)


@pytest.mark.parametrize("rounds", [2, 5])
def test_rounds_of_randomized_response_together_have_the_eps_of_one_by_one(rounds):
    one_by_one = eps_of(*[RANDOMIZED_RESPONSE] * rounds)
    assert eps_of_randomized_response(rounds) == pytest.approx(one_by_one, rel=1e-6)


def test_a_bad_event_leaves_nothing_composed():
    accountant = ShuffleAccountant()
    with pytest.raises(ValueError, match=r"^eps0 must be finite and > 0"):
        accountant.compose(
            ComposedDpEvent([ShuffledDpEvent(**WEEK), ShuffledDpEvent(**WEEK | {"eps0": -1})])
        )
    assert accountant.get_epsilon(DELTA) == 0


def test_a_collection():
    groups = (Group("a", 80_000, 3.0), Group("b", 40_000, 2.0, participation=0.5))
    collection = Collection(k=20, groups=groups, rounds=4)
    ours = collection.epsilon(DELTA, group="b")
    theirs = collection.to_pld(group="b").get_epsilon_for_delta(DELTA)
    assert ours * 0.999 <= theirs <= ours * 1.01
