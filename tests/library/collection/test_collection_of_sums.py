"""Collections of which only sums are released: every dataset and outcome of few users, and who takes part."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.library.bounds.test_sums import hockey_sticks, outcomes
from tightshuffle.collection import Collection, Group, make_collection
from tightshuffle.collection.collection import BOUNDS


def summed(groups, randomizer="rappor", k=3, **more):
    return Collection(k, tuple(groups), randomizer, release="sums", **more)


def chances(randomizer, growth):
    """p and q, numbers of the kind of ``growth``: the root of e^eps0 for RAPPOR, e^eps0 for OUE."""
    q = 1 / (growth + 1)
    return (1 - q, q) if randomizer == "rappor" else (type(q)(1) / 2, q)


class Small:
    """A round of sums of few users, the target first: growths of `chances`, and who takes part how often."""

    def __init__(self, randomizer, growths, takings, k=3):
        self.randomizer, self.growths, self.takings, self.k = randomizer, growths, takings, k

    def groups(self):
        """Each user is a group."""
        budgets = [
            math.log(growth) * (2 if self.randomizer == "rappor" else 1) for growth in self.growths
        ]
        takings = list(map(float, self.takings))
        return [
            Group(str(i), 1, *each) for i, each in enumerate(zip(budgets, takings, strict=True))
        ]

    def outcomes(self, values, own, kind):
        """Probabilities of all sums, and of who of the others takes part; ``own`` None: without a value."""
        pairs = [chances(self.randomizer, kind(growth)) for growth in self.growths]
        reports = [
            [p if x == place else q for place in range(self.k)]
            for x, (p, q) in zip((own, *values), pairs, strict=True)
        ]
        takings, found = list(map(kind, self.takings[1:])), []
        for present in itertools.product((0, 1), repeat=len(values)):
            weight = math.prod(
                a if here else 1 - a for a, here in zip(takings, present, strict=True)
            )
            there = list(itertools.compress(reports, (1, *present)))
            found.append(outcomes(there, len(self.growths), weight))
        return np.concatenate(found)

    def pairs(self, deletion, kind=float):
        """{the other users' values: outcomes with each of two values of the target user}."""
        return {
            values: [self.outcomes(values, own, kind) for own in (0, None if deletion else 1)]
            for values in itertools.product(range(self.k), repeat=len(self.growths) - 1)
        }

    def worst(self, deletion, growth):
        """delta of the worst dataset at e^eps = ``growth``: found with floats, then exact."""
        eps, found = np.array([math.log(growth)]), {}
        for values, pair in self.pairs(deletion).items():
            one, two = (side.astype(float) for side in pair)
            found[values] = max(hockey_sticks(eps, one, two)[0], hockey_sticks(eps, two, one)[0])
        worst = max(found, key=found.get)
        one, two = (self.outcomes(worst, own, Fraction) for own in (0, None if deletion else 1))
        return max(np.maximum(a - growth * b, 0).sum() for a, b in ((one, two), (two, one)))


def small_settings(number):
    rng = np.random.default_rng(31)
    for place in range(number):
        users = int(rng.integers(2, 5))
        growths = [Fraction(int(g), 4) for g in rng.choice([5, 6, 8, 12, 20, 40], users)]
        takings = [
            Fraction(int(a), 4) if place % 2 else Fraction(1) for a in rng.integers(1, 5, users)
        ]
        yield (
            Small(("rappor", "oue")[place // 2 % 2], growths, takings),
            Fraction(int(rng.integers(5)), 5),
        )


@pytest.mark.parametrize("deletion", [False, True])
def test_no_dataset_is_outside_the_bounds(deletion):
    ratios = []
    for small, part in small_settings(30):
        p, q = chances(small.randomizer, small.growths[0])
        largest = p / q if deletion else p * (1 - q) / q / (1 - p)
        growth = 1 + part * (largest - 1)
        exact = float(small.worst(deletion, growth))
        collection, eps = (
            summed(small.groups(), small.randomizer, deletion=deletion),
            math.log(growth),
        )
        upper, lower = (10 ** collection.one_round(eps, bound=bound) for bound in BOUNDS)
        unseen = 10 ** collection.one_round(eps, unseen=True)
        where = (small.__dict__, growth)
        assert upper >= exact * (1 - 1e-9), where
        assert lower <= exact * (1 + 1e-9) + 1e-300, where
        assert unseen >= float(small.takings[0]) * exact * (1 - 1e-9), where
        if min(small.takings) == 1:
            ratios.append(upper / exact)
    assert np.median(ratios) < 1.07
    assert max(ratios) < 2.5  # of four users, if a share of each of their bits hides the target's


@pytest.mark.parametrize("takings", [(1.0, 1.0, 1.0), (0.5, 0.75, 1.0)])
@pytest.mark.parametrize("deletion", [False, True])
def test_no_pair_of_datasets_of_two_rounds_is_outside_the_bounds(takings, deletion):
    rounds = [Small("oue", growths, takings, 2) for growths in ((4.0, 2.0, 9.0), (3.0, 6.0, 1.5))]
    eps = np.array([0.0, 0.3, 0.8, 1.5])
    worst = np.zeros(eps.shape)
    for one, two in itertools.product(*(each.pairs(deletion).values() for each in rounds)):
        p, q = (np.outer(*sides).ravel().astype(float) for sides in zip(one, two, strict=True))
        worst = np.maximum(worst, np.maximum(hockey_sticks(eps, p, q), hockey_sticks(eps, q, p)))
    first, later = (summed(each.groups(), "oue", 2, deletion=deletion) for each in rounds)
    both = summed(first.groups, "oue", 2, deletion=deletion, then=(later,))
    upper = 10 ** both.log10_delta(eps)
    assert np.all(upper >= worst * (1 - 1e-9))
    assert upper[0] < 1.4 * worst[0]
    unseen = 10 ** both.log10_delta(eps, unseen=True)
    assert np.all(unseen < upper) == (takings[0] < 1)


def test_what_holds_for_known_users_holds_for_unseen_ones():
    for wanted in (1e-2, 1e-6):
        collection = summed([Group("a", 1000, 6.0, 0.9999)], rounds=3)
        assert collection.epsilon(wanted, unseen=True) <= collection.epsilon(wanted)


@pytest.mark.parametrize("deletion", [False, True])
@pytest.mark.parametrize(("randomizer", "eps0"), [("rappor", 6.0), ("oue", 4.0)])
def test_groups_that_are_alike_are_one(randomizer, eps0, deletion):
    groups = Group("a", 700, eps0), Group("b", 350, eps0, colluding=50)
    for rounds in (1, 3):
        given = {"randomizer": randomizer, "release": "sums", "deletion": deletion, "k": 3}
        collection = Collection(groups=groups, rounds=rounds, **given)
        given.update(n=1000, eps0=eps0, rounds=rounds)
        assert collection.epsilon(1e-6, group="b") == tightshuffle.epsilon(1e-6, **given)
        eps = np.array([[0.1], [0.4]])
        np.testing.assert_allclose(
            collection.log10_delta(eps), tightshuffle.upper(eps, log10=True, **given)
        )


@pytest.mark.parametrize("wanted", [1e-3, 1e-6])
def test_who_takes_part_is_seen(wanted):
    """All others hold another value: their number is binomial, and everybody knows it."""
    n, a, eps0 = 4000, 0.5, 8.0
    collection = summed([Group("all", n + 1, eps0, a)], deletion=True)
    eps = collection.epsilon(wanted)
    q = chances("rappor", math.exp(eps0 / 2))[1]
    taking = np.arange(n // 2 - 400, n // 2 + 401)
    ones = np.arange(600)
    deltas = []
    for number in taking.tolist():
        count = stats.binom.pmf(ones, number, q)
        moved = np.append(0, count[:-1])
        pair = (1 - q) * moved + q * count, q * moved + (1 - q) * count
        deltas.append([hockey_sticks(np.array([eps]), *side)[0] for side in (pair, pair[::-1])])
    exact = max(stats.binom.pmf(taking, n, a) @ np.array(deltas))
    assert wanted / 4 < exact < wanted
    assert 0.9 * eps < collection.epsilon(wanted, bound="lower") < eps


@pytest.mark.parametrize(
    ("budgets", "width"), [((10.0, 13.0), 1.006), ((4.0, 6.0), 1.02), ((1.0, 3.0), 1.06)]
)
def test_many_users_are_between_their_bounds(budgets, width):
    collection = summed([Group(str(eps0), 10**5, eps0) for eps0 in budgets], deletion=True)
    for group in collection.groups:
        low, high = (
            collection.epsilon(1e-6, group=group.name, bound=bound) for bound in BOUNDS[::-1]
        )
        assert low < high < width * low


def test_the_distribution_for_dp_accounting_has_the_bound():
    pytest.importorskip("dp_accounting")
    collection = summed([Group("a", 2000, 6.0, 0.5), Group("b", 1000, 8.0)], rounds=2)
    found = collection.to_pld().get_epsilon_for_delta(1e-6)
    assert found == pytest.approx(collection.epsilon(1e-6), rel=0.005)


def test_the_expected_error_is_that_of_simulated_sums():
    """Mean total variation distance over 400 runs of the pooled estimate: within 4 standard errors."""
    groups = [Group("a", 3000, 6.0), Group("b", 5000, 4.0, 0.5)]
    rng, k, slope, offset, distances = np.random.default_rng(31), 20, 0.0, 0.0, []
    about = [(g.users, g.participation, *chances("rappor", math.exp(g.budget / 2))) for g in groups]
    for users, a, p, q in about:
        slope, offset = slope + users * a * (p - q), offset + users * a * q
    for _ in range(400):
        counts = np.zeros(k)
        for users, a, p, q in about:
            taking = rng.binomial(users // k, a, k)
            counts += rng.binomial(taking, p) + rng.binomial(taking.sum() - taking, q)
        distances.append(np.abs((counts - offset) / slope - 1 / k).sum() / 2)
    error = np.std(distances) / math.sqrt(len(distances))
    assert abs(summed(groups, k=k).expected_error() - np.mean(distances)) < 4 * error


USERS = {"k": 4, "randomizer": "oue", "groups": [{"users": 2, "eps0": 1}]}
WRONG = [
    ({"release": "sum"}, "release must be one of reports, sums; got 'sum'"),
    ({"release": "sums", "deletion": "yes"}, "deletion must be true or false; got 'yes'"),
    ({"deletion": "true"}, 'deletion must be left out unless release is "sums"'),
    (
        {"release": "sums", "randomizer": "grr"},
        "randomizer must be rappor or oue for release 'sums'",
    ),
    ({"release": "sums", "rounds": 50_001}, "rounds must be at most 50000 in all; got 50001"),
    (
        {"then": [{"release": "sums"}]},
        "then: release and deletion must be those of the first collection",
    ),
]


@pytest.mark.parametrize(("keys", "message"), WRONG)
def test_what_is_wrong_is_named(keys, message):
    with pytest.raises(ValueError, match=message):
        make_collection(USERS | keys)


def test_a_file_and_later_rounds_have_the_keys():
    made = make_collection(USERS | {"release": "sums", "deletion": "true", "then": [{"rounds": 2}]})
    first = summed([Group("group 1", 2, 1.0)], "oue", 4, deletion=True)
    later = summed(first.groups, "oue", 4, deletion=True, rounds=2)
    assert made == summed(first.groups, "oue", 4, deletion=True, then=(later,))
    with pytest.raises(ValueError, match="deletion must be false for to_pld"):
        made.to_pld()


@pytest.mark.filterwarnings("error")
def test_extreme_numbers_give_no_warning():
    assert summed([Group("a", 100, 1e-9, 1e-300)]).log10_delta(0.0, unseen=True) < -15
    assert summed([Group("a", 10**6, 50.0, 0.5)], "oue").epsilon(1e-6, unseen=True) < 50


def test_nearly_equal_bits_give_no_warning():
    """Where delta, or the difference of the two probabilities, is below every float."""
    far = Collection(
        5, (Group("a", 100, 50.0), Group("b", 100, 1e-100)), randomizer="oue", release="sums"
    )
    alone = Collection(5, (Group("a", 1, 1e-100),), randomizer="oue", release="sums")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < far.delta(1.0) <= 1
        assert far.epsilon(1e-6) > 0
        assert alone.expected_error() == math.inf
