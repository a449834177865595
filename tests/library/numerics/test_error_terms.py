"""Every error term of positive_part on its own, against 40 to 60 digits: the bracket needs each of them.

The tests of the whole bracket cannot see a term that is too small where another one is generous.
"""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tests.library.numerics.test_positive_part import exact_log
from tightshuffle.numerics import positive_part
from tightshuffle.numerics.positive_part import log_positive_part

ULP = 2.0**-52
# values, probabilities, n: a lattice, values of unlike size, rare values, nearly always below 0, one value
LAWS = [
    ([1.0, -1.0], [0.25, 0.5], 40),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.75], 9),
    ([54.6, -400.0, -0.2], [0.002, 0.002, 0.8], 1000),
    ([0.4, -7.0], [1e-3, 1 - 1e-3], 12),
    ([2.5, 1e-3], [1e-9, 0.3], 10**6),
    ([1.5, -1e12], [0.3, 0.7 - 1e-9], 5),
    ([0.7], [0.2], 3),
]
PARTS = [  # law, and the numbers of copies: (n, share) with share 0 for a Poisson number
    (([3.0, -2.0, -0.1], [0.1, 0.15, 0.7]), [(50, 0.3), (7, 1.0)]),
    (([3.0, -2.0, -0.1], [0.1, 0.15, 0.7]), [(20.0, 0.0), (1, 1.0)]),
    (([0.5, -30.0], [0.05, 0.95 - 2.0**-40]), [(200, 0.9), (3.0, 0.0), (5, 0.02)]),
]


def at_saddle(values, probabilities, parts):
    """The `_Points` of one law."""
    n, shares = np.array(parts, float).T[:, None]
    return positive_part._at_saddle(np.array([values]), np.array([probabilities]), n, shares)


POINTS = [(law, probabilities, [(n, 1.0)]) for law, probabilities, n in LAWS]
POINTS += [(*law, parts) for law, parts in PARTS]
each_point = pytest.mark.parametrize(("values", "probabilities", "parts"), POINTS)


def mgf(values, probabilities, z):
    """M(z) in mpmath; what is missing to 1 is the probability of 0."""
    missing = 1 - mp.fsum(map(mp.mpf, probabilities))
    return missing + mp.fsum(
        mp.mpf(p) * mp.exp(z * mp.mpf(g)) for g, p in zip(values, probabilities, strict=True)
    )


def log_power(values, probabilities, parts, z):
    """log of M(z)^n, for a number of copies in parts."""
    at = mgf(values, probabilities, z)
    return mp.fsum(n * (at - 1) if share == 0 else n * mp.log(1 - share + share * at) for n, share in parts)


@each_point
def test_the_logarithm_of_the_generating_function_is_known_to_its_rounding(values, probabilities, parts):
    points = at_saddle(values, probabilities, parts)
    with mp.workdps(60):
        exact = log_power(values, probabilities, parts, mp.mpf(float(points.theta[0])))
        assert abs(mp.mpf(float(points.base[0])) - exact) <= mp.mpf(float(points.rounding[0]))


@each_point
def test_tilted_weights_are_known_to_their_units(values, probabilities, parts):
    points = at_saddle(values, probabilities, parts)
    with mp.workdps(60):
        theta = mp.mpf(float(points.theta[0]))
        below = mgf(values, probabilities, theta)
        for g, p, weight, units in zip(
            values, probabilities, points.weights[0], points.units[0], strict=True
        ):
            exact = mp.mpf(p) * mp.exp(theta * mp.mpf(g)) / below
            assert (
                abs(mp.mpf(float(weight)) - exact) <= exact * mp.mpf(float(units)) * ULP + mp.mpf(10) ** -320
            )


@each_point
def test_theta_is_near_the_saddle_point_and_sigma_is_the_width_there(values, probabilities, parts):
    points = at_saddle(values, probabilities, parts)
    with mp.workdps(40):
        theta = mp.mpf(float(points.theta[0]))

        def curve(x):
            return log_power(values, probabilities, parts, x) - 2 * mp.log(x)

        slope = theta * mp.diff(curve, theta, h=theta * mp.mpf(10) ** -12)
        second = mp.diff(curve, theta, 2, h=theta * mp.mpf(10) ** -10)
    assert abs(slope) < 0.02 * float(second * theta**2)
    assert float(points.sigma[0]) == pytest.approx(math.sqrt(second), rel=1e-6)


def smoothed(points, tau, shift=0):
    """E[(S + U + shift)_+] for a fixed number of gains, term by term."""
    values, probabilities = points.g[0].tolist(), points.p[0].tolist()
    values, probabilities = [*values, 0.0], [*probabilities, 1 - mp.fsum(map(mp.mpf, probabilities))]
    n, total = int(points.n[0, 0]), mp.mpf(0)
    for dividers in itertools.combinations(range(n + len(values) - 1), len(values) - 1):
        ends = (-1, *dividers, n + len(values) - 1)
        often = [later - earlier - 1 for earlier, later in itertools.pairwise(ends)]
        x = mp.fsum(k * mp.mpf(g) for k, g in zip(often, values, strict=True)) + shift
        chance = math.factorial(n) / mp.fprod(map(math.factorial, often))
        chance *= mp.fprod(mp.mpf(p) ** k for k, p in zip(often, probabilities, strict=True))
        total += chance * (x * mp.ncdf(x / tau) + tau * mp.npdf(x / tau))
    return total


SMALL = [
    ([1.0, -1.0], [0.25, 0.5], 6),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], 5),
    ([0.4, -7.0], [0.2, 0.75], 7),
]


@pytest.mark.parametrize(("values", "probabilities", "n"), SMALL)
@pytest.mark.parametrize("part", [0.02, 0.3, 1.0])
def test_aliases_stay_below_their_bound_at_every_length(values, probabilities, n, part):
    """The sum over m other than 0 of e^(-theta m L) E[(S + U + m L)_+], item 2."""
    points = at_saddle(values, probabilities, [(n, 1.0)])
    theta, sigma = float(points.theta[0]), float(points.sigma[0])
    tau = part / theta
    bounds = positive_part._log_aliases(points, np.array([tau]))[0]
    with mp.workdps(30):
        for length, bound in zip(positive_part._LENGTHS[:10] * sigma, bounds, strict=False):
            aliases = [
                mp.exp(-theta * m * length) * smoothed(points, mp.mpf(tau), mp.mpf(m * length))
                for m in (-3, -2, -1, 1, 2, 3)
            ]
            scale = (
                log_power(values, probabilities, [(n, 1.0)], mp.mpf(theta)) + (mp.mpf(theta) * tau) ** 2 / 2
            )
            assert mp.log(mp.fsum(aliases)) - scale <= bound


@each_point
@pytest.mark.parametrize(("step", "last"), [(0.1, 300), (1.0, 300), (1.0, 0)])
def test_the_sum_over_nodes_is_known_to_its_error(values, probabilities, parts, step, last):
    """Item 5, for both tau and 2 tau; also of the node at u = 0 alone, whose angles have no error."""
    points = at_saddle(values, probabilities, parts)
    theta, sigma = float(points.theta[0]), float(points.sigma[0])
    tau, h = 0.01 / theta, step / sigma
    one = np.ones(1)
    sums, errors = positive_part._sum_nodes(
        points, tau * one, h * one, last * one, one, last * h * (1 + 1e-9) * one, one
    )
    with mp.workdps(40):
        at = mp.mpf(theta)
        scale = log_power(values, probabilities, parts, at)
        for number, t in enumerate((mp.mpf(tau), 2 * mp.mpf(tau))):
            exact = mp.mpf(0)
            for j in range(last + 1):
                z = mp.mpc(at, j * mp.mpf(h))
                log = log_power(values, probabilities, parts, z) - scale
                log += (z * t) ** 2 / 2 - (at * t) ** 2 / 2
                exact += (2 if j else 1) * mp.re(mp.exp(log) / z**2)
            exact *= mp.mpf(h) / (2 * mp.pi)
            assert abs(mp.mpf(float(sums[number, 0])) - exact) <= mp.mpf(float(errors[number, 0]))


def test_no_node_is_lost_by_rounding():
    """last * h / h is often a little below the whole number ``last``."""
    points = at_saddle([1.0, -1.0], [0.25, 0.5], [(6, 1.0)])
    last = np.arange(1.0, 60)
    many = points.rows(np.zeros(len(last), int))
    h = 0.1 / many.sigma
    _, half = positive_part._windows(many, h, last, np.full(len(last), 1e3))
    assert np.any(np.floor(last * h / h) < last)
    np.testing.assert_array_equal(np.minimum(np.floor(half / h), last), last)


@pytest.mark.parametrize("threshold", [3.0, 8.0, 20.0])
@pytest.mark.parametrize(
    ("values", "probabilities", "n"),
    [*SMALL, ([3.0, -2.0], [0.3, 0.3], 400), ([1.0, -1.0], [0.1, 0.1], 3000)],
)
def test_skipped_nodes_add_no_more_than_their_bound(values, probabilities, n, threshold):
    """Item 4: what all nodes add, in absolute value, outside of the windows."""
    points = at_saddle(values, probabilities, [(n, 1.0)])
    theta, h = points.theta[0], 0.05 / points.sigma[0]
    last = np.array([4000.0])
    distance, half = positive_part._windows(points, np.array([h]), last, np.array([threshold]))
    if half[0] >= last[0] * h:
        assert n < 100, "no pair of values leaves windows"
        return
    u = np.arange(1, last[0] + 1) * h
    near = np.abs(u - np.round(u / distance[0]) * distance[0]) <= half[0]
    z = theta + 1j * u
    with np.errstate(all="ignore"):
        m = 1 + sum(p * np.expm1(z * g) for g, p in zip(values, probabilities, strict=True))
        size = np.abs(m) / math.exp(points.log_mgf[0])
    terms = 2 * size**n / np.abs(z) ** 2 * h / (2 * math.pi)
    assert not near.all()
    assert terms[~near].sum() <= math.exp(-threshold) * (0.5 / theta + h / theta**2)


@pytest.mark.parametrize(("values", "probabilities", "n"), SMALL)
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_one_contour_integral_holds_the_truth(values, probabilities, n, width):
    """2 A(tau) - A(2 tau) <= E[S_+] <= A(tau), item 1: low and high are these, less and plus all errors."""
    points = at_saddle(values, probabilities, [(n, 1.0)])
    tau = np.array([math.sqrt(width / 2)]) / points.theta
    guess = -np.log(points.theta**2 * points.sigma * math.sqrt(2 * math.pi))
    low, high = (float(end[0]) for end in positive_part._contour(points, tau, guess, width))
    with mp.workdps(40):
        logs = [smoothed(points, t) for t in (mp.mpf(tau[0]), 2 * mp.mpf(tau[0]))]
        truth = exact_log(values, probabilities, n)
        assert low <= mp.log(2 * logs[0] - logs[1]) <= truth <= mp.log(logs[0]) <= high
        assert high - mp.log(logs[0]) < width
        lower = positive_part._without_zero(points, tau, np.array([high]))[0]
        assert truth <= lower < high  # S is 0 with a positive probability in each of these laws


def test_without_zero_takes_off_no_more_than_what_zero_adds():
    """S is 0 nearly always: the excess tau / sqrt(2 pi) P(S = 0) is nearly all of A(tau) then."""
    points = at_saddle([1.0, -3.0], [1e-6, 1e-6], [(3, 1.0)])
    for tau in (1e-9, 1e-6, 1e-3):
        with mp.workdps(60):
            high = np.array([float(mp.log(smoothed(points, mp.mpf(tau)))) + 1e-14])
            left = positive_part._without_zero(points, np.array([tau]), high)[0]
            assert exact_log([1.0, -3.0], [1e-6, 1e-6], 3) <= left <= high[0]


@pytest.mark.parametrize("expected", [1e-12, 0.5, 43.0, 50.0, 1e4, 1e9])
@pytest.mark.parametrize("unlikely", [5.0, 42.0, 600.0])
def test_counts_beyond_the_box_are_unlikely(expected, unlikely):
    """x log(x / m) - x + m is at least ``unlikely`` at both ends; the ends are next to where it is equal."""
    low, high = (float(end) for end in positive_part._unlikely_counts(np.array(expected), np.array(unlikely)))

    def rate(x):
        return float(x * mp.log(mp.mpf(x) / mp.mpf(expected)) - x + expected)

    with mp.workdps(40):  # the ends steer the size of the box only: its rest is bounded on its own
        assert rate(high) == pytest.approx(unlikely, rel=1e-6)
        if expected > unlikely:
            assert rate(low) == pytest.approx(unlikely, rel=1e-6)


@pytest.mark.parametrize(("values", "probabilities", "n"), [*SMALL, *LAWS[3:4], LAWS[6]])
@pytest.mark.parametrize("unlikely", [0.5, 2.0, 42.0])
def test_the_sum_over_a_box_holds_the_truth_however_small_the_box(values, probabilities, n, unlikely):
    """With a small box the truth is far above the sum: the bound on the rest must hold it."""
    points = at_saddle(values, probabilities, [(n, 1.0)])
    boxes = positive_part._boxes(points, np.array([unlikely]))
    box = positive_part._Boxes(*(part[0] for part in boxes))
    low, high = positive_part._sum_box(points.rows(np.int64(0)), box)
    truth = exact_log(values, probabilities, n)
    assert low <= truth <= high
    if unlikely == 42.0:
        assert high - low < 1e-12


def test_a_box_that_leaves_out_what_matters_is_seen():
    """The sum alone is below the truth here, by far more than rounding."""
    values, probabilities, n = [1.0, -1.0], [0.25, 0.5], 40
    points = at_saddle(values, probabilities, [(n, 1.0)])
    box = positive_part._Boxes(*(part[0] for part in positive_part._boxes(points, np.array([0.5]))))
    low, high = positive_part._sum_box(points.rows(np.int64(0)), box)
    assert low + 0.01 < exact_log(values, probabilities, n) <= high


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.3, 1.0])
@pytest.mark.parametrize("probability", [1e-12, 0.3, 1 - 1e-9])
def test_relative_entropy(share, probability):
    with mp.workdps(40):
        x, p = mp.mpf(share), mp.mpf(probability)
        exact = (x * mp.log(x / p) if x else 0) + ((1 - x) * mp.log((1 - x) / (1 - p)) if x < 1 else 0)
    assert positive_part._relative_entropy(share, probability) == pytest.approx(
        float(exact), rel=1e-9, abs=1e-15
    )


# --- the switches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limits",
    [
        {"_FEW_ATOMS": 0, "_SOME_ATOMS": 0, "_MOST_ATOMS": 0},  # contour integrals only
        {"_FEW_ATOMS": 0, "_ATTEMPTS": 1},  # one integral, then a box
        {"_FEW_ATOMS": 0, "_SOME_ATOMS": 0, "_ATTEMPTS": 1},  # one integral, then the largest boxes
        {"_FEW_ATOMS": 0, "_SOME_ATOMS": 0, "_MOST_ATOMS": 0, "_MOST_NODES": 30},  # too few nodes: Chernoff
        {"_FEW_ATOMS": 0, "_SOME_ATOMS": 0, "_MOST_ATOMS": 0, "_BATCH": 64, "_TERMS": 8},  # many batches
        {"_MOST_COUNTED": 2},  # no box may hold so many users
        {"_FEW_ATOMS": 0, "_SOME_ATOMS": 0, "_MOST_ATOMS": 0, "_PAIRED": 2},  # one pair of values only
    ],
)
def test_the_bracket_holds_on_every_path(limits, monkeypatch):
    for name, value in limits.items():
        monkeypatch.setattr(positive_part, name, value)
    for values, probabilities, n in [*SMALL, *LAWS[:2], LAWS[3], LAWS[6]]:
        low, high = log_positive_part(values, probabilities, n)
        assert low <= exact_log(values, probabilities, n) <= high, (values, probabilities, n)
        if "_MOST_NODES" not in limits:
            assert high - low <= math.log1p(1e-4)


def test_values_far_below_zero_count_as_less_far():
    """One copy of such a value outweighs a trillion others: how far below it is does not matter."""
    for down in (1e14, 1e40, 1e160, 1e300):
        low, high = log_positive_part([1.5, -down], [0.3, 0.7], 5)
        with mp.workdps(30):
            assert low <= exact_log([1.5, -down], [0.3, 0.7], 5) <= high
    assert high - low <= math.log1p(1e-4)


def test_the_smallest_and_the_largest_value():
    for value in (1.001e-150, 0.999e150):
        low, high = log_positive_part([value, -value], [0.25, 0.25], 4)
        assert low <= exact_log([value, -value], [0.25, 0.25], 4) <= high
    for value in (1e-150, 1e150):
        with pytest.raises(ValueError, match="the largest value must lie between 1e-150 and 1e"):
            log_positive_part([value], [0.5], 4)


def test_probabilities_that_sum_to_one_up_to_rounding():
    """What is missing to 1 is summed exactly: 2^-53 of it is the probability of 0, not noise."""
    probabilities = [0.1, 0.2, 0.3, 0.4 - 2.0**-53]
    rest = 1 - sum(map(Fraction, probabilities))
    points = at_saddle([1.0, -1.0, 2.0, -30.0], probabilities, [(3, 1.0)])
    assert points.missing[0] == float(max(rest, 0))


def test_copies_under_the_tilt():
    """The mean of n under the law of (n, S) tilted by e^(theta S): of a thinned number, n r / (1 - s + r)."""
    values, probabilities = np.array([[3.0, -2.0]]), np.array([[0.1, 0.6]])
    n, shares = np.array([50.0, 20.0, 1.0]), np.array([0.3, 0.0, 1.0])
    points = at_saddle(values[0], probabilities[0], list(zip(n, shares, strict=True)))
    with mp.workdps(30):
        at = mgf(values[0].tolist(), probabilities[0].tolist(), mp.mpf(float(points.theta[0])))
        exact = 50 * 0.3 * at / (0.7 + 0.3 * at) + 20 * at + 1
    assert positive_part.tilted_copies(values, probabilities, n, shares)[0] == pytest.approx(
        float(exact), rel=1e-12
    )
    assert positive_part.tilted_copies(-values[:, :1], probabilities[:, :1], n, shares)[0] == 1
