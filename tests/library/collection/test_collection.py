"""Collections: no dataset is outside the bounds, which are the known ones where all users are alike."""

import itertools
import math
import warnings
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.library.bounds.enumeration import add_report, hockey_stick, krr_probabilities
from tightshuffle.collection import Collection, Dummies, Group, bounds
from tightshuffle.collection.collection import BOUNDS
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.krr import sample_histogram
from tightshuffle.randomizers import Finite, expected_errors

_SAFE = (
    1e-9  # relative: what the logarithms of the tested numbers lose; the bounds' own width is 1e-4
)


class Small:
    """A collection of few users: the growth e^eps0 of everybody as a Fraction, the target user first."""

    def __init__(self, rng, k):
        self.k = k
        growths = [
            Fraction(int(g), 4)
            for g in rng.choice([5, 6, 8, 12, 20, 40, 100, 400], 3, replace=False)
        ]
        if rng.random() < 0.1:
            growths[0] = None
        takings = [Fraction(int(a), 4) for a in rng.integers(1, 5, 3)]
        numbers = rng.integers(0, 3, 3) + np.array([1, 0, 0])
        self.groups = list(zip(growths, takings, numbers.tolist(), strict=True))
        self.colluding = int(rng.integers(0, 2)) if numbers[0] > 1 else 0
        self.dummies = int(rng.integers(0, 3 if k == 4 else 4)) if rng.random() < 0.5 else 0
        self.growth = 1 + ((growths[0] or 50) - 1) * Fraction(int(rng.integers(0, 15)), 16)  # e^eps
        everybody = [
            (growth, taking) for growth, taking, users in self.groups for _ in range(users)
        ]
        self.others = everybody[1 + self.colluding :]

    def collection(self):
        groups = []
        for place, (growth, taking, users) in enumerate(self.groups):
            eps0 = math.inf if growth is None else math.log(growth)
            if users:
                groups.append(
                    Group(str(place), users, eps0, float(taking), 0 if place else self.colluding)
                )
        return Collection(self.k, tuple(groups), dummies=Dummies(self.dummies))

    def add(self, distribution, user, value, taking=None):
        """One more report, with numbers of the kind that the distribution has."""
        kind = type(next(iter(distribution.values())))
        growth, taking = user[0] and kind(user[0]), kind(user[1] if taking is None else taking)
        return add_report(
            distribution, [taking * p for p in krr_probabilities(value, growth, self.k)], 1 - taking
        )

    def start(self, kind):
        distribution = {(0,) * self.k: kind(1)}
        for _ in range(self.dummies):
            distribution = add_report(distribution, [kind(1) / self.k] * self.k)
        return distribution

    def delta(self, distribution, unseen):
        """In both directions, if the other reports have this distribution."""
        taking = None if unseen else 1
        pair = [self.add(distribution, self.groups[0], value, taking) for value in (0, 1)]
        growth = type(next(iter(distribution.values())))(self.growth)
        return max(hockey_stick(*side, growth) for side in (pair, pair[::-1]))

    def worst(self, unseen=False):
        """delta of the worst dataset: found with floats, then exact. Who in a group holds what is alike."""
        delta_of_values = {}

        def go_on(distribution, values):
            number = len(values)
            if number == len(self.others):
                delta_of_values[values] = self.delta(distribution, unseen)
                return
            is_like_the_last = number > 0 and self.others[number] == self.others[number - 1]
            least = values[-1] if is_like_the_last else 0
            for value in range(least, self.k):
                go_on(self.add(distribution, self.others[number], value), (*values, value))

        go_on(self.start(float), ())
        exact = self.start(Fraction)
        for user, value in zip(
            self.others, max(delta_of_values, key=delta_of_values.get), strict=True
        ):
            exact = self.add(exact, user, value)
        return self.delta(exact, unseen)


def small_settings(seed, number, k):
    rng = np.random.default_rng(seed)
    while number:
        small = Small(rng, k or int(rng.integers(2, 5)))
        if len(small.others) <= {2: 6, 3: 5, 4: 4}[small.k]:
            number -= 1
            yield small


def check_enumerated(seed, number, k=None):
    ratios = []
    for small in small_settings(seed, number, k):
        collection, eps = small.collection(), math.log(small.growth)
        exact = small.worst()
        upper, lower = (10 ** collection.one_round(eps, group="0", bound=bound) for bound in BOUNDS)
        where = (small.k, small.groups, small.colluding, small.dummies, small.growth)
        assert lower <= float(exact) * (1 + _SAFE) + 1e-300, where
        assert upper >= float(exact) * (1 - _SAFE), where
        if exact:
            ratios.append(upper / float(exact))
        if small.groups[0][1] < 1:
            hidden = small.worst(unseen=True)
            bound = 10 ** collection.one_round(eps, group="0", unseen=True)
            assert bound >= float(hidden) * (1 - _SAFE), where
            assert bound <= upper * (1 + _SAFE), where
    return np.array(ratios)


@pytest.mark.parametrize(("seed", "number", "k", "ratio"), [(1, 40, None, 1.1), (3, 80, 2, 1.01)])
def test_no_dataset_is_outside_the_bounds(seed, number, k, ratio):
    assert np.median(check_enumerated(seed, number, k)) < ratio  # the bounds say something


@pytest.mark.slow
def test_no_dataset_of_five_hundred_settings_is_outside_the_bounds():
    check_enumerated(2, 500)


@pytest.mark.parametrize(
    ("others", "dummies", "width"),
    [
        ([(40, 1.5)], Dummies(30), 1.002),
        ([(40, 3.0)], Dummies(30), 1.002),
        ([(40, math.inf)], Dummies(30), 1.002),
        ([(25, 1.5), (20, 2.5)], Dummies(5), 2.0),
        ([(40, 1.5)], Dummies(poisson_per_value=20), 3.0),
    ],
)
def test_counts_of_two_values_against_their_sums(others, dummies, width):
    """Every dataset of a few dozen users: x0 is held by each number of users of each group."""
    own, eps, worst = 1.5, np.array([0.1, 0.4, 0.8]), 0.0
    p, q = (1 / (1 + math.exp(side * own)) for side in (-1, 1))
    mean = 2 * dummies.poisson_per_value
    numbers = np.arange(int(3 * mean)) if mean else [dummies.number]
    chances = stats.poisson.pmf(numbers, mean) if mean else [1.0]
    uniform = [stats.binom.pmf(np.arange(number + 1), number, 0.5) for number in numbers]
    for held in itertools.product(*(range(users + 1) for users, _ in others)):
        noise = np.ones(1)
        for m, (users, eps0) in zip(held, others, strict=True):
            for some, odds in ((m, eps0), (users - m, -eps0)):
                ones = stats.binom.pmf(np.arange(some + 1), some, 1 / (1 + np.exp(-odds)))
                noise = np.convolve(noise, ones)
        delta = 0.0
        for chance, each in zip(chances, uniform, strict=True):
            both = np.convolve(noise, each)
            one, two = np.convolve(both, [q, p]), np.convolve(both, [p, q])
            delta += chance * np.maximum(one - np.exp(eps)[:, None] * two, 0).sum(axis=1)
        worst = np.maximum(worst, delta)
    groups = (Group("own", 1, own), *(Group(str(g), *each) for g, each in enumerate(others)))
    collection = Collection(2, groups, dummies=dummies)
    low, high = (10 ** collection.one_round(eps, bound=bound) for bound in BOUNDS[::-1])
    assert np.all(low <= worst * (1 + 1e-9))
    assert np.all(worst * (1 - 1e-9) <= high)
    assert np.all(high <= worst * width)
    assert np.all(low >= worst / width) or dummies.poisson_per_value


def one_group(n, k, eps0, randomizer="grr", **group):
    return Collection(k, (Group("all", n, eps0, **group),), randomizer)


ALIKE = [
    *[(100_000, 408, 4.0, [0.02, 0.05, 0.2, 3.9], "grr"), (10**12, 100, 4.0, 1e-5, "grr")],
    *[(300, 100, 8.0, 5.0, "grr"), (6, 3, 2.0, [0.0, 0.5, 1.9], "grr")],
    *[
        (n, 2, e0, np.array([0, 0.1, 0.5, 0.99]) * e0, "grr")
        for n, e0 in [(1, 1), (1000, 2), (10**9, 6)]
    ],
    *[
        (10_000, 20, 3.0, [0.05, 0.3], name)
        for name in ("subset:3", "hash:4", "hadamard", "oue", "rappor")
    ],
]


@pytest.mark.parametrize(("n", "k", "eps0", "eps", "randomizer"), ALIKE)
def test_alike_users_have_the_known_bounds(n, k, eps0, eps, randomizer):
    collection, setting = (
        one_group(n, k, eps0, randomizer),
        {"n": n, "k": k, "eps0": eps0, "log10": True},
    )
    low, high = (collection.one_round(eps, bound=bound) for bound in BOUNDS[::-1])
    width = math.log10(1 + (1e-4 if n < 10**11 else 1e-3))
    np.testing.assert_allclose(
        high, tightshuffle.upper(eps, randomizer=randomizer, **setting), 0, width
    )
    # It knows mixtures of values, too.
    known = tightshuffle.lower(eps, randomizer=randomizer, **setting)
    assert np.all(low <= np.minimum(known + width, high))
    assert np.all(np.isfinite(low))
    if k == 2:
        np.testing.assert_allclose(low, known, rtol=1e-6, atol=1e-9)


def test_a_matrix_has_the_known_bounds_also_after_its_file_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bounds = []
    for truth in (0.6, 0.99):
        (tmp_path / "m.csv").write_text(f"{truth},{1 - truth}\n{1 - truth},{truth}\n")
        collection = Collection(None, (Group("all", 1000),), "file:m.csv")
        bounds.append(collection.epsilon(1e-6))
        assert bounds[-1] == pytest.approx(
            tightshuffle.epsilon(1e-6, n=1000, randomizer="file:m.csv"), 1e-3
        )
    monkeypatch.chdir("/")
    assert collection.one_round(bounds[1]) < -5.99  # the matrix that was read when it was made
    assert bounds[0] < 0.1 < 4 < bounds[1]
    assert collection.if_the_shuffler_fails() == pytest.approx(math.log(99))
    deviations = np.sqrt(
        collection.randomizer_of(collection.groups[0]).variance(np.full(2, 1 / 2), 1000)
    )
    assert collection.expected_error() == pytest.approx(deviations.sum() / math.sqrt(2 * math.pi))
    partly = Collection(None, (Group("all", 500, participation=0.5),), f"file:{tmp_path}/m.csv")
    assert math.isnan(partly.expected_error())


@pytest.mark.parametrize("eps0", [1e-9, 0.3, 7.0, 50.0, math.inf])
def test_gains_are_known_to_their_ulps(eps0):
    group = Group("a", 10, eps0)
    eps = min(eps0, 60.0) * np.array([0.0, 1e-9, 0.4, 1 - 1e-12])
    with mpmath.workdps(50):
        for k in (2, 1000):
            found = bounds.uniform_gains(Collection(k, (group,)), eps, group)
            allowed = bounds.ulps_of_gains(group)
            for row, e in zip(found, eps.tolist(), strict=True):
                p, q = krr_probabilities(0, None if eps0 == math.inf else mpmath.exp(eps0), k)[:2]
                grown = mpmath.exp(e)
                for value, exact in zip(
                    row, (p - grown * q, q - grown * p, q - grown * q), strict=True
                ):
                    assert abs(value - k * exact) <= allowed * 2.0**-52 * abs(k * exact) + 1e-300


def test_no_warning_for_ordinary_and_for_rare_numbers():
    """At eps = 0 every slope is 0; some slopes leave no positive gain."""
    rare = one_group(100, 10, 1e-99, participation=1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for bound in BOUNDS:
            one_group(100, 10, 2.0).one_round([[0.0, 3.0]], bound=bound)
            rare.one_round(0.0, bound=bound)
        assert -400 < rare.one_round(0.0, unseen=True) < -399


@pytest.mark.parametrize(("mean", "eps"), [(5.0, 1.0), (42.7, 1.0), (400.0, 0.3)])
def test_dummies_alone_against_poisson_sums(mean, eps):
    """E[(N0 - e^eps N1)_+] / mean for Poisson N0, N1: docs/theory.md, "Every randomizer"."""
    most = int(mean + 15 * math.sqrt(mean) + 40)
    n0, n1 = np.arange(most)[:, None], np.arange(most)
    chances = stats.poisson.pmf(n0, mean) * stats.poisson.pmf(n1, mean)
    exact = float((chances * np.maximum(n0 - math.exp(eps) * n1, 0)).sum()) / mean
    collection = Collection(50, (Group("a", 1000, math.inf),), dummies=Dummies(0, mean))
    for bound, side in (("upper", 1), ("lower", -1)):
        found = 10 ** collection.one_round(eps, bound=bound)
        assert found == pytest.approx(exact, rel=2e-4)
        assert side * (found - exact) >= -1e-9 * exact


def test_dummies_of_users_count_where_a_device_sends_one():
    """One report per value with probability b: only devices with exactly one of them are known to hide."""
    group, k, b = Group("a", 2000, 2.0), 10, 0.01
    sent = Dummies(probability_per_user_and_value=b)
    one = k * b * (1 - b) ** (k - 1)
    alike = Collection(k, (group,), dummies=Dummies(int(2000 * one) + 1)).one_round(0.05)
    collection = Collection(k, (group,), dummies=sent)
    assert alike == pytest.approx(collection.one_round(0.05), abs=0.05)
    assert collection.one_round(0.05, bound="lower") == -np.inf


def test_many_users_are_between_their_bounds():
    groups = [Group(str(i), 2 * 10**8, 1.5 + i, participation=1 / (i + 1)) for i in range(5)]
    collection = Collection(100, tuple(groups), dummies=Dummies(1000, poisson_per_value=20))
    for group in groups:
        low, high = (
            collection.epsilon(1e-6, group=group.name, bound=b) for b in ("lower", "upper")
        )
        assert low < high < 1.005 * low


def test_who_takes_part_in_secret_is_more_private():
    """One row "no report" of a matrix says the same."""
    p, q = math.exp(4) / (math.exp(4) + 3), 1 / (math.exp(4) + 3)
    matrix = np.full((5, 4), 0.3 * q) + 0.3 * (p - q) * np.eye(5, 4)
    matrix[4] = 0.7
    same = tightshuffle.epsilon(1e-6, n=1000, randomizer=Finite(matrix))
    unseen = one_group(1000, 4, 4.0, participation=0.3).epsilon(1e-6, unseen=True)
    assert unseen == pytest.approx(same, rel=1e-3)


def test_a_delta_below_the_smallest_float_is_rounded_outwards():
    collection = one_group(10**6, 10, 2.0)
    assert collection.log10_delta(1.0) < -40_000
    assert 0 < collection.delta(1.0) == tightshuffle.upper(1.0, n=10**6, k=10, eps0=2.0) < 1e-322
    assert collection.delta(1.0, bound="lower") == 0
    assert collection.delta(2.0) == 0


def test_values_themselves_hide_in_dummies_alone_at_any_eps():
    """delta of m dummies at a large eps is the probability that none of them is x1."""
    sure = one_group(1000, 10, math.inf)
    assert sure.epsilon(1e-6) == sure.epsilon(1e-6, bound="lower") == math.inf
    hidden = Collection(10, sure.groups, dummies=Dummies(3))
    for eps in (30.0, 299.0, 400.0, 1e15, 1e308):
        for bound in BOUNDS:
            assert hidden.log10_delta(eps, bound=bound) == pytest.approx(
                3 * math.log10(0.9), abs=1e-4
            )
    mixed = Collection(4, (Group("a", 10, math.inf), Group("b", 10, 1.0)), dummies=Dummies(3))
    for bound in BOUNDS:
        assert mixed.log10_delta(400.0, bound=bound) == mixed.log10_delta(300.0, bound=bound)


def test_values_themselves_in_several_rounds():
    raw, krr = Group("raw", 10, math.inf), Group("krr", 40, 1.0)
    alone, mixed = (
        Collection(10, groups, dummies=Dummies(100), rounds=2) for groups in ((raw,), (raw, krr))
    )
    once = Collection(10, (raw, krr), dummies=Dummies(100))
    assert once.epsilon(1e-2) < mixed.epsilon(1e-2) < alone.epsilon(1e-2) < math.inf


@pytest.mark.parametrize("text", ["geometric:1.5:0.5", "2*binomial:2:0.3", "poisson:0.7"])
@pytest.mark.parametrize("unseen", [False, True])
def test_a_law_of_dummies_by_every_dataset_and_outcome(text, unseen):
    """Of three values: two other users, of whom one may not take part, and who takes part seen or not."""
    k, participation, eps = 3, 0.5, np.array([0.0, 0.4, 1.1])
    law = parse_law(text)
    numbers = {law.first + i: math.exp(ln) for i, ln in enumerate(law.log_mass) if ln > -20}
    groups = (Group("target", 2, math.inf, participation), Group("b", 1, math.inf))
    collection = Collection(k, groups, dummies=Dummies(law=text))

    def world(own, others):
        outcomes = defaultdict(float)
        for present in itertools.product((False, True), repeat=2):
            if not (unseen or present[0]):
                continue
            values = [others[1], *itertools.compress((own, others[0]), present)]
            mass = (1 if unseen else 2) * participation**2
            for dummies in itertools.product(numbers, repeat=k):
                counts = tuple(values.count(x) + z for x, z in enumerate(dummies))
                seen = counts if unseen else (counts, present)
                outcomes[seen] += mass * math.prod(numbers[z] for z in dummies)
        return outcomes

    bounds = [
        collection.log10_delta(eps, bound=bound, unseen=unseen) for bound in ("lower", "upper")
    ]
    low, high = 10.0 ** np.array(bounds)
    worst = np.zeros(3)
    for others in itertools.product(range(k), repeat=2):
        first, second = world(0, others), world(1, others)
        worst = np.maximum(worst, [hockey_stick(first, second, growth) for growth in np.exp(eps)])
    assert np.all(worst <= high * (1 + 1e-12))
    assert np.all(worst >= low * (1 - 1e-6))  # without the numbers of a probability below e^-20
    if not unseen:
        assert high == pytest.approx(worst, rel=1e-3)


def test_rounds_of_a_law_of_dummies():
    group = (Group("all", 10**6, math.inf, 0.8),)
    dummies = Dummies(law="power:387:1.75:49.641")
    collection = Collection(408, group, dummies=dummies, rounds=52)
    known = HiddenByDummies(parse_law(dummies.law), rounds=52)
    assert collection.epsilon(1e-8) == known.epsilon(1e-8)
    assert collection.log10_delta(0.9) == known.log10_delta(0.9)
    assert (
        0.999 * known.epsilon(1e-8) < collection.epsilon(1e-8, bound="lower") <= known.epsilon(1e-8)
    )
    later = Collection(408, group, dummies=dummies, rounds=26)
    divided = Collection(408, group, dummies=dummies, rounds=26, then=(later,))
    assert known.epsilon(1e-8) <= divided.epsilon(1e-8) < 1.001 * known.epsilon(1e-8)
    assert collection.epsilon(1e-8, unseen=True) < known.epsilon(1e-8)


def test_rounds_equal_and_different():
    first, later = Group("a", 5000, 2.0), Collection(10, (Group("a", 3000, 3.0),), rounds=2)
    weekly = Collection(10, (first,), rounds=3).epsilon(1e-6)
    known = tightshuffle.epsilon(1e-6, n=5000, k=10, eps0=2.0, rounds=3)
    assert weekly == pytest.approx(known, rel=0.01)
    both = Collection(10, (first,), rounds=3, then=(later,))
    assert both.epsilon(1e-6) > max(weekly, later.epsilon(1e-6))
    assert both.if_the_shuffler_fails() == 3 * 2.0 + 2 * 3.0


@pytest.mark.parametrize("k", [2, 3])
def test_no_pair_of_datasets_of_two_rounds_is_outside_the_bounds(k):
    """Every dataset of three users in each of two different rounds; by symmetry the user holds 0 or 1."""
    budgets = [(1.5, 0.8, 2.5), (2.0, 1.2, 0.6)]  # of the three users, in each round
    single = [
        Collection(
            k, tuple(Group(str(i), 1, eps0) for i, eps0 in enumerate(each)), dummies=Dummies(number)
        )
        for each, number in zip(budgets, (0, 1), strict=True)
    ]
    rounds = Collection(k, single[0].groups, then=(single[1],))
    pairs = []  # of each round: distributions of the counts, given 0 and given 1, for every dataset
    for each, dummies in zip(budgets, ([], [[1 / k] * k]), strict=True):
        pairs.append([])
        for values in itertools.product(range(k), repeat=2):
            sides = []
            for own in (0, 1):
                distribution = {(0,) * k: 1.0}
                users = [
                    krr_probabilities(x, math.exp(eps0), k)
                    for x, eps0 in zip((own, *values), each, strict=True)
                ]
                for probabilities in [*users, *dummies]:
                    distribution = add_report(distribution, probabilities)
                sides.append(np.array([distribution[at] for at in sorted(distribution)]))
            pairs[-1].append(sides)

    def deltas(one, two):
        p, q = (np.outer(*sides).ravel() for sides in zip(one, two, strict=True))
        return np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1)

    eps = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 3.4])
    worst = np.max([deltas(one, two) for one, two in itertools.product(*pairs)], axis=0)
    upper = 10 ** rounds.log10_delta(eps, group="0")
    assert np.all(upper >= worst * (1 - 1e-12))
    assert np.all(upper[:3] < 1.3 * worst[:3])
    lower = 10 ** rounds.log10_delta(eps, group="0", bound="lower")
    assert np.all(lower <= worst * (1 + 1e-12))
    if k == 3:  # all other users hold the third value in both rounds
        exact = deltas(*(each[-1] for each in pairs))
        assert np.all(lower[:3] > 0.9 * exact[:3])


def test_the_expected_error_is_that_of_simulated_collections():
    """Mean total variation distance over 400 runs: within 4 standard errors."""
    k = 20
    groups = (
        Group("a", 30_000, 2.0),
        Group("b", 20_000, 4.0, participation=0.5),
        Group("c", 1000, math.inf),
    )
    collection = Collection(k, groups, dummies=Dummies(2000, poisson_per_value=50))
    rng, distances = np.random.default_rng(31), []
    shares = np.full(k, 1 / k)
    slope, offset = 0.0, 2000 / k + 50
    for group in groups:
        p, q = krr_probabilities(0, math.exp(group.eps0) if group.eps0 < math.inf else None, k)[:2]
        slope += group.users * group.participation * (p - q)
        offset += group.users * group.participation * q
    for _ in range(400):
        counts = rng.multinomial(2000, shares) + rng.poisson(50, k)
        for group in groups:
            held = rng.binomial((group.users * shares).astype(int), group.participation)
            counts += held if group.eps0 == math.inf else sample_histogram(held, group.eps0, rng)[0]
        distances.append(np.abs((counts - offset) / slope - shares).sum() / 2)
    mean, error = np.mean(distances), np.std(distances) / math.sqrt(len(distances))
    assert abs(collection.expected_error() - mean) < 4 * error


@pytest.mark.parametrize("participation", [0.5, 1.0])
def test_the_expected_error_with_a_law_is_that_of_simulated_collections(participation):
    """Mean total variation distance over 4,000 runs: within 4 standard errors."""
    k, users, runs = 8, 80, 4000
    law = parse_law("geometric:6:0.6")
    groups = (Group("all", users, math.inf, participation),)
    collection = Collection(k, groups, dummies=Dummies(law=law.name))
    rng = np.random.default_rng(20261128)
    probabilities = np.exp(law.log_mass)
    dummies = law.first + rng.choice(
        law.log_mass.size, (runs, k), p=probabilities / probabilities.sum()
    )
    counts = rng.binomial(users // k, participation, (runs, k)) + dummies - law.mean
    distances = abs(counts / (users * participation) - 1 / k).sum(axis=1) / 2
    error = distances.std() / math.sqrt(runs)
    assert abs(collection.expected_error() - distances.mean()) < 4 * error


def test_errors_of_given_data():
    """For everybody alike, the errors of `expected_errors` and of the Gaussian."""
    shares = np.array([0.5, 0.3, 0.1, 0.1])
    collection = one_group(1000, 4, 2.0)
    known = expected_errors.krr_errors(shares, n=1000, eps0=2.0).sum() / 2
    assert collection.expected_error(shares) == pytest.approx(known, rel=1e-12)
    sigma = float(exact_scale(0.5, 1e-6, sensitivity=HISTOGRAM_SENSITIVITY))
    known = expected_errors.gaussian_errors(4, n=1000, sigma=sigma).sum() / 2
    assert collection.gaussian_error(0.5, -6.0, shares) == pytest.approx(known, rel=1e-12)


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
    (lambda: Collection(10, (Group("a", 5),)), "group 'a': k and eps0 must be given"),
    (lambda: one_group(5, 10, math.inf, "oue"), "eps0 must be finite"),
    (lambda: Collection(10, A, "oue", Dummies(5)), "dummies must not be given"),
    (lambda: one_group(5, 10, 1.0).one_round(1.0, group="b"), "group must be one of all; got 'b'"),
    (
        lambda: one_group(5, 10, 1.0).one_round(1.0, bound="exact"),
        "bound must be one of upper, lower",
    ),
    (lambda: one_group(5, 10, 1.0).expected_error([0.5, 0.5]), "shares must be k = 10 numbers"),
]


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("randomizer", ["hash:2", "oue"])
def test_a_collection_of_one_group_has_the_smaller_of_both_bounds(randomizer):
    eps = tightshuffle.epsilon(1e-6, n=10_000, k=64, eps0=3.0, randomizer=randomizer)
    one = Collection(64, (Group("all", 10_000, 3.0),), randomizer=randomizer)
    assert one.epsilon(1e-6) == pytest.approx(eps, rel=1e-4)
    half = Collection(
        64, (Group("all", 10_000, 3.0), Group("rare", 500, 3.0, 0.5)), randomizer=randomizer
    )
    assert half.epsilon(1e-6, group="all") <= 1.0001 * eps  # the users who may stay away only help


def test_curator_does_not_ask_everybody_either():
    """Almost without noise, the error is that of values that the users who take part send as they are."""
    groups = (Group("a", 1000, math.inf, participation=0.3), Group("b", 500, math.inf))
    collection = Collection(4, groups)
    shares = np.array([0.5, 0.3, 0.1, 0.1])
    error = collection.gaussian_error(300.0, -1e-3, shares)
    assert error == pytest.approx(collection.expected_error(shares), rel=1e-3)
