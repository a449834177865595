"""Collections: no dataset is outside the bounds, which are the known ones where all users are alike."""

import dataclasses
import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.bounds.enumeration import krr_probabilities
from tests.collection.every_dataset import delta_of_pair, pairs_of_datasets, worst_delta
from tests.collection.simulation import simulated_error
from tests.collection.upper_and_lower import delta_bounds, epsilon_bounds
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.collection.gains import ulps_of_gains, uniform_gains
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.randomizers import Finite, KRandomizedResponse, expected_errors

# Relative: what the logarithms of the tested numbers lose. The bounds' own width is 1e-4.
_ROUNDING = 1e-9
BOTH_BOUNDS = pytest.mark.parametrize("bound", ["upper", "lower"])


def random_collection(rng, k):
    """A collection of a few users of k-RR, and an eps below the target user's eps0, by the generator ``rng``.

    It has up to three groups and three dummies.
    """
    # e^eps0 is from 5/4 to 100, or infinite in the first group, which has the target user.
    e_eps0s = rng.choice([5, 6, 8, 12, 20, 40, 100, 400], 3, replace=False) / 4
    if rng.random() < 0.1:
        e_eps0s[0] = math.inf
    participations = rng.integers(1, 5, 3) / 4
    # One to three users of the first group, and none to two of the others.
    users = rng.integers(0, 3, 3) + np.array([1, 0, 0])
    colluding = int(rng.integers(0, 2)) if users[0] > 1 else 0
    most_dummies = 2 if k == 4 else 3
    dummies = int(rng.integers(0, most_dummies + 1)) if rng.random() < 0.5 else 0
    # e^eps is from 1 to 7/8 of the way to e^eps0, where delta is 0. An infinite e^eps0 counts as 50.
    e_eps = 1 + (min(e_eps0s[0], 50) - 1) * rng.integers(0, 15) / 16

    groups = [
        Group(
            str(place),
            int(users[place]),
            eps0=np.log(e_eps0s[place]),
            participation=participations[place],
            colluding=0 if place else colluding,
        )
        for place in np.flatnonzero(users)
    ]
    return Collection(k, tuple(groups), dummies=Dummies(dummies)), math.log(e_eps)


@functools.cache
def random_collections(seed, number, k):
    """A list of ``number`` `random_collection`: (collection, eps, worst delta, upper bound on delta at eps).

    They have k values, or two to four if k is None. They have few enough users for `worst_delta` to enumerate
    every dataset. Draws with more are passed over.
    """
    rng = np.random.default_rng(seed)
    collections = []
    while len(collections) < number:
        collection, eps = random_collection(rng, k or int(rng.integers(2, 5)))
        others = sum(group.users - group.colluding for group in collection.groups) - 1
        most_others = {2: 6, 3: 5, 4: 4}[collection.k]
        if others <= most_others:
            upper = 10 ** collection.one_round(eps)
            collections.append((collection, eps, worst_delta(collection, eps), upper))
    return collections


# Arguments of `random_collections`.
FEW_USERS = pytest.mark.parametrize(
    ("seed", "number", "k"),
    [
        (1, 40, None),
        (3, 40, 2),
        pytest.param(3, 80, 2, marks=pytest.mark.slow),
        pytest.param(2, 500, None, marks=pytest.mark.slow),
    ],
)


@FEW_USERS
def test_bounds_enclose_the_worst_delta_of_few_users(seed, number, k):
    for collection, eps, worst, upper in random_collections(seed, number, k):
        lower = 10 ** collection.one_round(eps, bound="lower")
        assert lower <= worst * (1 + _ROUNDING), collection
        assert upper >= worst * (1 - _ROUNDING), collection


@FEW_USERS
def test_bound_for_unseen_participation_is_from_the_worst_delta_to_the_bound_for_seen(
    seed, number, k
):
    """With ``unseen`` nobody sees whether the target user takes part."""
    for collection, eps, _, seen in random_collections(seed, number, k):
        unseen = 10 ** collection.one_round(eps, unseen=True)
        assert unseen >= worst_delta(collection, eps, unseen=True) * (1 - _ROUNDING), collection
        assert unseen <= seen * (1 + _ROUNDING), collection


@pytest.mark.parametrize(
    ("seed", "number", "k", "ratio"),
    [
        (1, 40, None, 1.1),
        (3, 40, 2, 1.01),
        pytest.param(3, 80, 2, 1.01, marks=pytest.mark.slow),
    ],
)
def test_upper_bound_over_the_worst_delta_of_few_users_has_a_small_median(seed, number, k, ratio):
    ratios = [upper / worst for _, _, worst, upper in random_collections(seed, number, k)]
    assert np.median(ratios) < ratio


@pytest.mark.parametrize(
    ("others", "dummies", "width"),
    [
        ([Group("others", 40, eps0=1.5)], Dummies(30), 1.002),
        ([Group("others", 40, eps0=3.0)], Dummies(30), 1.002),
        ([Group("others", 40, eps0=math.inf)], Dummies(30), 1.002),
        ([Group("b", 25, eps0=1.5), Group("c", 20, eps0=2.5)], Dummies(5), 2.0),
        ([Group("others", 3, eps0=1.5)], Dummies(poisson_per_value=4), 2.0),
    ],
)
def test_bounds_enclose_the_worst_delta_of_two_values(others, dummies, width):
    """`worst_delta` enumerates every dataset of up to 45 users beside the target user.

    The worst delta is at most the factor ``width`` away from both bounds.
    """
    eps = np.array([0.1, 0.4, 0.8])
    target = Group("target", 1, eps0=1.5)
    collection = Collection(2, (target, *others), dummies=dummies)
    worst = worst_delta(collection, eps)
    upper, lower = delta_bounds(collection, eps)
    assert np.all(worst * (1 - _ROUNDING) <= upper)
    assert np.all(upper <= worst * width)
    assert np.all(worst / width <= lower)
    assert np.all(lower <= worst * (1 + _ROUNDING))


def one_group(*, n, k, eps0, randomizer="grr", **group):
    """The `Collection` of one group of n users."""
    return Collection(k, (Group("all", n, eps0, **group),), randomizer)


TWO_VALUES = [  # (eps, setting)
    ([0, 0.1, 0.5, 0.99], {"n": 1, "k": 2, "eps0": 1}),
    ([0, 0.2, 1, 1.98], {"n": 1000, "k": 2, "eps0": 2}),
    ([0, 0.6, 3, 5.94], {"n": 10**9, "k": 2, "eps0": 6}),
]
MORE_VALUES = [
    ([0.02, 0.05, 0.2, 3.9], {"n": 100_000, "k": 408, "eps0": 4.0}),
    (1e-5, {"n": 10**12, "k": 100, "eps0": 4.0}),
    (5.0, {"n": 300, "k": 100, "eps0": 8.0}),
    ([0.0, 0.5, 1.9], {"n": 6, "k": 3, "eps0": 2.0}),
]
for name in ("subset:3", "hash:4", "hadamard", "oue", "rappor"):
    MORE_VALUES.append(([0.05, 0.3], {"n": 10_000, "k": 20, "eps0": 3.0, "randomizer": name}))


def log10_width(n):
    """log10 of 1 + the relative width of the bounds for n users: 1e-4, and more for 10^12 users."""
    return math.log10(1 + (1e-4 if n < 10**11 else 1e-3))


@pytest.mark.parametrize(("eps", "setting"), TWO_VALUES + MORE_VALUES)
def test_upper_bound_of_alike_users_is_the_known_one(eps, setting):
    """One group has the upper bound of `tightshuffle.delta` for n users, here as log10 of delta."""
    found = one_group(**setting).one_round(eps)
    known = tightshuffle.delta(eps, **setting, log10=True)
    np.testing.assert_allclose(found, known, rtol=0, atol=log10_width(setting["n"]))


@pytest.mark.parametrize(("eps", "setting"), MORE_VALUES)
def test_lower_bound_of_alike_users_is_at_most_the_known_one(eps, setting):
    """The method `lower` also tries datasets that mix two values. Bounds are log10 of delta."""
    collection = one_group(**setting)
    found = collection.one_round(eps, bound="lower")
    known = tightshuffle.delta(eps, method="lower", **setting, log10=True)
    assert np.all(np.isfinite(found))
    assert np.all(found <= known + log10_width(setting["n"]))
    assert np.all(found <= collection.one_round(eps))


@pytest.mark.parametrize(("eps", "setting"), TWO_VALUES)
def test_lower_bound_of_two_values_is_the_known_one(eps, setting):
    """One group has the bound of the method `lower` for n users, here as log10 of delta."""
    collection = one_group(**setting)
    found = collection.one_round(eps, bound="lower")
    known = tightshuffle.delta(eps, method="lower", **setting, log10=True)
    np.testing.assert_allclose(found, known, rtol=1e-6, atol=1e-9)
    assert np.all(found <= collection.one_round(eps))


def collection_of_matrix_file(path, truth, users=1000):
    """``users`` who report their own one of two values with the probability ``truth``, by a matrix file."""
    path.write_text(f"{truth},{1 - truth}\n{1 - truth},{truth}\n")
    return Collection(None, (Group("all", users),), f"file:{path}")


def test_a_matrix_file_is_read_again_after_it_changed(tmp_path):
    """At delta = 1e-6 each content of the file has the eps of `tightshuffle.epsilon` for 10,000 users."""
    all_eps = []
    for truth in (0.6, 0.99):
        path = tmp_path / "matrix.csv"
        collection = collection_of_matrix_file(path, truth, users=10_000)
        all_eps.append(collection.epsilon(1e-6))
        known = tightshuffle.epsilon(1e-6, n=10_000, randomizer=f"file:{path}")
        assert all_eps[-1] == pytest.approx(known, rel=1e-3)
    assert all_eps[0] < 0.02 < 0.4 < all_eps[1]  # the second matrix hides far less


def test_a_collection_keeps_the_matrix_of_a_file_that_is_gone(tmp_path):
    path = tmp_path / "matrix.csv"
    collection = collection_of_matrix_file(path, truth=0.99, users=10_000)
    known = tightshuffle.delta(0.4, n=10_000, randomizer=f"file:{path}", log10=True)
    path.unlink()
    assert -6 < collection.one_round(0.4) == pytest.approx(known, abs=0.01)
    assert collection.if_the_shuffler_fails() == pytest.approx(math.log(0.99 / 0.01))


def test_expected_error_of_a_matrix_is_that_of_normal_estimates(tmp_path):
    """The error is half the sum, over both values, of the mean absolute error of the estimated share.

    Of a normal estimate that is sqrt(2 / pi) standard deviations.
    """
    collection = collection_of_matrix_file(tmp_path / "matrix.csv", truth=0.99)
    randomizer = collection.randomizer_of(collection.groups[0])
    deviations = np.sqrt(randomizer.variance(np.full(2, 1 / 2), 1000))
    expected = math.sqrt(2 / math.pi) * deviations.sum() / 2
    assert collection.expected_error() == pytest.approx(expected)


def test_no_error_is_known_for_a_matrix_unless_everybody_takes_part(tmp_path):
    everybody = collection_of_matrix_file(tmp_path / "matrix.csv", truth=0.99)
    half = (Group("all", 1000, participation=0.5),)
    assert math.isnan(dataclasses.replace(everybody, groups=half).expected_error())


def exact_gains(k, eps0, eps):
    """The gains k (R_x0(y) - e^eps R_x1(y)) of k-RR at the reports y = x0, x1 and another value, by mpmath.

    R_x(y) is the probability that a user with the value x reports y: p if y is x, else q.
    """
    e_eps0 = None if eps0 == math.inf else mpmath.exp(eps0)
    p, q = krr_probabilities(0, e_eps0, k)[:2]
    e_eps = mpmath.exp(eps)
    return [k * (p - e_eps * q), k * (q - e_eps * p), k * (q - e_eps * q)]


def test_lower_bounds_know_that_a_user_may_miss_later_rounds():
    """The user takes part in the first round for sure, and hardly ever in the second; nobody can see when.

    The lower bound for a user who is seen in both rounds is none then: it is above the upper bound.
    """
    rarely = Collection(3, (Group("a", 10, eps0=3.0, participation=0.05),))
    collection = Collection(3, (Group("a", 10, eps0=1.0),), then=(rarely,))
    upper = collection.log10_delta(1.0, unseen=True)
    assert collection.log10_delta(1.0, bound="lower", unseen=True) <= upper
    assert collection.log10_delta(1.0, bound="lower") > upper


@pytest.mark.parametrize("k", [2, 1000])
@pytest.mark.parametrize("eps0", [1e-9, 0.3, 7.0, 50.0, math.inf])
def test_gains_are_known_to_their_ulps(eps0, k):
    """`uniform_gains` differ by at most `ulps_of_gains` units in the last place from 50 digits of mpmath."""
    group = Group("a", users=10, eps0=eps0)
    allowed = ulps_of_gains(group) * 2.0**-52  # relative: a unit in the last place is 2^-52
    # From 0 to just below eps0, where gains cancel. For an infinite eps0 the last is nearly 60.
    all_eps = min(eps0, 60.0) * np.array([0.0, 1e-9, 0.4, 1 - 1e-12])
    found = uniform_gains(Collection(k, (group,)), all_eps, group)
    with mpmath.workdps(50):
        for gains, eps in zip(found, all_eps.tolist(), strict=True):
            for gain, exact in zip(gains, exact_gains(k, eps0, eps), strict=True):
                assert abs(gain - exact) <= allowed * abs(exact) + 1e-300  # for gains of 0


@BOTH_BOUNDS
def test_no_warning_where_slopes_are_zero_or_no_gain_is_positive(bound):
    eps = [0.0, 3.0]  # at eps = 0 every slope is 0, and above eps0 no gain is positive
    one_group(n=100, k=10, eps0=2.0).one_round(eps, bound=bound)


def test_rare_users_with_a_tiny_eps0_give_no_warning():
    rare = one_group(n=100, k=10, eps0=1e-99, participation=1e-300)
    delta_bounds(rare, eps=0.0)
    # delta is about eps0 times participation over k, just above 10^-400.
    assert -400 < rare.one_round(0.0, unseen=True) < -399


def delta_of_poisson_dummies(mean, eps):
    """E[(N0 - e^eps N1)_+] / mean, for independent Poisson numbers N0 and N1 with this ``mean``.

    This is delta of values that are sent as they are (docs/theory.md, "Every randomizer"). N0 and N1 are the
    numbers of dummies x0 and x1.
    """
    most = int(mean + 15 * math.sqrt(mean) + 40)  # beyond, next to nothing is left
    numbers = np.arange(most)
    probabilities = stats.poisson.pmf(numbers, mean)
    gains = np.maximum(numbers[:, None] - math.exp(eps) * numbers, 0)  # by N0 and N1
    return float(probabilities @ gains @ probabilities) / mean


@pytest.mark.parametrize(("mean", "eps"), [(5.0, 1.0), (42.7, 1.0), (400.0, 0.3)])
def test_bounds_enclose_delta_of_poisson_dummies_alone(mean, eps):
    """Users send their values as they are, so that only the dummies hide them."""
    exact = delta_of_poisson_dummies(mean, eps)
    group = Group("a", 1000, eps0=math.inf)
    collection = Collection(50, (group,), dummies=Dummies(poisson_per_value=mean))
    upper, lower = delta_bounds(collection, eps)
    assert lower <= exact * (1 + _ROUNDING)
    assert upper >= exact * (1 - _ROUNDING)
    # Relative: twice the default width of `one_round`.
    assert [lower, upper] == pytest.approx([exact, exact], rel=2e-4)


def test_dummies_of_users_count_where_a_device_sends_one():
    """The bound is that of as many dummies of the shuffler as devices send exactly one, on average.

    Of 2000 devices each sends one report of each of ten values with the probability 0.01. No lower bound is
    known for them.
    """
    groups = (Group("a", 2000, eps0=2.0),)
    of_shuffler = Dummies(number=math.ceil(2000 * stats.binom.pmf(1, 10, 0.01)))
    known = Collection(10, groups, dummies=of_shuffler).one_round(0.05)
    of_devices = Dummies(probability_per_user_and_value=0.01)
    collection = Collection(10, groups, dummies=of_devices)
    assert collection.one_round(0.05) == pytest.approx(known, abs=0.05)  # log10 of delta
    assert collection.one_round(0.05, bound="lower") == -np.inf


def test_eps_of_many_different_users_is_known_to_half_a_percent():
    """Five groups of 200 million users differ in eps0 and in the probability that a user takes part."""
    groups = [Group(str(i), 2 * 10**8, 1.5 + i, participation=1 / (i + 1)) for i in range(5)]
    collection = Collection(100, tuple(groups), dummies=Dummies(1000, poisson_per_value=20))
    for group in groups:
        upper, lower = epsilon_bounds(collection, delta=1e-6, group=group.name)
        assert lower < upper < 1.005 * lower


def test_a_user_who_takes_part_in_secret_has_the_eps_of_a_matrix_with_a_row_for_no_report():
    """Users take part with the probability 0.3. Else the report is the last row: it says nothing."""
    krr_matrix = np.array([krr_probabilities(value, math.exp(4), k=4) for value in range(4)])
    matrix = np.vstack([0.3 * krr_matrix, np.full(4, 0.7)])
    known = tightshuffle.epsilon(1e-6, n=1000, randomizer=Finite(matrix))
    collection = one_group(n=1000, k=4, eps0=4.0, participation=0.3)
    assert collection.epsilon(1e-6, unseen=True) == pytest.approx(known, rel=1e-3)


def test_a_delta_below_the_smallest_float_is_rounded_outwards():
    collection = one_group(n=10**6, k=10, eps0=2.0)
    assert collection.log10_delta(1.0) < -40_000
    known = tightshuffle.delta(1.0, n=10**6, k=10, eps0=2.0)
    assert 0 < collection.delta(1.0) == known < 1e-322
    assert collection.delta(1.0, bound="lower") == 0
    assert collection.delta(2.0) == 0


# Users who send their values as they are.
BARE = Group("bare", 10, eps0=math.inf)


def test_values_without_noise_and_dummies_have_an_infinite_eps():
    assert epsilon_bounds(Collection(10, (BARE,)), delta=1e-6) == (math.inf, math.inf)


@BOTH_BOUNDS
@pytest.mark.parametrize("eps", [30.0, 299.0, 400.0, 1e15, 1e308])
def test_delta_of_values_without_noise_is_that_no_dummy_equals_the_value(eps, bound):
    """A report x1 rules x0 out, unless one of the three dummies, of ten values, is x1, too."""
    hidden = Collection(10, (BARE,), dummies=Dummies(3))
    found = hidden.log10_delta(eps, bound=bound)
    assert found == pytest.approx(3 * math.log10(0.9), abs=1e-4)


@BOTH_BOUNDS
def test_delta_of_values_without_noise_is_constant_from_eps_of_300_on(bound):
    mixed = Collection(4, (BARE, Group("krr", 10, eps0=1.0)), dummies=Dummies(3))
    assert mixed.log10_delta(400.0, bound=bound) == mixed.log10_delta(300.0, bound=bound)


def test_users_with_noise_hide_values_without_noise_in_several_rounds():
    """At delta = 1e-2. Dummies hide the values without noise, so that their eps is finite."""
    krr = Group("krr", 40, eps0=1.0)
    alone = Collection(10, (BARE,), dummies=Dummies(100), rounds=2)
    mixed = Collection(10, (BARE, krr), dummies=Dummies(100), rounds=2)
    mixed_once = Collection(10, (BARE, krr), dummies=Dummies(100))
    assert mixed_once.epsilon(1e-2) < mixed.epsilon(1e-2) < alone.epsilon(1e-2) < math.inf


# Of the number of dummies of a value.
LAWS = pytest.mark.parametrize("law", ["geometric:1.5:0.5", "2*binomial:2:0.3", "poisson:0.7"])


def hidden_by_dummies(law, *groups):
    """The `Collection` of users of three values, whom only dummies with this ``law`` hide."""
    return Collection(3, groups, dummies=Dummies(law=law))


@LAWS
def test_bounds_for_a_law_of_dummies_enclose_the_worst_delta(law):
    """Of three users, who send their values as they are, two may stay away, which everybody sees.

    The target user, one of the two, takes part. So delta of a dataset is the mean of delta with and without
    the other one. `worst_delta` enumerates every dataset.
    """
    eps = np.array([0.0, 0.4, 1.1])
    always = Group("always", 1, eps0=math.inf)
    half = Group("half", 2, eps0=math.inf, participation=0.5)
    with_other = hidden_by_dummies(law, Group("both", 2, eps0=math.inf), always)
    without_other = hidden_by_dummies(law, Group("target", 1, eps0=math.inf), always)
    worst = (worst_delta(with_other, eps) + worst_delta(without_other, eps)) / 2
    collection = hidden_by_dummies(law, half, always)
    upper = 10 ** collection.log10_delta(eps)
    lower = 10 ** collection.log10_delta(eps, bound="lower")
    assert np.all(worst <= upper * (1 + 1e-12))
    assert np.all(worst >= lower * (1 - 1e-6))  # 1e-6: the numbers that are rarer than e^-20
    assert upper == pytest.approx(worst, rel=1e-3)


@LAWS
def test_bound_for_a_law_of_dummies_holds_if_nobody_sees_who_takes_part(law):
    """Of three users, who send their values as they are, two may stay away. The target is one of the two.

    `worst_delta` enumerates every dataset. No lower bound is known.
    """
    eps = np.array([0.0, 0.4, 1.1])
    half = Group("half", 2, eps0=math.inf, participation=0.5)
    collection = hidden_by_dummies(law, half, Group("always", 1, eps0=math.inf))
    upper = 10 ** collection.log10_delta(eps, unseen=True)
    assert np.all(worst_delta(collection, eps, unseen=True) <= upper * (1 + 1e-12))
    assert np.all(np.isneginf(collection.log10_delta(eps, bound="lower", unseen=True)))


def weeks_with_dummies(rounds, then=()):
    """A million users send one of 408 values as it is in each round, with the probability 0.8.

    The law of the dummies of each value is the example of docs/collections.md.
    """
    groups = (Group("all", 10**6, math.inf, participation=0.8),)
    dummies = Dummies(law="power:387:1.75:49.641")
    return Collection(408, groups, dummies=dummies, rounds=rounds, then=then)


@pytest.mark.parametrize(
    ("bound", "participation", "unseen", "share"),
    [
        ("upper", 0.5, False, 1),
        ("upper", 0.5, True, 2),
        ("lower", 0.5, False, 1),
        ("lower", 0.5, True, 2),
        pytest.param("upper", 1.0, False, 1, marks=pytest.mark.slow),
        pytest.param("lower", 1.0, False, 1, marks=pytest.mark.slow),
    ],
)
def test_a_law_of_dummies_with_the_losses_0_and_400_has_an_eps_just_below_400(
    bound, participation, unseen, share
):
    """Each of two counts has the loss 200 or -200. So delta is 1 - e^(eps - 400), and 0 from 400 on.

    It is divided by ``share`` for a user who is not seen, for whom no lower bound is known.
    """
    group = Group("a", 10, eps0=math.inf, participation=participation)
    collection = hidden_by_dummies("noise:1:0.005", group)
    assert collection.delta(450.0, bound=bound, unseen=unseen) < 1e-300
    eps = collection.epsilon(1e-6, bound=bound, unseen=unseen)
    expected = 400 + math.log1p(-1e-6 * share)
    if bound == "lower" and unseen:
        expected = 0
    assert eps == pytest.approx(expected, abs=1e-8)
    if unseen and bound == "upper":
        assert collection.epsilon(0.6, unseen=True) == 0


def test_rounds_with_a_law_of_dummies_have_the_bounds_of_users_whom_only_dummies_hide():
    """`HiddenByDummies` has these bounds. If nobody sees who takes part, eps is smaller."""
    year = weeks_with_dummies(rounds=52)
    known = HiddenByDummies(parse_law(year.dummies.law), rounds=52)
    upper, lower = epsilon_bounds(year, delta=1e-8)
    assert upper == known.epsilon(1e-8)
    assert year.log10_delta(0.9) == known.log10_delta(0.9)
    assert 0.999 * upper < lower <= upper
    assert year.epsilon(1e-8, unseen=True) < upper


def test_splitting_the_rounds_in_two_costs_less_than_a_thousandth_of_eps():
    whole = weeks_with_dummies(rounds=52).epsilon(1e-8)
    second_half = weeks_with_dummies(rounds=26)
    divided = weeks_with_dummies(rounds=26, then=(second_half,))
    assert whole <= divided.epsilon(1e-8) < 1.001 * whole


def test_rounds_of_alike_users_have_the_known_eps():
    rounds = Collection(10, (Group("a", 5000, eps0=2.0),), rounds=3)
    known = tightshuffle.epsilon(1e-6, n=5000, k=10, eps0=2.0, rounds=3)
    assert rounds.epsilon(1e-6) == pytest.approx(known, rel=0.01)


def test_different_rounds_add_up():
    """Together they have a larger eps than each. If the shuffler fails, the eps0 of all rounds add up."""
    groups = (Group("a", 50_000, eps0=2.0),)
    first = Collection(10, groups, rounds=3)
    later = Collection(10, (Group("a", 30_000, eps0=3.0),), rounds=2)
    both = Collection(10, groups, rounds=3, then=(later,))
    assert both.epsilon(1e-6) > max(first.epsilon(1e-6), later.epsilon(1e-6))
    assert both.if_the_shuffler_fails() == 3 * 2.0 + 2 * 3.0


def krr_round(k, eps0s, dummies=0, then=()):
    """The `Collection` of one round of k-RR with a group "0", "1", ... of one user for each eps0."""
    groups = [Group(str(number), 1, eps0) for number, eps0 in enumerate(eps0s)]
    return Collection(k, tuple(groups), dummies=Dummies(dummies), then=then)


def deltas_of_two_rounds(first, second, eps):
    """delta of two independent rounds for every pair of datasets; (pairs of datasets, points)."""
    deltas = []
    for pair, later_pair in itertools.product(pairs_of_datasets(first), pairs_of_datasets(second)):
        p, q = [np.outer(*laws) for laws in zip(pair, later_pair, strict=True)]
        deltas.append(delta_of_pair(p, q, eps))
    return np.array(deltas)


@pytest.mark.parametrize("k", [2, 3])
def test_bounds_enclose_the_worst_delta_of_two_different_rounds(k):
    """`deltas_of_two_rounds` has delta of every dataset of both rounds. Each round has three users."""
    second = krr_round(k, eps0s=(2.0, 1.2, 0.6), dummies=1)
    both = krr_round(k, eps0s=(1.5, 0.8, 2.5), then=(second,))
    eps = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 3.4])  # delta is 0 from 1.5 + 2 on
    worst = deltas_of_two_rounds(both, second, eps).max(axis=0)
    upper = 10 ** both.log10_delta(eps, group="0")
    lower = 10 ** both.log10_delta(eps, group="0", bound="lower")
    assert np.all(upper >= worst * (1 - 1e-12))
    assert np.all(lower <= worst * (1 + 1e-12))
    assert np.all(upper[eps <= 1] < 1.3 * worst[eps <= 1])  # the bounds say something


def test_lower_bound_of_two_rounds_is_delta_where_all_others_hold_the_third_value():
    """Up to 10 %. `deltas_of_two_rounds` has delta of every dataset, of which the last is this one."""
    second = krr_round(k=3, eps0s=(2.0, 1.2, 0.6), dummies=1)
    both = krr_round(k=3, eps0s=(1.5, 0.8, 2.5), then=(second,))
    eps = np.array([0.0, 0.3, 1.0])
    exact = deltas_of_two_rounds(both, second, eps)[-1]
    lower = 10 ** both.log10_delta(eps, group="0", bound="lower")
    assert np.all(lower > 0.9 * exact)


def test_the_expected_error_is_that_of_simulated_collections():
    """`expected_error` is within 4 standard errors of the mean of 400 times `simulated_error`."""
    groups = (
        Group("a", 30_000, eps0=2.0),
        Group("b", 20_000, eps0=4.0, participation=0.5),
        Group("c", 1000, eps0=math.inf),
    )
    users = []
    for group in groups:
        e_eps0 = None if group.eps0 == math.inf else math.exp(group.eps0)
        p, q = krr_probabilities(0, e_eps0, k=20)[:2]
        users.append((group.users, group.participation, p, q))
    rng = np.random.default_rng(31)
    simulated = []
    for _ in range(400):
        dummies = rng.binomial(2000, 1 / 20, 20) + rng.poisson(50, 20)
        simulated.append(simulated_error(users, rng, dummies, mean_dummies=2000 / 20 + 50))

    collection = Collection(20, groups, dummies=Dummies(2000, poisson_per_value=50))
    difference = collection.expected_error() - np.mean(simulated)
    assert abs(difference) < 4 * stats.sem(simulated, ddof=0)


@pytest.mark.parametrize("participation", [0.5, 1.0])
def test_the_expected_error_with_a_law_is_that_of_simulated_collections(participation):
    """`expected_error` is within 4 standard errors of the mean error of 4000 runs (`simulated_error`).

    Each of eight values is held by ten users, who send it as it is.
    """
    law = parse_law("geometric:6:0.6")
    rng = np.random.default_rng(20261128)
    # The numbers ``first``, ``first`` + 1, ... with the probabilities e^log_mass.
    probabilities = np.exp(law.log_mass)
    probabilities /= probabilities.sum()
    dummies = law.first + rng.choice(probabilities.size, size=(4000, 8), p=probabilities)
    users = [(80, participation, 1, 0)]
    simulated = [simulated_error(users, rng, each, mean_dummies=law.mean) for each in dummies]

    group = Group("all", 80, math.inf, participation)
    collection = Collection(8, (group,), dummies=Dummies(law=law.name))
    difference = collection.expected_error() - np.mean(simulated)
    assert abs(difference) < 4 * stats.sem(simulated, ddof=0)


SHARES = np.array([0.5, 0.3, 0.1, 0.1])  # of the users who hold each of four values


def test_expected_error_of_given_shares_is_half_the_sum_of_the_errors_of_krr():
    known = expected_errors.errors(KRandomizedResponse(4, 2.0), SHARES, n=1000).sum() / 2
    found = one_group(n=1000, k=4, eps0=2.0).expected_error(SHARES)
    assert found == pytest.approx(known, rel=1e-12)


def test_expected_error_of_few_users_is_the_sum_over_all_counts():
    """Twelve users of one group and eight of another hold four values, beside three kinds of dummies.

    A user who takes part reports the own value with probability p, and each other one with q.
    """
    groups = (Group("a", 12, eps0=3.0), Group("b", 8, eps0=2.0, participation=0.5))
    dummies = Dummies(number=3, poisson_per_value=0.1, probability_per_user_and_value=0.05)
    shares = np.array([0.5, 0.25, 0.25, 0.0])
    error, slope = 0.0, 0.0
    of_dummies = [
        stats.binom.pmf(np.arange(4), 3, 1 / 4),
        stats.poisson.pmf(np.arange(30), 0.1),
        stats.binom.pmf(np.arange(21), 20, 0.05),
    ]
    for share in shares:
        laws = list(of_dummies)
        for group in groups:
            report = np.array(krr_probabilities(0, math.exp(group.eps0), 4))
            p, q = report[:2] * group.participation
            holders = round(share * group.users)
            laws.append(stats.binom.pmf(np.arange(holders + 1), holders, p))
            others = group.users - holders
            laws.append(stats.binom.pmf(np.arange(others + 1), others, q))
            slope += group.users * (p - q) / len(shares)
        law = functools.reduce(np.convolve, laws)
        numbers = np.arange(law.size)
        error += law @ abs(numbers - law @ numbers)
    found = Collection(4, groups, dummies=dummies).expected_error(shares)
    assert found == pytest.approx(error / 2 / slope, rel=1e-9)


def test_gaussian_error_is_half_the_sum_of_the_errors_of_the_exact_scale():
    sigma = float(exact_scale(0.5, 1e-6, sensitivity=HISTOGRAM_SENSITIVITY))
    known = expected_errors.gaussian_errors(4, n=1000, sigma=sigma).sum() / 2
    collection = one_group(n=1000, k=4, eps0=2.0)
    found = collection.gaussian_error(0.5, log10_delta=-6.0, shares=SHARES)
    assert found == pytest.approx(known, rel=1e-12)


def test_gaussian_error_almost_without_noise_is_that_of_who_happens_to_take_part():
    """Of a value's users in the first group, each takes part with probability 0.3; all 800 do on average."""
    groups = (Group("a", 1000, math.inf, participation=0.3), Group("b", 500, math.inf))
    found = Collection(4, groups).gaussian_error(300.0, log10_delta=-1e-3, shares=SHARES)
    deviations_of_counts = np.sqrt(1000 * SHARES * 0.3 * (1 - 0.3))
    normal = math.sqrt(2 / math.pi) * deviations_of_counts.sum() / 2 / 800
    assert found == pytest.approx(normal, rel=1e-3)


@pytest.mark.parametrize("randomizer", ["hash:2", "oue"])
def test_one_group_has_the_known_eps_which_more_users_do_not_make_larger(randomizer):
    """At delta = 1e-6 that of `tightshuffle.epsilon`, to the rounding of 1e-4. The others may stay away."""
    known = tightshuffle.epsilon(1e-6, n=10_000, k=64, eps0=3.0, randomizer=randomizer)
    group = Group("all", 10_000, eps0=3.0)
    assert Collection(64, (group,), randomizer).epsilon(1e-6) == pytest.approx(known, rel=1e-4)
    more = Group("more", 500, eps0=3.0, participation=0.5)
    assert Collection(64, (group, more), randomizer).epsilon(1e-6, group="all") <= 1.0001 * known


A = (Group("a", 5, 1.0),)
VALUES = (Group("values", 5, math.inf),)
LONG = Collection(10, A, rounds=50_000)
WRONG = [
    (lambda: Group("a", 0, 1.0), "group 'a': users must be a whole number from 1"),
    (lambda: Group("a", 10, 0.0), "group 'a': eps0 must be above 0 and at most 50"),
    (
        lambda: Group("a", 10, 1.0, participation=0),
        "group 'a': participation must be a probability above 0",
    ),
    (lambda: Group("a", 10, 1.0, colluding=10), "group 'a': colluding must be"),
    (lambda: Group(7, 10, 1.0), "name of a group must be text"),
    (lambda: Dummies(-1), "dummies: number must be a whole number"),
    (lambda: Dummies(poisson_per_value=-1), "dummies: poisson_per_value must be from 0"),
    (lambda: Dummies(law="x"), "dummies: law must be poisson:MEAN"),
    (lambda: Dummies(law=5), "dummies: law must be poisson:MEAN.* got 5"),
    (
        lambda: Collection(10, VALUES, dummies=Dummies(3, law="poisson:9")),
        "dummies: law must be alone",
    ),
    (
        lambda: Collection(10, VALUES + A, dummies=Dummies(law="poisson:9")),
        "dummies: law is for groups with eps0 = inf; group 'a' has 1.0",
    ),
    (lambda: Collection(10, ()), "groups must be at least one"),
    (lambda: Collection([10, 20], A), "k must be one number"),
    (lambda: Collection(10**15, A), "k must be a whole number from 2 to 10000000"),
    (lambda: Collection(10, A[0]), "groups must be a list of Group"),
    (lambda: Collection(10, A, then=LONG), "then must be a list of Collection"),
    (lambda: Collection(10, A, dummies={"number": 5}), "dummies must be Dummies"),
    (lambda: Collection(10, A, None), "randomizer must be a name, such as 'grr'; got None"),
    (
        lambda: Collection(10, A, rounds=60_000, then=(LONG,)),
        "rounds must be at most 100000 in all",
    ),
    (
        lambda: Collection(10, (Group("a", 5),)),
        "group 'a': eps0 must be given for randomizer 'grr'",
    ),
    (lambda: one_group(n=5, k=10, eps0=math.inf, randomizer="oue"), "eps0 must be finite"),
    (lambda: Collection(10, A, "oue", Dummies(5)), "dummies must not be given"),
    (lambda: Collection(10, A).one_round(1.0, group="b"), "group must be one of a; got 'b'"),
    (
        lambda: Collection(10, A).one_round(1.0, bound="exact"),
        "bound must be one of upper, lower",
    ),
    (lambda: Collection(10, A).expected_error([0.5, 0.5]), "shares must be k = 10 numbers"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
