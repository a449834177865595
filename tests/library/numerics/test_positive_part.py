"""The bracket of ln E[S_+] holds: against exact rational sums, binomial tails, and one point at a time.

S is the sum of n independent gains. A law is (the values of a gain, their probabilities, n).
"""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import logsumexp

from tests.library.numerics.exact import exact_log, exact_log_of_parts
from tightshuffle.numerics.positive_part import bracket, log_positive_part, outwards
from tightshuffle.randomizers import KRandomizedResponse
from tightshuffle.side import Side


def random_gain(rng):
    """Random values of one gain, one to three of them, and their probabilities, which sum to less than 1.

    The values are of like or of very different sizes, or whole numbers. What the probabilities miss to 1 is
    the probability of the value 0.
    """
    classes = rng.integers(1, 4)
    kinds_of_values = [
        rng.normal(size=classes),
        rng.normal(size=classes) * 10.0 ** rng.integers(-3, 4, classes),
        rng.integers(-3, 4, classes).astype(float),
    ]
    values = kinds_of_values[rng.integers(3)]
    probabilities = rng.dirichlet(np.full(classes + 1, 10.0 ** rng.uniform(-1, 1)))[:classes]
    # Of some gains all these values are rare. 1 - 1e-9: rounded sums are not above 1.
    if rng.random() < 0.3:
        probabilities *= 10 ** rng.uniform(-6, 0)
    return values, probabilities * (1 - 1e-9)


# Laws with values as unlikely as what rounding makes of 1 - sum(p), or nearly always far below 0.
NEARLY_1 = 1 - 2.0**-53
TINY = [float.fromhex("0x1.4cde53b350564p-55"), float.fromhex("0x1.0c41cddd396dep-55"), NEARLY_1]
RARE = [6.44209274988524e-13, 6.378815319412708e-15, 0.9999999999993494]
HUGE = [-4.931844456163809e21, -4.931844456163809e21, 2.5286107242349484e20]
EDGES = [
    ([1.2738481785659193, 0.5385477078514009, -11.697722513282972], TINY, 10),
    ([0.3196489328944715, -14.444334076304703], [6.6512743885919e-17, NEARLY_1], 10),
    ([1.0891529580554662, 0.35551177452401683, -1.95290246860078], RARE, 8),
    (HUGE, [4.9515947091156965e-14, 0.9999999999999505, 1.9287498479638226e-22], 1),
    ([1e-149, -1e149], [1e-20, 0.5], 3),
]


def random_gain_at_an_edge(rng):
    """Random values of one gain, one to three of them, and their probabilities, one of which is nearly 1.

    The other probabilities are about the rounding of 1, or of any size down to 1e-25. The values are of any
    size, too. What the probabilities miss to 1 is 1 to 8 times 2^-53, the distance of 1 from the float below
    it.
    """
    classes = rng.integers(1, 4)
    values = rng.normal(size=classes) * 10.0 ** rng.uniform(-3, 3, classes)
    if rng.random() < 0.5:
        probabilities = 2.0 ** -rng.uniform(40, 60, classes)
    else:
        probabilities = 10 ** rng.uniform(-25, -1, classes)
    likeliest = rng.integers(classes)
    probabilities[likeliest] = 0
    probabilities[likeliest] = 1 - math.fsum(probabilities) - 2.0**-53 * rng.integers(1, 9)
    scale = 10.0 ** (100 * rng.uniform(-1, 1) * (rng.random() < 0.2))  # 1 for four of five gains
    return values * scale, probabilities


contour_or_box_first = pytest.mark.parametrize(
    "few_combinations",
    [
        pytest.param(0, id="contour integrals first"),
        pytest.param(bracket.FEW_COMBINATIONS, id="boxes first"),
    ],
)


@contour_or_box_first
def test_laws_against_rational_sums(few_combinations, monkeypatch):
    """`log_positive_part` brackets ln E[S_+], by fractions in `exact_log`, as narrowly as asked.

    A law is (the values of a gain, their probabilities, the number of gains in S). ``EDGES`` has laws with
    probabilities next to the rounding of 1 or values of very different sizes, and more are random. If there
    are at most `FEW_COMBINATIONS` ways of giving the gains their values, these are summed; with 0, contour
    integrals come first. The ``width`` of a bracket is relative in E[S_+].
    """
    monkeypatch.setattr(bracket, "FEW_COMBINATIONS", few_combinations)
    rng = np.random.default_rng(20)
    cases = [(law, 1e-4) for law in EDGES]  # (law, width)
    # Contour integrals take longer than boxes.
    for _ in range(150 if few_combinations else 15):
        law = (*random_gain(rng), int(rng.integers(1, 12)))
        cases.append((law, 10 ** rng.uniform(-6, -1)))
    for _ in range(200 if few_combinations else 20):
        cases.append(((*random_gain_at_an_edge(rng), int(rng.integers(1, 9))), 1e-4))
    with np.errstate(all="raise", under="ignore"):
        for law, width in cases:
            low, high = map(float, log_positive_part(*law, width=width))
            truth = exact_log(*law)
            assert low <= truth <= high, law
            assert truth == -math.inf or high - low <= math.log1p(width), law


def log_binomial_excess(n, p, up, down):
    """Natural log of E[(up N - down (n - N))_+] for N ~ Bin(n, p), to 25 digits, as an mpmath number.

    N of n gains are ``up``, each with the probability p, and the others -``down``: the mean is that of the
    positive part of their sum. It is summed over N, from the least N with a positive sum, whose probability
    is computed by loggamma.
    """
    with mpmath.workdps(60):
        p, up, down = map(mpmath.mpf, (p, up, down))
        first = int(mpmath.floor(down * n / (up + down))) + 1
        log_ways = (
            mpmath.loggamma(n + 1) - mpmath.loggamma(first + 1) - mpmath.loggamma(n - first + 1)
        )
        probability = mpmath.exp(log_ways + first * mpmath.log(p) + (n - first) * mpmath.log1p(-p))
        total = mpmath.mpf(0)
        for successes in range(first, n + 1):
            term = probability * ((up + down) * successes - down * n)
            total += term
            # From N successes to N + 1.
            probability *= (n - successes) * p / ((successes + 1) * (1 - p))
            # Beyond the mean the terms fall ever faster.
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
    """The bounds on ln E[S_+] for n gains with two values enclose the binomial sum of `log_binomial_excess`.

    A gain is ``up`` with the probability p, else -``down``. Bounds have the default width.
    """
    low, high = log_positive_part([up, -down], [p, 1 - p], n)
    assert low <= log_binomial_excess(n, p, up, down) <= high
    assert high - low <= math.log1p(1e-4)


def gains_of_krr(eps, k, eps0):
    """The values of one gain of k-RR and their probabilities, (eps, classes) each; delta is E[S_+] / n."""
    gains = [KRandomizedResponse(k, eps0).gains(one) for one in eps]
    return (np.array(column) for column in zip(*gains, strict=True))


@pytest.mark.parametrize("n", [10**2, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize(("k", "eps0"), [(3, 1e-6), (15, 4.0), (10**6, 8.0), (3, 50.0)])
def test_every_size_is_answered(n, k, eps0):
    """Bounds on ln E[S_+] for n gains of k-RR at 41 eps, from 0 to next to eps0, are ordered and narrow.

    `gains_of_krr` has the values and probabilities of a gain at each eps. E[S_+] is n delta, so it falls with
    eps. Where it is above 10^-100,000, bounds are as narrow as the default width, 1e-4 relative to E[S_+].
    """
    eps = eps0 * np.concatenate([[0.0], np.logspace(-5, 0, 40)[:-1], [1 - 1e-9]])
    values, probabilities = gains_of_krr(eps, k, eps0)
    with np.errstate(all="raise", under="ignore"):
        low, high = log_positive_part(values, probabilities, n)
    narrow = high > -1e5 * math.log(10)  # what is deeper is bounded too, but not as narrowly
    default_width = math.log1p(1e-4)
    assert np.all(low <= high)
    assert narrow.any()
    assert np.all(high[narrow] - low[narrow] <= default_width)
    assert np.all(np.diff(high[narrow]) < default_width)  # delta falls with eps


def test_a_batch_gives_what_one_point_gives():
    """`log_positive_part` of 60 points at once has the same bits as that of each point alone.

    A point is an eps with a number n of gains. `gains_of_krr` has the values and probabilities of a gain at
    each eps. If n has another axis than the points, the result has both: (60, 2).
    """
    rng = np.random.default_rng(21)
    eps = np.sort(rng.uniform(0, 2, 60))
    values, probabilities = gains_of_krr(eps, 10, 2.0)
    n = rng.integers(1, 10**5, 60)
    together = log_positive_part(values, probabilities, n)
    alone = [log_positive_part(*one) for one in zip(values, probabilities, n, strict=True)]
    np.testing.assert_array_equal(np.array(together).T, alone)
    assert log_positive_part(values[:, None], probabilities[:, None], [5, 50])[0].shape == (60, 2)


def test_outwards_bounds_every_rounding():
    """`outwards` moves a law's E[S_+] at least as far up or down as rounding of the law may have moved it.

    A law is the values of a gain and their probabilities, and S is the sum of n gains. ``ulps`` is by how
    many units in the last place each may be wrong. True laws are drawn around the law, wrong by half of that
    at most. `log_positive_part` returns brackets of ln E[S_+], so ends of brackets are compared. Moved
    probabilities are at least 0 and sum to at most 1.
    """
    rng = np.random.default_rng(22)
    ulps = 2.0**40  # so large that the moves can be seen: relatively 2^-12
    off = ulps * 2.0**-53  # relative
    for _ in range(100):
        values, probabilities = random_gain(rng)
        if rng.random() < 0.5:
            probabilities /= probabilities.sum()  # no probability is left for 0
        n = int(rng.integers(1, 9))
        downwards, upwards = (
            outwards(values, probabilities, side, ulps) for side in (Side.LOWER, Side.UPPER)
        )
        lowest, _ = log_positive_part(*downwards, n)
        _, highest = log_positive_part(*upwards, n)
        for _ in range(5):
            true_values = values * (1 + off * rng.uniform(-1, 1, values.shape))
            true_probabilities = probabilities * (1 + off * rng.uniform(-1, 1, values.shape))
            true_probabilities /= max(1.0, true_probabilities.sum())
            low, high = log_positive_part(true_values, true_probabilities, n)
            assert lowest <= high
            assert low <= highest
        # 1e-15: the rounding of this sum.
        for _, moved in (downwards, upwards):
            assert moved.min() >= 0
            assert moved.sum() <= 1 + 1e-15


@pytest.mark.parametrize("side", Side)
def test_outwards_broadcasts(side):
    """`outwards` moves five rows of values with common probabilities as it moves each row alone."""
    values, probabilities = np.random.default_rng(23).normal(size=(5, 3)), np.array([0.2, 0.3, 0.5])
    moved_values, moved_probabilities = outwards(values, probabilities, side, 20.0)
    for row, own in enumerate(values):
        alone = outwards(own, probabilities, side, 20.0)
        np.testing.assert_array_equal([moved_values[row], moved_probabilities[row]], alone)


@pytest.mark.parametrize("rare", [1.9e-22, 5e-17, 1e-9])
@pytest.mark.parametrize("n", [10**6, 10**12])
def test_probabilities_that_miss_1_by_a_rounding_stay_on_their_side(n, rare):
    """The bounds on ln E[S_+] for a law that `outwards` has moved down and up enclose that of the exact law.

    A gain is 1 / rare with the probability ``rare``, which may be lost in rounding beside 1, else -1. S is
    the sum of n gains. `outwards` moves the law to a lower or higher E[S_+], as each number of it may be
    wrong by ``ulps`` units in the last place. The exact number is summed in mpmath with 50 digits.
    """
    law = np.array([1 / rare, -1.0]), np.array([rare, 1 - rare])
    ulps = 20.0  # more than the few roundings of the law
    low, _ = log_positive_part(*outwards(*law, Side.LOWER, ulps), n)
    _, high = log_positive_part(*outwards(*law, Side.UPPER, ulps), n)
    with mpmath.workdps(50):
        p, exact = mpmath.mpf(rare), mpmath.mpf(0)
        probability = (1 - p) ** n
        # Over the number j of gains that are 1 / rare; the other n - j are -1. Beyond 12 standard deviations
        # and 30 above the mean of j, next to nothing is left.
        for j in range(1, math.ceil(n * rare + 12 * math.sqrt(n * rare) + 30)):
            probability *= (n - j + 1) / mpmath.mpf(j) * p / (1 - p)
            exact += max(j * mpmath.mpf(1 / rare) - (n - j), 0) * probability
        assert low <= float(mpmath.log(exact)) <= high


def test_only_the_largest_of_a_group_are_narrow():
    """With ``groups`` the largest E[S_+] of a group has the same bracket as without; some others are wider.

    60 random points are in four groups. A point is a gain with three values, and S the sum of 200 of them.
    `log_positive_part` returns the ends of a bracket of ln E[S_+], low and high. Chernoff's bound is largest
    at another point than E[S_+] here.
    """
    rng = np.random.default_rng(27)
    values, group = rng.normal(-0.5, 1, (60, 3)), rng.integers(0, 4, 60)
    probabilities = rng.dirichlet(np.ones(4), 60)[:, :3]
    law = values, probabilities, 200
    low, high = np.array(log_positive_part(*law))
    low_in_group, high_in_group = np.array(log_positive_part(*law, groups=group))
    # Both brackets of a point hold the same number, so they overlap. Some with groups are far wider.
    assert np.all(low_in_group <= high)
    assert np.all(low <= high_in_group)
    assert np.any(high_in_group > high + 0.1)
    for members in (group == number for number in range(4)):
        assert low_in_group[members].max() == low[members].max()
        assert high_in_group[members].max() == high[members].max()


@contour_or_box_first
def test_sums_of_expectations_with_factors(few_combinations, monkeypatch):
    """With ``log_factors``, points that do not count in a sum have rough brackets, and the sum a narrow one.

    There are six sums, one for each gain, of factor times E[S_+] over the numbers n = 1 to 60 of gains in S.
    The first gain is never positive. `log_positive_part` brackets ln E[S_+], and a rough bracket has the
    lower end -inf. All are compared with brackets without factors, which are far narrower. With 0
    ``few_combinations``, contour integrals come before sums over combinations of values.
    """
    monkeypatch.setattr(bracket, "FEW_COMBINATIONS", few_combinations)
    rng = np.random.default_rng(29)
    n, width = np.arange(1, 61), 1e-3
    log_factors = -((n - 30) ** 2) / 6.0 - np.log(n)  # a bell around n = 30
    log_factors[-1] = -np.inf
    values = np.sort(rng.normal(-0.5, 1, (6, 1, 3)), axis=0)
    values[:, 0, 2] = np.linspace(0.1, 2, 6)
    values[0, 0] = -1.0  # no positive value: the first sum is 0
    law = values, np.array([0.2, 0.6, 0.15]), n
    exact_low, exact_high = log_positive_part(*law, width=1e-5)
    low, high = log_positive_part(*law, width=width, log_factors=log_factors)
    assert np.all(low <= exact_high)  # all brackets overlap
    assert np.all(exact_low <= high)

    def log_sums(log_expectations):
        """Natural logs of the six sums."""
        return logsumexp(log_expectations + log_factors, axis=1)

    low_sums, high_sums = log_sums(low), log_sums(high)
    assert low_sums[0] == high_sums[0] == -np.inf
    assert np.all((low_sums <= log_sums(exact_high)) & (log_sums(exact_low) <= high_sums))
    # 1.1: what the rough points add counts, too.
    assert np.all(high_sums[1:] - low_sums[1:] <= 1.1 * width)

    # The last point never counts, as its factor is 0, and neither do those far from n = 30.
    is_rough = np.isneginf(low[1:])
    assert np.all(is_rough[:, -1])
    assert np.all(is_rough.sum(axis=1) > 20)


def test_a_sum_counts_what_the_saddle_point_finds_too_likely(monkeypatch):
    """Points that a first approximation finds not to count in a sum are bracketed if they do count.

    The sum is over the numbers n of gains in S, of factor times E[S_+]. `log_gaussian_guess` approximates ln
    of E[S_+] / M(theta)^n, with M(theta)^n = E[e^(theta S)], and is wrong where S is above 0 far more rarely
    than a Gaussian. Here it is replaced by one that makes n = 4 by far the largest. All brackets still hold
    `exact_log`, by fractions, and that of the sum is at most 10 % wider than the default, 1e-4.
    """
    values, probabilities = [1.0, -1e12], [0.3, 0.7 - 1e-9]
    n, log_factors = np.array([3, 4, 5]), np.array([0.0, -9.0, -18.0])
    monkeypatch.setattr(
        bracket, "log_gaussian_guess", lambda points: np.where(points.n[:, 0] == 4, 50.0, -50.0)
    )
    low, high = log_positive_part(values, probabilities, n, log_factors=log_factors)
    for number, low_of_n, high_of_n in zip(n.tolist(), low, high, strict=True):
        assert low_of_n <= exact_log(values, probabilities, number) <= high_of_n
    assert logsumexp(high + log_factors) - logsumexp(low + log_factors) <= 1.1e-4


def test_no_positive_value():
    assert log_positive_part([-1.0, 0.0], [0.5, 0.2], 10) == (-np.inf, -np.inf)
    assert log_positive_part([1.0, -1.0], [0.0, 0.2], 10) == (-np.inf, -np.inf)


def test_a_random_number_of_gains_against_rational_sums():
    """`log_positive_part` brackets ln E[S_+] for a random number of gains: the sum of two binomials and 1.

    The expected number is by fractions (`exact_log_of_parts`). A part is (n, share) for Binomial(n, share)
    gains.
    """
    rng = np.random.default_rng(28)
    for _ in range(25):
        gain = random_gain(rng)
        parts = [(int(rng.integers(1, 4)), float(rng.uniform(0.01, 1))) for _ in range(2)]
        parts.append((1, 1.0))
        n, shares = zip(*parts, strict=True)
        low, high = log_positive_part(*gain, n, shares=shares)
        truth = exact_log_of_parts(*gain, parts)
        # A few copies of a random number are not summed one by one, so the bracket may be wider than asked.
        assert low <= truth <= high, (gain, parts)
        assert truth == -math.inf or high - low <= math.log1p(1e-3), (gain, parts)


def test_a_poisson_number_is_the_limit_of_binomial_ones():
    """Poisson of this mean (share 0) and Binomial(1e9 mean, 1e-9), each plus one certain gain (share 1)."""
    gain = [3.0, -2.0, -0.1], [0.1, 0.15, 0.75]
    for mean in (5.0, 1e3, 1e6):
        low, high = log_positive_part(*gain, [mean, 1], shares=[0, 1], width=1e-6)
        binomial = log_positive_part(*gain, [1e9 * mean, 1], shares=[1e-9, 1], width=1e-6)
        assert low <= binomial[1]
        assert binomial[0] <= high
        assert high - low < 2e-6


def test_a_binomial_number_is_a_smaller_probability():
    """Binomial(n, share) gains have the E[S_+] of n gains that are 0 but with the probability ``share``.

    `log_positive_part` returns a bracket (low, high) of each, and brackets of the same number overlap.
    """
    values, probabilities = np.array([3.0, -2.0, -0.1]), np.array([0.1, 0.15, 0.75])
    for n, share in ((10**3, 0.3), (10**9, 1e-3)):
        parts = log_positive_part(values, probabilities, [n], shares=[share], width=1e-6)
        thinned = log_positive_part(values, probabilities * share, n, width=1e-6)
        assert parts[0] <= thinned[1]
        assert thinned[0] <= parts[1]
