"""lower <= every truth <= upper: enumeration of all datasets, 50-digit sums, and the real protocol."""

import itertools
import math
from functools import partial

import mpmath
import numpy as np
import pytest

from tests.library.at_points import at_points
from tests.library.bounds import dominating
from tests.library.bounds.enumeration import Shuffled, enumerate_worst_case, hockey_stick
from tests.library.randomizers.matrices import exact_columns
from tightshuffle.bounds import privacy_blanket
from tightshuffle.literature import amplification
from tightshuffle.literature import clones as clones_module
from tightshuffle.numerics.positive_part import log_positive_part
from tightshuffle.randomizers import Finite, KRandomizedResponse

lower, upper = at_points(privacy_blanket.log10_lower), at_points(privacy_blanket.log10_upper)
balle_bennett = at_points(amplification.balle_bennett)
balle_hoeffding = at_points(amplification.balle_hoeffding)
clones, stronger_clones = at_points(clones_module.clones), at_points(clones_module.stronger_clones)

TINY = [
    *[(1, 3, 1.0), (4, 3, 1.0), (6, 4, 1.0), (6, 2, 1.0)],
    *[(8, 3, 0.5), (5, 5, 2.0), (7, 4, 3.0), (4, 6, 4.0)],
]
UPPER_BOUNDS = [
    *(upper, clones, stronger_clones, balle_hoeffding, balle_bennett),
    *(partial(bound, randomizer="generic") for bound in (balle_hoeffding, balle_bennett)),
]
SHARES = np.array([0, 0.02, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.97])  # of eps0


def one_dataset(eps, cell, *, n, k, eps0):
    """delta of the dataset in which all other users hold ``cell``: x0, x1 or x2; to 1e-4."""
    low, high = log_positive_part(*KRandomizedResponse(k, eps0).gains(eps, cell), n)
    return np.exp(low) / n, np.exp(high) / n


@pytest.mark.parametrize(("n", "k", "eps0"), TINY)
def test_no_dataset_violates_the_bounds(n, k, eps0):
    eps = SHARES * eps0
    truth = enumerate_worst_case(eps, n=n, k=k, eps0=eps0)
    worst = np.max(list(truth.values()), axis=0)
    assert np.all(worst <= 10 ** upper(eps, n=n, k=k, eps0=eps0))  # without any allowance
    for bound in UPPER_BOUNDS:
        assert np.all(np.log10(worst) <= bound(eps, n=n, k=k, eps0=eps0) + 1e-12), bound
    assert np.all(10 ** lower(eps, n=n, k=k, eps0=eps0) <= worst)
    for place in range(3 if k > 2 else 0):  # everybody else at x0, x1 or x2
        dataset = truth[tuple((n - 1) * (cell == place) for cell in range(k))]
        for one, exact in zip(eps, dataset, strict=True):
            low, high = one_dataset(one, f"x{place}", n=n, k=k, eps0=eps0)
            assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
            assert 10 ** lower(one, n=n, k=k, eps0=eps0) >= exact * (1 - 1e-9)


def test_two_counts_are_no_upper_bound():
    setting = {"n": 6, "k": 4, "eps0": 1.0}
    truth = enumerate_worst_case(0.6, **setting)
    worst = max(float(value) for value in truth.values())
    assert worst == pytest.approx(0.01245, abs=5e-6)
    two_counts = dominating.hockey_stick(0.6, dominating.third_value(**setting).values())
    assert float(two_counts) == pytest.approx(0.01014, abs=5e-6)
    assert 10 ** lower(0.6, **setting) == pytest.approx(worst, rel=1e-7)
    assert min(10 ** bound(0.6, **setting) for bound in UPPER_BOUNDS) > worst


@pytest.mark.parametrize(("n", "k", "eps0"), [(1, 4, 1.0), (12, 5, 2.0), (20, 3, 0.5)])
def test_upper_is_the_weak_adversary(n, k, eps0):
    probabilities = dominating.weak(n, k, eps0).values()
    for eps in (0.0, 0.2 * eps0, 0.7 * eps0):
        expected = dominating.hockey_stick(eps, probabilities)
        assert 0 <= upper(eps, n=n, k=k, eps0=eps0) - math.log10(expected) < 5e-5


@pytest.mark.parametrize(("n", "k", "eps0"), [(1000, 15, 4.0), (10**6, 408, 6.0)])
def test_the_band_is_narrow(n, k, eps0):
    eps = np.array([0.0003, 0.001, 0.01, 0.1, 0.5, 1.0])
    low, high = (bound(eps, n=n, k=k, eps0=eps0) for bound in (lower, upper))
    asked = high >= -9
    assert asked.sum() >= 2
    assert np.all(low <= high)
    assert np.all(high[asked] - low[asked] <= math.log10(1.02))


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-11, 1e-14])
@pytest.mark.parametrize("eps0", [0.1, 1.0, 4.0, 10.0, 19.0])
@pytest.mark.parametrize(("n", "k"), [(2, 3), (20, 3), (100, 15)])
def test_next_to_eps0_rounding_stays_on_the_safe_side(n, k, eps0, gap):
    """There the worst dataset has everyone at x0: delta = p^n (1 - e^(eps - eps0)), docs/theory.md."""
    eps = eps0 - gap * min(1.0, eps0)
    true = -n * np.log10(1 + (k - 1) * np.exp(-eps0)) + np.log10(-np.expm1(eps - eps0))
    assert upper(eps, n=n, k=k, eps0=eps0) >= true
    if gap < 1e-2:  # farther off another dataset is worse
        assert lower(eps, n=n, k=k, eps0=eps0) <= true


def test_two_cells_deep_down_are_bounded_as_closely_as_floats_can():
    """As above, at delta = 10^-301,029,795."""
    n, eps, eps0 = 10**9, 9.9999999998e-07, 1e-6
    with mpmath.workdps(40):
        size = mpmath.mpf(eps0)
        true = mpmath.log10(-mpmath.expm1(eps - size)) - n * mpmath.log10(1 + mpmath.exp(-size))
    low, high = (bound(eps, n=n, k=2, eps0=eps0) for bound in (lower, upper))
    assert low <= true <= high < true + 1e-4 + 1e-12 * abs(true)


ONE_USER = [
    *[
        (0.0, 10**12, 0.01),
        (0.0, 2**53, 0.1),
        (5e-5, 10**5, 1e-4),
        (5e-5, 10**7, 1e-4),
        (1e-7, 3, 1e-6),
    ],
    *[(4.9999999999995, 3, 5.0), (4.9999999999995, 2, 5.0), (49.0, 10**6, 50.0), (0.0, 2, 50.0)],
]


@pytest.mark.parametrize(("eps", "k", "eps0"), ONE_USER)
def test_one_user_for_any_budget_and_any_number_of_cells(eps, k, eps0):
    """delta = p - e^eps q, with 50 digits: nothing cancels, and rounding goes to the safe side."""
    with mpmath.workdps(50):
        e, e0 = mpmath.mpf(eps), mpmath.mpf(eps0)
        truth = mpmath.log10((mpmath.exp(e0) - mpmath.exp(e)) / (mpmath.expm1(e0) + k))
        low, high = (mpmath.mpf(float(bound(eps, n=1, k=k, eps0=eps0))) for bound in (lower, upper))
        # Of turning a natural logarithm into one to base 10.
        slack = abs(truth) * mpmath.mpf(2) ** -52
        assert low - slack <= truth <= high + slack
        assert high - low < (5e-4 if k == 2 else 1e-11)


def check_matrix(given, n, eps):
    """Whether its bounds hold delta of the worst dataset, columns divided by their exact sums; the bounds."""
    with mpmath.workdps(100):
        shuffled, worst = Shuffled(exact_columns(given), n), mpmath.mpf(0)
        pairs = itertools.permutations(range(shuffled.k), 2)
        for others, pair in itertools.product(shuffled.datasets(), pairs):
            sides = (shuffled.distribution(tuple(sorted((*others, value)))) for value in pair)
            worst = max(worst, hockey_stick(*sides, mpmath.exp(eps)))
        truth = mpmath.log10(worst) if worst else -mpmath.inf
    low, high = (float(bound(eps, n=n, randomizer=Finite(given))) for bound in (lower, upper))
    slack = abs(truth) * mpmath.mpf(2) ** -52 if worst else 0
    assert low - slack <= truth <= high + slack
    return low, high


ULP = 2.0**-53
NEARLY_ALIKE = [
    *[[0.24731350079099218, 0.24731350078412923], [0.19485974693571395, 0.19485974692860022]],
    *[[0.3105132515023018, 0.3105132515031414], [0.24731350079099218, 0.24731350078412923]],
]


@pytest.mark.parametrize(
    ("given", "n", "eps"),
    [
        ([[0.5, 0.5, 0.625], [0.5, 0.5, 0.375]], 1, 0.2876820724517809),  # just below ln(4 / 3)
        ([[0.5 + ULP, 0.5], [0.5 - ULP, 0.5]], 1, 2.220446049250313e-16),
        ([[0.5 + ULP, 0.5], [0.5 - ULP, 0.5]], 4, 1e-17),
        (NEARLY_ALIKE, 5, 6.7113424938095e-11),  # sums are not 1
        (NEARLY_ALIKE, 2, 0.0),
    ],
)
def test_a_matrix_is_what_its_floats_say(given, n, eps):
    low, high = check_matrix(given, n, eps)
    assert high == low or high - low < 1


@pytest.mark.parametrize("alike", [1.0, 1e-6, 1e-12])
def test_random_matrices_next_to_their_budget(alike):
    rng = np.random.default_rng(9)
    for _ in range(15):
        reports, k, n = rng.integers(2, 5), rng.integers(2, 4), int(rng.integers(1, 4))
        given = 1 + alike * rng.random((reports, k))
        given /= given.sum(axis=0)
        for eps in Finite(given).eps0 * np.array([0.3, 1 - 1e-9, 1 - 2.0**-52]):
            check_matrix(given, n, eps)


def test_many_reports_of_few_users():
    """The sum of gains is mostly 0, and hardly ever next to it: what smooths it must not count there."""
    own = Finite(np.random.default_rng(1).dirichlet(np.full(1000, 3.0), 2).T)
    eps = 0.9 * own.eps0
    pairs = own.matrix.T, own.matrix.T[::-1]
    truth = max(np.maximum(first - np.exp(eps) * second, 0).sum() for first, second in pairs)
    assert -1e-12 < upper(eps, n=1, randomizer=own) - np.log10(truth) < np.log10(1 + 1e-4)
    assert lower(eps, n=20, randomizer=own) <= upper(eps, n=20, randomizer=own)
