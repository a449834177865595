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
SHARES_OF_EPS0 = np.array([0, 0.02, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.97])


def delta_of_one_dataset(eps, value, *, n, k, eps0):
    """A lower and an upper bound, 1e-4 apart, on delta of the dataset with all other users at this ``value``.

    It is "x0", "x1" or "x2": one of the target user's values, or a third one.
    """
    gains = KRandomizedResponse(k, eps0).gains(eps, value)
    ln_low, ln_high = log_positive_part(*gains, n)
    return np.exp(ln_low) / n, np.exp(ln_high) / n


@pytest.mark.parametrize(("n", "k", "eps0"), TINY)
def test_no_dataset_violates_the_bounds(n, k, eps0):
    """Bounds on delta of k-RR, as log10, against delta of every dataset, which is enumerated.

    1. The largest delta is at most `upper`, without any allowance, and at most the other UPPER_BOUNDS:
    clones and blanket bounds of the literature. 2. The largest delta is at least `lower`. 3. If all other
    users hold the same value, x0, x1 or x2, delta is within both bounds of `delta_of_one_dataset`, and
    `lower` is not below it. `enumerate_worst_case` has {histogram of the other users' values: deltas at all
    eps}.
    """
    eps = SHARES_OF_EPS0 * eps0
    setting = {"n": n, "k": k, "eps0": eps0}
    delta_of_dataset = enumerate_worst_case(eps, **setting)
    worst = np.max(list(delta_of_dataset.values()), axis=0)
    assert np.all(worst <= 10 ** upper(eps, **setting))
    # 1e-12, here and below, and 1e-9 are of the rounding of sums of floats.
    for bound in UPPER_BOUNDS:
        assert np.all(np.log10(worst) <= bound(eps, **setting) + 1e-12), bound
    assert np.all(10 ** lower(eps, **setting) <= worst)

    # For k = 2 both bounds are those of `bits.binary`, which looks for the worst dataset itself.
    for place in range(3 if k > 2 else 0):
        dataset = tuple((n - 1) * (value == place) for value in range(k))
        for one_eps, exact in zip(eps, delta_of_dataset[dataset], strict=True):
            low, high = delta_of_one_dataset(one_eps, f"x{place}", **setting)
            assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
            assert 10 ** lower(one_eps, **setting) >= exact * (1 - 1e-9)


def test_two_counts_are_no_upper_bound():
    """The counts of x0 and x1, if all others hold a third value, give no upper bound on delta.

    Delta of these two counts alone, `dominating.third_value`, is 0.01014. Delta of the worst dataset's
    histogram is larger: 0.01245. Both numbers are from this enumeration, to the digits given. `lower` is the
    worst delta here, and each of UPPER_BOUNDS is above it. (Bounds are log10 of delta.)
    """
    eps, setting = 0.6, {"n": 6, "k": 4, "eps0": 1.0}
    worst = max(float(delta) for delta in enumerate_worst_case(eps, **setting).values())
    assert worst == pytest.approx(0.01245, abs=5e-6)
    pair_of_two_counts = dominating.third_value(**setting)
    of_two_counts = dominating.hockey_stick(eps, pair_of_two_counts.values())
    assert float(of_two_counts) == pytest.approx(0.01014, abs=5e-6)
    assert 10 ** lower(eps, **setting) == pytest.approx(worst, rel=1e-7)
    assert min(10 ** bound(eps, **setting) for bound in UPPER_BOUNDS) > worst


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


def check_bounds_of_matrix(matrix, n, eps):
    """Assert that log10 delta of a matrix's worst dataset is between `lower` and `upper`; return these two.

    ``matrix`` has P(report | value) in a column for each value. `exact_columns` divides the columns by their
    exact sums. `Shuffled` enumerates, in 100 digits: ``datasets()`` are all tuples of the other users'
    values, and ``distribution`` is {histogram: probability} of a dataset of all users. The worst delta is
    over all of these and all pairs of the target user's values.
    """
    with mpmath.workdps(100):
        shuffled = Shuffled(exact_columns(matrix), n)
        worst = mpmath.mpf(0)
        pairs = itertools.permutations(range(shuffled.k), 2)
        for others, pair in itertools.product(shuffled.datasets(), pairs):
            datasets = [tuple(sorted((*others, own))) for own in pair]
            p, q = map(shuffled.distribution, datasets)
            worst = max(worst, hockey_stick(p, q, mpmath.exp(eps)))
        exact = mpmath.log10(worst) if worst else -mpmath.inf
        # A unit in the last place, of turning the bounds' natural logarithms into ones to base 10.
        rounding = abs(exact) * mpmath.mpf(2) ** -52 if worst else 0
    randomizer = Finite(matrix)
    low, high = (float(bound(eps, n=n, randomizer=randomizer)) for bound in (lower, upper))
    assert low - rounding <= exact <= high + rounding
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
    low, high = check_bounds_of_matrix(given, n, eps)
    assert high == low or high - low < 1


@pytest.mark.parametrize("alike", [1.0, 1e-6, 1e-12])
def test_random_matrices_next_to_their_budget(alike):
    rng = np.random.default_rng(9)
    for _ in range(15):
        reports, k, n = rng.integers(2, 5), rng.integers(2, 4), int(rng.integers(1, 4))
        given = 1 + alike * rng.random((reports, k))
        given /= given.sum(axis=0)
        for eps in Finite(given).eps0 * np.array([0.3, 1 - 1e-9, 1 - 2.0**-52]):
            check_bounds_of_matrix(given, n, eps)


def test_many_reports_of_few_users():
    """The sum of gains is mostly 0, and hardly ever next to it: what smooths it must not count there."""
    own = Finite(np.random.default_rng(1).dirichlet(np.full(1000, 3.0), 2).T)
    eps = 0.9 * own.eps0
    pairs = own.matrix.T, own.matrix.T[::-1]
    truth = max(np.maximum(first - np.exp(eps) * second, 0).sum() for first, second in pairs)
    assert -1e-12 < upper(eps, n=1, randomizer=own) - np.log10(truth) < np.log10(1 + 1e-4)
    assert lower(eps, n=20, randomizer=own) <= upper(eps, n=20, randomizer=own)
