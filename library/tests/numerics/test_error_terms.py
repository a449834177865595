"""Every error term of positive_part on its own, against 40 to 60 digits: the bracket needs each of them.

The tests of the whole bracket cannot see a term that is too small where another one is generous.

S is the sum of n gains G, M(z) = E[e^(z G)], and theta is near the saddle point of M(z)^n / z^2. The contour
integral on the line z = theta + iu gives A(tau) = E[(S + U)_+] for a Gaussian U with the standard deviation
tau, as a sum over nodes u = 0, h, 2 h, ... Its terms are in units of M(theta)^n e^(theta^2 tau^2 / 2).
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tests.numerics.exact import (
    distribution_of_sum,
    exact_log,
    log_mgf_of_sum,
    mgf,
    smoothed_mean,
    smoothed_mean_of,
)
from tightshuffle.numerics.positive_part import (
    box,
    bracket,
    contour,
    log_positive_part,
    tilted_copies,
)
from tightshuffle.numerics.positive_part.tilt import tilted_points

ULP = 2.0**-52
# A law is (the values of a gain, their probabilities, the number n of gains).
LATTICE = [1.0, -1.0], [0.25, 0.5], 40
UNLIKE_SIZES = [3.0, -2.0, -0.1], [0.1, 0.15, 0.75], 9
NEARLY_ALWAYS_BELOW_0 = [0.4, -7.0], [1e-3, 1 - 1e-3], 12
ONE_VALUE = [0.7], [0.2], 3
# Few enough gains for `smoothed_mean`. Each of these sums S is 0 with a positive probability.
SMALL_LAWS = [
    ([1.0, -1.0], [0.25, 0.5], 6),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], 5),
    ([0.4, -7.0], [0.2, 0.75], 7),
]
# Instead of n, the parts of a random number of gains: Binomial(n, share), or Poisson of mean n for share 0.
LAWS_OF_PARTS = [
    LATTICE,
    UNLIKE_SIZES,
    NEARLY_ALWAYS_BELOW_0,
    ONE_VALUE,
    ([54.6, -400.0, -0.2], [0.002, 0.002, 0.8], 1000),
    ([2.5, 1e-3], [1e-9, 0.3], 10**6),
    ([1.5, -1e12], [0.3, 0.7 - 1e-9], 5),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(50, 0.3), (7, 1.0)]),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(20.0, 0.0), (1, 1.0)]),
    ([0.5, -30.0], [0.05, 0.95 - 2.0**-40], [(200, 0.9), (3.0, 0.0), (5, 0.02)]),
]
each_law_of_parts = pytest.mark.parametrize("law", LAWS_OF_PARTS)
each_small_law = pytest.mark.parametrize("law", SMALL_LAWS)


def tilted_points_of(values, probabilities, parts):
    """`TiltedPoints` of ``values`` (values,) or (points, values), and the same probabilities for each point.

    ``parts`` is a fixed number of gains or, for a random number, a list of (n, share).
    """
    values = np.atleast_2d(values)
    pairs = np.array([(parts, 1.0)] if isinstance(parts, int) else parts, float)
    points = len(values), 1
    n, shares = np.tile(pairs[:, 0], points), np.tile(pairs[:, 1], points)
    return tilted_points(values, np.tile(probabilities, points), n, shares)


@each_law_of_parts
def test_log_mgf_of_sum_is_wrong_by_at_most_its_rounding(law):
    """``log_mgf_of_sum`` is ln E[e^(theta S)] of the sum S of gains. mpmath's has 60 digits.

    A ``law`` is (values of a gain, their probabilities, number of gains). `tilted_points_of` chooses theta.
    """
    points = tilted_points_of(*law)
    with mp.workdps(60):
        exact = log_mgf_of_sum(*law, points.theta.item())
        assert abs(points.log_mgf_of_sum.item() - exact) <= points.rounding.item()


@each_law_of_parts
def test_tilted_weights_are_wrong_by_at_most_their_weight_ulps(law):
    """``weights`` are the tilted probabilities p e^(theta g) / M(theta). mpmath's have 60 digits.

    A ``law`` has the values g of a gain G and their probabilities p, and M(theta) = E[e^(theta G)].
    ``weight_ulps`` are units in the last place.
    """
    values, probabilities, _number_of_gains = law
    points = tilted_points_of(*law)  # of one point, with the index 0
    underflow = 1e-320  # smaller weights are 0 as floats
    with mp.workdps(60):
        theta = mp.mpf(points.theta.item())
        terms = [p * mp.exp(theta * g) for g, p in zip(values, probabilities, strict=True)]
        exact = np.array(terms) / mgf(values, probabilities, theta)
        allowed = exact * points.weight_ulps[0] * ULP + underflow
        assert np.all(abs(points.weights[0] - exact) <= allowed)


def log_unit(law, theta, tau):
    """ln of M(theta)^n e^(theta^2 tau^2 / 2) in mpmath: the unit of the terms of a contour integral."""
    return log_mgf_of_sum(*law, theta) + (mp.mpf(theta) * tau) ** 2 / 2


def log_aliases(distribution, theta, tau, length):
    """Natural log of the sum over m of e^(-theta m L) E[(S + U + m L)_+], in mpmath.

    L is the ``length``, S has this ``distribution``, and U is Gaussian with the standard deviation ``tau``.
    All terms are positive, and those with m = -2, ..., 2 but 0 are enough: the next two add less than a
    thousandth of what the bounds are above these.
    """
    aliases = [
        mp.exp(-theta * m * length) * smoothed_mean_of(distribution, tau, shift=m * length)
        for m in (-2, -1, 1, 2)
    ]
    return mp.log(mp.fsum(aliases))


@each_small_law
@pytest.mark.parametrize("theta_tau", [0.02, 0.3, 1.0])
def test_log_alias_bounds_are_at_least_the_log_of_the_aliases(law, theta_tau):
    """The bounds are for several lengths L, of which ``LENGTHS`` are in units of sigma, in units `log_unit`.

    `tilted_points_of` has the tilt theta and the standard deviation sigma of the sum of gains under the tilt.
    """
    points = tilted_points_of(*law)
    theta, sigma = points.theta.item(), points.sigma.item()
    tau = theta_tau / theta
    bounds = contour.log_alias_bounds(points, np.array([tau])).ravel()
    up_to_16_sigma = zip(contour.LENGTHS[:10].tolist(), bounds[:10].tolist(), strict=True)
    distribution = distribution_of_sum(*law)
    with mp.workdps(30):
        unit = log_unit(law, theta, tau)
        for length, bound in up_to_16_sigma:
            assert log_aliases(distribution, theta, tau, length * sigma) - unit <= bound


def truncated_integral(reach_tau, theta_tau):
    """The integral of e^(-x^2 / 2) / (pi ((theta tau)^2 + x^2)) over x > V tau, for the reach V, in mpmath.

    Times tau, it is the integral of e^(-(u tau)^2 / 2) / (pi (theta^2 + u^2)) over u > V.
    """
    with mp.workdps(30):
        return mp.quad(
            lambda x: mp.exp(-(x**2) / 2) / (mp.pi * (theta_tau**2 + x**2)),
            [reach_tau, 2 * reach_tau, 40],  # beyond 40 nothing is left: e^-800
        )


each_tau = pytest.mark.parametrize("tau", [1e-3, 1.0, 50.0])


@each_tau
@pytest.mark.parametrize("theta_tau", [1e-6, 0.5, 3.0])  # the bound is for every theta, 0 too
@pytest.mark.parametrize("reach_tau", [0.3, 2.0, 6.0])
def test_truncation_error_is_at_least_the_integral_beyond_the_reach(reach_tau, theta_tau, tau):
    """Nodes beyond the reach add most if they are dense and |M(z)| is M(theta) everywhere: the integral."""
    bound = contour.truncation_error(np.array(reach_tau / tau), np.array(tau))
    assert bound >= truncated_integral(reach_tau, theta_tau) * tau


@each_tau
def test_truncation_error_is_nearly_met_far_out_for_theta_next_to_0(tau):
    bound = contour.truncation_error(np.array(6.0 / tau), np.array(tau))
    assert bound < 1.2 * tau * truncated_integral(reach_tau=6.0, theta_tau=1e-6)


def sizes_of_terms(law, theta, h, u):
    """What the nodes at the angles ``u`` and -``u`` add at most, h apart, in units of M(theta)^n.

    It is h |M(z) / M(theta)|^n / (pi |z|^2) for z = theta + i u, where M(z) = E[e^(z G)] of the law's gain G.
    """
    values, probabilities, n = law

    def mgf_at(z):
        return 1 + sum(p * np.expm1(z * g) for g, p in zip(values, probabilities, strict=True))

    z = theta + 1j * u
    return h * np.abs(mgf_at(z) / mgf_at(theta)) ** n / (math.pi * np.abs(z) ** 2)


@pytest.mark.parametrize("threshold", [3.0, 8.0, 20.0])
@pytest.mark.parametrize(
    "law", [([3.0, -2.0], [0.3, 0.3], 400), ([1.0, -1.0], [0.1, 0.1], 3000)], ids=str
)
def test_skipping_error_bounds_what_nodes_outside_of_the_windows_add(law, threshold):
    """`angle_windows` puts windows around the multiples of a distance, such that nodes elsewhere are small.

    At these, |M(z) / M(theta)|^n is at most e^-``threshold``. `tilted_points_of` has the tilt theta and the
    standard deviation sigma of the sum of the ``law``'s gains under the tilt.
    """
    points = tilted_points_of(*law)
    theta, last_node = points.theta.item(), 4000
    h = 0.05 / points.sigma.item()  # dense: the terms fall in about 1 / sigma
    distance, half_width = contour.angle_windows(
        points, np.array([h]), np.array([last_node]), np.array([threshold])
    )
    u = h * np.arange(1, last_node + 1)
    distance_to_centre = np.abs(u - np.round(u / distance) * distance)
    is_skipped = distance_to_centre > half_width
    assert is_skipped.any()
    added = sizes_of_terms(law, theta, h, u[is_skipped]).sum()
    assert added <= contour.skipping_error(threshold, theta, h)


@pytest.mark.parametrize("h", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("theta", [0.05, 1.0, 40.0])
def test_skipping_error_holds_where_every_node_is_as_large_as_may_be(theta, h):
    """The sum over all whole j of h / (2 pi (theta^2 + (j h)^2)) is coth(pi theta / h) / (2 theta)."""
    sum_over_all_nodes = 1 / math.tanh(math.pi * theta / h) / (2 * theta)
    assert sum_over_all_nodes <= contour.skipping_error(0.0, theta, h)


def log_of_power(w, share, n):
    """n ln(1 + share w), or n w for the share 0: ln of M(z)^n / M(theta)^n, where w = M(z) / M(theta) - 1.

    The number of gains is Binomial(n, share), or Poisson of mean n.
    """
    return n * np.log1p(share * w) if share else n * w


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_rounding_of_power_bounds_what_an_error_of_its_argument_does(share):
    """Random complex numbers w are moved in random directions, each by some steps of 1e-9.

    `log_of_power` moves by at most as many steps as `rounding_of_power` says.
    """
    rng, step, n = np.random.default_rng(5), 1e-9, 1000
    # As of a gain with one value, which has up to 0.7 of the tilted probability.
    w = 0.7 * rng.random(200) * np.expm1(1j * rng.uniform(0, 6, 200))
    steps = rng.uniform(0.1, 50, 200)
    moved = w + step * steps * np.exp(1j * rng.uniform(0, 6, 200))
    change = np.abs(log_of_power(moved, share, n) - log_of_power(w, share, n))
    bound = contour.rounding_of_power(
        steps,
        real=w.real,
        imaginary=w.imag,
        share=np.full(200, share),
        copies=n * (share or 1.0),
        squared_modulus_less_1=np.abs(1 + share * w) ** 2 - 1,
    )
    assert np.all(change / step <= bound * (1 + 1e-4))  # 1e-4: the second order of the step


def exact_sums_over_nodes(law, theta, taus, h, last):
    """The real sum over j of h / (2 pi) M(z)^n e^(z^2 tau^2 / 2) / z^2, in units `log_unit` and in mpmath.

    There is one for each of the ``taus``. The nodes are z = theta + i j h for j = -``last``, ..., ``last``.
    """
    nodes = [mp.mpc(theta, j * mp.mpf(h)) for j in range(last + 1)]
    log_mgfs = [log_mgf_of_sum(*law, z) for z in nodes]
    for tau in taus:
        log_of_unit = log_unit(law, theta, tau)
        at_theta, *others = (
            mp.re(mp.exp(log_mgf + (z * tau) ** 2 / 2 - log_of_unit) / z**2)
            for z, log_mgf in zip(nodes, log_mgfs, strict=True)
        )
        yield h / (2 * mp.pi) * (at_theta + 2 * mp.fsum(others))


@each_law_of_parts
@pytest.mark.parametrize(("step", "last"), [(0.1, 150), (1.0, 150), (1.0, 0)])
def test_sums_over_nodes_are_within_their_errors(law, step, last):
    """`sum_nodes` returns the sums for tau and 2 tau with bounds on their errors. mpmath has 40 digits.

    Nodes are h = ``step`` / sigma apart. `tilted_points_of` has the tilt theta, and the standard deviation
    sigma of the sum of the ``law``'s gains under it. With ``last`` = 0 the only node is theta.
    """
    points = tilted_points_of(*law)
    theta = points.theta.item()
    tau, h = 0.01 / theta, step / points.sigma.item()
    # A single window around theta, which holds all nodes.
    one_window = {"distance": 1.0, "half_width": last * h * (1 + 1e-9), "windows": 1.0}
    arguments = {"tau": tau, "spacing": h, "last_node": last, **one_window}
    of_one_point = {name: np.array([number]) for name, number in arguments.items()}
    sums, errors = contour.sum_nodes(points, **of_one_point)
    with mp.workdps(40):
        exact_sums = exact_sums_over_nodes(law, theta, (tau, 2 * tau), h, last)
        for exact, found, error in zip(exact_sums, sums, errors, strict=True):
            assert abs(found.item() - exact) <= error.item()


def test_no_node_is_lost_by_rounding():
    """A window that is to hold all nodes 0, h, ..., last * h does, for each ``last`` from 1 to 59.

    `angle_windows` returns half the width of the window. In floats last * h / h is often a little below the
    whole number ``last``, so half the width has to be a little larger than last * h.
    """
    last = np.arange(1.0, 60)
    points = tilted_points_of([[1.0, -1.0]] * 59, [0.25, 0.5], 6)  # the same one for each ``last``
    h = 0.1 / points.sigma
    too_high = np.full(59, 1e3)  # a threshold for which no pair of values leaves windows
    _, half_width = contour.angle_windows(points, h, last, too_high)
    assert np.any(np.floor(last * h / h) < last)
    np.testing.assert_array_equal(np.minimum(np.floor(half_width / h), last), last)


@each_small_law
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_contour_bounds_enclose_the_smoothed_means(law, width):
    """2 A(tau) - A(2 tau) <= E[S_+] <= A(tau), and the bounds on ln E[S_+] are just outside of the two.

    S is the sum of the ``law``'s gains, and A(tau) = E[(S + U)_+] for a Gaussian U of standard deviation tau:
    `smoothed_mean`, with 40 digits. `exact_log` is ln E[S_+] by fractions.
    """
    points = tilted_points_of(*law)
    # So small that U widens the bounds by less than ``width``.
    tau = math.sqrt(width / 2) / points.theta
    guess = bracket.log_gaussian_guess(points)
    low, high = np.ravel(contour.contour_bounds(points, tau, guess, width)).tolist()
    with mp.workdps(40):
        of_tau = smoothed_mean(*law, tau.item())
        of_2_tau = smoothed_mean(*law, 2 * tau.item())
        assert low <= mp.log(2 * of_tau - of_2_tau) <= exact_log(*law) <= mp.log(of_tau) <= high
        assert high - mp.log(of_tau) < width


@pytest.mark.parametrize("tau", [1e-9, 1e-6, 1e-3])
def test_high_without_zero_takes_off_no_more_than_what_zero_adds(tau):
    """Here S is 0 nearly always, so that nearly all of A(tau) = E[(S + U)_+] is what U adds where S = 0.

    U is Gaussian with the standard deviation ``tau``, and `smoothed_mean` is A(tau). `exact_log` is ln
    E[S_+] by fractions.
    """
    law = [1.0, -3.0], [1e-6, 1e-6], 3
    rounding = 1e-14
    with mp.workdps(60):
        high = float(mp.log(smoothed_mean(*law, tau))) + rounding
        left = contour.high_without_zero(tilted_points_of(*law), np.array([tau]), np.array([high]))
        assert exact_log(*law) <= left.item() < high


def bounds_by_boxes(law, depth):
    """Lower and upper bounds on ln E[S_+], (points,), by sums over boxes of combinations of counts.

    A combination says how many gains have each value. Of all combinations, a box leaves out about e^-depth of
    the probability, tilted so that S near 0 is likely.
    """
    points = tilted_points_of(*law)
    return box.bounds_by_boxes(points, box.boxes_of_counts(points, np.full(len(points), depth)))


PACKAGE_DEPTH = 42.0  # next to nothing is outside of a box
SUMMED_LAWS = [*SMALL_LAWS, NEARLY_ALWAYS_BELOW_0, ONE_VALUE]


@pytest.mark.parametrize("law", [*SUMMED_LAWS, LATTICE])
@pytest.mark.parametrize("depth", [0.5, 2.0, PACKAGE_DEPTH])
def test_bounds_by_boxes_hold_however_small_the_box_is(law, depth):
    low, high = bounds_by_boxes(law, depth)
    assert low.item() <= exact_log(*law) <= high.item()


# Without LATTICE, which has the most gains: its bounds differ by 1.4e-12.
@pytest.mark.parametrize("law", SUMMED_LAWS)
def test_bounds_by_deep_boxes_differ_by_rounding_only(law):
    low, high = bounds_by_boxes(law, PACKAGE_DEPTH)
    assert high.item() - low.item() < 1e-12


def test_lower_bound_by_a_shallow_box_misses_much():
    low, _ = bounds_by_boxes(LATTICE, depth=0.5)
    assert low.item() + 0.01 < exact_log(*LATTICE)  # far more than rounding


def test_moved_values_hold_sums_over_users():
    """Sums over users of the values ``less`` and ``more``, in floats, enclose the exact sum of ``g``.

    `moved_values` makes both from g: a little smaller and a little larger. users[i] users have the value
    g[i], and their exact sum is a fraction. It nearly cancels, so that rounding would count.
    """
    rng = np.random.default_rng(30)
    for _ in range(300):
        g = rng.normal(size=4) * 10.0 ** rng.integers(-6, 6, 4)
        users = np.float64(rng.integers(0, 1000, 4))
        g[0], users[0] = -(g[1:] @ users[1:]), 1.0
        exact = sum(Fraction(value) * Fraction(n) for value, n in zip(g, users, strict=True))
        less, more = box.moved_values(g)
        assert Fraction(less @ users) <= exact <= Fraction(more @ users)


# (Values of several points, the probabilities that all of them have, the number of gains).
# S is often above 0 for the first point, and ever more rarely.
ALIKE_POINTS = [[3.0, -down, -0.1] for down in (0.5, 2.0, 2.5, 9.0, 40.0)], [0.1, 0.15, 0.7], 7
# The box of the last of these holds counts that the box of the first does not hold.
POINTS_WITH_BOXES_APART = (
    [[1.0, -down] for down in (0.01, 0.5, 0.6, 0.7, 0.8)],
    [2.0**-10, 1 - 2.0**-10],
    60,
)


def exact_logs(values_of_points, probabilities, n):
    """ln E[S_+] of each of these points by fractions, as an array of mpmath numbers."""
    return np.array([exact_log(values, probabilities, n) for values in values_of_points])


@pytest.fixture
def points_per_box(monkeypatch):
    """A list that gets the number of points that each box is summed for."""
    numbers, sum_box = [], box.bounds_by_box

    def counted(points, ranges):
        numbers.append(len(points))
        return sum_box(points, ranges)

    monkeypatch.setattr(box, "bounds_by_box", counted)
    return numbers


@pytest.mark.parametrize("alike", [ALIKE_POINTS, POINTS_WITH_BOXES_APART])
@pytest.mark.parametrize(
    ("depth", "width"), [(0.5, math.inf), (2.0, math.inf), (PACKAGE_DEPTH, 1e-10)]
)
def test_bounds_of_points_that_share_a_box_hold(alike, depth, width, points_per_box, monkeypatch):
    """At the package's depth they are narrow, too.

    ``alike`` has the gain's values at five points, their common probabilities, and the number of gains.
    """
    monkeypatch.setattr(box, "TERMS", 64)  # so few at once that a box is summed in several chunks
    low, high = bounds_by_boxes(alike, depth)
    exact = exact_logs(*alike)
    assert np.all((low <= exact) & (exact <= high) & (high < low + width))
    assert max(points_per_box) >= 3  # most of the points


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        pytest.param("MOST_TOGETHER", 0, id="no box of several points may hold a combination"),
        pytest.param("COST_OF_BOX", -(10**9), id="two boxes take less time than one"),
    ],
)
def test_a_box_of_many_points_is_split_where_it_is_too_large_or_takes_longer(
    constant, value, points_per_box, monkeypatch
):
    """Each of five points gets a box of its own, whose bounds on ln E[S_+] hold."""
    monkeypatch.setattr(box, constant, value)
    low, high = bounds_by_boxes(ALIKE_POINTS, PACKAGE_DEPTH)
    assert points_per_box == [1, 1, 1, 1, 1]
    exact = exact_logs(*ALIKE_POINTS)
    assert np.all((low <= exact) & (exact <= high))


def test_points_whose_probabilities_are_too_far_apart_for_floats_get_several_boxes(
    points_per_box, monkeypatch
):
    """A box for all three points is tried, but in floats the combinations that the last one needs vanish.

    S is the sum of 50 gains, each 1 with the probability 2^-53. For S > 0 the first point needs one gain of
    1, the last point 23.
    """
    alike = [[1.0, -1e-3], [1.0, -0.5], [1.0, -0.85]], [2.0**-53, 1 - 2.0**-53], 50
    monkeypatch.setattr(box, "COST_OF_BOX", 10**9)  # so that one box for all is tried first
    low, high = bounds_by_boxes(alike, PACKAGE_DEPTH)
    assert points_per_box[0] == 3
    assert len(points_per_box) > 1
    exact = exact_logs(*alike)
    assert np.all((low <= exact) & (exact <= high) & (high <= low + 1e-9))


# Constants of `bracket` that bound the size of boxes.
NO_BOX = dict.fromkeys(("FEW_COMBINATIONS", "SOME_COMBINATIONS", "MOST_COMBINATIONS"), 0)
ONE_INTEGRAL = {"FEW_COMBINATIONS": 0, "ATTEMPTS": 1}
each_law_of_a_bracket = pytest.mark.parametrize("law", [*SUMMED_LAWS, LATTICE, UNLIKE_SIZES])


def set_limits(monkeypatch, limits):
    """Set constants of modules: ``limits`` is {module: {constant: value}}."""
    for module, constants in limits.items():
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({bracket: NO_BOX}, id="contour integrals only"),
        pytest.param({bracket: ONE_INTEGRAL}, id="one integral, then a box"),
        pytest.param(
            {bracket: {**ONE_INTEGRAL, "SOME_COMBINATIONS": 0}},
            id="one integral, then the largest boxes",
        ),
        pytest.param(
            {bracket: NO_BOX, contour: {"BATCH": 512, "TERMS": 64}}, id="nodes in many batches"
        ),
        pytest.param({bracket: {"MOST_COUNTED": 2}}, id="no box may hold so many users"),
        pytest.param(
            {bracket: NO_BOX, contour: {"PAIRED": 2}}, id="windows by one pair of values only"
        ),
    ],
)
@each_law_of_a_bracket
def test_bracket_holds_in_whichever_way_it_is_computed(law, limits, monkeypatch):
    """``limits`` are constants of the package that decide on the way, as the id of each case says."""
    set_limits(monkeypatch, limits)
    low, high = log_positive_part(*law)
    assert low <= exact_log(*law) <= high <= low + math.log1p(1e-4)


@each_law_of_a_bracket
def test_bracket_by_chernoffs_bound_holds(law, monkeypatch):
    """Integrals may not have as many nodes as they need."""
    set_limits(monkeypatch, {bracket: NO_BOX, contour: {"MOST_NODES": 30}})
    low, high = log_positive_part(*law)
    assert low <= exact_log(*law) <= high


def test_probabilities_that_sum_to_one_up_to_rounding():
    """What is missing to 1 is summed exactly: 2^-53 of it is the probability of 0, not noise."""
    probabilities = [0.1, 0.2, 0.3, 0.4 - 2.0**-53]
    rest = 1 - sum(map(Fraction, probabilities))
    points = tilted_points_of([1.0, -1.0, 2.0, -30.0], probabilities, 3)
    assert points.probability_of_0[0] == float(max(rest, 0))


def test_tilted_copies_is_the_mean_number_of_gains_under_the_tilt():
    """Of Binomial(n, s) gains it is n s M / (1 - s + s M), with M = E[e^(theta G)] by mpmath.

    Of a Poisson number, s = 0, it is n M. `tilted_points_of` has the tilt theta.
    """
    values, probabilities, parts = [3.0, -2.0], [0.1, 0.6], [(50.0, 0.3), (20.0, 0.0), (1.0, 1.0)]
    theta = tilted_points_of(values, probabilities, parts).theta.item()
    with mp.workdps(30):
        m = mgf(values, probabilities, theta)
        binomial = 50 * 0.3 * m / (0.7 + 0.3 * m)
        poisson = 20 * m
        sure = 1
    n, shares = np.array(parts).T
    copies = tilted_copies(np.array([values]), np.array([probabilities]), n, shares)
    assert copies.item() == pytest.approx(float(binomial + poisson + sure), rel=1e-12)


def test_tilted_copies_is_1_by_definition_where_no_value_is_positive():
    n, shares = np.array([50.0]), np.array([0.3])
    assert tilted_copies(np.array([[-3.0]]), np.array([[0.1]]), n, shares).item() == 1
