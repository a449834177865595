"""Collections: no dataset is outside the bounds, which are the known ones where all users are alike."""

import itertools
import math
import warnings
from collections import defaultdict
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import tightshuffle
from tests.library.bounds.enumeration import add_report, hockey_stick, krr_probabilities
from tightshuffle.collection import Collection, Dummies, Group, bounds
from tightshuffle.collection.collection import BOUNDS
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import parse_law
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.krr import sample_histogram
from tightshuffle.randomizers import Finite, expected_errors

# Relative: what the logarithms of the tested numbers lose. The bounds' own width is 1e-4.
_ROUNDING = 1e-9


class FewUsers:
    """A random collection of few users, of whom the first is the target user, with exact numbers.

    Each user has e^eps0 as a Fraction, None for an infinite eps0, and takes part with a probability that is a
    Fraction. ``e_eps`` is a random e^eps below the target user's e^eps0.
    """

    def __init__(self, rng, k):
        """Draw three groups of k-RR users, a number of dummies, and an e^eps, by the generator ``rng``.

        A group is (e^eps0, participation, number of users). Participation is the probability that a user
        takes part. The target user is in the first group. Only there e^eps0 may be None, for an infinite
        eps0, and a user may collude. The numbers of users and dummies are small, because every dataset is
        enumerated.
        """
        self.k = k
        # e^eps0 is from 5/4 to 100, different in each group.
        e_eps0s = [
            Fraction(int(quarters), 4)
            for quarters in rng.choice([5, 6, 8, 12, 20, 40, 100, 400], 3, replace=False)
        ]
        if rng.random() < 0.1:
            e_eps0s[0] = None
        participations = [Fraction(int(quarters), 4) for quarters in rng.integers(1, 5, 3)]
        # One to three users of the first group, with the target user, and none to two of the others.
        users = rng.integers(0, 3, 3) + np.array([1, 0, 0])
        self.groups = list(zip(e_eps0s, participations, users.tolist(), strict=True))
        # A colluding user's report is known, so it hides nobody.
        self.colluding = int(rng.integers(0, 2)) if users[0] > 1 else 0

        # In about half of the collections there may be dummies: up to two for four values, else up to three.
        self.dummies = int(rng.integers(0, 3 if k == 4 else 4)) if rng.random() < 0.5 else 0

        # e^eps is from 1 to 7/8 of the way to e^eps0, where delta is 0. An infinite e^eps0 counts as 50.
        largest_e_eps = e_eps0s[0] or 50
        self.e_eps = 1 + (largest_e_eps - 1) * Fraction(int(rng.integers(0, 15)), 16)

        # The users whose reports hide the target user's: all but the target user and the colluding one.
        everybody = []
        for e_eps0, participation, number in self.groups:
            everybody += [(e_eps0, participation)] * number
        self.others = everybody[1 + self.colluding :]

    def collection(self):
        """The `Collection` with the groups "0", "1" and "2", of which empty ones are left out."""
        groups = []
        for number, (e_eps0, participation, users) in enumerate(self.groups):
            if users:
                eps0 = math.inf if e_eps0 is None else math.log(e_eps0)
                colluding = 0 if number else self.colluding
                groups.append(Group(str(number), users, eps0, float(participation), colluding))
        return Collection(self.k, tuple(groups), dummies=Dummies(self.dummies))

    def with_user(self, distribution, user, value):
        """The ``distribution`` {histogram: probability} after one more user, (e^eps0, participation)."""
        number_type = type(next(iter(distribution.values())))
        e_eps0, participation = (
            number if number is None else number_type(number) for number in user
        )
        report = krr_probabilities(value, e_eps0, self.k)
        chances = [participation * p for p in report]
        return add_report(distribution, chances, chance_of_none=1 - participation)

    def histogram_of_dummies(self, number_type):
        """{histogram: probability} of the dummies alone, each of which is uniform."""
        distribution = {(0,) * self.k: number_type(1)}
        for _ in range(self.dummies):
            distribution = add_report(distribution, [number_type(1) / self.k] * self.k)
        return distribution

    def delta(self, distribution, unseen):
        """delta in the worse direction, if all reports but the target user's have this ``distribution``.

        Unless ``unseen``, everybody knows that the target user takes part.
        """
        e_eps0, participation, _ = self.groups[0]
        target = (e_eps0, participation if unseen else 1)
        p, q = (self.with_user(distribution, target, value) for value in (0, 1))
        e_eps = type(next(iter(distribution.values())))(self.e_eps)
        return max(hockey_stick(p, q, e_eps), hockey_stick(q, p, e_eps))

    def datasets(self):
        """The values of all other users, without those that only exchange users of one group."""
        all_values = itertools.product(range(self.k), repeat=len(self.others))
        neighbours = list(itertools.pairwise(self.others))
        for values in all_values:
            steps = zip(neighbours, itertools.pairwise(values), strict=True)
            if all(one != other or x <= y for (one, other), (x, y) in steps):
                yield values

    def worst_delta(self, unseen=False):
        """delta of the worst dataset: found with floats, then as a Fraction."""

        def delta(values, number_type):
            distribution = self.histogram_of_dummies(number_type)
            for user, value in zip(self.others, values, strict=True):
                distribution = self.with_user(distribution, user, value)
            return self.delta(distribution, unseen)

        worst = max(self.datasets(), key=lambda values: delta(values, float))
        return delta(worst, Fraction)


def small_collections(seed, number, k):
    """Yield ``number`` random `FewUsers` with k values, or with two to four if ``k`` is None.

    They have few enough other users for every dataset to be enumerated. Draws with more are passed over.
    """
    rng = np.random.default_rng(seed)
    while number:
        few_users = FewUsers(rng, k or int(rng.integers(2, 5)))
        most_others = {2: 6, 3: 5, 4: 4}[few_users.k]  # that can be enumerated
        if len(few_users.others) <= most_others:
            number -= 1
            yield few_users


def check_bounds_of_small_collections(seed, number, k=None):
    """Assert that the bounds of one round enclose the worst delta; return upper bound / worst delta.

    ``number`` random collections of a few users are drawn, with k values, or two to four if k is None.
    `FewUsers.worst_delta` enumerates all datasets: it is their largest delta, a fraction. `one_round` returns
    log10 of a bound for a target user of the group "0". With ``unseen`` nobody sees who takes part. The upper
    bound for this case is at least its worst delta, and at most the upper bound for the case that all see it.
    """
    ratios = []
    for few_users in small_collections(seed, number, k):
        collection, eps = few_users.collection(), math.log(few_users.e_eps)
        drawn = few_users.__dict__  # shown if a bound fails

        # All see who takes part.
        exact = few_users.worst_delta()
        upper, lower = (10 ** collection.one_round(eps, group="0", bound=bound) for bound in BOUNDS)
        # 1e-300 is absolute, for an exact delta of 0.
        assert lower <= float(exact) * (1 + _ROUNDING) + 1e-300, drawn
        assert upper >= float(exact) * (1 - _ROUNDING), drawn
        if exact:
            ratios.append(upper / float(exact))

        # Nobody sees it, which makes no difference for a target user who always does.
        _, participation_of_target, _ = few_users.groups[0]
        if participation_of_target < 1:
            unseen = 10 ** collection.one_round(eps, group="0", unseen=True)
            assert unseen >= float(few_users.worst_delta(unseen=True)) * (1 - _ROUNDING), drawn
            assert unseen <= upper * (1 + _ROUNDING), drawn
    return np.array(ratios)


@pytest.mark.parametrize(("seed", "number", "k", "ratio"), [(1, 40, None, 1.1), (3, 80, 2, 1.01)])
def test_no_dataset_is_outside_the_bounds(seed, number, k, ratio):
    ratios = check_bounds_of_small_collections(seed, number, k)
    assert np.median(ratios) < ratio  # the bounds say something


@pytest.mark.slow
def test_no_dataset_of_five_hundred_settings_is_outside_the_bounds():
    check_bounds_of_small_collections(2, 500)


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
    """With two values, x0 and x1, the bounds enclose delta of the worst of all datasets of a few dozen users.

    ``others`` has (users, eps0) for each group beside the target user. A dataset says how many users of each
    group hold x0. Its exact delta is a sum over the number of reports x0, whose law is a convolution of
    binomials. `one_round` returns log10 of a bound. The upper bound may be at most ``width`` times the worst
    delta, and the lower bound at least the worst delta over ``width``. Poisson numbers of dummies have no
    lower bound that is as close.
    """
    target_eps0, eps = 1.5, np.array([0.1, 0.4, 0.8])
    # The target user's report is x0 with probability p if the value is x0, else with q = 1 - p.
    p, q = special.expit([target_eps0, -target_eps0])

    # Dummies are x0 or x1 with probability 1/2. Three times the mean number leaves next to nothing out.
    if dummies.poisson_per_value:
        mean = 2 * dummies.poisson_per_value
        numbers_of_dummies = np.arange(int(3 * mean))
        chances_of_numbers = stats.poisson.pmf(numbers_of_dummies, mean)
    else:
        numbers_of_dummies, chances_of_numbers = [dummies.number], [1.0]

    # From here on, the law of some reports is the array of the probabilities of 0, 1, ... reports x0 of them.
    of_dummies = [
        stats.binom.pmf(np.arange(number + 1), number, 0.5) for number in numbers_of_dummies
    ]
    worst = 0.0  # delta of the worst dataset so far, at each eps
    for holders_of_x0 in itertools.product(*(range(users + 1) for users, _ in others)):
        # Of each group, some users hold x0 and the others x1; expit makes probabilities of log odds.
        of_others = np.ones(1)
        for holders, (users, eps0) in zip(holders_of_x0, others, strict=True):
            for number, log_odds in ((holders, eps0), (users - holders, -eps0)):
                of_some = stats.binom.pmf(np.arange(number + 1), number, special.expit(log_odds))
                of_others = np.convolve(of_others, of_some)

        # delta at each eps: the mean over the numbers of dummies, which everybody knows.
        delta = 0.0
        for chance, of_number in zip(chances_of_numbers, of_dummies, strict=True):
            of_all_but_target = np.convolve(of_others, of_number)
            under_p = np.convolve(of_all_but_target, [q, p])
            under_q = np.convolve(of_all_but_target, [p, q])
            positive = np.maximum(under_p - np.exp(eps)[:, None] * under_q, 0)
            delta += chance * positive.sum(axis=1)
        worst = np.maximum(worst, delta)

    groups = [Group("own", 1, target_eps0)]
    groups += [Group(str(number), *group) for number, group in enumerate(others)]
    collection = Collection(2, tuple(groups), dummies=dummies)
    high, low = (10 ** collection.one_round(eps, bound=bound) for bound in BOUNDS)
    assert np.all(low <= worst * (1 + _ROUNDING))
    assert np.all(worst * (1 - _ROUNDING) <= high)
    assert np.all(high <= worst * width)
    assert np.all(low >= worst / width) or dummies.poisson_per_value


def one_group(n, k, eps0, randomizer="grr", **group):
    """The `Collection` of one group of n users."""
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
    """One group has the bounds on log10 of delta that `tightshuffle.upper` and `lower` have for n users.

    A row of ``ALIKE`` is (n, k, eps0, eps, randomizer): k-RR ("grr") or one of five other randomizers, with 1
    to 10^12 users. `one_round` returns the bounds of the group. Its upper bound differs from `upper` by at
    most the relative error of both functions, ``width``. Its lower bound is finite and at most `lower`, which
    also tries datasets that mix two values. With k = 2 both lower bounds are equal.
    """
    setting = {"n": n, "k": k, "eps0": eps0, "randomizer": randomizer, "log10": True}
    collection = one_group(n, k, eps0, randomizer)
    high, low = (collection.one_round(eps, bound=bound) for bound in BOUNDS)
    # The brackets are 1e-4 wide, relatively, and wider for 10^12 users.
    width = math.log10(1 + (1e-4 if n < 10**11 else 1e-3))
    np.testing.assert_allclose(high, tightshuffle.upper(eps, **setting), rtol=0, atol=width)

    known = tightshuffle.lower(eps, **setting)
    assert np.all(low <= np.minimum(known + width, high))
    assert np.all(np.isfinite(low))
    if k == 2:
        np.testing.assert_allclose(low, known, rtol=1e-6, atol=1e-9)


def test_a_matrix_has_the_known_bounds_also_after_its_file_changed(tmp_path, monkeypatch):
    """A collection by a matrix file has the eps of `tightshuffle.epsilon`, and keeps the matrix that it read.

    The file is written twice: a report is the user's one of two values with probability 0.6, then 0.99. The
    expected error is half the sum, over both values, of the mean absolute error of the estimated share. An
    estimate is taken as normal, so its mean absolute error is sqrt(2 / pi) standard deviations.
    """
    monkeypatch.chdir(tmp_path)
    all_eps = []  # at delta = 1e-6, of each matrix
    for truth in (0.6, 0.99):
        (tmp_path / "m.csv").write_text(f"{truth},{1 - truth}\n{1 - truth},{truth}\n")
        collection = Collection(None, (Group("all", 1000),), "file:m.csv")
        all_eps.append(collection.epsilon(1e-6))
        assert all_eps[-1] == pytest.approx(
            tightshuffle.epsilon(1e-6, n=1000, randomizer="file:m.csv"), 1e-3
        )
    assert all_eps[0] < 0.1 < 4 < all_eps[1]  # the second matrix hides far less

    # Where its path leads nowhere, the last collection still has its matrix: log10 of delta is -6 at its eps,
    # and eps0 is ln(0.99 / 0.01).
    monkeypatch.chdir("/")
    assert collection.one_round(all_eps[1]) < -5.99
    assert collection.if_the_shuffler_fails() == pytest.approx(math.log(99))
    deviations = np.sqrt(
        collection.randomizer_of(collection.groups[0]).variance(np.full(2, 1 / 2), 1000)
    )
    assert collection.expected_error() == pytest.approx(deviations.sum() / math.sqrt(2 * math.pi))

    # No error is known for a matrix unless everybody takes part.
    partly = Collection(None, (Group("all", 500, participation=0.5),), f"file:{tmp_path}/m.csv")
    assert math.isnan(partly.expected_error())


@pytest.mark.parametrize("eps0", [1e-9, 0.3, 7.0, 50.0, math.inf])
def test_gains_are_known_to_their_ulps(eps0):
    """`uniform_gains` are within `ulps_of_gains` units in the last place of the gains in mpmath's 50 digits.

    A report y has the gain k (R_x0(y) - e^eps R_x1(y)), at y = x0, at x1 and at another value. R_x(y) is the
    probability that a user of k-RR with the value x reports y: p if y is x, and q else.
    """
    group = Group("a", users=10, eps0=eps0)
    # From 0 to just below eps0, where gains cancel. For an infinite eps0 the last is nearly 60.
    all_eps = min(eps0, 60.0) * np.array([0.0, 1e-9, 0.4, 1 - 1e-12])
    allowed = bounds.ulps_of_gains(group) * 2.0**-52  # relative: a unit in the last place is 2^-52
    with mpmath.workdps(50):
        e_eps0 = None if eps0 == math.inf else mpmath.exp(eps0)
        for k in (2, 1000):
            p, q = krr_probabilities(0, e_eps0, k)[:2]
            gains = bounds.uniform_gains(Collection(k, (group,)), all_eps, group)
            for gains_at_eps, eps in zip(gains, all_eps.tolist(), strict=True):
                e_eps = mpmath.exp(eps)
                exact_gains = [k * (p - e_eps * q), k * (q - e_eps * p), k * (q - e_eps * q)]
                # 1e-300 is for gains of 0.
                for gain, exact in zip(gains_at_eps, exact_gains, strict=True):
                    assert abs(gain - exact) <= allowed * abs(exact) + 1e-300


def test_no_warning_for_ordinary_and_for_rare_numbers():
    """The bounds give no warning at eps = 0, where every slope is 0, nor where no gain is positive.

    The rare group takes part with a probability of 1e-300, and has an eps0 of 1e-99. If it is not seen who
    takes part, delta is about their product over k = 10, just above 10^-400.
    """
    rare = one_group(100, 10, 1e-99, participation=1e-300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for bound in BOUNDS:
            one_group(100, 10, 2.0).one_round([[0.0, 3.0]], bound=bound)
            rare.one_round(0.0, bound=bound)
        assert -400 < rare.one_round(0.0, unseen=True) < -399


@pytest.mark.parametrize(("mean", "eps"), [(5.0, 1.0), (42.7, 1.0), (400.0, 0.3)])
def test_dummies_alone_against_poisson_sums(mean, eps):
    """Values that are sent as they are hide only in dummies, of which each value has a Poisson number.

    delta is E[(N0 - e^eps N1)_+] / mean (docs/theory.md, "Every randomizer"). N0 and N1 are the numbers of
    dummies x0 and x1, independent and Poisson with this ``mean``. The sum over N0 and N1 stops where next to
    nothing is left. Both bounds are within 2e-4 of it, relatively: twice the default width of `one_round`.
    """
    most = int(mean + 15 * math.sqrt(mean) + 40)  # beyond, next to nothing is left
    n0, n1 = np.arange(most)[:, None], np.arange(most)
    chances = stats.poisson.pmf(n0, mean) * stats.poisson.pmf(n1, mean)
    exact = float((chances * np.maximum(n0 - math.exp(eps) * n1, 0)).sum()) / mean
    group = Group("a", 1000, math.inf)
    collection = Collection(50, (group,), dummies=Dummies(poisson_per_value=mean))
    high, low = (10 ** collection.one_round(eps, bound=bound) for bound in BOUNDS)
    assert low <= exact * (1 + _ROUNDING)
    assert high >= exact * (1 - _ROUNDING)
    assert [low, high] == pytest.approx([exact, exact], rel=2e-4)


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
    """Both bounds on eps at delta = 1e-6 of five groups of 200 million users are within 0.5 %.

    The groups differ in eps0 and in the probability that a user takes part.
    """
    groups = [Group(str(i), 2 * 10**8, 1.5 + i, participation=1 / (i + 1)) for i in range(5)]
    collection = Collection(100, tuple(groups), dummies=Dummies(1000, poisson_per_value=20))
    for group in groups:
        high, low = (collection.epsilon(1e-6, group=group.name, bound=bound) for bound in BOUNDS)
        assert low < high < 1.005 * low


def test_who_takes_part_in_secret_is_more_private():
    """A user who takes part in secret, with probability 0.3, has the eps of a matrix with a row "no report".

    The matrix has k-RR's p and q times 0.3, and in the last row 0.7: a report that says nothing of the value.
    """
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
    """Reports that are the values themselves (eps0 is infinite) hide in dummies alone.

    Without dummies eps is infinite. With three dummies of ten values, delta at a large eps is 0.9^3, the
    probability that none of them is x1: a report x1 rules x0 out. From eps = 300 on delta stays the same,
    also among users of k-RR.
    """
    bare = one_group(n=1000, k=10, eps0=math.inf)
    assert bare.epsilon(1e-6) == bare.epsilon(1e-6, bound="lower") == math.inf
    hidden = Collection(10, bare.groups, dummies=Dummies(3))
    for eps in (30.0, 299.0, 400.0, 1e15, 1e308):
        for bound in BOUNDS:
            assert hidden.log10_delta(eps, bound=bound) == pytest.approx(
                3 * math.log10(0.9), abs=1e-4
            )
    mixed = Collection(4, (Group("a", 10, math.inf), Group("b", 10, 1.0)), dummies=Dummies(3))
    for bound in BOUNDS:
        assert mixed.log10_delta(400.0, bound=bound) == mixed.log10_delta(300.0, bound=bound)


def test_values_themselves_in_several_rounds():
    """Two rounds have a larger eps than one, and without users of k-RR, whose reports hide, a yet larger one.

    The target user's group sends values as they are. eps is finite, as dummies hide them. delta is 1e-2.
    """
    raw, krr = Group("raw", 10, math.inf), Group("krr", 40, 1.0)
    alone, mixed = (
        Collection(10, groups, dummies=Dummies(100), rounds=2) for groups in ((raw,), (raw, krr))
    )
    once = Collection(10, (raw, krr), dummies=Dummies(100))
    assert once.epsilon(1e-2) < mixed.epsilon(1e-2) < alone.epsilon(1e-2) < math.inf


@pytest.mark.parametrize("law_text", ["geometric:1.5:0.5", "2*binomial:2:0.3", "poisson:0.7"])
@pytest.mark.parametrize("unseen", [False, True])
def test_a_law_of_dummies_by_every_dataset_and_outcome(law_text, unseen):
    """The bounds enclose delta of the worst dataset of three users who send one of three values as it is.

    ``law_text`` names the distribution of the number of dummies of each value. Only dummies hide the target
    user. The target user and another one take part with probability 1/2, the third one always. An outcome is
    the histogram of all reports. Unless ``unseen``, everybody also sees who takes part, and the target user
    does. No lower bound above 0 is known if ``unseen``.
    """
    k, participation, eps = 3, 0.5, np.array([0.0, 0.4, 1.1])
    law = parse_law(law_text)
    # {number of dummies of one value: its probability}. ``log_mass`` has natural logs of the probabilities of
    # the numbers from ``first`` on. A number rarer than e^-20 hardly counts.
    chance_of_dummies = {
        law.first + i: math.exp(ln) for i, ln in enumerate(law.log_mass) if ln > -20
    }
    groups = (Group("target", 2, math.inf, participation), Group("b", 1, math.inf))
    collection = Collection(k, groups, dummies=Dummies(law=law_text))

    def distribution(own, maybe, always):
        """{outcome: probability} if the target user holds ``own`` and the others ``maybe`` and ``always``."""
        result = defaultdict(float)
        for own_takes_part, maybe_takes_part in itertools.product((False, True), repeat=2):
            if not (unseen or own_takes_part):
                continue
            values = [always] + [own] * own_takes_part + [maybe] * maybe_takes_part
            # The probability of who takes part: of two users, or of one if the target user surely does.
            chance = participation**2 if unseen else participation
            for dummies in itertools.product(chance_of_dummies, repeat=k):
                histogram = tuple(values.count(x) + number for x, number in enumerate(dummies))
                outcome = histogram if unseen else (histogram, maybe_takes_part)
                result[outcome] += chance * math.prod(chance_of_dummies[z] for z in dummies)
        return result

    worst = np.zeros(3)
    for others in itertools.product(range(k), repeat=2):
        p, q = distribution(0, *others), distribution(1, *others)
        worst = np.maximum(worst, [hockey_stick(p, q, e_eps) for e_eps in np.exp(eps)])
    high, low = (
        10.0 ** collection.log10_delta(eps, bound=bound, unseen=unseen) for bound in BOUNDS
    )
    assert np.all(worst <= high * (1 + 1e-12))
    assert np.all(worst >= low * (1 - 1e-6))  # 1e-6: the numbers that are rarer than e^-20
    if not unseen:
        assert high == pytest.approx(worst, rel=1e-3)


def test_rounds_of_a_law_of_dummies():
    """A collection of 52 weekly rounds has the bounds of `HiddenByDummies`, also if it is split into two.

    A million users send one of 408 values as it is, and each takes part with probability 0.8.
    `HiddenByDummies` has the bounds for users whom only dummies hide. The law of the dummies of each value is
    the example of docs/collections.md, with mean 387. eps is at delta = 1e-8. It is smaller if nobody sees
    who takes part.
    """
    groups = (Group("all", 10**6, math.inf, participation=0.8),)
    dummies = Dummies(law="power:387:1.75:49.641")
    collection = Collection(408, groups, dummies=dummies, rounds=52)
    known = HiddenByDummies(parse_law(dummies.law), rounds=52)
    eps = known.epsilon(1e-8)
    assert collection.epsilon(1e-8) == eps
    assert collection.log10_delta(0.9) == known.log10_delta(0.9)
    assert 0.999 * eps < collection.epsilon(1e-8, bound="lower") <= eps

    # 26 rounds and then 26: composing the bounds of two collections costs less than 0.1 %.
    later = Collection(408, groups, dummies=dummies, rounds=26)
    divided = Collection(408, groups, dummies=dummies, rounds=26, then=(later,))
    assert eps <= divided.epsilon(1e-8) < 1.001 * eps

    assert collection.epsilon(1e-8, unseen=True) < eps


def test_rounds_equal_and_different():
    """Rounds of one group have the eps of `tightshuffle.epsilon`; other rounds after them add to eps.

    Three rounds with eps0 = 2 and then two with eps0 = 3: if the shuffler fails, the eps0 of all add up.
    """
    first, later = Group("a", 5000, 2.0), Collection(10, (Group("a", 3000, 3.0),), rounds=2)
    weekly = Collection(10, (first,), rounds=3).epsilon(1e-6)
    known = tightshuffle.epsilon(1e-6, n=5000, k=10, eps0=2.0, rounds=3)
    assert weekly == pytest.approx(known, rel=0.01)
    both = Collection(10, (first,), rounds=3, then=(later,))
    assert both.epsilon(1e-6) > max(weekly, later.epsilon(1e-6))
    assert both.if_the_shuffler_fails() == 3 * 2.0 + 2 * 3.0


@pytest.mark.parametrize("k", [2, 3])
def test_no_pair_of_datasets_of_two_rounds_is_outside_the_bounds(k):
    """The bounds enclose the worst delta of two different rounds of k-RR with three users.

    The target user is the first, who holds 0 under P and 1 under Q in both rounds; by symmetry other values
    give the same. The worst delta is the largest over every dataset of the other two users in each round. A
    delta is summed over all pairs of histograms of reports. `add_report` adds one report, of a user or a
    dummy, to the distribution of a histogram.
    """
    eps = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 3.4])  # delta is 0 from 1.5 + 2 on

    def collection_and_pairs(eps0s, dummies):
        """A round of users with these eps0, and for every dataset (P, Q): probabilities of histograms."""
        # A group of one user for each eps0.
        groups = tuple(Group(str(number), 1, eps0) for number, eps0 in enumerate(eps0s))
        pairs = []
        for others in itertools.product(range(k), repeat=2):
            sides = []
            for own in (0, 1):
                distribution = {(0,) * k: 1.0}
                for value, eps0 in zip((own, *others), eps0s, strict=True):
                    report = krr_probabilities(value, math.exp(eps0), k)
                    distribution = add_report(distribution, report)
                for _ in range(dummies):
                    distribution = add_report(distribution, [1 / k] * k)
                sides.append(np.array([distribution[outcome] for outcome in sorted(distribution)]))
            pairs.append(sides)
        return Collection(k, groups, dummies=Dummies(dummies)), pairs

    def delta_of_two_rounds(first_pair, second_pair):
        """delta at each eps, if these are the (P, Q) of each round; rounds are independent."""
        p, q = (np.outer(*sides).ravel() for sides in zip(first_pair, second_pair, strict=True))
        return np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1)

    first, pairs_of_first = collection_and_pairs((1.5, 0.8, 2.5), dummies=0)
    second, pairs_of_second = collection_and_pairs((2.0, 1.2, 0.6), dummies=1)
    both = Collection(k, first.groups, then=(second,))
    all_pairs = itertools.product(pairs_of_first, pairs_of_second)
    worst = np.max([delta_of_two_rounds(*pairs) for pairs in all_pairs], axis=0)
    upper = 10 ** both.log10_delta(eps, group="0")
    assert np.all(upper >= worst * (1 - 1e-12))
    assert np.all(upper[:3] < 1.3 * worst[:3])  # the bounds say something up to eps = 1
    lower = 10 ** both.log10_delta(eps, group="0", bound="lower")
    assert np.all(lower <= worst * (1 + 1e-12))
    # The lower bound is delta of the last dataset of both rounds, where all other users hold the third value.
    if k == 3:
        exact = delta_of_two_rounds(pairs_of_first[-1], pairs_of_second[-1])
        assert np.all(lower[:3] > 0.9 * exact[:3])


def test_the_expected_error_is_that_of_simulated_collections():
    """`expected_error` is within 4 standard errors of the mean error of 400 simulated runs.

    The error is the total variation distance between the estimated and the true shares of the users. A user
    with the value reports it with probability p, and any other user with q. So for a value with the share x
    the mean number of reports is offset + slope x. Slope is the sum of p - q over all users who take part on
    average, and offset that of q, plus the mean number of dummies. A run's estimate of x is (count - offset)
    / slope. Here every true x is 1 / k.
    """
    k = 20
    groups = (  # name, users, eps0
        Group("a", 30_000, 2.0),
        Group("b", 20_000, 4.0, participation=0.5),
        Group("c", 1000, math.inf),
    )
    collection = Collection(k, groups, dummies=Dummies(2000, poisson_per_value=50))
    shares = np.full(k, 1 / k)
    slope, offset = 0.0, 2000 / k + 50  # the mean number of dummies of a value
    for group in groups:
        e_eps0 = None if group.eps0 == math.inf else math.exp(group.eps0)
        p, q = krr_probabilities(0, e_eps0, k)[:2]
        slope += group.users * group.participation * (p - q)
        offset += group.users * group.participation * q

    rng, distances = np.random.default_rng(31), []
    for _ in range(400):
        counts = rng.multinomial(2000, shares) + rng.poisson(50, k)
        for group in groups:
            # How many of those who take part hold each value; values are reported as they are at eps0 = inf.
            held = rng.binomial((group.users * shares).astype(int), group.participation)
            counts += held if group.eps0 == math.inf else sample_histogram(held, group.eps0, rng)[0]
        estimate = (counts - offset) / slope
        distances.append(np.abs(estimate - shares).sum() / 2)
    standard_error = np.std(distances) / math.sqrt(len(distances))
    assert abs(collection.expected_error() - np.mean(distances)) < 4 * standard_error


@pytest.mark.parametrize("participation", [0.5, 1.0])
def test_the_expected_error_with_a_law_is_that_of_simulated_collections(participation):
    """`expected_error` is within 4 standard errors of the mean error of 4,000 simulated runs.

    The error is the total variation distance between the estimated and the true shares of the users. Each of
    eight values is held by ten users, who send it as it is, and take part with the probability
    ``participation``. The number of dummies of a value is drawn from the law. The estimated share of a value
    is its number of reports less the mean number of dummies, over the mean number of users who take part.
    """
    k, users, runs = 8, 80, 4000
    law = parse_law("geometric:6:0.6")
    groups = (Group("all", users, math.inf, participation),)
    collection = Collection(k, groups, dummies=Dummies(law=law.name))

    rng = np.random.default_rng(20261128)
    # Natural logs of the probabilities of the numbers ``first``, ``first`` + 1, ...
    probabilities = np.exp(law.log_mass)
    probabilities /= probabilities.sum()
    dummies = law.first + rng.choice(law.log_mass.size, (runs, k), p=probabilities)
    reports = rng.binomial(users // k, participation, (runs, k))
    estimates = (reports + dummies - law.mean) / (users * participation)
    distances = abs(estimates - 1 / k).sum(axis=1) / 2
    standard_error = distances.std() / math.sqrt(runs)
    assert abs(collection.expected_error() - distances.mean()) < 4 * standard_error


def test_errors_of_given_data():
    """For users who are alike, errors are those of `expected_errors`: half their sum over the values.

    The errors are expected total variation distances, of k-RR and of the Gaussian mechanism with the exact
    scale for eps = 0.5 and delta = 1e-6. ``shares`` are the shares of users who hold each value.
    """
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
    """One group has the eps at delta = 1e-6 of `tightshuffle.epsilon`, the smallest of several bounds.

    More users, who may stay away, cannot make it larger, but for the rounding of 1e-4.
    """
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
