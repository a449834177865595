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


def randomizer_of(name_or_q, k, eps0):
    """The randomizer of this name, or `AnyBits` with this q."""
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
            result = (1 - one) * result + one * np.roll(result, 1, axis=place)
    return result.ravel()


def hockey_sticks(eps, p, q):
    """delta of P against Q at each ``eps``, from the probabilities ``p`` and ``q`` of all outcomes."""
    return np.maximum(p - np.exp(eps)[:, None] * q, 0.0).sum(axis=1)


def worst_delta(randomizer, eps, n, rounds, deletion):
    """delta of the worst dataset in the worse direction, with the shape of ``eps``.

    Every dataset of the other users is enumerated, and every vector of sums, one for each round. Values are
    the same in all rounds. The target user holds x0 under P. Under Q the target user holds x1, or with
    ``deletion`` no value. The other direction is Q against P.
    """
    # Row x has the probabilities of a 1 in each bit of a report of value x: p_star in its own bit, else q.
    # The last row is for no value.
    chances = np.where(np.eye(randomizer.k + 1, randomizer.k), randomizer.p_star, randomizer.q)
    own_under_q = -1 if deletion else 1
    largest = np.zeros(eps.shape)
    for others in itertools.combinations_with_replacement(range(randomizer.k), n - 1):
        sides = []
        for own in (0, own_under_q):
            one_round = probabilities_of_sums(chances[[*others, own]], n)
            sides.append(functools.reduce(np.multiply.outer, [one_round] * rounds).ravel())
        p, q = sides
        of_dataset = np.maximum(hockey_sticks(eps, p, q), hockey_sticks(eps, q, p))
        largest = np.maximum(largest, of_dataset)
    return largest


NAMES_OR_Q_AND_EPS0 = [
    *[("rappor", 1.0), ("rappor", 6.0), ("oue", 1.5), ("oue", 5.0), (0.3, 0.8), (0.02, 7.0)]
]


@pytest.mark.parametrize("deletion", [False, True])
@pytest.mark.parametrize(("name_or_q", "eps0"), NAMES_OR_Q_AND_EPS0)
@pytest.mark.parametrize(
    ("n", "k", "rounds"), [(1, 2, 1), (2, 3, 1), (5, 2, 1), (4, 3, 1), (3, 2, 2)]
)
def test_every_dataset(name_or_q, eps0, n, k, rounds, deletion):
    """The bound is at least delta of the worst dataset, and meets it for one round with deletion.

    Only the sums of the reports' bits are released. `worst_delta` enumerates every dataset. With ``deletion``
    the target user's value is taken away instead of replaced. ``name_or_q`` is a unary encoding, or the
    probability q of a 1 in a bit of another value, with which `randomizer_of` makes one.
    """
    randomizer = randomizer_of(name_or_q, k, eps0)
    largest_eps = eps0 * rounds / (2 if deletion else 1)  # about the largest loss
    eps = np.array([0.0, 0.1, 0.3, 0.6, 0.9]) * largest_eps
    exact = worst_delta(randomizer, eps, n, rounds, deletion)
    setting = {"n": n, "randomizer": randomizer, "rounds": rounds, "deletion": deletion}
    bound = 10 ** log10_delta(eps, release="sums", **setting)
    assert np.all(bound >= exact * (1 - 1e-9) - 1e-15)  # both are of the sums of floats
    # Here the bound was at most 1e-4 of delta above delta, and elsewhere up to 3.8 times delta.
    if deletion and rounds == 1:
        assert np.all(bound <= exact * 1.001 + 1e-15)


@pytest.mark.parametrize("name", ["rappor", "oue"])
@pytest.mark.parametrize("eps0", [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
def test_every_dataset_of_forty_users(name, eps0):
    """The bound is at most 40 % above delta of the worst dataset, as docs/theory.md, "Sums only", says.

    For eps0 up to 4 and eps up to 0.3 eps0 it is at most 10 % above. In a dataset, m_x0 of the other users
    hold x0, and m_x1 hold x1. Only the counts of x0 and x1 differ between P and Q. The bits of a report are
    independent, and so are both counts: their probabilities multiply.
    """
    n, randomizer = 40, parse(name, k=3, eps0=eps0)
    p, q = randomizer.p_star, randomizer.q
    # The law of a value's count, at index m if m of the other users hold the value: of the other users alone,
    # if the target user holds the value, too, and if not.
    of_others = [np.convolve(binomial(m, p), binomial(n - 1 - m, q)) for m in range(n)]
    if_held = [np.convolve(count, [1 - p, p]) for count in of_others]
    if_not_held = [np.convolve(count, [1 - q, q]) for count in of_others]

    share_of_eps0 = np.array([0.0, 0.1, 0.2, 0.3, 0.375, 0.5, 0.6, 0.7, 0.8])
    eps = share_of_eps0 * eps0
    deltas = []
    for m_x0 in range(n):
        for m_x1 in range(n - m_x0):
            under_p = np.outer(if_held[m_x0], if_not_held[m_x1]).ravel()
            under_q = np.outer(if_not_held[m_x0], if_held[m_x1]).ravel()
            deltas.append(hockey_sticks(eps, under_p, under_q))
    exact = np.max(deltas, axis=0)
    bound = 10 ** log10_delta(eps, n=n, randomizer=randomizer, release="sums")
    assert np.all(bound >= exact * (1 - 1e-9))
    assert np.all(bound <= exact * 1.4)
    if eps0 <= 4:
        assert np.all(bound[share_of_eps0 <= 0.3] <= exact[share_of_eps0 <= 0.3] * 1.1)


@pytest.mark.parametrize("eps0", [1e-8, 9.3e-4, *np.linspace(0.1, 50.0, 40).tolist()])
def test_delta_is_0_from_the_largest_loss_on_and_not_before(eps0):
    """ln(p / q) of one sum, ln((1 + e^eps0) / 2), rounded to a float, is below the loss half of the time."""
    found = epsilon(-40.0, n=2, randomizer=parse("oue", k=2, eps0=eps0), deletion=True)
    with mpmath.workdps(60):
        largest = mpmath.log((1 + mpmath.exp(mpmath.mpf(eps0))) / 2)
        assert largest <= found <= largest * (1 + 1e-14)


def binomial(n, chance):
    """The probabilities of 0, 1, ..., n successes."""
    return functools.reduce(np.convolve, [[1 - chance, chance]] * n, np.ones(1))


@pytest.mark.parametrize(("eps0", "eps"), [(5.0, (0.2977, 0.2121)), (7.0, (0.9511, 0.7149))])
def test_the_drafts_batches(eps0, eps):
    """draft-wang-ppm-differential-privacy has .317, .906 and 1.528 for bits flipped with these budgets."""
    own = parse("rappor", k=100, eps0=2 * eps0)
    found = [
        epsilon(-9, n=100_000, randomizer=own, deletion=deletion) for deletion in (False, True)
    ]
    assert found == pytest.approx(eps, abs=5.1e-5)


def test_many_users_and_rounds():
    """For many users the counts are nearly normal: two of sensitivity p - q and variance n q (1 - q)."""
    own = parse("rappor", k=10, eps0=16.0)
    for rounds in (1, 100):
        eps = epsilon(-6, n=10**12, randomizer=own, rounds=rounds)
        mu = math.sqrt(2 * rounds / (1e12 * own.q * (1 - own.q))) * (own.p_star - own.q)
        assert eps == pytest.approx(gaussian_eps(-6, mu), rel=1e-3)


def test_the_door_passes_everything_on():
    """`tightshuffle.epsilon` and `upper` pass their arguments on to the module of sums.

    Expected are `epsilon` and `log10_delta` of that module for the users who do not collude: 900 of 1,000.
    `epsilon` takes log10 of delta, so that -6 is delta = 1e-6.
    """
    setting = {"k": 4, "eps0": 4.0, "randomizer": "oue", "release": "sums", "deletion": True}
    randomizer = parse("oue", k=4, eps0=4.0)
    eps = np.array([0.1, 0.4])
    for rounds in (1, 3):
        of_door = {**setting, "n": 1000, "colluding": 100, "rounds": rounds}
        of_bound = {"n": 900, "randomizer": randomizer, "rounds": rounds, "deletion": True}
        assert tightshuffle.epsilon(1e-6, **of_door) == epsilon(-6, **of_bound)
        found = tightshuffle.upper(eps, log10=True, **of_door)
        expected = log10_delta(eps, release="sums", **of_bound)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


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
