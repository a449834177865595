"""The upper bound that hides the target user among nearly all other users."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tests.library.bounds.enumeration import Shuffled
from tests.library.randomizers.matrices import both, matrix_of, merged, supports_of
from tightshuffle.bounds import privacy_blanket
from tightshuffle.bounds import single_value as module
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.randomizers import Finite, parse

lower, upper = at_points(privacy_blanket.log10_lower), at_points(privacy_blanket.log10_upper)
single_value = at_points(module.log10_upper)

PARTS = (0.0, 0.2, 0.5, 0.8, 0.95)  # of eps0
CASES = [
    *[("hash:2", 2, 4), ("hash:2", 3, 3), ("hash:2", 3, 4), ("hash:3", 3, 3), ("rappor", 3, 4)],
    *[("oue", 3, 4), ("subset:2", 4, 4), ("hadamard", 4, 3), ("grr", 3, 4)],
]


def sums_of(randomizer, eps, users, pair=(0, 1)):
    gains = [randomizer.gains(eps, reference, pair) for reference in randomizer.references()]
    return module.Sums(16 + 2 * (eps + randomizer.eps0), users, gains)


@pytest.mark.parametrize(
    ("n", "eps0", "depth"), [(2, 1, 1), (30, 1, 5), (1000, 3, 30), (10**5, 4, 30)]
)
def test_the_mean_over_the_truthful_users(n, eps0, depth, monkeypatch):
    # D(m) = e^(-decay m), which falls: with it, the mean over g is known
    randomizer, decay = parse("hash:2", k=3, eps0=eps0), depth / n
    for name in ("ln_delta", "ln_chernoff"):
        monkeypatch.setattr(module.Sums, name, lambda _, users: -decay * np.asarray(users))
    truthful = np.arange(n - 1)
    weights = randomizer.gamma * (1 - randomizer.gamma) ** truthful
    mean = weights @ np.exp(-decay * (n - 1 - truthful)) + (1 - randomizer.gamma) ** (n - 1)
    bound = np.exp(module.ln_bound(0.1, n, randomizer, np.inf))
    assert mean <= bound <= 1.05 * mean


@pytest.mark.parametrize("n", [20, 3000, 10**6])
@pytest.mark.parametrize("name", ["grr", "subset:5", "matrix"])
def test_no_kind_of_value_and_no_node_that_counts_is_left_out(name, n):
    randomizer = (
        Finite(both("matrix", 3, None)[1]) if name == "matrix" else parse(name, k=100, eps0=2.0)
    )
    seconds = 0  # how often the kind with the largest M is not the one with the largest sum
    for eps in np.array(PARTS) * randomizer.eps0:
        sums = sums_of(randomizer, eps, n)
        users = np.unique([1, n // 2, n - 1])
        angles = sums.theta + 1j * sums.u
        # (kinds, nodes).
        mgf = 1 + (sums.p[..., None] * np.expm1(angles * sums.g[..., None])).sum(axis=1)
        heights = users[:, None] * (sums.ln_mgf - sums.ln_mgf.max())
        bells = np.abs(mgf / np.exp(sums.ln_mgf)[:, None]) ** users[:, None, None]
        bells *= np.exp(heights[..., None] - (sums.u * sums.tau) ** 2 / 2) / (
            sums.theta**2 + sums.u**2
        )
        everything = sums.h / (2 * np.pi) * (2 * bells.sum(axis=-1) - bells[..., 0])
        left_out = sums.h / np.pi * len(sums.u) * np.exp(module.SMALL_TERM) / sums.theta**2
        largest, rounding = sums.largest_sums(users.astype(float)), 1e-10 + 1e-12 * n
        assert np.all(largest + left_out >= everything.max(axis=1) * (1 - rounding))
        assert np.all(largest <= everything.max(axis=1) * (1 + rounding))
        seconds += np.count_nonzero(everything.argmax(axis=1) != sums.ln_mgf.argmax())
    assert seconds > 0


@pytest.mark.parametrize("eps0", [0.5, 2.0])
@pytest.mark.parametrize(("name", "k", "n"), CASES)
def test_no_dataset_violates_the_bound(name, k, n, eps0):
    shuffled = Shuffled(merged(supports_of(name, k), matrix_of(name, k, eps0))[0], n)
    epses = np.array(PARTS) * eps0
    bounds = 10 ** single_value(epses, n=n, randomizer=parse(name, k=k, eps0=eps0))
    for eps, bound in zip(epses, bounds, strict=True):
        assert max(shuffled.delta(left, (0, 1), eps) for left in shuffled.datasets()) <= bound


def test_no_dataset_violates_the_bound_of_a_matrix():
    # no symmetry: every ordered pair has its own delta, which is 0 from its own eps on; the worst is (2, 1)
    matrix = both("matrix", 3, None)[1][:, ::-1]
    randomizer, shuffled = Finite(matrix), Shuffled(matrix, 4)
    pairs = list(itertools.permutations(range(3), 2))
    epses = np.array(PARTS) * randomizer.eps0
    for eps, bound in zip(
        epses, 10 ** single_value(epses, n=4, randomizer=randomizer), strict=True
    ):
        deltas = {
            pair: max(shuffled.delta(left, pair, eps) for left in shuffled.datasets())
            for pair in pairs
        }
        assert max(deltas.values()) <= bound
        for pair, delta in deltas.items():
            if delta > 1e-15:
                sums = sums_of(randomizer, eps, 4, pair)
                own = np.exp(module.ln_mean(4, randomizer.gamma, 50, sums.ln_delta))
                assert delta <= own <= bound * (1 + 1e-9), (pair, eps)
    assert min(deltas.values()) < 1e-15


@pytest.mark.parametrize("k", [6, 12])
def test_a_matrix_of_many_values_has_the_largest_bound_of_all_pairs(k):
    generator = np.random.default_rng(k)
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    # Its pairs differ in their distance only.
    circle = np.exp(-np.minimum(distance, k - distance) / 2)
    for matrix in (generator.dirichlet(np.ones(k), k).T + 0.2, circle):
        randomizer, n = Finite(matrix / matrix.sum(axis=0)), 3000
        eps = 0.1 * randomizer.eps0
        of_pairs = []
        for pair in itertools.permutations(range(k), 2):
            gains = [
                randomizer.gains(eps, reference, pair) for reference in randomizer.references()
            ]
            sums = module.Sums(64.0, n, gains)
            of_pairs.append(module.ln_mean(n, randomizer.gamma, 300, sums.ln_delta) / np.log(10))
        bound = single_value(eps, n=n, randomizer=randomizer)
        assert bound == pytest.approx(max(of_pairs), abs=1e-6)
        assert tightshuffle.upper(eps, n=n, randomizer=randomizer, log10=True) == bound
        assert bound < upper(eps, n=n, randomizer=randomizer)


def add_user(counts, probabilities):
    """One more user, with these probabilities of each kind of report; axis i counts kind i, but the last."""
    result = counts * probabilities[-1]
    for axis, probability in enumerate(probabilities[:-1]):
        shifted = np.moveaxis(counts, axis, 0)[:-1]
        np.moveaxis(result, axis, 0)[1:] += probability * shifted
    return result


@pytest.mark.parametrize("eps0", [0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize(
    ("name", "k"), [("hash:2", 2), ("oue", 2), ("hadamard", 3), ("subset:2", 3), ("grr", 3)]
)
def test_no_mixture_of_values_violates_the_bound(name, k, eps0):
    n, randomizer = 25, parse(name, k=k, eps0=eps0)
    kinds = merged(supports_of(name, k), matrix_of(name, k, eps0))[0].T.astype(np.longdouble)
    epses = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95]) * eps0
    bounds = 10.0 ** single_value(epses, n=n, randomizer=randomizer)
    for first, second in [
        (0, 0),
        (24, 0),
        (0, 24),
        (12, 12),
        (12, 0),
        (0, 12),
        (8, 8),
        (3, 1),
        (1, 20),
    ]:
        if k == 2 and first + second < n - 1:
            continue
        counts = np.zeros((n + 1,) * (kinds.shape[1] - 1), dtype=np.longdouble)
        counts[(0,) * counts.ndim] = 1
        for value, users in enumerate((first, second, n - 1 - first - second)):
            for _ in range(users):
                counts = add_user(counts, kinds[value])
        zero, one = add_user(counts, kinds[0]), add_user(counts, kinds[1])
        for eps, bound in zip(epses, bounds, strict=True):
            for p, q in ((zero, one), (one, zero)):
                delta = float(np.maximum(p - np.exp(np.longdouble(eps)) * q, 0).sum())
                assert delta <= bound, (first, second, eps)


@pytest.mark.parametrize(
    "name", ["grr", "hadamard", "subset:5", "oue", "hash:8", "rappor", "hash:2"]
)
@pytest.mark.parametrize(("n", "eps0"), [(10**4, 2.0), (10**6, 4.0), (10**9, 6.0), (10**12, 8.0)])
def test_it_nearly_meets_the_lower_bound_for_many_users(name, n, eps0):
    randomizer = parse(name, k=100, eps0=eps0)
    # where delta is 1e-3 to 1e-30: where that of the Gaussian approximation is
    values, probabilities = randomizer.gains(0.0, "x2")
    mu = np.sqrt(probabilities @ values**2 / n)
    epses = mu * np.array([2.0, 4.0, 6.0, 10.0])
    low, high = (bound(epses, n=n, randomizer=randomizer) for bound in (lower, single_value))
    assert np.all(low <= high)
    assert np.all(high < np.log10(1.05) + low * (1 - 2e-3))


def test_the_guarantee_of_krr_is_the_smaller_bound():
    generator, smaller = np.random.default_rng(3), 0
    for _ in range(60):
        k, n = int(generator.integers(3, 40)), int(10 ** generator.uniform(1, 5))
        eps0 = float(generator.uniform(0.1, 5))
        setting = {"n": n, "k": k, "eps0": eps0}
        mu = float(gaussian_mu(n=n, randomizer=parse("grr", k=k, eps0=eps0)))
        epses = mu * np.array([3.0, 5.0, 9.0, 14.0])
        epses = epses[epses < 0.98 * eps0]
        guarantee = partial(tightshuffle.upper, log10=True)
        guaranteed, first, second = (
            bound(epses, **setting) for bound in (guarantee, upper, single_value)
        )
        assert np.all(guaranteed <= first)
        assert np.all((guaranteed == first) | (guaranteed == second))
        # Where the second is not asked, it would make eps smaller by at most 0.01 %: delta^2e-4, about.
        assert np.all(guaranteed <= second + 2e-4 * (1 - second))
        smaller += np.count_nonzero(guaranteed < first)
    assert smaller > 20


def test_it_is_below_the_blanket_and_holds_at_the_edges():
    randomizer = parse("hash:2", k=100, eps0=4.0)
    assert single_value(0.0236, n=10**6, randomizer=randomizer) < -8
    assert upper(0.0236, n=10**6, randomizer=randomizer) > -6.1
    for eps0, n in itertools.product((1e-3, 1.0, 50.0), (1, 2, 3, 1000, 10**12)):
        one = parse("hash:2", k=3, eps0=eps0)
        epses = np.array([0, 1e-9, 0.3, 0.999, 1, 2]) * eps0
        bounds = single_value(epses, n=n, randomizer=one)
        assert np.all(bounds[-2:] == -np.inf)
        assert np.all(bounds <= 0)
        below_one = bounds < 0  # a delta of 1 is above every lower bound
        lowest = lower(epses[below_one], n=n, randomizer=one)
        assert np.all(bounds[below_one] >= lowest - 1e-9 * np.abs(bounds[below_one].clip(-1e300)))


@pytest.mark.parametrize("eps0", [1e-100, 1e-17, 1e-8, 1.0, 50.0])
@pytest.mark.parametrize("n", [1, 3, 10**12])
def test_the_smallest_budgets_and_the_last_eps_cause_no_warning(n, eps0):
    epses = np.array([0.0, 0.5 * eps0, eps0 * (1 - 1e-9), np.nextafter(eps0, 0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bounds = tightshuffle.upper(epses, n=n, k=3, eps0=eps0, log10=True)
    assert np.all(bounds >= lower(epses, n=n, k=3, eps0=eps0))


def test_pairwise_independence_is_enough_for_two_hash_values():
    # any such distribution of three bits gives the even ones, 000 among them, the same probability
    ideal = parse("hash:2", k=3, eps0=1.0).patterns((0, 1, 2))
    for even in (0.0, 0.3, 1.0):
        supports = np.zeros((2, 2, 2))
        for bits in itertools.product((0, 1), repeat=3):
            for reported in (0, 1):
                probability = (1 - even if sum(bits) % 2 else even) / 4
                supports[tuple(int(bit == reported) for bit in bits)] += probability / 2
        np.testing.assert_allclose(supports, ideal, atol=1e-15)
