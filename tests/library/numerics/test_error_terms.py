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

from tests.library.numerics.exact import exact_log, log_power, mgf, smoothed_mean
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
RARE_VALUES = [54.6, -400.0, -0.2], [0.002, 0.002, 0.8], 1000
NEARLY_ALWAYS_BELOW_0 = [0.4, -7.0], [1e-3, 1 - 1e-3], 12
ONE_VALUE = [0.7], [0.2], 3
LAWS = [
    *(LATTICE, UNLIKE_SIZES, RARE_VALUES, NEARLY_ALWAYS_BELOW_0, ONE_VALUE),
    ([2.5, 1e-3], [1e-9, 0.3], 10**6),
    ([1.5, -1e12], [0.3, 0.7 - 1e-9], 5),
]
# Few enough gains for `smoothed_mean`. Each of these sums S is 0 with a positive probability.
SMALL_LAWS = [
    ([1.0, -1.0], [0.25, 0.5], 6),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], 5),
    ([0.4, -7.0], [0.2, 0.75], 7),
]
# Instead of n, the parts of a random number of gains: Binomial(n, share), or Poisson of mean n for share 0.
LAWS_OF_PARTS = [
    *((values, probabilities, [(n, 1.0)]) for values, probabilities, n in LAWS),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(50, 0.3), (7, 1.0)]),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(20.0, 0.0), (1, 1.0)]),
    ([0.5, -30.0], [0.05, 0.95 - 2.0**-40], [(200, 0.9), (3.0, 0.0), (5, 0.02)]),
]
each_law_of_parts = pytest.mark.parametrize("law", LAWS_OF_PARTS)
each_small_law = pytest.mark.parametrize("law", SMALL_LAWS)


def tilted_point(values, probabilities, parts):
    """`TiltedPoints` with one point, of ``parts`` [(n, share)] or of a fixed number of gains."""
    n, shares = np.array([(parts, 1.0)] if isinstance(parts, int) else parts, float).T[:, None]
    return tilted_points(np.array([values]), np.array([probabilities]), n, shares)


@each_law_of_parts
def test_rounding_of_log_mgf_of_sum_and_of_weights(law):
    """`tilted_points` know log M(theta)^n to their ``rounding``, and ``weights`` to ``weight_ulps``.

    A ``law`` is (values g of a gain G, their probabilities p, parts [(number n of gains, share)]), and M(z) =
    E[e^(z G)]. `tilted_point` returns arrays with one row, for one point. Its theta is near the saddle point.
    ``log_mgf_of_sum`` is the natural log of M(theta)^n, the product over all parts; `log_power` has it in
    mpmath. ``weights`` are the tilted probabilities p e^(theta g) / M(theta), which are wrong by at most
    ``weight_ulps`` units in the last place. mpmath has 60 digits.
    """
    values, probabilities, _ = law
    points = tilted_point(*law)
    with mp.workdps(60):
        theta = mp.mpf(float(points.theta[0]))
        exact_log_mgf = log_power(*law, theta)
        assert abs(mp.mpf(float(points.log_mgf_of_sum[0])) - exact_log_mgf) <= mp.mpf(
            float(points.rounding[0])
        )

        m = mgf(values, probabilities, theta)
        of_values = values, probabilities, points.weights[0], points.weight_ulps[0]
        for g, p, weight, ulps in zip(*of_values, strict=True):
            exact = mp.mpf(p) * mp.exp(theta * mp.mpf(g)) / m
            smallest_float = mp.mpf(10) ** -320  # for weights that are 0 as floats
            allowed = exact * mp.mpf(float(ulps)) * ULP + smallest_float
            assert abs(mp.mpf(float(weight)) - exact) <= allowed


@each_small_law
@pytest.mark.parametrize("theta_tau", [0.02, 0.3, 1.0])
def test_log_aliasing_at_every_length(law, theta_tau):
    """For each length L, `log_alias_bounds` is at least the log of the sum of the aliases, as mpmath has it.

    An alias is e^(-theta m L) E[(S + U + m L)_+] for a whole m other than 0; `smoothed_mean` has this mean. S
    is the sum of the n gains of the ``law`` (values, probabilities, n), and U is Gaussian with standard
    deviation tau. Logs are natural, in units of M(theta)^n e^(theta^2 tau^2 / 2), where M(theta)^n =
    E[e^(theta S)] (`log_power`). `tilted_point` has theta, near the saddle point, and the standard deviation
    sigma of S under the tilt. ``LENGTHS`` are L / sigma.
    """
    points = tilted_point(*law)
    values, probabilities, n = law
    theta, sigma = float(points.theta[0]), float(points.sigma[0])
    tau = theta_tau / theta
    bounds = contour.log_alias_bounds(points, np.array([tau]))[0]
    lengths = contour.LENGTHS * sigma
    with mp.workdps(30):
        log_unit = log_power(values, probabilities, [(n, 1.0)], mp.mpf(theta))
        log_unit += (mp.mpf(theta) * tau) ** 2 / 2
        # The first lengths, up to 16 sigma, and the aliases next to m = 0 are enough: all are positive.
        for length, bound in zip(lengths[:10], bounds[:10], strict=True):
            aliases = [
                mp.exp(-theta * m * length) * smoothed_mean(*law, mp.mpf(tau), mp.mpf(m * length))
                for m in (-3, -2, -1, 1, 2, 3)
            ]
            assert mp.log(mp.fsum(aliases)) - log_unit <= bound


@pytest.mark.parametrize("theta_tau", [1e-6, 0.5, 3.0])  # the bound is for every theta, 0 too
@pytest.mark.parametrize("reach_tau", [0.3, 2.0, 6.0])
def test_truncation(reach_tau, theta_tau):
    """`truncation_error` is at least the integral over u > V of e^(-(u tau)^2 / 2) / (pi (theta^2 + u^2)).

    The error is what the nodes beyond u = V, the ``reach``, add to a sum at most. It is this integral if
    nodes are dense and |M(z)| is M(theta) everywhere, the largest that it can be. mpmath integrates over x =
    u tau, which gives the integral divided by tau. The parameters are V tau and theta tau.
    """
    with mp.workdps(30):
        # Beyond x = 40 nothing is left: e^-800.
        integral = mp.quad(
            lambda x: mp.exp(-(x**2) / 2) / (mp.pi * (theta_tau**2 + x**2)),
            [reach_tau, 2 * reach_tau, 40],
        )
        for tau in (1e-3, 1.0, 50.0):
            bound = contour.truncation_error(np.array(reach_tau / tau), np.array(tau))
            assert integral * tau <= bound
            # Far out, and for theta next to 0, the bound is nearly met.
            assert theta_tau > 1e-3 or reach_tau < 6 or bound < 1.2 * integral * tau


@pytest.mark.parametrize("threshold", [3.0, 8.0, 20.0])
@pytest.mark.parametrize(
    "law", [*SMALL_LAWS, ([3.0, -2.0], [0.3, 0.3], 400), ([1.0, -1.0], [0.1, 0.1], 3000)]
)
def test_skipping(law, threshold):
    """`skipping_error` is at least what all nodes outside of the windows add, in absolute value.

    Nodes are z = theta + i u with u = h, 2 h, ..., 4000 h. Those in windows are summed: u is up to
    ``half_width`` from a multiple of ``distance`` (`angle_windows`). At the others |M(z) / M(theta)|^n is at
    most e^-``threshold``. `tilted_point` has theta, near the saddle point, and log M(theta). M(z) = E[e^(z
    G)] is summed here over the values of the ``law`` (values of a gain G, their probabilities, number n of
    gains).
    """
    values, probabilities, n = law
    points = tilted_point(*law)
    # Nodes are dense: sigma is the standard deviation of the sum of n gains under the tilt.
    theta, h = points.theta[0], 0.05 / points.sigma[0]
    last = np.array([4000.0])
    distance, half_width = contour.angle_windows(points, np.array([h]), last, np.array([threshold]))
    # One window holds all nodes: only the small laws, with up to seven gains, may have that.
    if half_width[0] >= last[0] * h:
        assert n < 100, "no pair of values leaves windows"
        return

    u = np.arange(1, last[0] + 1) * h
    distance_to_centre = np.abs(u - np.round(u / distance[0]) * distance[0])
    is_skipped = distance_to_centre > half_width[0]
    # The absolute value of each node's term, twice for u and -u, without the Gaussian factor below 1.
    z = theta + 1j * u
    with np.errstate(all="ignore"):
        m = 1 + sum(p * np.expm1(z * g) for g, p in zip(values, probabilities, strict=True))
        ratio = np.abs(m) / math.exp(points.log_mgf[0])  # |M(z)| / M(theta)
    terms = 2 * ratio**n / np.abs(z) ** 2 * h / (2 * math.pi)
    assert is_skipped.any()
    assert terms[is_skipped].sum() <= contour.skipping_error(threshold, theta, h)


@pytest.mark.parametrize("h", [1e-3, 0.1, 1.0, 30.0])
def test_skipping_where_every_node_is_as_large_as_may_be(h):
    """The sum over all whole j of h / (2 pi (theta^2 + (j h)^2)) is coth(pi theta / h) / (2 theta)."""
    for theta in (0.05, 1.0, 40.0):
        assert 0.5 / theta / math.tanh(math.pi * theta / h) <= contour.skipping_error(0.0, theta, h)


def test_rounding_of_power_is_what_its_argument_may_do():
    """If w moves by ``units`` steps, log (1 + s w)^n moves by at most `rounding_of_power` steps.

    w = M(z) / M(theta) - 1 is a complex number, which moves in a random direction. A step is 1e-9. s is the
    share of a binomial number of gains. For a Poisson number, s = 0, the logarithm is log e^(n w). It is
    computed here before and after the move, for 200 random w of each share.
    """
    rng, step = np.random.default_rng(5), 1e-9
    n = 1000
    for share in (0.0, 0.01, 0.3, 1.0):
        # As of a gain with one value, which has up to 0.7 of the tilted probability.
        w = 0.7 * rng.random(200) * np.expm1(1j * rng.uniform(0, 6, 200))
        units = rng.uniform(0.1, 50, 200)
        moved = w + step * units * np.exp(1j * rng.uniform(0, 6, 200))
        before, after = (n * (np.log1p(share * x) if share else x) for x in (w, moved))

        rate = n * (share or 1.0)  # the mean number of copies under the tilt
        less_1 = np.abs(1 + share * w) ** 2 - 1  # the squared modulus of 1 + s w
        bound = contour.rounding_of_power(units, w.real, w.imag, np.full(200, share), rate, less_1)
        # 1e-4: the second order of the step.
        assert np.all(np.abs(after - before) / step <= bound * (1 + 1e-4))


@each_law_of_parts
@pytest.mark.parametrize(("step", "last"), [(0.1, 300), (1.0, 300), (1.0, 0)])
def test_rounding_of_terms_and_of_power_in_the_sum_over_nodes(law, step, last):
    """The sums of `sum_nodes` for tau and 2 tau are within their ``errors`` of mpmath's, with 40 digits.

    A node is z = theta + i j h, j = 0, ..., ``last``. It adds h / (2 pi) times the real part of M(z)^n e^(z^2
    tau^2 / 2) / z^2, and twice that for j > 0, for -j too. The unit is M(theta)^n e^(theta^2 tau^2 / 2). h is
    ``step`` over the standard deviation of the sum of gains. With ``last`` = 0 the only node is theta, whose
    angle 0 has no error. A ``law`` is (values of a gain, their probabilities, parts of the number of gains).
    `log_power` is its log M(z)^n, and `tilted_point` has theta, near the saddle point.
    """
    points = tilted_point(*law)
    theta = float(points.theta[0])
    tau, h = 0.01 / theta, step / float(points.sigma[0])
    reach = last * h * (1 + 1e-9)  # one window with all nodes
    of_window = {"distance": 1.0, "half_width": reach, "windows": 1.0}
    of_nodes = {"tau": tau, "spacing": h, "last_node": last, **of_window}
    arrays = {name: np.array([number]) for name, number in of_nodes.items()}
    sums, errors = contour.sum_nodes(points, **arrays)
    with mp.workdps(40):
        log_unit = log_power(*law, mp.mpf(theta))  # the rest of the unit depends on tau
        for number, t in enumerate((mp.mpf(tau), 2 * mp.mpf(tau))):
            exact = mp.mpf(0)
            for j in range(last + 1):
                z = mp.mpc(theta, j * mp.mpf(h))
                log = log_power(*law, z) - log_unit
                log += (z * t) ** 2 / 2 - (mp.mpf(theta) * t) ** 2 / 2
                exact += (2 if j else 1) * mp.re(mp.exp(log) / z**2)
            exact *= mp.mpf(h) / (2 * mp.pi)
            assert abs(mp.mpf(float(sums[number, 0])) - exact) <= mp.mpf(float(errors[number, 0]))


def test_no_node_is_lost_by_rounding():
    """A window that is to hold all nodes 0, h, ..., last * h does, for each ``last`` from 1 to 59.

    `angle_windows` returns half the width of the window. In floats last * h / h is often a little below the
    whole number ``last``, so half the width has to be a little larger than last * h.
    """
    points = tilted_point([1.0, -1.0], [0.25, 0.5], 6)
    last = np.arange(1.0, 60)
    many = points.rows(np.zeros(len(last), int))  # the same point for each ``last``
    h = 0.1 / many.sigma
    too_high = np.full(len(last), 1e3)  # a threshold for which no pair of values leaves windows
    _, half_width = contour.angle_windows(many, h, last, too_high)
    assert np.any(np.floor(last * h / h) < last)
    np.testing.assert_array_equal(np.minimum(np.floor(half_width / h), last), last)


@each_small_law
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_smoothing(law, width):
    """2 A(tau) - A(2 tau) <= E[S_+] <= A(tau), and ``low`` and ``high`` are just outside of them.

    S is the sum of the gains of the ``law``, and `exact_log` is ln E[S_+] by fractions. A(tau) = E[(S + U)_+]
    for a Gaussian U of standard deviation tau (`smoothed_mean`, 40 digits). `contour_bounds` returns low and
    high, bounds on ln E[S_+]. tau is small enough for them to differ by somewhat less than ``width``.
    `high_without_zero` is high less what U adds where S is 0. `tilted_point` has theta, near the saddle
    point.
    """
    points = tilted_point(*law)
    tau = np.array([math.sqrt(width / 2)]) / points.theta
    low, high = (
        float(end[0])
        for end in contour.contour_bounds(points, tau, bracket.log_gaussian_guess(points), width)
    )
    with mp.workdps(40):
        of_tau, of_2_tau = (smoothed_mean(*law, factor * mp.mpf(tau[0])) for factor in (1, 2))
        truth = exact_log(*law)
        assert low <= mp.log(2 * of_tau - of_2_tau) <= truth <= mp.log(of_tau) <= high
        assert high - mp.log(of_tau) < width
        without_zero = contour.high_without_zero(points, tau, np.array([high]))[0]
        assert truth <= without_zero < high


def test_without_zero_takes_off_no_more_than_what_zero_adds():
    """`high_without_zero` takes off what U adds where S is 0, and stays above log E[S_+] by fractions.

    A(tau) = E[(S + U)_+] for a Gaussian U of standard deviation tau, by `smoothed_mean`. S is 0 nearly always
    here, so that the excess tau / sqrt(2 pi) P(S = 0) is nearly all of A(tau). 1e-14 is the rounding of the
    upper bound ``high`` on log A(tau).
    """
    law = [1.0, -3.0], [1e-6, 1e-6], 3
    for tau in (1e-9, 1e-6, 1e-3):
        with mp.workdps(60):
            high = np.array([float(mp.log(smoothed_mean(*law, mp.mpf(tau)))) + 1e-14])
            left = contour.high_without_zero(tilted_point(*law), np.array([tau]), high)[0]
            assert exact_log(*law) <= left <= high[0]


@pytest.mark.parametrize("law", [*SMALL_LAWS, LATTICE, NEARLY_ALWAYS_BELOW_0, ONE_VALUE])
@pytest.mark.parametrize("depth", [0.5, 2.0, 42.0])
def test_bounds_hold_however_small_the_box_of_summed_counts_is(law, depth):
    """The bounds on ln E[S_+] by sums over a box enclose `exact_log`, which sums fractions.

    S is the sum of the n gains of the ``law``. A combination says how many of them have each value. A box
    holds all combinations but for about e^-depth of their probability under the tilt of `tilted_point`, which
    makes S near 0 likely. The upper bound has a term for what is outside (`box.log_bound_outside`). 42 is the
    package's depth: next to nothing is outside.
    """
    points = tilted_point(*law)
    low, high = np.ravel(
        box.bounds_by_boxes(points, box.boxes_of_counts(points, np.array([depth])))
    )
    truth = exact_log(*law)
    assert low <= truth <= high
    # At depth 42 the bounds differ by rounding only: by 1.4e-12 for LATTICE, which has the most gains.
    if depth == 42.0 and law is not LATTICE:
        assert high - low < 1e-12
    # At depth 0.5 the box misses much: the lower bound is too small by far more than rounding.
    if depth == 0.5 and law is LATTICE:
        assert low + 0.01 < truth


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


def alike_tilted_points(values_of_points, probabilities, n):
    """The `TiltedPoints` of these values, one row for each point, all with the same probabilities."""
    masses = np.broadcast_to(probabilities, (len(values_of_points), len(probabilities)))
    copies = np.full((len(values_of_points), 1), float(n))
    return tilted_points(np.array(values_of_points), np.array(masses), copies, np.ones_like(copies))


def list_of_points_per_box(monkeypatch):
    """A list that gets, from now on, the number of points that each box is summed for."""
    numbers, sum_box = [], box.bounds_by_box

    def counted(points, ranges):
        numbers.append(len(points))
        return sum_box(points, ranges)

    monkeypatch.setattr(box, "bounds_by_box", counted)
    return numbers


@pytest.mark.parametrize("points_and_n", [ALIKE_POINTS, POINTS_WITH_BOXES_APART])
@pytest.mark.parametrize("depth", [0.5, 2.0, 42.0])
def test_one_box_for_all_points_with_the_same_probabilities(depth, points_and_n, monkeypatch):
    """The bounds on ln E[S_+] of points that share a box enclose `exact_log` of each, which sums fractions.

    ``points_and_n`` has the gain's values at each of five points, their common probabilities, and the number
    n of gains in S. A combination says how many gains have each value. A box holds all combinations but for
    about e^-depth of their probability. 42 is the package's depth: next to nothing is outside.
    ``points_per_box`` gets the number of points of each box that is summed.
    """
    # So few terms at once that a box is summed in several chunks.
    monkeypatch.setattr(box, "TERMS", 64)
    points_per_box = list_of_points_per_box(monkeypatch)
    values_of_points, probabilities, n = points_and_n
    points = alike_tilted_points(*points_and_n)
    bounds = box.bounds_by_boxes(points, box.boxes_of_counts(points, np.full(len(points), depth)))
    assert max(points_per_box) >= 3  # a box is shared by most of the points
    for values, low, high in zip(values_of_points, *bounds, strict=True):
        assert low <= exact_log(values, probabilities, n) <= high
        assert depth < 42.0 or high - low < 1e-10


@pytest.mark.parametrize(
    ("constant", "value"), [("MOST_TOGETHER", 0), ("COST_OF_BOX", -(10**9))], ids=str
)
def test_a_box_of_many_points_is_split_where_it_is_too_large_or_takes_longer(
    constant, value, monkeypatch
):
    """Each of five points gets its own box, whose bounds on ln E[S_+] enclose `exact_log` (fractions).

    MOST_TOGETHER is how many combinations a box of several points may hold: with 0 it is always too large.
    COST_OF_BOX is the time that one more box takes: if negative, two boxes always take less time than one.
    ``ALIKE_POINTS`` has the gain's values at each point, their common probabilities and the number of gains.
    ``points_per_box`` gets the number of points of each box that is summed. At the depth 42 next to nothing
    is outside of a box.
    """
    points_per_box = list_of_points_per_box(monkeypatch)
    monkeypatch.setattr(box, constant, value)
    points = alike_tilted_points(*ALIKE_POINTS)
    low, high = box.bounds_by_boxes(points, box.boxes_of_counts(points, np.full(len(points), 42.0)))
    assert points_per_box == [1] * len(points)
    values_of_points, probabilities, n = ALIKE_POINTS
    truth = [exact_log(values, probabilities, n) for values in values_of_points]
    assert np.all((low <= truth) & (truth <= high))


def test_points_whose_probabilities_are_too_far_apart_for_floats_are_summed_alone(monkeypatch):
    """A box for all three points is tried, but the last point's combinations vanish in it, so it is split.

    S is the sum of 50 gains, each 1 with the probability 2^-53. For S > 0 the first point needs one gain of
    1, the last point 23. The bounds on ln E[S_+] still enclose `exact_log`, which sums fractions, and are
    within 1e-9. ``points_per_box`` gets the number of points of each box that is summed. At the depth 42 next
    to nothing is outside of a box.
    """
    values_of_points = [[1.0, -1e-3], [1.0, -0.5], [1.0, -0.85]]
    probabilities, n = [2.0**-53, 1 - 2.0**-53], 50
    monkeypatch.setattr(box, "COST_OF_BOX", 10**9)  # so that one box for all is tried first
    points_per_box = list_of_points_per_box(monkeypatch)
    points = alike_tilted_points(values_of_points, probabilities, n)
    ranges = box.boxes_of_counts(points, np.full(3, 42.0))
    assert len(box.alike_points(points, ranges)) == 1
    low, high = box.bounds_by_boxes(points, ranges)
    assert points_per_box[0] == 3
    assert len(points_per_box) > 1
    for values, lower, upper in zip(values_of_points, low, high, strict=True):
        assert lower <= exact_log(values, probabilities, n) <= upper <= lower + 1e-9


# Constants of `bracket` and `contour` that decide which of its methods the bracket takes.
NO_BOX = dict.fromkeys(("FEW_COMBINATIONS", "SOME_COMBINATIONS", "MOST_COMBINATIONS"), 0)


@pytest.mark.parametrize(
    ("of_bracket", "of_contour"),
    [
        pytest.param(NO_BOX, {}, id="contour integrals only"),
        pytest.param({"FEW_COMBINATIONS": 0, "ATTEMPTS": 1}, {}, id="one integral, then a box"),
        pytest.param(
            {"FEW_COMBINATIONS": 0, "SOME_COMBINATIONS": 0, "ATTEMPTS": 1},
            {},
            id="one integral, then the largest boxes",
        ),
        pytest.param(NO_BOX, {"MOST_NODES": 30}, id="too few nodes: Chernoff's bound only"),
        pytest.param(NO_BOX, {"BATCH": 64, "TERMS": 8}, id="nodes in many batches"),
        pytest.param({"MOST_COUNTED": 2}, {}, id="no box may hold so many users"),
        pytest.param(NO_BOX, {"PAIRED": 2}, id="windows by one pair of values only"),
    ],
)
def test_the_bracket_holds_on_every_path(of_bracket, of_contour, monkeypatch):
    """`log_positive_part` brackets ln E[S_+], by fractions in `exact_log`, in whichever way it is computed.

    The ways are contour integrals, sums over boxes of counts and Chernoff's bound. The constants of the
    modules `bracket` and `contour` that are set here are limits, which decide on the way; the name of each
    case says which. ``NO_BOX`` sets all limits on the size of boxes to 0. A law is (the values of a gain,
    their probabilities, the number of gains in S), with few enough gains for fractions.
    """
    for module, constants in ((bracket, of_bracket), (contour, of_contour)):
        for name, value in constants.items():
            monkeypatch.setattr(module, name, value)
    for law in [*SMALL_LAWS, LATTICE, UNLIKE_SIZES, NEARLY_ALWAYS_BELOW_0, ONE_VALUE]:
        low, high = log_positive_part(*law)
        assert low <= exact_log(*law) <= high, law
        if "MOST_NODES" not in of_contour:
            assert high - low <= math.log1p(1e-4)  # the default width


def test_values_of_any_size():
    """`log_positive_part` brackets ln E[S_+], by fractions in `exact_log`, for values of any size.

    A law is (the values of a gain, their probabilities, the number of gains in S). First, one value is so far
    below 0 that one such gain outweighs all others, and the bracket has the default width 1e-4. Then the
    largest value is next to the limits of what is accepted, 1e-150 and 1e150.
    """
    for down in (1e14, 1e40, 1e160, 1e300):
        law = [1.5, -down], [0.3, 0.7], 5
        low, high = log_positive_part(*law)
        assert low <= exact_log(*law) <= high <= low + math.log1p(1e-4)
    for value in (1.001e-150, 0.999e150):
        law = [value, -value], [0.25, 0.25], 4
        low, high = log_positive_part(*law)
        assert low <= exact_log(*law) <= high


def test_probabilities_that_sum_to_one_up_to_rounding():
    """What is missing to 1 is summed exactly: 2^-53 of it is the probability of 0, not noise."""
    probabilities = [0.1, 0.2, 0.3, 0.4 - 2.0**-53]
    rest = 1 - sum(map(Fraction, probabilities))
    points = tilted_point([1.0, -1.0, 2.0, -30.0], probabilities, 3)
    assert points.probability_of_0[0] == float(max(rest, 0))


def test_copies_under_the_tilt():
    """`tilted_copies` is the mean number of copies of a gain G under the tilt, for a sum of three ``parts``.

    A part (n, s) has Binomial(n, s) copies, and under the tilt n s M / (1 - s + s M) on average, with M =
    E[e^(theta G)] by mpmath. A part (n, 0) has a Poisson number of mean n, and n M under the tilt. A part (1,
    1) is one sure copy. `tilted_point` has theta.
    """
    values, probabilities, parts = [3.0, -2.0], [0.1, 0.6], [(50.0, 0.3), (20.0, 0.0), (1.0, 1.0)]
    n, shares = np.array(parts).T
    theta = float(tilted_point(values, probabilities, parts).theta[0])
    with mp.workdps(30):
        m = mgf(values, probabilities, mp.mpf(theta))
        exact = float(50 * 0.3 * m / (0.7 + 0.3 * m) + 20 * m + 1)
    copies = tilted_copies(np.array([values]), np.array([probabilities]), n, shares)
    assert copies[0] == pytest.approx(exact, rel=1e-12)
    # 1, by definition, where no value is positive.
    assert tilted_copies(np.array([[-3.0]]), np.array([[0.1]]), n, shares)[0] == 1
