"""The bracket holds: against exact rational sums, binomial tails of many users, and one point at a time."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp

from tests.library.numerics.exact import exact_log, exact_log_of_parts
from tightshuffle.numerics.positive_part import bracket, log_positive_part, outwards
from tightshuffle.randomizers import KRandomizedResponse
from tightshuffle.side import Side


def random_distribution(rng):
    """Values of like or of very different sizes, or a lattice; probabilities that sum to less than 1."""
    classes = rng.integers(1, 4)
    values = [
        rng.normal(size=classes),
        rng.normal(size=classes) * 10.0 ** rng.integers(-3, 4, classes),
        rng.integers(-3, 4, classes).astype(float),
    ][rng.integers(3)]
    probabilities = rng.dirichlet(np.full(classes + 1, 10.0 ** rng.uniform(-1, 1)))[:classes]
    if rng.random() < 0.3:
        probabilities *= 10 ** rng.uniform(-6, 0)
    return values, probabilities * (1 - 1e-9)


# Values as unlikely as what rounding makes of 1 - sum(p), and laws that are nearly always far below 0.
NEARLY = 1 - 2.0**-53
TINY = [float.fromhex("0x1.4cde53b350564p-55"), float.fromhex("0x1.0c41cddd396dep-55"), NEARLY]
RARE = [6.44209274988524e-13, 6.378815319412708e-15, 0.9999999999993494]
HUGE = [-4.931844456163809e21, -4.931844456163809e21, 2.5286107242349484e20]
EDGES = [
    ([1.2738481785659193, 0.5385477078514009, -11.697722513282972], TINY, 10),
    ([0.3196489328944715, -14.444334076304703], [6.6512743885919e-17, NEARLY], 10),
    ([1.0891529580554662, 0.35551177452401683, -1.95290246860078], RARE, 8),
    (HUGE, [4.9515947091156965e-14, 0.9999999999999505, 1.9287498479638226e-22], 1),
    ([1e-149, -1e149], [1e-20, 0.5], 3),
]


def distribution_at_an_edge(rng):
    """As in EDGES: nearly all of the probability on one value, of any size; what is missing to 1 is tiny."""
    classes = rng.integers(1, 4)
    values = rng.normal(size=classes) * 10.0 ** rng.uniform(-3, 3, classes)
    probabilities = (
        2.0 ** -rng.uniform(40, 60, classes)
        if rng.random() < 0.5
        else 10 ** rng.uniform(-25, -1, classes)
    )
    likeliest = rng.integers(classes)
    probabilities[likeliest] = 0
    probabilities[likeliest] = 1 - math.fsum(probabilities) - 2.0**-53 * rng.integers(1, 9)
    return values * 10.0 ** (100 * rng.uniform(-1, 1) * (rng.random() < 0.2)), probabilities


# The contour or a box first.
@pytest.mark.parametrize("few_combinations", [0, bracket.FEW_COMBINATIONS])
def test_laws_against_rational_sums(few_combinations, monkeypatch):
    monkeypatch.setattr(bracket, "FEW_COMBINATIONS", few_combinations)
    rng = np.random.default_rng(20)
    laws = [(*law, 1e-4) for law in EDGES]
    for _ in range(150 if few_combinations else 15):
        laws.append(
            (*random_distribution(rng), int(rng.integers(1, 12)), 10 ** rng.uniform(-6, -1))
        )
    for _ in range(200 if few_combinations else 20):
        laws.append((*distribution_at_an_edge(rng), int(rng.integers(1, 9)), 1e-4))
    with np.errstate(all="raise", under="ignore"):
        for values, probabilities, n, width in laws:
            low, high = map(float, log_positive_part(values, probabilities, n, width=width))
            truth = exact_log(values, probabilities, n)
            assert low <= truth <= high, (values, probabilities, n)
            assert truth == -math.inf or high - low <= math.log1p(width), (values, probabilities, n)


def binomial_excess(n, p, up, down):
    """log of E[(up N - down (n - N))_+] for N ~ Bin(n, p), to 25 digits, term by term."""
    with mpmath.workdps(60):
        p, up, down = map(mpmath.mpf, (p, up, down))
        first = int(mpmath.floor(down * n / (up + down))) + 1
        log_first = (
            mpmath.loggamma(n + 1) - mpmath.loggamma(first + 1) - mpmath.loggamma(n - first + 1)
        )
        weight = mpmath.exp(log_first + first * mpmath.log(p) + (n - first) * mpmath.log1p(-p))
        total = mpmath.mpf(0)
        for successes in range(first, n + 1):
            term = weight * ((up + down) * successes - down * n)
            total += term
            weight *= (n - successes) * p / ((successes + 1) * (1 - p))
            if term < total * mpmath.mpf(10) ** -25 and successes > n * p:
                break
        return mpmath.log(total)


@pytest.mark.parametrize(
    ("n", "p", "up", "down"),  # powers of 2: no rounding in 1 - p
    [
        *[(100, 2.0**-2, 1.0, 0.5), (10**6, 2.0**-10, 1.0, 0.00099), (10**6, 2.0**-1, 1.0, 1.2)],
        (10**4, 2.0**-7, 7.0, 2.0),  # about 10^-1,000
        (10**9, 2.0**-27, 3.0, 4e-8),
        (10**12, 2.0**-37, 3.0, 5e-11),
    ],
)
def test_two_values_of_many_users(n, p, up, down):
    low, high = log_positive_part([up, -down], [p, 1 - p], n)
    assert low <= binomial_excess(n, p, up, down) <= high
    assert high - low <= math.log1p(1e-4)


def gains_at(eps, k, eps0):
    """Values and probabilities (eps, classes) of the gains of k-RR."""
    laws = [KRandomizedResponse(k, eps0).gains(one) for one in eps]
    return (np.array(column) for column in zip(*laws, strict=True))


@pytest.mark.parametrize("n", [10**2, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize(("k", "eps0"), [(3, 1e-6), (15, 4.0), (10**6, 8.0), (3, 50.0)])
def test_every_size_is_answered(n, k, eps0):
    """From eps = 0 to next to eps0, down to 10^-100,000: finite, ordered, as narrow as asked."""
    eps = eps0 * np.concatenate([[0.0], np.logspace(-5, 0, 40)[:-1], [1 - 1e-9]])
    values, probabilities = gains_at(eps, k, eps0)
    with np.errstate(all="raise", under="ignore"):
        low, high = log_positive_part(values, probabilities, n)
    asked = high > -1e5 * math.log(10)  # what is deeper is bounded too, but not as narrowly
    assert np.all(low <= high)
    assert asked.any()
    assert np.all(high[asked] - low[asked] <= math.log1p(1e-4))
    assert np.all(np.diff(high[asked]) < math.log1p(1e-4))  # delta falls with eps


def test_a_batch_gives_what_one_point_gives():
    rng = np.random.default_rng(21)
    eps = np.sort(rng.uniform(0, 2, 60))
    values, probabilities = gains_at(eps, 10, 2.0)
    n = rng.integers(1, 10**5, 60)
    together = log_positive_part(values, probabilities, n)
    alone = [log_positive_part(*one) for one in zip(values, probabilities, n, strict=True)]
    np.testing.assert_array_equal(np.array(together).T, alone)
    assert log_positive_part(values[:, None], probabilities[:, None], [5, 50])[0].shape == (60, 2)


def test_outwards_bounds_every_rounding():
    rng = np.random.default_rng(22)
    for _ in range(100):
        values, probabilities = random_distribution(rng)
        if rng.random() < 0.5:
            probabilities /= probabilities.sum()
        ulps = 2.0**40  # large enough to be seen: 2^-12
        n = int(rng.integers(1, 9))
        laws = [outwards(values, probabilities, side, ulps) for side in (Side.LOWER, Side.UPPER)]
        ends = [log_positive_part(*law, n) for law in laws]
        for _ in range(5):
            size = ulps * 2.0**-53
            moved = values * (1 + size * rng.uniform(-1, 1, values.shape))
            perturbed = probabilities * (1 + size * rng.uniform(-1, 1, values.shape))
            perturbed /= max(1.0, perturbed.sum())
            low, high = log_positive_part(moved, perturbed, n)
            assert ends[0][0] <= high
            assert low <= ends[1][1]
        assert all(law.min() >= 0 and law.sum() <= 1 + 1e-15 for _, law in laws)


@pytest.mark.parametrize("side", Side)
def test_outwards_broadcasts(side):
    values, probabilities = np.random.default_rng(23).normal(size=(5, 3)), np.array([0.2, 0.3, 0.5])
    together = outwards(values, probabilities, side, 20.0)
    for place, own in enumerate(values):
        for part, alone in zip(together, outwards(own, probabilities, side, 20.0), strict=True):
            np.testing.assert_array_equal(part[place], alone)


@pytest.mark.parametrize("rare", [1.9e-22, 5e-17, 1e-9])
@pytest.mark.parametrize("n", [10**6, 10**12])
def test_probabilities_that_miss_1_by_a_rounding_stay_on_their_side(n, rare):
    """1 / rare with a probability that is lost in rounding beside the other one, else -1."""
    law = np.array([1 / rare, -1.0]), np.array([rare, 1 - rare])
    low, _ = log_positive_part(*outwards(*law, Side.LOWER, 20.0), n)
    _, high = log_positive_part(*outwards(*law, Side.UPPER, 20.0), n)
    with mpmath.workdps(50):
        p, total = mpmath.mpf(rare), mpmath.mpf(0)
        mass = (1 - p) ** n
        for j in range(1, math.ceil(n * rare + 12 * math.sqrt(n * rare) + 30)):
            mass *= (n - j + 1) / mpmath.mpf(j) * p / (1 - p)
            total += max(j * mpmath.mpf(1 / rare) - (n - j), 0) * mass
        exact = float(mpmath.log(total))
    assert low <= exact <= high


def test_only_the_largest_of_a_group_are_narrow():
    # Where Chernoff's bound is not the largest where the expectation is.
    rng = np.random.default_rng(27)
    values, groups = rng.normal(-0.5, 1, (60, 3)), rng.integers(0, 4, 60)
    probabilities = rng.dirichlet(np.ones(4), 60)[:, :3]
    each, together = (
        np.array(log_positive_part(values, probabilities, 200, groups=own))
        for own in (None, groups)
    )
    assert np.all(together[0] <= each[1])
    assert np.all(each[0] <= together[1])
    assert np.any(together[1] > each[1] + 0.1)
    for own in (groups == group for group in range(4)):
        np.testing.assert_array_equal(together[:, own].max(axis=1), each[:, own].max(axis=1))


@pytest.mark.parametrize("few_combinations", [0, bracket.FEW_COMBINATIONS])
def test_sums_of_expectations_with_factors(few_combinations, monkeypatch):
    """Points that do not count in their sum have rough brackets, and the sum is narrow."""
    monkeypatch.setattr(bracket, "FEW_COMBINATIONS", few_combinations)
    rng = np.random.default_rng(29)
    n, width = np.arange(1, 61), 1e-3
    factors = -((n - 30) ** 2) / 6.0 - np.log(n)
    factors[-1] = -np.inf
    values = np.sort(rng.normal(-0.5, 1, (6, 1, 3)), axis=0)
    values[:, 0, 2] = np.linspace(0.1, 2, 6)
    values[0, 0] = -1.0  # no positive value
    probabilities = np.array([0.2, 0.6, 0.15])
    every = log_positive_part(values, probabilities, n, width=1e-5)
    some = log_positive_part(values, probabilities, n, width=width, log_factors=factors)
    assert np.all(some[0] <= every[1])
    assert np.all(every[0] <= some[1])
    low, *between, high = (
        logsumexp(end + factors, axis=1) for end in (some[0], every[0], every[1], some[1])
    )
    assert low[0] == high[0] == -np.inf
    assert np.all((low <= between[1]) & (between[0] <= high))
    assert np.all(high[1:] - low[1:] <= 1.1 * width)
    rough = np.isneginf(some[0][1:])
    assert np.all(rough[:, -1])
    assert np.all(rough.sum(axis=1) > 20)


def test_a_sum_counts_what_the_saddle_point_finds_too_likely(monkeypatch):
    """Where S is above 0 far more rarely than under a bell, points that seemed not to count do count."""
    values, probabilities, n = (
        np.array([[1.0, -1e12]]),
        np.array([[0.3, 0.7 - 1e-9]]),
        np.array([3, 4, 5]),
    )
    factors = np.array([0.0, -9.0, -18.0])
    monkeypatch.setattr(
        bracket, "log_gaussian_guess", lambda points: np.where(points.n[:, 0] == 4, 50.0, -50.0)
    )
    low, high = log_positive_part(values[:, None], probabilities[:, None], n, log_factors=factors)
    for place, users in enumerate(n.tolist()):
        assert low[0, place] <= exact_log(values[0], probabilities[0], users) <= high[0, place]
    assert logsumexp(high + factors) - logsumexp(low + factors) <= 1.1e-4


def test_no_positive_value():
    assert log_positive_part([-1.0, 0.0], [0.5, 0.2], 10) == (-np.inf, -np.inf)
    assert log_positive_part([1.0, -1.0], [0.0, 0.2], 10) == (-np.inf, -np.inf)


def test_a_random_number_of_gains_against_rational_sums():
    rng = np.random.default_rng(28)
    for _ in range(25):
        values, probabilities = random_distribution(rng)
        parts = [(int(rng.integers(1, 4)), float(rng.uniform(0.01, 1))) for _ in range(2)] + [
            (1, 1.0)
        ]
        n, shares = zip(*parts, strict=True)
        low, high = log_positive_part(values, probabilities, n, shares=shares)
        truth = exact_log_of_parts(values, probabilities, parts)
        # A few copies of a random number are not summed one by one, so the bracket may be wider than asked.
        assert low <= truth <= high, (values, probabilities, parts)
        assert truth == -math.inf or high - low <= math.log1p(1e-3), (values, probabilities, parts)


def test_a_poisson_number_is_the_limit_of_binomial_ones():
    values, probabilities = [3.0, -2.0, -0.1], [0.1, 0.15, 0.75]
    for mean in (5.0, 1e3, 1e6):
        poisson = log_positive_part(values, probabilities, [mean, 1], shares=[0, 1], width=1e-6)
        many = log_positive_part(
            values, probabilities, [1e9 * mean, 1], shares=[1e-9, 1], width=1e-6
        )
        assert poisson[0] <= many[1]
        assert many[0] <= poisson[1]
        assert poisson[1] - poisson[0] < 2e-6


def test_a_binomial_number_is_a_smaller_probability():
    """Binomial(n, share) gains have the sum of n gains that are 0 otherwise."""
    values, probabilities = np.array([3.0, -2.0, -0.1]), np.array([0.1, 0.15, 0.75])
    for n, share in ((10**3, 0.3), (10**9, 1e-3)):
        parts = log_positive_part(values, probabilities, [n], shares=[share], width=1e-6)
        thinned = log_positive_part(values, probabilities * share, n, width=1e-6)
        assert parts[0] <= thinned[1]
        assert thinned[0] <= parts[1]
