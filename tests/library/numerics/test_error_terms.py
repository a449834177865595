"""Every error term of positive_part on its own, against 40 to 60 digits: the bracket needs each of them.

The tests of the whole bracket cannot see a term that is too small where another one is generous.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tests.library.numerics.exact import exact_log, log_power, mgf, smoothed
from tightshuffle.numerics.positive_part import (
    box,
    bracket,
    contour,
    log_positive_part,
    tilted_copies,
)
from tightshuffle.numerics.positive_part.tilt import tilted_points

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
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(50, 0.3), (7, 1.0)]),
    ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], [(20.0, 0.0), (1, 1.0)]),
    ([0.5, -30.0], [0.05, 0.95 - 2.0**-40], [(200, 0.9), (3.0, 0.0), (5, 0.02)]),
]
SMALL = [
    *[
        ([1.0, -1.0], [0.25, 0.5], 6),
        ([3.0, -2.0, -0.1], [0.1, 0.15, 0.7], 5),
        ([0.4, -7.0], [0.2, 0.75], 7),
    ]
]
each_law = pytest.mark.parametrize(
    ("values", "probabilities", "parts"), [*((g, p, [(n, 1.0)]) for g, p, n in LAWS), *PARTS]
)
each_small_law = pytest.mark.parametrize(("values", "probabilities", "n"), SMALL)


def tilted(values, probabilities, parts):
    """The `TiltedPoints` of one law; ``parts`` may be a fixed number."""
    n, shares = np.array([(parts, 1.0)] if isinstance(parts, int) else parts, float).T[:, None]
    return tilted_points(np.array([values]), np.array([probabilities]), n, shares)


@each_law
def test_rounding_of_base_and_units_of_weights(values, probabilities, parts):
    points = tilted(values, probabilities, parts)
    with mp.workdps(60):
        theta = mp.mpf(float(points.theta[0]))
        exact = log_power(values, probabilities, parts, theta)
        assert abs(mp.mpf(float(points.log_mgf_of_sum[0])) - exact) <= mp.mpf(
            float(points.rounding[0])
        )
        below = mgf(values, probabilities, theta)
        given = values, probabilities, points.weights[0], points.weight_ulps[0]
        for g, p, weight, units in zip(*given, strict=True):
            exact = mp.mpf(p) * mp.exp(theta * mp.mpf(g)) / below
            allowed = exact * mp.mpf(float(units)) * ULP + mp.mpf(10) ** -320
            assert abs(mp.mpf(float(weight)) - exact) <= allowed


@each_small_law
@pytest.mark.parametrize("part", [0.02, 0.3, 1.0])
def test_log_aliasing_at_every_length(values, probabilities, n, part):
    """The sum over m other than 0 of e^(-theta m L) E[(S + U + m L)_+]."""
    points = tilted(values, probabilities, n)
    theta, sigma = float(points.theta[0]), float(points.sigma[0])
    tau = part / theta
    bounds = contour.log_alias_bounds(points, np.array([tau]))[0]
    with mp.workdps(30):
        scale = (
            log_power(values, probabilities, [(n, 1.0)], mp.mpf(theta))
            + (mp.mpf(theta) * tau) ** 2 / 2
        )
        for length, bound in zip(contour.LENGTHS[:10] * sigma, bounds, strict=False):
            total = mp.mpf(0)
            for m in (-3, -2, -1, 1, 2, 3):
                alias = smoothed(values, probabilities, n, mp.mpf(tau), mp.mpf(m * length))
                total += mp.exp(-theta * m * length) * alias
            assert mp.log(total) - scale <= bound


@pytest.mark.parametrize("theta", [1e-6, 0.5, 3.0])  # the bound is for every theta, 0 too
@pytest.mark.parametrize("reach", [0.3, 2.0, 6.0])
def test_truncation(reach, theta):
    """Nodes beyond V, dense and of |M(z)| = M(theta): the bound is nearly met. Units of 1 / tau."""
    with mp.workdps(30):
        bell = mp.quad(
            lambda u: mp.exp(-(u**2) / 2) / (mp.pi * (theta**2 + u**2)), [reach, 2 * reach, 40]
        )
        for tau in (1e-3, 1.0, 50.0):
            bound = contour.truncation_error(np.array(reach / tau), np.array(tau))
            assert bell * tau <= bound
            assert theta > 1e-3 or reach < 6 or bound < 1.2 * bell * tau


@pytest.mark.parametrize("threshold", [3.0, 8.0, 20.0])
@pytest.mark.parametrize(
    ("values", "probabilities", "n"),
    [*SMALL, ([3.0, -2.0], [0.3, 0.3], 400), ([1.0, -1.0], [0.1, 0.1], 3000)],
)
def test_skipping(values, probabilities, n, threshold):
    """What all nodes add, in absolute value, outside of the windows."""
    points = tilted(values, probabilities, n)
    theta, h = points.theta[0], 0.05 / points.sigma[0]
    last = np.array([4000.0])
    distance, half = contour.angle_windows(points, np.array([h]), last, np.array([threshold]))
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
    assert terms[~near].sum() <= contour.skipping_error(threshold, theta, h)


@pytest.mark.parametrize("h", [1e-3, 0.1, 1.0, 30.0])
def test_skipping_where_every_node_is_as_large_as_may_be(h):
    """The sum over all whole j of h / (2 pi (theta^2 + (j h)^2)) is coth(pi theta / h) / (2 theta)."""
    for theta in (0.05, 1.0, 40.0):
        assert 0.5 / theta / math.tanh(math.pi * theta / h) <= contour.skipping_error(0.0, theta, h)


def test_rounding_of_power_is_what_its_argument_may_do():
    """log(1 + s w)^n, or e^(n w) for a Poisson number, if w = M(z) / M(theta) - 1 moves by ``units``."""
    rng, step = np.random.default_rng(5), 1e-9
    for share in (0.0, 0.01, 0.3, 1.0):
        w = 0.7 * rng.random(200) * np.expm1(1j * rng.uniform(0, 6, 200))
        units, rate = rng.uniform(0.1, 50, 200), 1000.0 * (share or 1)
        moved = w + step * units * np.exp(1j * rng.uniform(0, 6, 200))
        logs = [1000 * (np.log1p(share * x) if share else x) for x in (w, moved)]
        modulus = np.abs(1 + share * w) ** 2 - 1
        bound = contour.rounding_of_power(units, w.real, w.imag, np.full(200, share), rate, modulus)
        assert np.all(np.abs(logs[1] - logs[0]) / step <= bound * (1 + 1e-4))


@each_law
@pytest.mark.parametrize(("step", "last"), [(0.1, 300), (1.0, 300), (1.0, 0)])
def test_rounding_of_terms_and_of_power_in_the_sum_over_nodes(
    values, probabilities, parts, step, last
):
    """For both tau and 2 tau; also of the node at u = 0 alone, whose angles have no error."""
    points = tilted(values, probabilities, parts)
    theta, sigma = float(points.theta[0]), float(points.sigma[0])
    tau, h = 0.01 / theta, step / sigma
    given = np.array([tau, h, last, 1.0, last * h * (1 + 1e-9), 1.0])[:, None]
    sums, errors = contour.sum_nodes(points, *given)
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
    points = tilted([1.0, -1.0], [0.25, 0.5], 6)
    last = np.arange(1.0, 60)
    many = points.rows(np.zeros(len(last), int))
    h = 0.1 / many.sigma
    _, half = contour.angle_windows(many, h, last, np.full(len(last), 1e3))
    assert np.any(np.floor(last * h / h) < last)
    np.testing.assert_array_equal(np.minimum(np.floor(half / h), last), last)


@each_small_law
@pytest.mark.parametrize("width", [1e-2, 1e-4])
def test_smoothing(values, probabilities, n, width):
    """2 A(tau) - A(2 tau) <= E[S_+] <= A(tau): low and high are these, less and plus all errors."""
    points = tilted(values, probabilities, n)
    tau = np.array([math.sqrt(width / 2)]) / points.theta
    guess = -np.log(points.theta**2 * points.sigma * math.sqrt(2 * math.pi))
    low, high = (float(end[0]) for end in contour.contour_bounds(points, tau, guess, width))
    with mp.workdps(40):
        logs = [smoothed(values, probabilities, n, t) for t in (mp.mpf(tau[0]), 2 * mp.mpf(tau[0]))]
        truth = exact_log(values, probabilities, n)
        assert low <= mp.log(2 * logs[0] - logs[1]) <= truth <= mp.log(logs[0]) <= high
        assert high - mp.log(logs[0]) < width
        lower = contour.high_without_zero(points, tau, np.array([high]))[0]
        assert truth <= lower < high  # S is 0 with a positive probability in each of these laws


def test_without_zero_takes_off_no_more_than_what_zero_adds():
    """S is 0 nearly always: the excess tau / sqrt(2 pi) P(S = 0) is nearly all of A(tau) then."""
    law = [1.0, -3.0], [1e-6, 1e-6], 3
    for tau in (1e-9, 1e-6, 1e-3):
        with mp.workdps(60):
            high = np.array([float(mp.log(smoothed(*law, mp.mpf(tau)))) + 1e-14])
            left = contour.high_without_zero(tilted(*law), np.array([tau]), high)[0]
            assert exact_log(*law) <= left <= high[0]


@pytest.mark.parametrize(("values", "probabilities", "n"), [*SMALL, LAWS[0], LAWS[3], LAWS[6]])
@pytest.mark.parametrize("depth", [0.5, 2.0, 42.0])
def test_bounds_hold_however_small_the_box_of_summed_counts_is(values, probabilities, n, depth):
    """A box holds the combinations of counts of values of n gains but for about e^-depth of their mass.

    The bounds on ln E[(sum of the gains)_+] also have a term for what is outside (`box.log_bound_outside`).
    """
    points = tilted(values, probabilities, n)
    low, high = np.ravel(
        box.bounds_by_boxes(points, box.boxes_of_counts(points, np.array([depth])))
    )
    truth = exact_log(values, probabilities, n)
    assert low <= truth <= high
    if depth == 42.0 and n < 40:
        assert high - low < 1e-12
    if depth == 0.5 and n == 40:  # the sum alone is too small by far more than rounding
        assert low + 0.01 < truth


# Points with one set of probabilities: values that are often above 0, and ever more rarely.
ALIKE = [[3.0, -down, -0.1] for down in (0.5, 2.0, 2.5, 9.0, 40.0)], [0.1, 0.15, 0.7], 7


def together(values, probabilities, n):
    """The `TiltedPoints` of some values with the same probabilities."""
    masses = np.broadcast_to(probabilities, (len(values), len(probabilities)))
    copies = np.full((len(values), 1), float(n))
    return tilted_points(np.array(values), np.array(masses), copies, np.ones_like(copies))


def numbers_of_points(monkeypatch):
    """How many points each box is summed for from now on."""
    sizes, bounds_by_box = [], box.bounds_by_box

    def counted(points, ranges):
        sizes.append(len(points))
        return bounds_by_box(points, ranges)

    monkeypatch.setattr(box, "bounds_by_box", counted)
    return sizes


def test_moved_values_hold_sums_over_users():
    """Also where a sum nearly cancels."""
    rng = np.random.default_rng(30)
    for _ in range(300):
        g, x = (
            rng.normal(size=4) * 10.0 ** rng.integers(-6, 6, 4),
            np.float64(rng.integers(0, 1000, 4)),
        )
        g[0], x[0] = -(g[1:] @ x[1:]), 1.0
        exact = sum(Fraction(value) * Fraction(users) for value, users in zip(g, x, strict=True))
        less, more = box.moved_values(g)
        assert Fraction(less @ x) <= exact <= Fraction(more @ x)


# The box of the last of these holds counts that the box of the first does not hold.
APART = [[1.0, -down] for down in (0.01, 0.5, 0.6, 0.7, 0.8)], [2.0**-10, 1 - 2.0**-10], 60


@pytest.mark.parametrize("alike", [ALIKE, APART])
@pytest.mark.parametrize("unlikely", [0.5, 2.0, 42.0])
def test_one_box_for_all_points_with_the_same_probabilities(unlikely, alike, monkeypatch):
    monkeypatch.setattr(box, "TERMS", 64)  # several chunks
    sizes = numbers_of_points(monkeypatch)
    points = together(*alike)
    bounds = box.bounds_by_boxes(
        points, box.boxes_of_counts(points, np.full(len(points), unlikely))
    )
    assert max(sizes) >= 3
    for values, low, high in zip(alike[0], *bounds, strict=True):
        assert low <= exact_log(values, *alike[1:]) <= high
        assert unlikely < 42.0 or high - low < 1e-10


def test_a_box_of_many_points_is_split_where_it_is_too_large_or_takes_longer(monkeypatch):
    sizes = numbers_of_points(monkeypatch)
    points = together(*ALIKE)
    ranges = box.boxes_of_counts(points, np.full(len(points), 42.0))
    for limits in ({"MOST_TOGETHER": 0}, {"COST_OF_BOX": -(10**9)}):
        sizes.clear()
        with monkeypatch.context() as patch:
            for name, value in limits.items():
                patch.setattr(box, name, value)
            low, high = box.bounds_by_boxes(points, ranges)
        assert sizes == [1] * len(points)
        truth = [exact_log(values, *ALIKE[1:]) for values in ALIKE[0]]
        assert np.all((low <= truth) & (truth <= high))


def test_points_whose_probabilities_are_too_far_apart_for_floats_are_summed_alone(monkeypatch):
    """The last point needs 23 of 50 copies of a value with probability 2^-53, the first point one of them."""
    values, probabilities, n = (
        [[1.0, -1e-3], [1.0, -0.5], [1.0, -0.85]],
        [2.0**-53, 1 - 2.0**-53],
        50,
    )
    monkeypatch.setattr(box, "COST_OF_BOX", 10**9)
    sizes = numbers_of_points(monkeypatch)
    points = together(values, probabilities, n)
    ranges = box.boxes_of_counts(points, np.full(3, 42.0))
    assert len(box.alike_points(points, ranges)) == 1
    low, high = box.bounds_by_boxes(points, ranges)
    assert sizes[0] == 3
    assert len(sizes) > 1
    for row, lower, upper in zip(values, low, high, strict=True):
        assert lower <= exact_log(row, probabilities, n) <= upper <= lower + 1e-9


NO_BOX = {"FEW_COMBINATIONS": 0, "SOME_COMBINATIONS": 0, "MOST_COMBINATIONS": 0}


@pytest.mark.parametrize(
    ("of_bracket", "of_contour"),
    [
        (NO_BOX, {}),  # contour integrals only
        ({"FEW_COMBINATIONS": 0, "ATTEMPTS": 1}, {}),  # one integral, then a box
        # one integral, then the largest boxes
        ({"FEW_COMBINATIONS": 0, "SOME_COMBINATIONS": 0, "ATTEMPTS": 1}, {}),
        (NO_BOX, {"MOST_NODES": 30}),  # too few nodes: Chernoff
        (NO_BOX, {"BATCH": 64, "TERMS": 8}),  # many batches
        ({"MOST_COUNTED": 2}, {}),  # no box may hold so many users
        (NO_BOX, {"PAIRED": 2}),  # one pair of values only
    ],
)
def test_the_bracket_holds_on_every_path(of_bracket, of_contour, monkeypatch):
    for module, limits in ((bracket, of_bracket), (contour, of_contour)):
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)
    for values, probabilities, n in [*SMALL, *LAWS[:2], LAWS[3], LAWS[6]]:
        low, high = log_positive_part(values, probabilities, n)
        assert low <= exact_log(values, probabilities, n) <= high, (values, probabilities, n)
        if "MOST_NODES" not in of_contour:
            assert high - low <= math.log1p(1e-4)


def test_values_of_any_size():
    """Far below zero one copy outweighs a trillion others: how far does not matter."""
    for down in (1e14, 1e40, 1e160, 1e300):
        low, high = log_positive_part([1.5, -down], [0.3, 0.7], 5)
        assert low <= exact_log([1.5, -down], [0.3, 0.7], 5) <= high <= low + math.log1p(1e-4)
    for value in (1.001e-150, 0.999e150):
        low, high = log_positive_part([value, -value], [0.25, 0.25], 4)
        assert low <= exact_log([value, -value], [0.25, 0.25], 4) <= high


def test_probabilities_that_sum_to_one_up_to_rounding():
    """What is missing to 1 is summed exactly: 2^-53 of it is the probability of 0, not noise."""
    probabilities = [0.1, 0.2, 0.3, 0.4 - 2.0**-53]
    rest = 1 - sum(map(Fraction, probabilities))
    assert tilted([1.0, -1.0, 2.0, -30.0], probabilities, 3).probability_of_0[0] == float(
        max(rest, 0)
    )


def test_copies_under_the_tilt():
    """The mean of n under the law of (n, S) tilted by e^(theta S): of a thinned number, n r / (1 - s + r)."""
    values, probabilities, parts = [3.0, -2.0], [0.1, 0.6], [(50.0, 0.3), (20.0, 0.0), (1.0, 1.0)]
    law = np.array([values]), np.array([probabilities])
    with mp.workdps(30):
        at = mgf(
            values, probabilities, mp.mpf(float(tilted(values, probabilities, parts).theta[0]))
        )
        exact = float(50 * 0.3 * at / (0.7 + 0.3 * at) + 20 * at + 1)
    assert tilted_copies(*law, *np.array(parts).T)[0] == pytest.approx(exact, rel=1e-12)
    assert tilted_copies(-law[0][:, :1], law[1][:, :1], *np.array(parts).T)[0] == 1
