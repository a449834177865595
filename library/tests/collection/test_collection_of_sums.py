"""Collections of which only sums are released: every dataset and outcome of few users, and who takes part."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.bounds.test_sums import hockey_sticks, probabilities_of_sums
from tests.collection.simulation import simulated_error
from tests.collection.upper_and_lower import epsilon_bounds
from tightshuffle.collection import Collection, Group, make_collection
from tightshuffle.collection.cover import Cover
from tightshuffle.collection.sums import _ln_chances_of_fewer, _share_of_kind


def collection_of_sums(groups, randomizer="rappor", k=3, **more):
    return Collection(k, tuple(groups), randomizer, release="sums", **more)


def probabilities_of_one(randomizer, eps0):
    """(p, q): the probabilities of a 1 in the bit of the own value, and in each other bit."""
    if randomizer == "rappor":
        q = 1 / (math.exp(eps0 / 2) + 1)
        return 1 - q, q
    return 1 / 2, 1 / (math.exp(eps0) + 1)  # OUE


def probabilities_of_outcomes(collection, values):
    """The probability of every outcome: the k sums of bits, and who of the other users takes part.

    Each group of the collection is one user. ``values`` are the users' values, or None for no value. The
    first one, the target user, takes part. A user's bit is 1 with probability p in the place of the value,
    and q in any other place. The result has as many outcomes for few reports as for many: their sums are
    counted up to the number of users.
    """
    bits_of_users = []
    for group, value in zip(collection.groups, values, strict=True):
        p, q = probabilities_of_one(collection.randomizer, group.eps0)
        bits_of_users.append([p if place == value else q for place in range(collection.k)])

    others = collection.groups[1:]
    of_all = []
    for present in itertools.product((False, True), repeat=len(others)):
        chances = [
            group.participation if is_present else 1 - group.participation
            for group, is_present in zip(others, present, strict=True)
        ]
        reports = list(itertools.compress(bits_of_users, (True, *present)))
        of_all.append(probabilities_of_sums(reports, most=len(values), mass=math.prod(chances)))
    return np.concatenate(of_all)


def pairs_of_datasets(collection):
    """[P, Q] for every dataset of the other users, both `probabilities_of_outcomes`.

    The target user holds the first value under P. Under Q it is the second one, or by deletion no value.
    """
    own_under_q = None if collection.neighbours == "deletion" else 1
    datasets = itertools.product(range(collection.k), repeat=len(collection.groups) - 1)
    return [
        [probabilities_of_outcomes(collection, (own, *others)) for own in (0, own_under_q)]
        for others in datasets
    ]


def worst_delta(pairs, eps):
    """The largest delta at each ``eps`` of all ``pairs`` [P, Q], in the worse direction; (points,)."""
    deltas = []
    for p, q in pairs:
        deltas += [hockey_sticks(eps, p, q), hockey_sticks(eps, q, p)]
    return np.max(deltas, axis=0)


@functools.cache
def random_rounds(neighbours):
    """30 random rounds of two to four users: a list of (collection, eps, worst delta, upper bound at eps).

    The worst delta is that of all datasets. Randomizers are RAPPOR, RAPPOR, OUE, OUE, ... In every second
    round all users take part.
    """
    rng = np.random.default_rng(31)
    rounds = []
    for number in range(30):
        users = int(rng.integers(2, 5))
        odds = rng.choice([5, 6, 8, 12, 20, 40], users) / 4  # (1 - q) / q
        participations = rng.integers(1, 5, users) / 4
        if number % 2 == 0:
            participations = np.ones(users)
        randomizer = ("rappor", "oue")[number // 2 % 2]
        budgets = np.log(odds) * (2 if randomizer == "rappor" else 1)
        groups = [
            Group(str(user), 1, eps0=budgets[user], participation=participations[user])
            for user in range(users)
        ]
        collection = collection_of_sums(groups, randomizer, neighbours=neighbours)

        # Where e^eps is that of the largest loss, delta is 0. It is at most 4/5 of the way from 1. One bit
        # differs if the value is deleted, else two bits.
        p, q = probabilities_of_one(randomizer, budgets[0])
        largest_e_loss = p / q if neighbours == "deletion" else p * (1 - q) / (q * (1 - p))
        eps = math.log(1 + (largest_e_loss - 1) * rng.integers(5) / 5)
        [worst] = worst_delta(pairs_of_datasets(collection), np.array([eps]))
        rounds.append((collection, eps, worst, 10 ** collection.one_round(eps)))
    return rounds


EACH_NEIGHBOURS = pytest.mark.parametrize("neighbours", ["replacement", "deletion"])
_ROUNDING = 1e-9  # relative: what the logarithms of the tested numbers lose


@EACH_NEIGHBOURS
def test_bounds_enclose_the_worst_delta_of_few_users(neighbours):
    for collection, eps, worst, upper in random_rounds(neighbours):
        lower = 10 ** collection.one_round(eps, bound="lower")
        assert upper >= worst * (1 - _ROUNDING), collection
        assert lower <= worst * (1 + _ROUNDING), collection


@EACH_NEIGHBOURS
def test_bound_for_unseen_participation_is_at_least_participation_times_the_worst_delta(neighbours):
    """If nobody sees who takes part, delta is at most this product: `random_rounds` are of who takes part.

    Where the target user surely takes part, the bound is that for seen participation.
    """
    for collection, eps, worst, _ in random_rounds(neighbours):
        participation = collection.groups[0].participation
        if participation < 1:
            unseen = 10 ** collection.one_round(eps, unseen=True)
            assert unseen >= participation * worst * (1 - _ROUNDING), collection


@EACH_NEIGHBOURS
def test_upper_bound_is_close_to_the_worst_delta_where_all_take_part(neighbours):
    ratios = []
    for collection, _, worst, upper in random_rounds(neighbours):
        if all(group.participation == 1 for group in collection.groups):
            ratios.append(upper / worst)
    assert np.median(ratios) < 1.07  # it is 1.05 or less
    assert max(ratios) < 2.5  # it is 2.44 or less


def two_rounds_of_oue(participations, neighbours):
    """(first, later): collections of two values and three users; ``later`` is also ``then`` of ``first``."""
    rounds = ()
    for e_eps0s in ((3.0, 6.0, 1.5), (4.0, 2.0, 9.0)):
        groups = [
            Group(str(user), 1, eps0=math.log(e_eps0s[user]), participation=participations[user])
            for user in range(3)
        ]
        rounds = (
            collection_of_sums(groups, "oue", k=2, neighbours=neighbours, then=rounds),
            *rounds,
        )
    return rounds


TWO_ROUNDS = pytest.mark.parametrize("participations", [(1.0, 1.0, 1.0), (0.5, 0.75, 1.0)])


@TWO_ROUNDS
@EACH_NEIGHBOURS
def test_upper_bound_holds_for_every_pair_of_datasets_of_two_rounds(participations, neighbours):
    """Rounds are independent: the probability of two outcomes is the product of theirs."""
    eps = np.array([0.0, 0.3, 0.8, 1.5])
    both, later = two_rounds_of_oue(participations, neighbours)
    pairs = []
    for pair, later_pair in itertools.product(pairs_of_datasets(both), pairs_of_datasets(later)):
        p, q = [np.outer(*laws).ravel() for laws in zip(pair, later_pair, strict=True)]
        pairs.append([p, q])
    worst = worst_delta(pairs, eps)
    upper = 10 ** both.log10_delta(eps)
    assert np.all(upper >= worst * (1 - _ROUNDING))
    assert upper[0] < 1.4 * worst[0]  # the bound says something: the largest ratio is 1.33


@TWO_ROUNDS
@EACH_NEIGHBOURS
def test_bound_for_unseen_participation_is_smaller_if_the_target_may_stay_away(
    participations, neighbours
):
    eps = np.array([0.0, 0.3, 0.8, 1.5])  # delta of one round can be 0 at the last one
    both, _ = two_rounds_of_oue(participations, neighbours)
    for bound in (both.one_round, both.log10_delta):
        unseen, seen = bound(eps, unseen=True), bound(eps)
        if participations[0] < 1:
            assert np.all((unseen < seen) | np.isneginf(seen))
        else:
            assert np.array_equal(unseen, seen)


@pytest.mark.parametrize("delta", [pytest.param(1e-2, marks=pytest.mark.slow), 1e-6])
def test_eps_for_unseen_participation_is_no_larger(delta):
    collection = collection_of_sums([Group("a", 1000, 6.0, participation=0.9999)], rounds=3)
    assert collection.epsilon(delta, unseen=True) <= collection.epsilon(delta)


@pytest.mark.parametrize(
    ("randomizer", "eps0", "rounds", "neighbours"),
    [
        ("rappor", 6.0, 1, "deletion"),
        ("rappor", 6.0, 3, "replacement"),
        ("oue", 4.0, 1, "replacement"),
        ("oue", 4.0, 3, "deletion"),
        pytest.param("rappor", 6.0, 1, "replacement", marks=pytest.mark.slow),
        pytest.param("rappor", 6.0, 3, "deletion", marks=pytest.mark.slow),
        pytest.param("oue", 4.0, 1, "deletion", marks=pytest.mark.slow),
        pytest.param("oue", 4.0, 3, "replacement", marks=pytest.mark.slow),
    ],
)
def test_groups_that_are_alike_are_one(randomizer, eps0, rounds, neighbours):
    """Groups of 700 users and of 300, beside 50 who collude, have the bounds of 1000 users."""
    groups = Group("a", 700, eps0), Group("b", 350, eps0, colluding=50)
    setting = {"k": 3, "release": "sums", "neighbours": neighbours, "rounds": rounds}
    found = Collection(groups=groups, randomizer=randomizer, **setting)
    setting |= {"n": 1000, "randomizer": randomizer, "eps0": eps0}
    assert found.epsilon(1e-6, group="b") == tightshuffle.epsilon(1e-6, **setting)
    eps = np.array([[0.1], [0.4]])
    known = tightshuffle.delta(eps, log10=True, **setting)
    np.testing.assert_allclose(found.log10_delta(eps), known)


def delta_where_others_hold_another_value(eps):
    """delta of RAPPOR with eps0 = 8 by deletion, of the count of ones in the bit of the target user's value.

    All 4000 other users hold another value. Each takes part with probability 1/2, and everybody knows how
    many do. So delta is the mean over this number of delta of the count.
    """
    p, q = probabilities_of_one("rappor", 8.0)
    present = np.arange(1600, 2401)  # 12 standard deviations on each side
    ones = np.arange(600)  # far more than the mean, about 2000 q = 36
    deltas = []
    for number in present.tolist():
        others = stats.binom.pmf(ones, number, q)
        others_and_a_one = np.append(0, others[:-1])
        held = q * others + p * others_and_a_one
        not_held = p * others + q * others_and_a_one
        both_directions = (held, not_held), (not_held, held)
        deltas.append([hockey_sticks(np.array([eps]), *laws)[0] for laws in both_directions])
    means = stats.binom.pmf(present, 4000, 0.5) @ np.array(deltas)
    return max(means)


@pytest.mark.parametrize("delta", [pytest.param(1e-3, marks=pytest.mark.slow), 1e-6])
def test_eps_where_participation_is_seen_has_the_delta_of_one_dataset(delta):
    """In this dataset, whose delta is at least 0.8 times as large, all others hold another value.

    The lower bound on eps is above 0.98 times the upper one.
    """
    group = Group("all", 4001, eps0=8.0, participation=0.5)
    eps, lower_eps = epsilon_bounds(collection_of_sums([group], neighbours="deletion"), delta)
    assert 0.8 * delta < delta_where_others_hold_another_value(eps) < delta
    assert 0.98 * eps < lower_eps < eps


@pytest.mark.parametrize(
    ("eps0s", "width"), [((10.0, 13.0), 1.006), ((4.0, 6.0), 1.02), ((1.0, 3.0), 1.06)]
)
def test_bounds_on_eps_of_many_different_users_are_close(eps0s, width):
    """``width`` is just above the largest ratio seen, for two groups of 100,000 users at delta = 1e-6."""
    groups = [Group(str(eps0), 10**5, eps0) for eps0 in eps0s]
    collection = collection_of_sums(groups, neighbours="deletion")
    for group in groups:
        upper, lower = epsilon_bounds(collection, delta=1e-6, group=group.name)
        assert lower < upper < width * lower


def test_the_distribution_for_dp_accounting_has_the_bound():
    pytest.importorskip("dp_accounting")
    groups = [Group("a", 20_000, 6.0, 0.5), Group("b", 10_000, 8.0)]
    collection = collection_of_sums(groups, rounds=2)
    found = collection.to_pld().get_epsilon_for_delta(1e-6)
    assert found == pytest.approx(collection.epsilon(1e-6), rel=0.005)


def test_the_expected_error_is_that_of_simulated_sums():
    groups = [Group("a", 3000, eps0=6.0), Group("b", 5000, eps0=4.0, participation=0.5)]
    # Of each group: users, participation, the probability of a 1 in the place of the value, and in others.
    users = [
        (group.users, group.participation, *probabilities_of_one("rappor", group.eps0))
        for group in groups
    ]
    rng, no_dummies = np.random.default_rng(31), np.zeros(20)
    simulated = [simulated_error(users, rng, no_dummies) for _ in range(400)]
    difference = collection_of_sums(groups, k=20).expected_error() - np.mean(simulated)
    assert abs(difference) < 4 * stats.sem(simulated, ddof=0)


USERS = {"k": 4, "randomizer": "oue", "groups": [{"users": 2, "eps0": 1}]}
WRONG = [
    ({"release": "sum"}, "release must be one of reports, sums; got 'sum'"),
    (
        {"release": "sums", "neighbours": "removal"},
        "neighbours must be one of replacement, deletion; got 'removal'",
    ),
    ({"neighbours": "deletion"}, "neighbours must be 'replacement' unless release is 'sums'"),
    (
        {"release": "sums", "randomizer": "grr"},
        "randomizer must be rappor, oue or unary:P:Q for release 'sums'",
    ),
    ({"release": "sums", "rounds": 50_001}, "rounds must be at most 50000 in all; got 50001"),
    (
        {"then": [{"release": "sums"}]},
        "then: release and neighbours must be those of the first collection",
    ),
]


@pytest.mark.parametrize(("keys", "message"), WRONG)
def test_what_is_wrong_is_named(keys, message):
    with pytest.raises(ValueError, match=message):
        make_collection(USERS | keys)


def test_a_file_and_later_rounds_have_the_keys():
    """`make_collection` reads release and neighbours of a file's keys, which later rounds take over.

    ``USERS`` are the other keys: two users of OUE with eps0 = 1, and k = 4.
    """
    made = make_collection(
        USERS | {"release": "sums", "neighbours": "deletion", "then": [{"rounds": 2}]}
    )
    groups = [Group("group 1", 2, eps0=1.0)]
    later = collection_of_sums(groups, "oue", k=4, neighbours="deletion", rounds=2)
    assert made == collection_of_sums(groups, "oue", k=4, neighbours="deletion", then=(later,))


def test_deletion_rules_out_a_distribution_for_dp_accounting():
    with pytest.raises(ValueError, match="neighbours must be 'replacement' for to_pld"):
        collection_of_sums([Group("a", 2, eps0=1.0)], neighbours="deletion").to_pld()


RARE = [Group("a", 100, eps0=1e-9, participation=1e-300)]


def test_extreme_numbers_give_no_warning():
    assert collection_of_sums(RARE).log10_delta(0.0, unseen=True) < -15
    assert collection_of_sums(RARE, rounds=2).epsilon(1e-6, unseen=True) == 0
    bare = collection_of_sums([Group("a", 10**6, eps0=50.0, participation=0.5)], "oue")
    assert bare.epsilon(1e-6, unseen=True) < 50
    users = [Group("a", 10, eps0=50.0, participation=1e-300)]
    in_two_rounds = collection_of_sums(users, neighbours="deletion", rounds=2)
    assert in_two_rounds.epsilon(1e-120, unseen=True) <= 2 * 50


@pytest.mark.slow
def test_delta_of_rare_users_in_two_rounds_gives_no_warning():
    assert collection_of_sums(RARE, rounds=2).log10_delta(0.0, unseen=True) < -15


def test_bits_about_as_likely_for_every_value_give_no_warning():
    groups = [Group("a", 10, eps0=50.0), Group("b", 10, eps0=1e-100)]
    collection = collection_of_sums(groups, "oue", k=5)
    assert 0 < collection.delta(1.0) <= 1
    assert collection.epsilon(1e-6) > 0


def test_a_report_that_says_nothing_in_floats_has_an_infinite_error():
    alone = collection_of_sums([Group("a", 1, eps0=1e-100)], "oue", k=5)
    assert alone.expected_error() == math.inf


def test_chances_of_few_bits_are_rounded_up_and_close():
    """Of 3 bits in any case and a binomial number. Chernoff's bound takes the place of other laws."""
    numbers = [2, 3, 4, 9, 12, 20, 33]
    found = _ln_chances_of_fewer(Cover(np.array([30.0, 3.0]), np.array([0.3, 1.0])), numbers)
    share = Fraction(0.3)
    chances = [math.comb(30, ones) * share**ones * (1 - share) ** (30 - ones) for ones in range(31)]
    fewer = [sum(chances[: number - 3]) if number > 3 else 0 for number in numbers]
    exact = np.array([math.log(chance) if chance else -math.inf for chance in fewer])
    assert np.all(found >= exact)
    assert np.all(found <= exact + 1.1e-6)
    two_laws = Cover(np.array([30.0, 3.0]), np.array([0.3, 0.5]))
    assert _ln_chances_of_fewer(two_laws, numbers).tolist() == [0.0] * len(numbers)


def test_a_bit_counts_as_one_of_another_kind_where_neither_zeros_nor_ones_are_rarer():
    """The largest share s with s (1 - p) <= 1 - p' and s q <= q' (docs/theory.md, "Sums only")."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        q_of_kind, p_of_kind = np.sort(rng.uniform(0.01, 0.99, 2))
        q, p = np.sort(rng.uniform(0.01, 0.99, 2))
        share = min(1.0, (1 - p) / (1 - p_of_kind), q / q_of_kind)
        odds, kind = (
            (math.log(one / (1 - one)), math.log(other / (1 - other)))
            for one, other in ((p, q), (p_of_kind, q_of_kind))
        )
        assert share * (1 - 1e-11) <= _share_of_kind(odds, kind) <= share
