"""Only sums are released: every dataset and every outcome for few users, and the numbers of the docs."""

import functools
import itertools
import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tightshuffle.bounds import sums
from tightshuffle.bounds.gaussian_limit import gaussian_eps
from tightshuffle.points import make_point
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.unary import UnaryEncoding

log10_delta = at_points(sums.log10_delta)


def epsilon(log10_delta, **arguments):
    return sums.epsilon(log10_delta, make_point(release="sums", **arguments))


@dataclass(frozen=True)
class AnyBits(UnaryEncoding):
    """A unary encoding with any q; p follows from eps0."""

    chance: float

    @property
    def q(self) -> float:
        return self.chance


def make(name, k, eps0):
    return parse(name, k=k, eps0=eps0) if isinstance(name, str) else AnyBits(k, eps0, name)


def outcomes(reports, most, mass=1.0):
    """``mass`` times the probability of every vector of sums up to ``most``; a report: each bit's of a 1."""
    k = len(reports[0])
    result = np.zeros((most + 1,) * k, dtype=type(mass))
    result[(0,) * k] = mass
    for report in reports:
        for place, one in enumerate(report):
            result = (1 - one) * result + one * np.roll(result, 1, axis=place)
    return result.ravel()


def worst(own, eps, n, rounds, deletion):
    """delta of the worst dataset in the worse direction; values are the same in all rounds."""
    reports = np.where(np.eye(own.k + 1, own.k), own.p_star, own.q)  # the last one: of no value
    result = np.zeros(eps.shape)
    for others in itertools.combinations_with_replacement(range(own.k), n - 1):
        pair = [outcomes(reports[[*others, value]], n) for value in (0, own.k if deletion else 1)]
        p, q = (functools.reduce(np.multiply.outer, [each] * rounds).ravel() for each in pair)
        result = np.maximum(
            result, np.maximum(*(hockey_sticks(eps, *both) for both in ((p, q), (q, p))))
        )
    return result


def hockey_sticks(eps, p, q):
    return np.maximum(p - np.exp(eps)[:, None] * q, 0.0).sum(axis=1)


BITS = [("rappor", 1.0), ("rappor", 6.0), ("oue", 1.5), ("oue", 5.0), (0.3, 0.8), (0.02, 7.0)]


@pytest.mark.parametrize("deletion", [False, True])
@pytest.mark.parametrize(("name", "eps0"), BITS)
@pytest.mark.parametrize(
    ("n", "k", "rounds"), [(1, 2, 1), (2, 3, 1), (5, 2, 1), (4, 3, 1), (3, 2, 2)]
)
def test_every_dataset(name, eps0, n, k, rounds, deletion):
    own = make(name, k, eps0)
    eps = np.array([0.0, 0.1, 0.3, 0.6, 0.9]) * eps0 * rounds / (2 if deletion else 1)
    truth = worst(own, eps, n, rounds, deletion)
    bound = 10 ** log10_delta(
        eps, n=n, randomizer=own, rounds=rounds, release="sums", deletion=deletion
    )
    assert np.all(bound >= truth * (1 - 1e-9) - 1e-15)
    if deletion and rounds == 1:
        assert np.all(bound <= truth * 1.001 + 1e-15)


@pytest.mark.parametrize("name", ["rappor", "oue"])
@pytest.mark.parametrize("eps0", [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
def test_every_dataset_of_forty_users(name, eps0):
    """How far the bound is above delta: the ranges are those of docs/theory.md, "Sums only"."""
    randomizer = make(name, 3, eps0)
    n = 40
    p, q = randomizer.p_star, randomizer.q
    # The law of a value's count, by how many of the other users hold it: without the target user's bit, with
    # the bit of a target user who holds the value, and with that of one who does not.
    counts = [np.convolve(binomial(m, p), binomial(n - 1 - m, q)) for m in range(n)]
    held = [np.convolve(count, [1 - p, p]) for count in counts]
    other = [np.convolve(count, [1 - q, q]) for count in counts]
    share = np.array([0.0, 0.1, 0.2, 0.3, 0.375, 0.5, 0.6, 0.7, 0.8])
    eps = share * eps0
    # Of the other users a hold x0 and b hold x1. The bits of a report are independent, and so both counts.
    datasets = [(a, b) for a in range(n) for b in range(n - a)]
    pairs = (
        (np.outer(held[a], other[b]).ravel(), np.outer(other[a], held[b]).ravel())
        for a, b in datasets
    )
    truth = np.max([hockey_sticks(eps, *pair) for pair in pairs], axis=0)
    bound = 10 ** log10_delta(eps, n=n, randomizer=randomizer, release="sums")
    assert np.all(bound >= truth * (1 - 1e-9))
    assert np.all(bound <= truth * 1.4)
    if eps0 <= 4:
        assert np.all(bound[share <= 0.3] <= truth[share <= 0.3] * 1.1)


@pytest.mark.parametrize("eps0", [1e-8, 9.3e-4, *np.linspace(0.1, 50.0, 40).tolist()])
def test_delta_is_0_from_the_largest_loss_on_and_not_before(eps0):
    """ln(p / q) of one sum, ln((1 + e^eps0) / 2), rounded to a float, is below the loss half of the time."""
    found = epsilon(-40.0, n=2, randomizer=make("oue", 2, eps0), deletion=True)
    with mpmath.workdps(60):
        largest = mpmath.log((1 + mpmath.exp(mpmath.mpf(eps0))) / 2)
        assert largest <= found <= largest * (1 + 1e-14)


def binomial(n, chance):
    return functools.reduce(np.convolve, [[1 - chance, chance]] * n, np.ones(1))


@pytest.mark.parametrize(("eps0", "eps"), [(5.0, (0.2977, 0.2121)), (7.0, (0.9511, 0.7149))])
def test_the_drafts_batches(eps0, eps):
    """draft-wang-ppm-differential-privacy has .317, .906 and 1.528 for bits flipped with these budgets."""
    own = make("rappor", 100, 2 * eps0)
    found = [
        epsilon(-9, n=100_000, randomizer=own, deletion=deletion) for deletion in (False, True)
    ]
    assert found == pytest.approx(eps, abs=5.1e-5)


def test_many_users_and_rounds():
    """For many users the counts are nearly normal: two of sensitivity p - q and variance n q (1 - q)."""
    own = make("rappor", 10, 16.0)
    for rounds in (1, 100):
        eps = epsilon(-6, n=10**12, randomizer=own, rounds=rounds)
        mu = math.sqrt(2 * rounds / (1e12 * own.q * (1 - own.q))) * (own.p_star - own.q)
        assert eps == pytest.approx(gaussian_eps(-6, mu), rel=1e-3)


def test_the_door_passes_everything_on():
    setting = {"k": 4, "eps0": 4.0, "randomizer": "oue", "release": "sums", "deletion": True}
    own = make("oue", 4, 4.0)
    for rounds in (1, 3):
        direct = {"n": 900, "randomizer": own, "rounds": rounds, "deletion": True}
        given = {**setting, "n": 1000, "colluding": 100, "rounds": rounds}
        assert tightshuffle.epsilon(1e-6, **given) == epsilon(-6, **direct)
        logs = log10_delta(np.array([0.1, 0.4]), release="sums", **direct)
        np.testing.assert_allclose(
            tightshuffle.upper([0.1, 0.4], log10=True, **given), logs, rtol=1e-9
        )


def test_a_plan_for_sums():
    setting = {"k": 256, "randomizer": "rappor", "release": "sums"}
    plan = tightshuffle.plan(n=10_000, eps=1.0, delta=1e-6, **setting)
    assert tightshuffle.delta(1.0, n=10_000, eps0=plan.eps0, **setting) <= 1e-6
    assert tightshuffle.delta(1.0, n=10_000, eps0=plan.eps0 * 1.0001, **setting) > 1e-6
    assert plan.tv["shuffle+INV"] / plan.tv["gaussian"] == pytest.approx(1.185, abs=5e-4)
    # eps0 is above 20 there.
    assert not tightshuffle.plan(n=10**8, eps=2.0, delta=1e-6, **setting).capped


@pytest.mark.parametrize(("eps0", "eps", "users"), [(5.0, 0.317, 89_132), (7.0, 1.528, 49_328)])
def test_the_fewest_users_for_the_drafts_guarantees(eps0, eps, users):
    """The numbers of docs/collections.md."""
    setting = {"k": 100, "eps0": 2 * eps0, "randomizer": "rappor", "release": "sums"}
    found = tightshuffle.fewest_users(eps, 1e-9, **setting)
    assert found == pytest.approx(users, rel=2e-4)
    assert tightshuffle.delta(eps, n=found, **setting) <= 1e-9
    assert tightshuffle.delta(eps, n=math.floor(found * (1 - 1.1e-4)), **setting) > 1e-9


@pytest.mark.parametrize(("eps", "colluding"), [(1.0, 7), (1.0, 0.25), (2.0, 0)])
def test_the_fewest_users_to_the_last_one(eps, colluding):
    setting = {"k": 3, "eps0": 2.0, "colluding": colluding}
    found = tightshuffle.fewest_users(eps, 0.01, **setting)
    assert tightshuffle.delta(eps, n=found, **setting) <= 0.01
    assert found == 1 or tightshuffle.delta(eps, n=found - 1, **setting) > 0.01
    assert (found == 1) == (eps == 2.0)


def test_no_number_of_users_is_enough():
    with pytest.raises(ValueError, match="eps or delta must be larger"):
        tightshuffle.fewest_users(1e-6, 1e-9, k=10, eps0=30.0)
