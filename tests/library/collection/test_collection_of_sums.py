"""Collections of which only sums are released: every dataset and outcome of few users, and who takes part."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.library.bounds.test_sums import hockey_sticks, probabilities_of_sums
from tightshuffle.collection import Collection, Group, make_collection
from tightshuffle.collection.collection import BOUNDS


def collection_of_sums(groups, randomizer="rappor", k=3, **more):
    return Collection(k, tuple(groups), randomizer, release="sums", **more)


def chances_of_one(randomizer, growth):
    """The probabilities of a 1, p in the bit of the value and q in all others, in the arithmetic of growth.

    ``growth`` is (1 - q) / q: e^(eps0 / 2) for RAPPOR, and e^eps0 for OUE.
    """
    q = 1 / (growth + 1)
    return (1 - q, q) if randomizer == "rappor" else (type(q)(1) / 2, q)


class FewUsers:
    """One round of sums of few users, of whom the first is the target user.

    Each has a ``growth``, as in `chances_of_one`, and takes part with a probability, the ``participation``.
    ``values`` are those of all other users. With ``deletion`` the target user has no value under Q, else x1.
    """

    def __init__(self, randomizer, growths, participations, k=3):
        self.randomizer, self.growths, self.k = randomizer, growths, k
        self.participations = participations

    def groups(self):
        """A `Group` of each user."""
        factor = 2 if self.randomizer == "rappor" else 1
        users = zip(self.growths, self.participations, strict=True)
        return [
            Group(str(number), 1, factor * math.log(growth), float(participation))
            for number, (growth, participation) in enumerate(users)
        ]

    def probabilities(self, values, own, number_type):
        """The probabilities of all outcomes: of the k sums together with who of the other users takes part.

        ``values`` are those of the other users, and ``own`` is the target user's value, or None for no value.
        The target user takes part. ``number_type`` is float or Fraction. ``growths`` stand for the eps0 of
        all users (`chances_of_one`).
        """
        # For each user, the probabilities that the k bits of the report are 1.
        bits_of_users = []
        for value, growth in zip((own, *values), self.growths, strict=True):
            p, q = chances_of_one(self.randomizer, number_type(growth))
            bits_of_users.append([p if value == place else q for place in range(self.k)])

        # ``present`` has a 1 for each other user who takes part. The sums add the reports of those who do.
        participations = list(map(number_type, self.participations[1:]))
        of_all = []
        for present in itertools.product((0, 1), repeat=len(values)):
            chances = [
                a if here else 1 - a for a, here in zip(participations, present, strict=True)
            ]
            reports = list(itertools.compress(bits_of_users, (1, *present)))
            of_all.append(probabilities_of_sums(reports, len(self.growths), math.prod(chances)))
        return np.concatenate(of_all)

    def pair(self, values, deletion, number_type=float):
        """The `probabilities` under P, where the target user holds x0, and under Q."""
        return [
            self.probabilities(values, own, number_type) for own in (0, None if deletion else 1)
        ]

    def datasets(self):
        return itertools.product(range(self.k), repeat=len(self.growths) - 1)

    def worst_delta(self, deletion, e_eps):
        """delta of the worst dataset in the worse direction: found with floats, then as a Fraction."""

        def delta(values, number_type):
            p, q = self.pair(values, deletion, number_type)
            p_against_q = np.maximum(p - number_type(e_eps) * q, 0).sum()
            return max(p_against_q, np.maximum(q - number_type(e_eps) * p, 0).sum())

        worst = max(self.datasets(), key=lambda values: delta(values, float))
        return delta(worst, Fraction)


def random_rounds(number):
    """Yield ``number`` random `FewUsers`, two to four users each, with RAPPOR, RAPPOR, OUE, OUE, ...

    In the first, third, fifth, ... all users take part. With each `FewUsers` comes a Fraction from 0 to 4 /
    5: how far e^eps is to be on the way from 1 to the largest e^loss, from which on delta is 0. A growth
    stands for an eps0 (`chances_of_one`) and is from 5/4 to 10. A participation is from 1/4 to 1.
    """
    rng = np.random.default_rng(31)
    for place in range(number):
        users = int(rng.integers(2, 5))
        growths = [
            Fraction(int(quarters), 4) for quarters in rng.choice([5, 6, 8, 12, 20, 40], users)
        ]
        participations = [Fraction(int(quarters), 4) for quarters in rng.integers(1, 5, users)]
        if place % 2 == 0:
            participations = [Fraction(1)] * users
        randomizer = ("rappor", "oue")[place // 2 % 2]
        yield FewUsers(randomizer, growths, participations), Fraction(int(rng.integers(5)), 5)


@pytest.mark.parametrize("deletion", [False, True])
def test_no_dataset_is_outside_the_bounds(deletion):
    """The bounds of 30 random rounds enclose the worst delta, which is enumerated in fractions.

    p is the probability of a 1 in the bit of the target user's value, and q in each other bit
    (`chances_of_one`). A loss is the log of the ratio of an outcome's probabilities under both values.
    ``share`` says how far e^eps is on the way from 1 to the largest e^loss. With ``deletion`` the target user
    has a value or none, else one of two values. `one_round` returns log10 of a bound.
    """
    ratios = []  # of the upper bound to the worst delta, where all take part
    for few_users, share in random_rounds(30):
        p, q = chances_of_one(few_users.randomizer, few_users.growths[0])
        # e^loss of the target user's bits: one bit differs if the value is deleted, else two bits.
        largest = p / q if deletion else p * (1 - q) / q / (1 - p)
        e_eps = 1 + share * (largest - 1)
        exact = float(few_users.worst_delta(deletion, e_eps))

        collection = collection_of_sums(few_users.groups(), few_users.randomizer, deletion=deletion)
        eps = math.log(e_eps)
        upper, lower = (10 ** collection.one_round(eps, bound=bound) for bound in BOUNDS)
        unseen = 10 ** collection.one_round(eps, unseen=True)
        drawn = (few_users.__dict__, e_eps)  # shown if a bound fails
        # 1e-9: what the logarithms of the tested numbers lose. 1e-300 is for an exact delta of 0.
        assert upper >= exact * (1 - 1e-9), drawn
        assert lower <= exact * (1 + 1e-9) + 1e-300, drawn
        # ``unseen``: nobody sees who takes part. Then delta is at most that of a target user who takes part,
        # times the probability of taking part. A bound above this product holds.
        assert unseen >= float(few_users.participations[0]) * exact * (1 - 1e-9), drawn
        if min(few_users.participations) == 1:
            ratios.append(upper / exact)

    # The bounds say something: the ratios have the median 1.05 or less, and the largest is 2.44.
    assert np.median(ratios) < 1.07
    assert max(ratios) < 2.5


@pytest.mark.parametrize("participations", [(1.0, 1.0, 1.0), (0.5, 0.75, 1.0)])
@pytest.mark.parametrize("deletion", [False, True])
def test_no_pair_of_datasets_of_two_rounds_is_outside_the_bounds(participations, deletion):
    """The upper bound holds for every pair of datasets of two rounds of OUE with two values and three users.

    ``growths`` has e^eps0 of each user, in each round. `FewUsers.pair` returns the probabilities of all
    outcomes under P and under Q, for given values of the other users. An outcome also says who takes part.
    delta is enumerated over all pairs of outcomes, of P against Q and of Q against P. With ``unseen`` nobody
    sees who takes part: then the bound is smaller if the target user may stay away.
    """
    rounds = [
        FewUsers("oue", growths, participations, k=2)
        for growths in ((4.0, 2.0, 9.0), (3.0, 6.0, 1.5))
    ]
    pairs_of_rounds = [
        [few_users.pair(values, deletion) for values in few_users.datasets()]
        for few_users in rounds
    ]
    eps = np.array([0.0, 0.3, 0.8, 1.5])
    worst = np.zeros(eps.shape)
    # Rounds are independent: the probability of two outcomes is the product of theirs.
    for first, second in itertools.product(*pairs_of_rounds):
        p, q = (np.outer(*sides).ravel() for sides in zip(first, second, strict=True))
        worst = np.maximum(worst, np.maximum(hockey_sticks(eps, p, q), hockey_sticks(eps, q, p)))

    first, later = (
        collection_of_sums(few_users.groups(), "oue", 2, deletion=deletion) for few_users in rounds
    )
    both = collection_of_sums(first.groups, "oue", 2, deletion=deletion, then=(later,))
    upper = 10 ** both.log10_delta(eps)
    assert np.all(upper >= worst * (1 - 1e-9))
    assert upper[0] < 1.4 * worst[0]  # the bound says something: the largest ratio is 1.33
    unseen = 10 ** both.log10_delta(eps, unseen=True)
    target_may_be_absent = participations[0] < 1
    assert np.all(unseen < upper) == target_may_be_absent


def test_what_holds_for_known_users_holds_for_unseen_ones():
    for wanted in (1e-2, 1e-6):
        collection = collection_of_sums([Group("a", 1000, 6.0, 0.9999)], rounds=3)
        assert collection.epsilon(wanted, unseen=True) <= collection.epsilon(wanted)


@pytest.mark.parametrize("deletion", [False, True])
@pytest.mark.parametrize(("randomizer", "eps0"), [("rappor", 6.0), ("oue", 4.0)])
def test_groups_that_are_alike_are_one(randomizer, eps0, deletion):
    """Two groups with one eps0 have the bounds of one group of 1000 users.

    They have 700 users and 300 who do not collude, beside 50 who do. The expected bounds are those of
    `tightshuffle.epsilon` and of `tightshuffle.upper` (log10 of delta), for one round and for three.
    """
    groups = Group("a", 700, eps0), Group("b", 350, eps0, colluding=50)
    eps = np.array([[0.1], [0.4]])
    for rounds in (1, 3):
        setting = {"randomizer": randomizer, "release": "sums", "deletion": deletion, "k": 3}
        collection = Collection(groups=groups, rounds=rounds, **setting)
        setting |= {"n": 1000, "eps0": eps0, "rounds": rounds}
        assert collection.epsilon(1e-6, group="b") == tightshuffle.epsilon(1e-6, **setting)
        expected = tightshuffle.upper(eps, log10=True, **setting)
        np.testing.assert_allclose(collection.log10_delta(eps), expected)


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_who_takes_part_is_seen(delta):
    """If all see who takes part, delta of one dataset is below ``delta`` at the eps found for ``delta``.

    In this dataset all 4000 other users hold another value than the target user. How many of them take part
    is binomial, and everybody knows this number. So the exact delta is the mean, over the number, of delta of
    one count: that of ones in the bit of the target user's value. The other users' bits are 1 with the
    probability q. By ``deletion`` the target user's bit is 1 with p for the value, and with q for no value.
    """
    n, participation, eps0 = 4000, 0.5, 8.0
    group = Group("all", n + 1, eps0, participation)
    collection = collection_of_sums([group], deletion=True)
    eps = collection.epsilon(delta)
    q = chances_of_one("rappor", math.exp(eps0 / 2))[1]
    p = 1 - q
    present = np.arange(n // 2 - 400, n // 2 + 401)  # 12 standard deviations on each side
    ones = np.arange(600)  # far more than the mean, about 2000 q = 36
    deltas = []
    for number in present.tolist():
        others = stats.binom.pmf(ones, number, q)
        others_and_a_one = np.append(0, others[:-1])
        held = q * others + p * others_and_a_one
        not_held = p * others + q * others_and_a_one
        sides = ((held, not_held), (not_held, held))
        deltas.append([hockey_sticks(np.array([eps]), *side)[0] for side in sides])
    exact = max(stats.binom.pmf(present, n, participation) @ np.array(deltas))  # the worse side
    assert delta / 4 < exact < delta  # the bound says something
    assert 0.9 * eps < collection.epsilon(delta, bound="lower") < eps


@pytest.mark.parametrize(
    ("budgets", "width"), [((10.0, 13.0), 1.006), ((4.0, 6.0), 1.02), ((1.0, 3.0), 1.06)]
)
def test_many_users_are_between_their_bounds(budgets, width):
    """Both bounds on eps at delta = 1e-6 of two groups of 100,000 users with different eps0 are close.

    The upper bound is below ``width`` times the lower one; ``width`` is just above the largest ratio seen.
    """
    collection = collection_of_sums(
        [Group(str(eps0), 10**5, eps0) for eps0 in budgets], deletion=True
    )
    for group in collection.groups:
        high, low = (collection.epsilon(1e-6, group=group.name, bound=bound) for bound in BOUNDS)
        assert low < high < width * low


def test_the_distribution_for_dp_accounting_has_the_bound():
    pytest.importorskip("dp_accounting")
    collection = collection_of_sums([Group("a", 2000, 6.0, 0.5), Group("b", 1000, 8.0)], rounds=2)
    found = collection.to_pld().get_epsilon_for_delta(1e-6)
    assert found == pytest.approx(collection.epsilon(1e-6), rel=0.005)


def test_the_expected_error_is_that_of_simulated_sums():
    """`expected_error` is within 4 standard errors of the mean error of 400 simulated runs of RAPPOR.

    The error is the total variation distance between the estimated and the true shares of the users. The bit
    of a value is 1 with probability p for a user who holds the value, else q. `chances_of_one` returns both
    for RAPPOR's e^(eps0 / 2). So for a value with the share x the mean number of ones is offset + slope x.
    Slope is the sum of p - q over all users who take part on average, and offset that of q. A run's estimate
    of x is (count - offset) / slope. Here every true x is 1 / k.
    """
    groups = [Group("a", 3000, 6.0), Group("b", 5000, 4.0, participation=0.5)]
    k = 20
    rng = np.random.default_rng(31)
    slope = offset = 0.0
    of_groups = []
    for group in groups:
        p, q = chances_of_one("rappor", math.exp(group.budget / 2))
        slope += group.users * group.participation * (p - q)
        offset += group.users * group.participation * q
        of_groups.append((group.users, group.participation, p, q))

    distances = []
    for _ in range(400):
        counts = np.zeros(k)
        for users, participation, p, q in of_groups:
            holders = rng.binomial(users // k, participation, k)
            counts += rng.binomial(holders, p) + rng.binomial(holders.sum() - holders, q)
        estimate = (counts - offset) / slope
        distances.append(np.abs(estimate - 1 / k).sum() / 2)
    standard_error = np.std(distances) / math.sqrt(len(distances))
    expected = collection_of_sums(groups, k=k).expected_error()
    assert abs(expected - np.mean(distances)) < 4 * standard_error


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
    """`make_collection` reads release and deletion from the keys of a file, and later rounds have them, too.

    ``USERS`` are the keys of two users with OUE, eps0 = 1 and k = 4. deletion rules out a `to_pld`.
    """
    made = make_collection(USERS | {"release": "sums", "deletion": "true", "then": [{"rounds": 2}]})
    first = collection_of_sums([Group("group 1", 2, 1.0)], "oue", 4, deletion=True)
    later = collection_of_sums(first.groups, "oue", 4, deletion=True, rounds=2)
    assert made == collection_of_sums(first.groups, "oue", 4, deletion=True, then=(later,))
    with pytest.raises(ValueError, match="deletion must be false for to_pld"):
        made.to_pld()


@pytest.mark.filterwarnings("error")
def test_extreme_numbers_give_no_warning():
    assert collection_of_sums([Group("a", 100, 1e-9, 1e-300)]).log10_delta(0.0, unseen=True) < -15
    assert collection_of_sums([Group("a", 10**6, 50.0, 0.5)], "oue").epsilon(1e-6, unseen=True) < 50


def test_nearly_equal_bits_give_no_warning():
    """At eps0 = 1e-100, where a bit is about as likely 1 for every value, there is no warning.

    In a collection that also has users with eps0 = 50, eps and delta are above 0, and delta is at most 1. One
    user with eps0 = 1e-100 alone has a report that says nothing in floats, so the expected error is infinite.
    """
    far = Collection(
        5, (Group("a", 100, 50.0), Group("b", 100, 1e-100)), randomizer="oue", release="sums"
    )
    alone = Collection(5, (Group("a", 1, 1e-100),), randomizer="oue", release="sums")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < far.delta(1.0) <= 1
        assert far.epsilon(1e-6) > 0
        assert alone.expected_error() == math.inf
