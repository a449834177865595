"""The upper bound of matrices: the largest, over pairs of values, of the smaller one of two slow bounds."""

import itertools

import numpy as np
import pytest
from scipy import integrate
from scipy.special import erfcx, logsumexp

import tightshuffle
from tests.at_points import log10_at_points
from tests.bounds.enumeration import Shuffled
from tests.randomizers.matrices import (
    MATRIX_WHOSE_DIRECTIONS_DIFFER,
    geometric_matrix,
    matrix_of,
    random_matrix,
)
from tightshuffle.bounds import guarantee, pairs_of_matrix, privacy_blanket, single_value
from tightshuffle.bounds.pairs_of_matrix import PairBounds
from tightshuffle.numerics.positive_part import log_positive_part
from tightshuffle.randomizers import Finite

WIDTH = 1e-4  # of the privacy blanket's bound
upper = log10_at_points(guarantee.ln_upper_of_round)
lower = log10_at_points(guarantee.ln_lower_of_round)


def exact_bounds(matrix, eps, n):
    """{pair: ln of the smaller one of both bounds of the pair, or a bit less}, for all pairs.

    They are by exact E[(G_1 + ... + G_m)_+]. For g users left out with g > 4, delta counts as that for g = 4,
    which is smaller.
    """
    pairs = list(all_pairs(matrix))
    gains = [matrix.gains(eps, "blanket", pair) for pair in pairs]
    bounds = ln_mean_positive_parts(gains, [n]).ravel()
    if n > 1:
        bounds = np.minimum(bounds, exact_bounds_by_value(matrix, eps, n, pairs))
    return dict(zip(pairs, bounds.tolist(), strict=True))


def exact_bounds_by_value(matrix, eps, n, pairs):
    """The single-value bounds of `exact_bounds`, (pairs,)."""
    left_out = np.arange(min(n - 1, 5))
    chances = matrix.gamma * (1 - matrix.gamma) ** left_out
    chances[-1] /= matrix.gamma
    names = matrix.references()
    gains = [matrix.gains(eps, name, pair) for pair, name in itertools.product(pairs, names)]
    of_values = ln_mean_positive_parts(gains, n - 1 - left_out)
    of_worst_value = of_values.reshape(len(pairs), len(names), -1).max(axis=1)
    ln_nobody_left = (n - 1) * np.log1p(-matrix.gamma)
    chances[-1] -= np.exp(ln_nobody_left)
    return np.logaddexp(logsumexp(of_worst_value, b=chances, axis=1), ln_nobody_left)


def ln_mean_positive_parts(gains, m):
    """ln of E[(G_1 + ... + G_m)_+] / m for independent G, rounded down; (laws of G, numbers m).

    ``gains`` are the values and masses of each law.
    """
    most = max(values.size for values, _ in gains)
    laws = np.array([[np.pad(part, (0, most - part.size)) for part in law] for law in gains])
    low, _ = log_positive_part(laws[:, None, 0], laws[:, None, 1], m, width=1e-3)
    return low - np.log(m)


def all_pairs(matrix):
    return itertools.permutations(range(matrix.k), 2)


def nearly_geometric(seed, k=4):
    """A geometric matrix, each entry of which is changed by up to 15 %: its worst pairs nearly tie."""
    changes = np.random.default_rng(seed).uniform(0.85, 1.15, (k, k))
    matrix = geometric_matrix(k, 2.0) * changes
    return Finite(matrix / matrix.sum(axis=0))


@pytest.mark.parametrize(
    ("n", "share_of_eps0"), [(4, 0.3), (60, 0.5), (3000, 0.08), (10**7, 0.001)]
)
def test_the_largest_bound_of_all_pairs_is_found(n, share_of_eps0):
    """Often the worst pair is not the first one, and the second worst one has nearly the same bound."""
    not_first = 0
    for seed in (0, 1, 4, 5):  # the first pair is the worst one for 1
        matrix = nearly_geometric(seed)
        eps = share_of_eps0 * matrix.eps0
        exact = exact_bounds(matrix, eps, n)
        bounds = PairBounds(eps, n, matrix, WIDTH)
        found = pairs_of_matrix.largest_of_pairs(bounds)
        assert max(exact.values()) <= found <= max(exact.values()) + 0.2
        not_first += exact[bounds.first_pair()] < max(exact.values()) - 0.005
    assert not_first >= (3 if n > 4 else 0)


@pytest.mark.parametrize(
    ("n", "share"), [(2, 0.1), (2, 0.8), (30, 0.02), (30, 0.4), (1000, 0.1), (10**8, 0.0003)]
)
def test_no_quick_bound_is_below_the_exact_bound(n, share):
    """Whatever theta, a pair that is left out has a bound of at most the known one."""
    for matrix in (nearly_geometric(1), Finite(MATRIX_WHOSE_DIRECTIONS_DIFFER)):
        eps = share * matrix.eps0
        bounds = PairBounds(eps, n, matrix, WIDTH)
        exact = exact_bounds(matrix, eps, n)
        _, best = bounds.of_pair(bounds.first_pair(), known=-np.inf)
        for theta in best * np.array([0.1, 0.7, 1.0, 1.5, 5.0]):
            for known in (-np.inf, *sorted(exact.values())[1::2]):
                quick = dict(bounds.quick(theta, known))
                for pair, ln_delta in exact.items():
                    assert ln_delta <= max(quick.get(pair, known), known)


def test_numbers_of_users_left_out_that_are_rare_count_with_delta_1(monkeypatch):
    """With a depth so small that these are all but g = 0, 1 and 2."""
    matrix, n = nearly_geometric(1), 60
    ln_stay = np.log1p(-matrix.gamma)
    monkeypatch.setattr(pairs_of_matrix, "_DEPTH", -700 - 1.5 * ln_stay)
    bounds = PairBounds(0.5 * matrix.eps0, n, matrix, WIDTH)
    _, theta = bounds.of_pair((0, 3), known=-np.inf)
    [ln_quick] = bounds._quick_by_value(np.array([(0, 3)]), theta, -np.inf)
    assert 3 * ln_stay <= ln_quick <= 3 * ln_stay + 0.1


def distribution(kind, m):
    """theta G and its probabilities under the tilt: the sum of m has the deviation 5, as at delta = 1e-6."""
    values, tilted = {
        "lattice": ([1.0, -1.0], [0.5, 0.5]),  # f comes back to 1
        "rare": ([6.0, -1.0, 1.0], [0.01, 0.53, 0.46]),  # f falls slowly
        "even": (np.linspace(-2, 2, 9), np.full(9, 1 / 9)),
    }[kind]
    tilted = np.array(tilted)
    variance = tilted @ np.square(values) - (tilted @ values) ** 2
    return np.array(values) * 5 / np.sqrt(m * variance), tilted


@pytest.mark.parametrize("m", [2, 20, 200, 1000])
@pytest.mark.parametrize("kind", ["lattice", "rare", "even"])
def test_each_part_of_the_integral_is_at_least_what_it_bounds(kind, m):
    """Of the least K, over smoothings, and then the four parts: middle, to `last`, groups, beyond."""
    exponents, tilted = distribution(kind, m)
    differences = np.subtract.outer(exponents, exponents)
    variance = tilted @ differences**2 @ tilted / 2
    c = tilted @ differences**4 @ tilted / 24
    last, length = np.sqrt(0.9 * variance / c), pairs_of_matrix._LENGTH / np.sqrt(variance)
    starts = last + length * np.arange(32)
    end = last + 32 * length

    def exact(low, high, smoothings):
        """The integral between these limits, with each of the ``smoothings``."""
        v = np.linspace(low, high, 20_001)
        f = np.abs(np.exp(1j * v[:, None] * exponents) @ tilted)
        widths = np.reshape(smoothings, (-1, 1))
        integrands = f**m * np.exp(-((widths * v) ** 2) / 2) / (1 + v**2)
        return integrate.simpson(integrands, x=v)

    largest_f = pairs_of_matrix._largest_f(
        exponents[None], tilted[None], starts[None], np.array([length])
    )
    smoothings = [0.03, 0.25, 0.5]
    firsts = [np.sqrt(lost * variance / c) for lost in pairs_of_matrix._LOSSES]
    # (smoothings, lost) each
    up_to_first = np.transpose([exact(0, first, smoothings) for first in firsts])
    up_to_last = np.transpose([exact(first, last, smoothings) for first in firsts])
    in_groups = exact(last, end, smoothings)
    least_k = np.exp(-1)
    for row, smoothing in enumerate(smoothings):
        parts = pairs_of_matrix._parts_of_integral(
            np.array([variance]), np.array([c]), starts[None], largest_f**m, m, smoothing
        )
        [beyond] = exact(end, end + 9 / smoothing, [smoothing])
        integrals = [up_to_first[row], up_to_last[row], in_groups[row], beyond]
        for part, integral in zip(parts, integrals, strict=True):
            assert np.all(part[..., 0] >= integral * (1 - 1e-6))
        least_k = min(least_k, np.exp(smoothing**2 / 2) / np.pi * sum(integrals).min())
    found = pairs_of_matrix._ln_k(exponents[None], tilted[None], m, 32)[0]
    assert found >= np.log(least_k) - 0.01  # of the smoothings that are not here


@pytest.mark.parametrize("kind", ["lattice", "rare", "even"])
def test_k_is_that_of_the_variance_and_of_c(kind, monkeypatch):
    seen = []
    parts = pairs_of_matrix._parts_of_integral
    monkeypatch.setattr(
        pairs_of_matrix,
        "_parts_of_integral",
        lambda variance, c, *others: (
            seen.append((variance[0], c[0])) or parts(variance, c, *others)
        ),
    )
    exponents, tilted = distribution(kind, 100)
    pairs_of_matrix._ln_k(exponents[None], tilted[None], 100, 0)
    differences = np.subtract.outer(exponents, exponents)
    variance = tilted @ differences**2 @ tilted / 2
    c = tilted @ differences**4 @ tilted / 24
    assert variance * (1 - 1e-11) <= seen[0][0] <= variance
    assert c <= seen[0][1] <= 1.001 * c  # it has E[t^2] for V


@pytest.mark.parametrize("kind", ["lattice", "rare", "even"])
def test_f_is_nowhere_above_the_largest_f_of_its_group(kind):
    exponents, tilted = distribution(kind, 100)
    length = pairs_of_matrix._LENGTH / np.sqrt(tilted @ exponents**2 - (tilted @ exponents) ** 2)
    starts = length * np.arange(0.3, 40)
    largest = pairs_of_matrix._largest_f(
        exponents[None], tilted[None], starts[None], np.array([length])
    )[0]
    v = starts[:, None] + length * np.linspace(0, 1, 21)
    f = np.abs(np.exp(1j * v[..., None] * exponents) @ tilted)
    assert np.all(f <= largest[:, None])
    assert np.all(largest <= np.minimum(f[:, 10] + 0.101, 1))


def test_k_is_close_to_that_of_a_normal_number_for_many_users():
    """For a normal number of deviation s, K is e^(s^2 / 2) times P(Z > s) / 2, for a small smoothing."""
    m = 10**5
    exponents, tilted = distribution("even", m)
    found = np.exp(pairs_of_matrix._ln_k(exponents[None], tilted[None], m, 0)[0])
    normal = erfcx(5 / np.sqrt(2)) / 2
    assert normal < found < 1.02 * normal


@pytest.mark.parametrize("n", [1, 2, 3])
def test_delta_of_no_dataset_exceeds_the_bound_of_its_pair(n):
    for matrix in (random_matrix(k=3), MATRIX_WHOSE_DIRECTIONS_DIFFER):
        randomizer, shuffled = Finite(matrix), Shuffled(matrix, n)
        all_eps = np.array([0.0, 0.2, 0.5, 0.8, 0.95]) * randomizer.eps0
        largest = 10 ** upper(all_eps, n=n, randomizer=randomizer)
        for pair in itertools.permutations(range(3), 2):
            deltas = [shuffled.delta(others, pair, all_eps) for others in shuffled.datasets()]
            for eps, worst, bound in zip(all_eps, np.max(deltas, axis=0), largest, strict=True):
                of_pair = PairBounds(eps, n, randomizer, WIDTH).of_pair(pair, known=-np.inf)[0]
                assert worst <= np.exp(of_pair) + 1e-15
                assert worst <= bound


@pytest.mark.parametrize(("n", "eps"), [(4, 1.0), (100, 1.3), (10**5, 0.02729)])
def test_a_matrix_of_16_values_has_the_smaller_one_of_the_full_bounds(n, eps):
    """Here the same pair is the worst one by both bounds, each of which looks at every pair."""
    arguments = {"n": n, "randomizer": Finite(geometric_matrix(16, 3.0))}
    by_blanket = log10_at_points(privacy_blanket.ln_upper)(eps, **arguments)
    by_value = log10_at_points(single_value.ln_upper)(eps, **arguments)
    assert upper(eps, **arguments) == pytest.approx(min(by_blanket, by_value), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000, 10**5])
def test_a_matrix_of_32_values_has_the_smaller_one_of_the_full_bounds(n):
    arguments = {"n": n, "randomizer": Finite(geometric_matrix(32, 3.0))}
    eps = tightshuffle.epsilon(1e-6, **arguments)
    by_blanket = log10_at_points(privacy_blanket.ln_upper)(eps, **arguments)
    by_value = log10_at_points(single_value.ln_upper)(eps, **arguments)
    assert upper(eps, **arguments) == pytest.approx(min(by_blanket, by_value), abs=1e-5)


def test_there_is_no_cliff_at_33_values():
    """eps falls slowly with the number of values; the privacy blanket's alone is 1.38 times as large."""
    eps = {
        k: tightshuffle.epsilon(1e-6, n=10**5, randomizer=Finite(geometric_matrix(k, 3.0)))
        for k in (32, 33, 40)
    }
    assert 0.99 * eps[32] < eps[33] < eps[32]
    assert 0.97 * eps[32] < eps[40] < eps[33]


@pytest.mark.parametrize(("n", "share"), [(4, 0.3), (60, 0.5), (10**6, 0.004)])
def test_the_lower_bound_is_the_largest_of_all_pairs_and_datasets(n, share):
    """`privacy_blanket` looks at every pair and dataset."""
    for seed in range(5):
        matrix = nearly_geometric(seed)
        arguments = {"eps": share * matrix.eps0, "n": n, "randomizer": matrix}
        largest = log10_at_points(privacy_blanket.ln_lower)(**arguments)
        assert lower(**arguments) == pytest.approx(largest, abs=5e-5)


def test_a_mixture_can_be_the_worst_dataset_of_a_matrix():
    """This is rare: the first one found among random matrices of three reports and two values."""
    matrix = Finite(np.random.default_rng(56).dirichlet(np.full(3, 0.8), 2).T)
    arguments = {"eps": 0.8 * matrix.eps0, "n": 10, "randomizer": matrix}
    largest, alone = (
        log10_at_points(privacy_blanket.ln_lower)(**arguments, mixtures=mixtures)
        for mixtures in (True, False)
    )
    assert alone + 0.04 < largest
    assert lower(**arguments) == pytest.approx(largest, abs=5e-5)


@pytest.mark.slow
def test_the_bounds_of_128_values_are_near_each_other():
    bracket = tightshuffle.bracket(1e-6, n=10**5, randomizer=Finite(geometric_matrix(128, 3.0)))
    assert bracket[0] < bracket[1] < 1.001 * bracket[0]


class TestKinds:
    """Pairs of the same kind have the same bound, and only one of them is computed."""

    def test_krr_has_one_kind_of_pairs(self, monkeypatch):
        matrix = Finite(matrix_of("grr", 9, 2.0))
        computed = []
        of_pair = PairBounds.of_pair
        monkeypatch.setattr(
            PairBounds,
            "of_pair",
            lambda self, pair, known: computed.append(pair) or of_pair(self, pair, known),
        )
        upper(0.1, n=1000, randomizer=matrix)
        assert len(computed) == 1

    @pytest.mark.parametrize(("n", "share"), [(5, 0.5), (1000, 0.1)])
    def test_pairs_of_one_kind_have_one_bound(self, n, share):
        matrix = Finite(geometric_matrix(6, 3.0))
        eps = share * matrix.eps0
        bounds = PairBounds(eps, n, matrix, WIDTH)
        by_kind = {}
        for pair in all_pairs(matrix):
            ln_delta, _ = bounds.of_pair(pair, known=-np.inf)
            by_kind.setdefault(bounds.kind(pair), []).append(ln_delta)
        assert len(by_kind) == 15  # x0, x1 and 5 - x0, 5 - x1 are of one kind
        for ln_deltas in by_kind.values():
            assert ln_deltas == pytest.approx(ln_deltas[:1] * len(ln_deltas), abs=1e-9)

    def test_a_change_of_1e_9_makes_another_kind(self):
        matrix = matrix_of("grr", 5, 2.0)
        matrix[:2, 3] += [1e-9, -1e-9]
        bounds = PairBounds(0.1, 1000, Finite(matrix), WIDTH)
        kinds = {bounds.kind(pair) for pair in itertools.permutations(range(5), 2)}
        assert 1 < len(kinds) < 20

    def test_next_to_eps0_each_pair_is_its_own_kind(self):
        """There the rounding of the probabilities would change the bound."""
        matrix = Finite(matrix_of("grr", 5, 2.0))
        bounds = PairBounds(matrix.eps0 * (1 - 1e-12), 1000, matrix, WIDTH)
        assert bounds.kind((0, 1)) != bounds.kind((1, 2))


def test_more_than_256_values_have_the_blanket_alone():
    values = np.linspace(0.3, 0.7, 257)
    matrix = Finite(np.array([values, 1 - values]))
    assert not pairs_of_matrix.is_searched(matrix)
    assert pairs_of_matrix.is_searched(Finite(matrix.matrix[:, 1:]))
    arguments = {"eps": 0.1, "n": 1000, "randomizer": matrix}
    assert upper(**arguments) == log10_at_points(privacy_blanket.ln_upper)(**arguments)
