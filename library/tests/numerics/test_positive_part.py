"""The bracket of ln E[S_+] holds: against exact rational sums, binomial tails, and one point at a time.

S is the sum of n independent gains. A law is (the values of a gain, their probabilities, n).
"""

import math

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.numerics.exact import exact_log, log_binomial_excess
from tightshuffle.numerics.positive_part import bracket, log_positive_part, outwards
from tightshuffle.numerics.side import Side
from tightshuffle.randomizers import KRandomizedResponse


def random_gain(rng):
    """Random values of one gain, one to three of them, and their probabilities, which sum to less than 1.

    The values are of like or of very different sizes, or whole numbers. What the probabilities miss to 1 is
    the probability of the value 0.
    """
    size = rng.integers(1, 4)
    kinds_of_values = [
        rng.normal(size=size),
        rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size),
        rng.integers(-3, 4, size).astype(float),
    ]
    values = kinds_of_values[rng.integers(3)]
    probabilities = rng.dirichlet(np.full(size + 1, 10.0 ** rng.uniform(-1, 1)))[:size]
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
    # The largest value is next to the limits of what is accepted, 1e-150 and 1e150.
    *[([value, -value], [0.25, 0.25], 4) for value in (1.001e-150, 0.999e150)],
    # One gain below 0 outweighs all others.
    *[([1.5, -down], [0.3, 0.7], 5) for down in (1e14, 1e40, 1e160, 1e300)],
]


def random_gain_at_an_edge(rng):
    """Random values of one gain, one to three of them, and their probabilities, one of which is nearly 1.

    The other probabilities are about 1e-15, or of any size down to 1e-25. The sum of all is a little below 1:
    by 1 to 8 times 2^-53, which is the distance of 1 from the float below it. One gain in five has values of
    another scale.
    """
    size = rng.integers(1, 4)
    values = rng.normal(size=size) * 10.0 ** rng.uniform(-3, 3, size)
    lowest_power, highest_power = rng.choice([(-18, -12), (-25, -1)])
    probabilities = 10 ** rng.uniform(lowest_power, highest_power, size)
    likeliest = rng.integers(size)
    probabilities[likeliest] = 0
    probabilities[likeliest] = 1 - math.fsum(probabilities) - 2.0**-53 * rng.integers(1, 9)
    scale = rng.choice([1, 1, 1, 1, 10.0 ** rng.uniform(-100, 100)])
    return values * scale, probabilities


DEFAULT_WIDTH = math.log1p(1e-4)  # of a bracket of a natural logarithm


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(0, id="contour integrals first"),
        pytest.param(bracket.FEW_COMBINATIONS, id="boxes first"),
    ],
)
def boxes_first(request):
    """Whether few combinations of values are summed over boxes, before any contour integral is tried."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bracket, "FEW_COMBINATIONS", request.param)
        yield request.param > 0


def assert_brackets(law, width=1e-4):
    """`log_positive_part` has bounds on ln E[S_+], which fractions give, that are as near as ``width``.

    The width is relative in E[S_+]. A law is (the values of a gain, their probabilities, the number of gains
    in S).
    """
    low, high = log_positive_part(*law, width=width)
    exact = exact_log(*law)
    assert low <= exact <= high, law
    assert exact == -math.inf or high - low <= math.log1p(width), law


@pytest.mark.parametrize("law", EDGES)
@np.errstate(all="raise", under="ignore")
def test_bracket_holds_for_probabilities_or_values_of_very_different_sizes(law, boxes_first):
    assert_brackets(law)


@pytest.mark.parametrize("gain_of", [random_gain, random_gain_at_an_edge])
@np.errstate(all="raise", under="ignore")
def test_bracket_of_any_width_holds_for_random_laws(gain_of, boxes_first):
    rng = np.random.default_rng(20)
    for _ in range(200 if boxes_first else 20):  # contour integrals take longer
        n = int(rng.integers(1, 12))
        assert_brackets((*gain_of(rng), n), width=10 ** rng.uniform(-6, -1))


@pytest.mark.parametrize(
    ("n", "p", "up", "down"),  # powers of 2: no rounding in 1 - p
    [
        (100, 2.0**-2, 1.0, 0.5),
        (10**6, 2.0**-10, 1.0, 0.00099),
        (10**6, 2.0**-1, 1.0, 1.2),
        (10**4, 2.0**-7, 7.0, 2.0),  # about 10^-1,000
        (10**9, 2.0**-27, 3.0, 4e-8),
        (10**12, 2.0**-37, 3.0, 5e-11),
    ],
)
def test_bracket_for_many_gains_with_two_values_encloses_the_binomial_sum(n, p, up, down):
    """A gain is ``up`` with the probability p, else -``down``."""
    low, high = log_positive_part([up, -down], [p, 1 - p], n)
    assert low <= log_binomial_excess(n, p, up, down) <= high <= low + DEFAULT_WIDTH


def gains_of_krr(eps, k, eps0):
    """The values of one gain of k-RR and their probabilities, (eps, classes) each; delta is E[S_+] / n."""
    gains = [KRandomizedResponse(k, eps0).gains(one_eps) for one_eps in eps]
    values, probabilities = zip(*gains, strict=True)
    return np.array(values), np.array(probabilities)


@pytest.mark.parametrize("n", [10**2, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize(("k", "eps0"), [(3, 1e-6), (15, 4.0), (10**6, 8.0), (3, 50.0)])
@np.errstate(all="raise", under="ignore")
def test_bounds_are_ordered_and_narrow_for_any_number_of_users(n, k, eps0):
    """ln E[S_+] of n gains of k-RR, at 26 eps from 0 to next to eps0. E[S_+] is n delta and falls with eps.

    Below 10^-100,000, bounds are not as narrow.
    """
    eps = eps0 * np.concatenate([[0.0], np.logspace(-5, 0, 25)[:-1], [1 - 1e-9]])
    low, high = log_positive_part(*gains_of_krr(eps, k, eps0), n)
    assert np.all(low <= high)
    is_narrow = high > -1e5 * math.log(10)
    assert is_narrow.any()
    assert np.all(high[is_narrow] - low[is_narrow] <= DEFAULT_WIDTH)
    assert np.all(np.diff(high[is_narrow]) < DEFAULT_WIDTH)


def test_a_batch_of_points_has_the_same_bits_as_each_point_alone():
    """A point is an eps with a number n of gains. `gains_of_krr` has values and probabilities at each eps."""
    rng = np.random.default_rng(21)
    eps = np.sort(rng.uniform(0, 2, 60))
    values, probabilities = gains_of_krr(eps, 10, 2.0)
    n = rng.integers(1, 10**5, 60)
    together = log_positive_part(values, probabilities, n)
    alone = [log_positive_part(*point) for point in zip(values, probabilities, n, strict=True)]
    np.testing.assert_array_equal(np.transpose(together), alone)


def test_numbers_of_gains_on_another_axis_than_the_points_broadcast():
    values, probabilities = gains_of_krr(np.linspace(0, 2, 60), 10, 2.0)
    low, _ = log_positive_part(values[:, None], probabilities[:, None], [5, 50])
    assert low.shape == (60, 2)


# So large that the moves by `outwards` can be seen: relatively 2^-12.
VISIBLE_ULPS = 2.0**40


def random_laws():
    """100 random laws (values of a gain, their probabilities, the number of gains in S)."""
    rng = np.random.default_rng(22)
    for _ in range(100):
        values, probabilities = random_gain(rng)
        if rng.random() < 0.5:
            probabilities /= probabilities.sum()  # no probability is left for 0
        yield values, probabilities, int(rng.integers(1, 9))


def test_outwards_bounds_every_rounding():
    """`outwards` moves E[S_+] at least as far down or up as rounding of the law may have moved it.

    The values and probabilities of a true law differ, relatively, by at most 2^-13.
    `log_positive_part` returns brackets of ln E[S_+], so ends of brackets are compared.
    """
    rng = np.random.default_rng(24)
    largest_error = VISIBLE_ULPS * 2.0**-53  # relative
    for values, probabilities, n in random_laws():
        lower_law = outwards(values, probabilities, Side.LOWER, ulps=VISIBLE_ULPS)
        upper_law = outwards(values, probabilities, Side.UPPER, ulps=VISIBLE_ULPS)
        lowest, _ = log_positive_part(*lower_law, n)
        _, highest = log_positive_part(*upper_law, n)
        for _ in range(5):
            errors = largest_error * rng.uniform(-1, 1, (2, values.size))
            true_values = values * (1 + errors[0])
            true_probabilities = probabilities * (1 + errors[1])
            true_probabilities /= max(1.0, true_probabilities.sum())
            low, high = log_positive_part(true_values, true_probabilities, n)
            assert lowest <= high
            assert low <= highest


@pytest.mark.parametrize("side", Side)
def test_outwards_keeps_probabilities_that_sum_to_at_most_1(side):
    for values, probabilities, _ in random_laws():
        _, moved = outwards(values, probabilities, side, ulps=VISIBLE_ULPS)
        assert moved.min() >= 0
        assert moved.sum() <= 1 + 1e-15  # the rounding of this sum


@pytest.mark.parametrize("side", Side)
def test_outwards_broadcasts(side):
    """It moves five rows of values with common probabilities as it moves each row alone."""
    rows, probabilities = np.random.default_rng(23).normal(size=(5, 3)), np.array([0.2, 0.3, 0.5])
    together = outwards(rows, probabilities, side, ulps=20.0)
    alone = [outwards(values, probabilities, side, ulps=20.0) for values in rows]
    np.testing.assert_array_equal(np.stack(together, axis=1), alone)


@pytest.mark.parametrize("rare", [1.9e-22, 5e-17, 1e-9])
@pytest.mark.parametrize("n", [10**6, 10**12])
def test_outwards_encloses_a_law_whose_probabilities_miss_1_by_a_rounding(n, rare):
    """A gain is 1 / rare with the probability ``rare``, which may be lost in rounding beside 1, else -1.

    `outwards` moves it by ``ulps`` units in the last place, to a lower or higher ln E[S_+] of n gains.
    """
    values, probabilities = np.array([1 / rare, -1.0]), np.array([rare, 1 - rare])
    ulps = 20.0  # more than the few roundings of the law
    low, _ = log_positive_part(*outwards(values, probabilities, Side.LOWER, ulps), n)
    _, high = log_positive_part(*outwards(values, probabilities, Side.UPPER, ulps), n)
    assert low <= log_binomial_excess(n, p=rare, up=1 / rare, down=1) <= high


def brackets_with_and_without_groups():
    """The groups of 60 random points, and brackets (low, high) of ln E[S_+] with ``groups`` and without."""
    rng = np.random.default_rng(27)
    values, group = rng.normal(-0.5, 1, (60, 3)), rng.integers(0, 4, 60)
    probabilities = rng.dirichlet(np.ones(4), 60)[:, :3]
    law = values, probabilities, 200
    return group, log_positive_part(*law, groups=group), log_positive_part(*law)


def test_brackets_with_groups_hold_but_some_are_far_wider():
    """Both brackets of a point hold the same number, so they overlap."""
    _, (low, high), (narrow_low, narrow_high) = brackets_with_and_without_groups()
    assert np.all((low <= narrow_high) & (narrow_low <= high))
    assert np.any(high > narrow_high + 0.1)


def test_the_largest_bracket_of_a_group_is_as_without_groups():
    """Chernoff's bound, which the search begins with, is largest at another point than E[S_+] here."""
    group, (low, high), (narrow_low, narrow_high) = brackets_with_and_without_groups()
    for number in range(4):
        members = group == number
        assert low[members].max() == narrow_low[members].max()
        assert high[members].max() == narrow_high[members].max()


class SixSums:
    """Six sums over n = 1, ..., 60 of factor times E[S_+] for n gains: one sum for each of six gains.

    ``low``, ``high`` (6, 60) are brackets of ln E[S_+] by ``log_factors``, with the width 1e-3 for the sums.
    ``narrow_low``, ``narrow_high`` are by no factors, and a hundred times as narrow.
    """

    def __init__(self):
        rng = np.random.default_rng(29)
        n = np.arange(1, 61)
        self.log_factors = -((n - 30) ** 2) / 6.0 - np.log(n)  # a bell around n = 30
        self.log_factors[-1] = -np.inf
        values = np.sort(rng.normal(-0.5, 1, (6, 1, 3)), axis=0)
        values[:, 0, 2] = np.linspace(0.1, 2, 6)
        values[0, 0] = -1.0  # no positive value: the first sum is 0
        law = values, np.array([0.2, 0.6, 0.15]), n
        self.low, self.high = log_positive_part(*law, width=1e-3, log_factors=self.log_factors)
        self.narrow_low, self.narrow_high = log_positive_part(*law, width=1e-5)

    def log_sums(self, log_expectations):
        """Natural logs of the six sums."""
        return logsumexp(log_expectations + self.log_factors, axis=1)


@pytest.fixture(scope="module")
def sums(boxes_first):
    """`SixSums`, where contour integrals or sums over boxes are tried first."""
    return SixSums()


def test_brackets_with_factors_hold(sums):
    """Both brackets of a point, with factors and without, hold the same number, so they overlap."""
    assert np.all((sums.low <= sums.narrow_high) & (sums.narrow_low <= sums.high))


def test_brackets_with_factors_have_narrow_sums(sums):
    """A sum is that of factor times E[S_+] over the numbers of gains. It was asked for with the width 1e-3.

    ``narrow_low`` and ``narrow_high`` are brackets of ln E[S_+] without factors.
    """
    low, high = sums.log_sums(sums.low), sums.log_sums(sums.high)
    assert np.all(low <= sums.log_sums(sums.narrow_high))
    assert np.all(sums.log_sums(sums.narrow_low) <= high)
    assert low[0] == high[0] == -np.inf  # of a gain without a positive value
    assert np.all(high[1:] - low[1:] <= 1.1e-3)  # 1.1: what the rough points add counts, too


def test_points_that_do_not_count_in_a_sum_have_rough_brackets(sums):
    """The lower end of a rough bracket is -inf. The first of the six gains has no positive value."""
    is_rough = np.isneginf(sums.low[1:])
    assert np.all(is_rough[:, -1])  # its factor is 0
    assert np.all(is_rough.sum(axis=1) > 20)  # far from n = 30


def test_points_that_count_in_a_sum_are_bracketed_even_if_a_first_guess_says_they_do_not(
    monkeypatch,
):
    """The sum is over the numbers n of gains in S, of factor times E[S_+].

    `log_gaussian_guess` is the first approximation. Here it is replaced by one that makes n = 4 by far the
    largest. `exact_log` is ln E[S_+] by fractions.
    """
    gain = [1.0, -1e12], [0.3, 0.7 - 1e-9]
    n, log_factors = [3, 4, 5], np.array([0.0, -9.0, -18.0])

    def wrong_guess(points):
        return np.where(points.n[:, 0] == 4, 50.0, -50.0)

    monkeypatch.setattr(bracket, "log_gaussian_guess", wrong_guess)
    low, high = log_positive_part(*gain, n, log_factors=log_factors)
    exact = np.array([exact_log(*gain, number) for number in n])
    assert np.all((low <= exact) & (exact <= high))
    # 10 % more than the default width.
    assert logsumexp(high + log_factors) - logsumexp(low + log_factors) <= 1.1e-4


@pytest.mark.parametrize(
    ("values", "probabilities"), [([-1.0, 0.0], [0.5, 0.2]), ([1.0, -1.0], [0.0, 0.2])]
)
def test_a_gain_that_is_never_positive_has_the_log_of_0(values, probabilities):
    assert log_positive_part(values, probabilities, 10) == (-np.inf, -np.inf)


def test_bracket_for_a_random_number_of_gains_holds():
    """The number is the sum of Binomial(n, share) for two random ``parts`` (n, share), and 1.

    `exact_log` is ln E[S_+] by fractions. A few copies of a random number are not summed one by one,
    so the bracket may be wider than the default.
    """
    rng = np.random.default_rng(28)
    for _ in range(25):
        gain = random_gain(rng)
        parts = [(int(rng.integers(1, 4)), float(rng.uniform(0.01, 1))) for _ in range(2)]
        parts.append((1, 1.0))
        n, shares = zip(*parts, strict=True)
        low, high = log_positive_part(*gain, n, shares=shares)
        exact = exact_log(*gain, parts)
        assert low <= exact <= high, (gain, parts)
        assert exact == -math.inf or high - low <= math.log1p(1e-3), (gain, parts)


def assert_overlap(first, second):
    """Two brackets (low, high) of the same number have a part in common."""
    assert max(first[0], second[0]) <= min(first[1], second[1])


@pytest.mark.parametrize("mean", [5.0, 1e3, 1e6])
def test_a_poisson_number_of_gains_is_the_limit_of_binomial_ones(mean):
    """Poisson of this mean (share 0) and Binomial(1e9 mean, 1e-9), each plus one certain gain (share 1)."""
    gain = [3.0, -2.0, -0.1], [0.1, 0.15, 0.75]
    poisson = log_positive_part(*gain, [mean, 1], shares=[0, 1], width=1e-6)
    binomial = log_positive_part(*gain, [1e9 * mean, 1], shares=[1e-9, 1], width=1e-6)
    assert_overlap(poisson, binomial)
    low, high = poisson
    assert high - low < 2e-6


@pytest.mark.parametrize(("n", "share"), [(10**3, 0.3), (10**9, 1e-3)])
def test_a_binomial_number_of_gains_is_a_smaller_probability_of_each(n, share):
    """Binomial(n, share) gains are n gains that are 0 but with the probability ``share``."""
    values, probabilities = np.array([3.0, -2.0, -0.1]), np.array([0.1, 0.15, 0.75])
    binomial = log_positive_part(values, probabilities, [n], shares=[share], width=1e-6)
    assert_overlap(binomial, log_positive_part(values, probabilities * share, n, width=1e-6))
