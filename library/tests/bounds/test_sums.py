"""Only sums are released: every dataset and every outcome for few users, and the numbers of the docs."""

import functools
import itertools
import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.unary import UnaryEncoding


@dataclass(frozen=True)
class AnyBits(UnaryEncoding):
    """A unary encoding with any q; p follows from eps0."""

    chance: float

    @property
    def q(self) -> float:
        return self.chance


def unary_encoding(name_or_q, k, eps0):
    """The randomizer "rappor" or "oue", or `AnyBits` whose bits of other values are 1 with probability q."""
    if isinstance(name_or_q, str):
        return parse(name_or_q, k=k, eps0=eps0)
    return AnyBits(k, eps0, name_or_q)


def probabilities_of_sums(reports, most, mass=1.0):
    """``mass`` times the probability of every vector of sums from 0 to ``most``; ((most + 1)^k,).

    ``reports`` has the probabilities that the k bits of each user's report are 1.
    """
    k = len(reports[0])
    result = np.zeros((most + 1,) * k, dtype=type(mass))
    result[(0,) * k] = mass
    for report in reports:
        for place, one in enumerate(report):
            without, result = result, (1 - one) * result
            one_more = result.swapaxes(0, place)[1:]  # a view of the result
            one_more += one * without.swapaxes(0, place)[:-1]
    return result.ravel()


def hockey_sticks(eps, p, q):
    """delta of P against Q at each ``eps``, from the probabilities ``p`` and ``q`` of all outcomes."""
    return np.maximum(p - np.exp(eps)[:, None] * q, 0.0).sum(axis=1)


def worst_delta(randomizer, eps, n, rounds, neighbours):
    """delta of the worst dataset in the worse direction, with the shape of ``eps``.

    Every dataset of the other users is enumerated, and every vector of sums, one for each round. Values are
    the same in all rounds. The target user holds x0 under P. Under Q the target user holds x1, or with
    a deletion no value. The other direction is Q against P.
    """
    k = randomizer.k
    no_value = k
    # Row x has the probabilities of a 1 in each bit of a report of value x: p_star in its own bit, else q.
    # The last row is for no value.
    chances = np.where(np.eye(k + 1, k), randomizer.p_star, randomizer.q)

    def law_of_all_rounds(values):
        one_round = probabilities_of_sums(chances[values], n)
        return functools.reduce(np.multiply.outer, [one_round] * rounds).ravel()

    largest = np.zeros(eps.shape)
    for others in itertools.combinations_with_replacement(range(k), n - 1):
        p = law_of_all_rounds([*others, 0])
        q = law_of_all_rounds([*others, no_value if neighbours == "deletion" else 1])
        of_dataset = np.maximum(hockey_sticks(eps, p, q), hockey_sticks(eps, q, p))
        largest = np.maximum(largest, of_dataset)
    return largest


@pytest.mark.parametrize("neighbours", ["replacement", "deletion"])
@pytest.mark.parametrize(
    ("name_or_q", "eps0"),
    [("rappor", 1.0), ("rappor", 6.0), ("oue", 1.5), ("oue", 5.0), (0.3, 0.8), (0.02, 7.0)],
)
@pytest.mark.parametrize(
    ("n", "k", "rounds"), [(1, 2, 1), (2, 3, 1), (5, 2, 1), (4, 3, 1), (3, 2, 2)]
)
def test_the_bound_of_sums_is_at_least_delta_of_the_worst_dataset(
    name_or_q, eps0, n, k, rounds, neighbours
):
    """For one round of a deletion the bound also is at most 0.1 % above delta.

    `worst_delta` enumerates every dataset. By a deletion the target user's value is taken away instead of
    replaced. ``name_or_q`` is a unary encoding, or the probability q of a 1 in a bit of another value.
    """
    randomizer = unary_encoding(name_or_q, k, eps0)
    largest_loss = eps0 * rounds / (2 if neighbours == "deletion" else 1)  # about
    eps = np.array([0.0, 0.1, 0.3, 0.6, 0.9]) * largest_loss
    exact = worst_delta(randomizer, eps, n, rounds, neighbours)
    setting = {"n": n, "randomizer": randomizer, "rounds": rounds, "neighbours": neighbours}
    bound = tightshuffle.delta(eps, release="sums", **setting)
    assert np.all(bound >= exact * (1 - 1e-9) - 1e-15)  # both are of the sums of floats
    # Here the bound was at most 1e-4 of delta above delta, and elsewhere up to 3.8 times delta.
    if neighbours == "deletion" and rounds == 1:
        assert np.all(bound <= exact * 1.001 + 1e-15)


def laws_of_count(n, p, q):
    """Two laws of a value's count for each m from 0 to n - 1: m of the n - 1 other users hold the value.

    The first law is for a target user who holds the value, and the second for one who does not. A bit is 1
    with probability p if the user holds the value, and else with q.
    """
    laws = []
    for m in range(n):
        ones_of_holders = stats.binom.pmf(np.arange(m + 1), m, p)
        ones_of_others = stats.binom.pmf(np.arange(n - m), n - 1 - m, q)
        of_other_users = np.convolve(ones_of_holders, ones_of_others)
        if_held = np.convolve(of_other_users, [1 - p, p])
        if_not_held = np.convolve(of_other_users, [1 - q, q])
        laws.append((if_held, if_not_held))
    return laws


def worst_delta_of_two_counts(randomizer, eps, n):
    """delta of the worst dataset of n users, in one round, with the shape of ``eps``.

    Only the counts of x0 and x1 differ between P and Q. The bits of a report are independent, and so are both
    counts: their probabilities multiply.
    """
    # For each number of other users who hold a value: its count's law if the target user holds it, or not.
    laws = laws_of_count(n, randomizer.p_star, randomizer.q)
    deltas = []
    for m_x0, (x0_if_held, x0_if_not_held) in enumerate(laws):
        # At most n - 1 other users hold x0 or x1.
        for x1_if_held, x1_if_not_held in laws[: n - m_x0]:
            under_p = np.outer(x0_if_held, x1_if_not_held).ravel()
            under_q = np.outer(x0_if_not_held, x1_if_held).ravel()
            deltas.append(hockey_sticks(eps, under_p, under_q))
    return np.max(deltas, axis=0)


@pytest.mark.parametrize("name", ["rappor", "oue"])
@pytest.mark.parametrize("eps0", [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
def test_the_bound_of_sums_is_at_most_40_percent_above_delta_of_the_worst_dataset(name, eps0):
    """For eps0 up to 4 and eps up to 0.3 eps0 it is at most 10 % above: docs/theory.md, "Sums only"."""
    n, randomizer = 40, parse(name, k=3, eps0=eps0)
    share_of_eps0 = np.array([0.0, 0.1, 0.2, 0.3, 0.375, 0.5, 0.6, 0.7, 0.8])
    eps = share_of_eps0 * eps0
    exact = worst_delta_of_two_counts(randomizer, eps, n)
    bound = tightshuffle.delta(eps, n=n, randomizer=randomizer, release="sums")
    assert np.all(bound >= exact * (1 - 1e-9))  # 1e-9 is of the sums of floats
    assert np.all(bound <= exact * 1.4)
    if eps0 <= 4:
        small = share_of_eps0 <= 0.3
        assert np.all(bound[small] <= exact[small] * 1.1)


@pytest.mark.parametrize(
    "eps0",
    [
        *[1e-8, 9.3e-4],
        *np.linspace(0.1, 50.0, 40)[::4].tolist(),
        *[
            pytest.param(eps0, marks=pytest.mark.slow)
            for number, eps0 in enumerate(np.linspace(0.1, 50.0, 40).tolist())
            if number % 4
        ],
    ],
)
def test_delta_is_0_from_the_largest_loss_on_and_not_before(eps0):
    """ln(p / q) of one sum, ln((1 + e^eps0) / 2), rounded to a float, is below the loss half of the time."""
    setting = {
        "k": 2,
        "eps0": eps0,
        "randomizer": "oue",
        "release": "sums",
        "neighbours": "deletion",
    }
    eps = tightshuffle.epsilon(log10_delta=-40, n=2, **setting)
    with mpmath.workdps(60):
        largest_loss = mpmath.log((1 + mpmath.exp(mpmath.mpf(eps0))) / 2)
        assert largest_loss <= eps <= largest_loss * (1 + 1e-14)


@pytest.mark.parametrize(
    ("bit_eps0", "neighbours", "expected"),
    [
        (5.0, "replacement", 0.2977),
        (5.0, "deletion", 0.2121),
        (7.0, "replacement", 0.9511),
        (7.0, "deletion", 0.7149),
    ],
)
def test_eps_of_the_drafts_batches(bit_eps0, neighbours, expected):
    """100,000 users flip bits with ``bit_eps0``: docs/collections.md, "Prio's batch", which rounds eps up."""
    setting = {"k": 100, "eps0": 2 * bit_eps0, "randomizer": "rappor", "release": "sums"}
    eps = tightshuffle.epsilon(1e-9, n=100_000, neighbours=neighbours, **setting)
    assert eps == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("rounds", [1, 100])
def test_eps_of_many_users_is_that_of_a_gaussian_mechanism(rounds):
    """Two counts of each round move by p - q, and are nearly normal, with the variance n q (1 - q)."""
    n, randomizer = 10**12, parse("rappor", k=10, eps0=16.0)
    p, q = randomizer.p_star, randomizer.q
    mu_of_count = (p - q) / math.sqrt(n * q * (1 - q))
    mu = mu_of_count * math.sqrt(2 * rounds)
    eps = tightshuffle.epsilon(1e-6, n=n, randomizer=randomizer, rounds=rounds, release="sums")
    assert eps == pytest.approx(gaussian_eps(math.log(1e-6), mu), rel=1e-3)


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_bounds_of_sums_are_those_of_the_users_who_do_not_collude(rounds):
    setting = {"k": 4, "eps0": 4.0, "randomizer": "oue", "release": "sums", "rounds": rounds}
    for bound, argument in [(tightshuffle.epsilon, 1e-6), (tightshuffle.delta, 0.4)]:
        of_some = bound(argument, n=1000, colluding=100, neighbours="deletion", **setting)
        assert of_some == bound(argument, n=900, neighbours="deletion", **setting)


def test_a_plan_for_sums_has_the_largest_eps0_with_the_delta():
    setting = {"k": 256, "randomizer": "rappor", "release": "sums"}
    plan = tightshuffle.plan(n=10_000, eps=1.0, delta=1e-6, **setting)
    assert tightshuffle.delta(1.0, n=10_000, eps0=plan.eps0, **setting) <= 1e-6
    assert tightshuffle.delta(1.0, n=10_000, eps0=plan.eps0 * 1.0001, **setting) > 1e-6
    # The errors in total variation; their ratio is what this code gave.
    assert plan.tv["shuffle+INV"] / plan.tv["gaussian"] == pytest.approx(1.183, abs=5e-4)


def test_a_plan_for_sums_of_many_users_is_not_capped_at_the_largest_eps0_of_reports():
    """For sums, eps0 may be twice as large: it is above 20 here."""
    setting = {"k": 256, "randomizer": "rappor", "release": "sums"}
    assert not tightshuffle.plan(n=10**8, eps=2.0, delta=1e-6, **setting).capped


@pytest.mark.parametrize(("bit_eps0", "eps", "users"), [(5.0, 0.317, 89_132), (7.0, 1.528, 49_328)])
def test_the_fewest_users_for_the_drafts_guarantees(bit_eps0, eps, users):
    """``users`` flip bits with ``bit_eps0``: docs/collections.md, "Prio's batch".

    A number that is too small by more than 1e-4, relatively, has a larger delta than 1e-9.
    """
    setting = {"k": 100, "eps0": 2 * bit_eps0, "randomizer": "rappor", "release": "sums"}
    found = tightshuffle.fewest_users(eps, 1e-9, **setting)
    assert found == pytest.approx(users, rel=2e-4)
    assert tightshuffle.delta(eps, n=found, **setting) <= 1e-9
    assert tightshuffle.delta(eps, n=math.floor(found * (1 - 1.1e-4)), **setting) > 1e-9


@pytest.mark.parametrize("colluding", [7, 0.25])
def test_one_user_fewer_than_the_fewest_users_has_a_larger_delta(colluding):
    setting = {"k": 3, "eps0": 2.0, "colluding": colluding}
    found = tightshuffle.fewest_users(1.0, 0.01, **setting)
    assert found > 1
    assert tightshuffle.delta(1.0, n=found, **setting) <= 0.01
    assert tightshuffle.delta(1.0, n=found - 1, **setting) > 0.01


def test_one_user_is_enough_for_an_eps_of_eps0():
    assert tightshuffle.fewest_users(2.0, 0.01, k=3, eps0=2.0) == 1


def test_no_number_of_users_is_enough_for_a_small_eps_and_delta():
    with pytest.raises(ValueError, match="eps or delta must be larger"):
        tightshuffle.fewest_users(1e-6, 1e-9, k=10, eps0=30.0)
