"""lower <= every truth <= upper: enumeration of all datasets, 50-digit sums, and the real protocol."""

import itertools
import math
from unittest.mock import patch

import mpmath
import numpy as np
import pytest

import tightshuffle
from tests.at_points import log10_at_points
from tests.bounds import dominating
from tests.bounds.enumeration import (
    Shuffled,
    enumerate_worst_case,
    hockey_stick,
    krr_probabilities,
)
from tests.randomizers.matrices import exact_columns, matrix_of, random_matrix
from tightshuffle.bounds import privacy_blanket
from tightshuffle.randomizers import Finite, KRandomizedResponse

lower = log10_at_points(privacy_blanket.ln_lower)
upper = log10_at_points(privacy_blanket.ln_upper)
SHARES_OF_EPS0 = np.array([0, 0.02, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.97])
FEW_USERS_OF_KRR = [  # (n, k, eps0), with k > 2
    *[(1, 3, 1.0), (4, 3, 1.0), (6, 4, 1.0)],
    *[(8, 3, 0.5), (5, 5, 2.0), (7, 4, 3.0), (4, 6, 4.0)],
]


@pytest.mark.parametrize(("n", "k", "eps0"), [*FEW_USERS_OF_KRR, (6, 2, 1.0)])
def test_delta_of_the_worst_dataset_is_within_the_bounds(n, k, eps0):
    """`enumerate_worst_case` has delta of every dataset of k-RR. Bounds are log10 of delta.

    Only `upper` needs no allowance for rounding.
    """
    eps, setting = SHARES_OF_EPS0 * eps0, {"n": n, "k": k, "eps0": eps0}
    worst = np.max(list(enumerate_worst_case(eps, **setting).values()), axis=0)
    assert np.all(10 ** lower(eps, **setting) <= worst)
    assert np.all(worst <= 10 ** upper(eps, **setting))
    for method in ("clones", "stronger-clones", "balle-hoeffding", "balle-bennett"):
        of_literature = tightshuffle.delta(eps, method=method, log10=True, **setting)
        assert np.all(np.log10(worst) <= of_literature + 1e-12), method


@pytest.mark.parametrize(("n", "k", "eps0"), FEW_USERS_OF_KRR)
@pytest.mark.parametrize("value", [0, 1, 2])
def test_the_lower_bound_is_at_least_delta_if_all_others_hold_one_value(value, n, k, eps0):
    """The target user holds value 0 under P, and 1 under Q."""
    eps = SHARES_OF_EPS0 * eps0
    shuffled = Shuffled(matrix_of("grr", k, eps0), n)
    exact = shuffled.delta([value] * (n - 1), (0, 1), eps)
    rounding = 1 - 1e-9  # of sums of floats
    assert np.all(10 ** lower(eps, n=n, k=k, eps0=eps0) >= exact * rounding)


def test_two_counts_are_no_upper_bound():
    """The counts of x0 and x1, if all others hold a third value, give no upper bound on delta.

    Their delta is 0.01014, and that of the worst dataset's histogram 0.01245: both are from this enumeration,
    to the digits given. `lower` is the worst delta here. (Bounds are log10 of delta.)
    """
    eps, setting = 0.6, {"n": 6, "k": 4, "eps0": 1.0}
    of_two_counts = dominating.hockey_stick(eps, dominating.third_value(**setting).values())
    assert float(of_two_counts) == pytest.approx(0.01014, abs=5e-6)
    worst = max(float(delta) for delta in enumerate_worst_case(eps, **setting).values())
    assert worst == pytest.approx(0.01245, abs=5e-6)
    assert 10 ** lower(eps, **setting) == pytest.approx(worst, rel=1e-7)


@pytest.mark.parametrize(("n", "k", "eps0"), [(1, 4, 1.0), (12, 5, 2.0), (20, 3, 0.5)])
@pytest.mark.parametrize("share_of_eps0", [0.0, 0.2, 0.7])
def test_the_upper_bound_is_delta_of_the_weak_adversary(n, k, eps0, share_of_eps0):
    """`weak` is the pair of Koskela's weak adversary. `upper` is log10 of delta, rounded up."""
    eps = share_of_eps0 * eps0
    delta = dominating.hockey_stick(eps, dominating.weak(n, k, eps0).values())
    assert 0 <= upper(eps, n=n, k=k, eps0=eps0) - math.log10(delta) < 5e-5


@pytest.mark.parametrize(("n", "k", "eps0"), [(1000, 15, 4.0), (10**6, 408, 6.0)])
def test_the_bounds_differ_by_at_most_2_percent_of_a_delta_from_1e_9_on(n, k, eps0):
    eps = np.array([0.0003, 0.001, 0.01, 0.1, 0.5, 1.0])
    log10_low = lower(eps, n=n, k=k, eps0=eps0)
    log10_high = upper(eps, n=n, k=k, eps0=eps0)
    assert np.all(log10_low <= log10_high)
    asked = log10_high >= -9
    assert asked.sum() >= 2
    assert np.all((log10_high - log10_low)[asked] <= math.log10(1.02))


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-11, 1e-14])
@pytest.mark.parametrize("eps0", [0.1, 1.0, 4.0, 10.0, 19.0])
@pytest.mark.parametrize(("n", "k"), [(2, 3), (20, 3), (100, 15)])
def test_next_to_eps0_rounding_stays_on_the_safe_side(n, k, eps0, gap):
    """There the worst dataset has everyone at x0: delta = p^n (1 - e^(eps - eps0)), docs/theory.md."""
    eps = eps0 - gap * min(1.0, eps0)
    log10_p = -np.log10(1 + (k - 1) * np.exp(-eps0))
    log10_delta = n * log10_p + np.log10(-np.expm1(eps - eps0))
    assert log10_delta <= upper(eps, n=n, k=k, eps0=eps0)
    if gap < 1e-2:  # farther off another dataset is worse
        assert lower(eps, n=n, k=k, eps0=eps0) <= log10_delta


def test_a_delta_of_10_to_minus_301_029_795_is_bounded_as_closely_as_floats_can():
    """k = 2, next to eps0: delta = p^n (1 - e^(eps - eps0)), as everyone holds x0 in the worst dataset."""
    n, eps, eps0 = 10**9, 9.9999999998e-07, 1e-6
    with mpmath.workdps(40):
        exact_eps0 = mpmath.mpf(eps0)
        log10_p = -mpmath.log10(1 + mpmath.exp(-exact_eps0))
        log10_delta = n * log10_p + mpmath.log10(-mpmath.expm1(eps - exact_eps0))
    low = lower(eps, n=n, k=2, eps0=eps0)
    high = upper(eps, n=n, k=2, eps0=eps0)
    assert low <= log10_delta <= high < log10_delta + 1e-4 + 1e-12 * abs(log10_delta)


@pytest.mark.parametrize(
    ("eps", "k", "eps0"),
    [
        *[(0.0, 10**12, 0.01), (0.0, 2**53 - 1, 0.1), (0.0, 2, 50.0), (49.0, 10**6, 50.0)],
        *[(5e-5, 10**5, 1e-4), (5e-5, 10**7, 1e-4), (1e-7, 3, 1e-6)],
        *[(4.9999999999995, 3, 5.0), (4.9999999999995, 2, 5.0)],
    ],
)
def test_one_user_for_any_budget_and_any_number_of_values(eps, k, eps0):
    """Nothing cancels, and rounding goes to the safe side: against 50 digits.

    One user's delta is p - e^eps q, with p = e^eps0 / (e^eps0 + k - 1) and q = 1 / (e^eps0 + k - 1). `lower`
    and `upper` return log10 delta.
    """
    with mpmath.workdps(50):
        e_eps, e_eps0 = mpmath.exp(mpmath.mpf(eps)), mpmath.exp(mpmath.mpf(eps0))
        log10_delta = mpmath.log10((e_eps0 - e_eps) / (e_eps0 + k - 1))
        low = mpmath.mpf(float(lower(eps, n=1, k=k, eps0=eps0)))
        high = mpmath.mpf(float(upper(eps, n=1, k=k, eps0=eps0)))
        # Of turning a natural logarithm into one to base 10.
        rounding = abs(log10_delta) * mpmath.mpf(2) ** -52
        assert low - rounding <= log10_delta <= high + rounding
        assert high - low < (5e-4 if k == 2 else 1e-11)


@mpmath.workdps(100)
def worst_deltas_of_matrix(matrix, n, all_eps):
    """delta of the worst dataset and pair of values, in 100 digits, of a ``matrix`` as `Finite` takes it.

    There is one for each eps.

    `exact_columns` divides the columns by their exact sums. `Shuffled` enumerates the datasets of the other
    users, and the histograms of all reports.
    """
    shuffled = Shuffled(exact_columns(matrix), n)
    pairs = []
    for others in shuffled.datasets():
        laws = [shuffled.distribution(tuple(sorted((*others, own)))) for own in range(shuffled.k)]
        pairs += itertools.permutations(laws, 2)
    return [max(hockey_stick(p, q, mpmath.exp(eps)) for p, q in pairs) for eps in all_eps]


def check_bounds_of_matrix(matrix, n, all_eps):
    """Assert that delta of the matrix's worst dataset is within both bounds, log10 of delta; return these."""
    low, high = (
        bound(all_eps, n=n, randomizer=Finite(matrix)).tolist() for bound in (lower, upper)
    )
    worst_deltas = worst_deltas_of_matrix(matrix, n, all_eps)
    with mpmath.workdps(100):
        for low_at_eps, high_at_eps, worst in zip(low, high, worst_deltas, strict=True):
            exact = mpmath.log10(worst) if worst else -mpmath.inf
            # A unit in the last place, of turning the bounds' natural logarithms into ones to base 10.
            rounding = abs(exact) * mpmath.mpf(2) ** -52 if worst else 0
            assert low_at_eps - rounding <= exact <= high_at_eps + rounding
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
def test_both_bounds_of_a_matrix_are_for_its_exact_floats(given, n, eps):
    [low], [high] = check_bounds_of_matrix(given, n, [eps])
    assert high == low or high - low < 1


@pytest.mark.parametrize("alike", [1.0, 1e-6, 1e-12])
def test_random_matrices_next_to_their_budget(alike):
    rng = np.random.default_rng(9)
    for _ in range(15):
        reports, k, n = rng.integers(2, 5), rng.integers(2, 4), int(rng.integers(1, 4))
        given = 1 + alike * rng.random((reports, k))
        given /= given.sum(axis=0)
        check_bounds_of_matrix(
            given, n, Finite(given).eps0 * np.array([0.3, 1 - 1e-9, 1 - 2.0**-52])
        )


def test_the_upper_bound_of_many_reports_of_few_users_is_close():
    """The sum of gains is mostly 0, and hardly ever next to it: what smooths it must not count there.

    Bounds are log10 of delta.
    """
    matrix = np.random.default_rng(1).dirichlet(np.full(400, 3.0), 2).T
    randomizer = Finite(matrix)
    eps = 0.9 * randomizer.eps0
    of_x0, of_x1 = randomizer.matrix.T
    delta = np.maximum(of_x0 - np.exp(eps) * of_x1, 0).sum()
    reverse = np.maximum(of_x1 - np.exp(eps) * of_x0, 0).sum()
    excess = upper(eps, n=1, randomizer=randomizer) - np.log10(max(delta, reverse))
    assert -1e-12 < excess < np.log10(1 + 1e-4)
    assert lower(eps, n=20, randomizer=randomizer) <= upper(eps, n=20, randomizer=randomizer)


@mpmath.workdps(60)
def exact_krr(k, eps0):
    """P(report | value) of k-RR in mpmath, (reports, values)."""
    e_eps0 = mpmath.exp(mpmath.mpf(eps0))
    return np.transpose([krr_probabilities(value, e_eps0, k) for value in range(k)])


@pytest.mark.parametrize(
    ("randomizer", "exact_matrix"),
    [
        *[(KRandomizedResponse(4, eps0), exact_krr(4, eps0)) for eps0 in (0.01, 2.0, 25.0)],
        (Finite(random_matrix(k=3)), exact_columns(random_matrix(k=3))),
    ],
    ids=["eps0=0.01", "eps0=2", "eps0=25", "matrix"],
)
@pytest.mark.parametrize("share_of_eps0", [0.1, 0.9])
def test_gains_are_wrong_by_no_more_than_they_are_moved(randomizer, exact_matrix, share_of_eps0):
    """`outwards` moves them by so many units in the last place. Each is next to an exact gain, in mpmath.

    A gain is (R_x0 - e^eps R_x1) / w of a report, with the blanket w.
    """
    eps = share_of_eps0 * randomizer.eps0
    with patch.object(privacy_blanket, "outwards", wraps=privacy_blanket.outwards) as spy:
        upper(eps, n=10, randomizer=randomizer)
    gains, probabilities, _side, ulps = spy.call_args.args
    with mpmath.workdps(60):
        e_eps = mpmath.exp(mpmath.mpf(eps))
        blanket = exact_matrix.min(axis=1)
        pairs = itertools.permutations(exact_matrix.T, 2)
        exact = np.concatenate([(of_x0 - e_eps * of_x1) / blanket for of_x0, of_x1 in pairs])
        for gain in gains[probabilities > 0].tolist():
            errors = abs(exact - gain)
            allowed = ulps.max() * 2.0**-52 * abs(exact[errors.argmin()])
            assert errors.min() <= allowed
