"""k = 2: against every dataset in 60 digits, against the count's delta at every m, and its width."""

import functools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from tests.library.printed import add_user, convolved_distributions, hockey_stick
from tightshuffle.bounds.bit_counts import Bit, BitCounts
from tightshuffle.bounds.bits import HolderCounts, binary, worst_count
from tightshuffle.literature import count


def test_every_dataset_in_60_digits():
    rng = np.random.default_rng(11)
    cases = [(1, 1.0, 0.3), (2, 0.5, 0.0), (9, 40.0, 38.0), (12, 1e-6, 4e-7), (14, 3.0, 3.0 - 1e-9)]
    cases += [
        (int(rng.integers(1, 16)), 10 ** rng.uniform(-4, 1.2), rng.uniform()) for _ in range(12)
    ]
    for n, eps0, eps in cases:
        eps = eps * eps0 if eps < 1 and eps0 > 1e-5 else eps
        distributions = [convolved_distributions(n=n, k=2, eps0=eps0, count=m) for m in range(n)]
        worst = max(max(hockey_stick(eps, p, q), hockey_stick(eps, q, p)) for p, q in distributions)
        low, high = binary(eps, n=n, eps0=eps0, width=1e-9)
        truth = mp.log10(worst)
        assert mp.mpf(float(low)) <= truth + mp.mpf(1e-15) * abs(truth)
        assert mp.mpf(float(high)) >= truth - mp.mpf(1e-15) * abs(truth)
        assert high - low < 1e-9


@pytest.mark.parametrize(("eps0", "eps"), [(1.0, 0.05), (4.0, 0.4), (0.3, 0.2999), (2.0, 0.0)])
def test_every_count(eps0, eps):
    n = 90
    deltas = count.delta(eps, n=n, k=2, eps0=eps0, count=np.arange(n), direction="both")
    low, high = binary(eps, n=n, eps0=eps0, width=1e-3)
    promised = 1e-9  # by count.delta
    assert low <= deltas.max() + promised
    assert high >= deltas.max() - promised
    assert high - low <= math.log10(1.0011)


@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.1), (0.95, 0.4), (0.75, 0.25), (0.5, 1e-6), (0.3, 0.29)]
)
def test_every_pair_of_bits(p, q):
    users, (held, other) = 11, (math.log(chance / (1 - chance)) for chance in (p, q))
    own = Bit.with_log_odds(held, other)
    eps = np.array([0.0, 0.1, 0.5, 0.95]) * own.largest
    p, q = (1 / (1 + mp.exp(-mp.mpf(odds))) for odds in (held, other))
    held_by = ([p] * m + [q] * (users - m) for m in range(users + 1))
    columns = [functools.reduce(add_user, chances, [mp.mpf(1)]) for chances in held_by]
    pairs = [(add_user(column, p), add_user(column, q)) for column in columns]
    low, high = worst_count(eps, own, users, (held, other), goal=1e-9)
    for e, below, above in zip(eps.tolist(), low.tolist(), high.tolist(), strict=True):
        truth = max(hockey_stick(e, first, second) for first, second in pairs)
        assert below <= mp.log(truth) + 1e-15
        assert above >= mp.log(truth) - 1e-15
        assert above - below < 2e-9


@pytest.mark.parametrize("users", [3, 60, 300, 340, 1300, 1330, 10**5])
def test_counts_of_every_size_have_the_delta_of_their_distribution(users):
    """All users hold the value. Some sizes are next to where counts get another line of integration."""
    eps0 = 1.0
    truth, lie = special.expit([eps0, -eps0])
    eps = np.array([0.0, 0.5, 2.0, 5.0]) * min((truth - lie) / math.sqrt(users * truth * lie), 0.19)
    total = np.arange(users + 2)
    others, one_more = (
        stats.binom.pmf(total, users, truth),
        stats.binom.pmf(total - 1, users, truth),
    )
    p, q = lie * others + truth * one_more, truth * others + lie * one_more
    exact = np.log(np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1))

    counts = BitCounts(eps, Bit.flipped(eps0), [eps0, -eps0])
    numbers = np.stack([np.full(eps.size, users), np.zeros(eps.size, int)])
    value, error = counts.ln_delta(numbers, np.arange(eps.size))
    assert np.all(np.abs(value - exact) <= error + 1e-10)
    assert np.all(error < 1e-8)


def random_blocks(seed, number, users_in, other_in, gap_in, most, least):
    """Users, log odds of both bits, eps, first count and width; ranges of users, gap and width are log10."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        users, other = int(10 ** rng.uniform(*users_in)), rng.uniform(*other_in)
        held = other + 10 ** rng.uniform(*gap_in)
        p, q = (1 / (1 + math.exp(-odds)) for odds in (held, other))
        spread = math.sqrt(users * min(p * (1 - p), q * (1 - q)))
        eps = min(
            rng.uniform(0, 6) * (p - q) / spread, most * Bit.with_log_odds(held, other).largest
        )
        width = max(2, int(users * 10 ** rng.uniform(least, 0)))
        yield users, held, other, eps, int(rng.integers(0, users - width + 1)), width


def test_no_delta_between_two_counts_exceeds_the_curvature_bound():
    close = 0
    only_eps = np.zeros(1, int)
    for case in random_blocks(3, 60, (1.5, 4.2), (-5, 1), (-1.5, 0.9), 0.98, -2.5):
        users, held, other, eps, first, width = case
        counts = HolderCounts(np.array([eps]), Bit.with_log_odds(held, other), users, (held, other))
        m = np.unique(np.linspace(first, first + width, 200).astype(int))
        value, error = counts.ln_delta(np.zeros(m.size, int), m, users - m)
        ends = max(value[0], value[-1])
        curved, _ = counts.ln_curvatures(only_eps, m[:1], m[-1:])
        bound = np.logaddexp(ends, curved[0])
        assert np.max(value - error) <= bound
        close += bool(bound - ends < 0.1 and np.max(value) > ends)
    assert close >= 3  # cases in which the best m lies inside, and the bound is narrow


def test_no_delta_between_two_counts_exceeds_the_bound_for_one_whole_t():
    inside = sharper = 0
    only_eps = np.zeros(1, int)
    for case in random_blocks(5, 400, (1.5, 4.2), (-3, 0.5), (-3, 0.5), 0.98, -3):
        users, held, other, eps, first, width = case
        width = max(
            2, min(width, int(1 / (1 / (1 + math.exp(-held)) - 1 / (1 + math.exp(-other)))))
        )
        m = np.arange(first, min(first + width, users) + 1)
        if m.size < 3:
            continue
        counts = HolderCounts(np.array([eps]), Bit.with_log_odds(held, other), users, (held, other))
        value, error = counts.ln_delta(np.zeros(m.size, int), m, users - m)
        ends = max(value[0], value[-1])
        curved, slid = counts.ln_curvatures(only_eps, m[:1], m[-1:])
        assert np.max(value - error) <= np.logaddexp(ends, slid[0])
        inside += bool(np.max(value - error) > ends)
        sharper += bool(slid[0] < curved[0] - 1)
    assert inside >= 30
    assert sharper >= 100


def test_a_thousand_nearly_equal_counts_are_not_looked_at_one_by_one(monkeypatch):
    looked_at = []

    def ln_delta_noted(counts, numbers, points):
        looked_at.extend(numbers[0].tolist())
        return ln_delta(counts, numbers, points)

    ln_delta = BitCounts.ln_delta
    monkeypatch.setattr(BitCounts, "ln_delta", ln_delta_noted)
    odds, eps = (0.02, -0.02), np.array([0.006])
    low, high = worst_count(eps, Bit.with_log_odds(*odds), 999, odds, goal=4e-4, steeply=True)
    assert 0 < len(looked_at) < 250
    m = np.arange(1000)
    counts = HolderCounts(eps, Bit.with_log_odds(*odds), 999, odds)
    value, _ = counts.ln_delta(np.zeros(m.size, int), m, 999 - m)
    assert low <= value.max() <= high <= value.max() + 1e-9


def test_the_curvature_bound_is_above_the_integrals_of_its_proof():
    """The second derivatives of E, by quadrature over |u| <= 1, at both ends of a block."""
    u = np.linspace(-1, 1, 20_001)
    for case in random_blocks(4, 40, (2.5, 6), (-5, 0.5), (-1, 0.7), 0.9, -3):
        users, held, other, eps, first, width = case
        p, q = (1 / (1 + math.exp(-odds)) for odds in (held, other))
        a = p - math.exp(eps) * q
        theta = math.log1p(math.expm1(eps) / a)
        rates, shapes = [], []
        for chance in (p, q):
            tilted = chance * math.exp(theta) / (1 - chance + chance * math.exp(theta))
            rates.append(math.log(1 - chance + chance * math.exp(theta)) - theta * tilted)
            shapes.append(np.log(1 - tilted + tilted * np.exp(1j * u)) - 1j * u * tilted)
        weight = np.abs(np.expm1(1j * u)) / np.maximum(np.abs(-np.expm1(-theta - 1j * u)), 1e-300)
        weight[u == 0] = 1.0 if theta == 0 else 0.0
        largest = [-np.inf, -np.inf]
        for m in (first, first + width):
            bell = np.exp((m * shapes[0] + (users - m) * shapes[1]).real) * weight
            scale = (
                m * rates[0]
                + (users - m) * rates[1]
                + math.log(a)
                + 2 * theta
                - math.log(2 * math.pi)
            )
            sizes = (
                width**2 * np.abs(rates[0] - rates[1] + shapes[0] - shapes[1]) ** 2,
                theta**2 + u**2,
            )
            for place, size in enumerate(sizes):
                known = scale + math.log(np.trapezoid(size * bell, u) / 8)
                largest[place] = max(largest[place], known)
        truth = float(np.logaddexp(*largest))
        counts = HolderCounts(np.array([eps]), Bit.with_log_odds(held, other), users, (held, other))
        ends = np.array([first]), np.array([first + width])
        bound = counts.ln_curvatures(np.zeros(1, int), *ends)[0][0]
        assert truth <= bound
        assert bound <= truth + 0.7


def test_a_billion_users_and_eps_from_eps0_on():
    assert binary([1.0, 2.0], n=10, eps0=1.0)[1].tolist() == [-math.inf, -math.inf]
    n, eps0 = 10**9, np.array([1.0, 4.0, 12.0])
    eps = np.array([[0.1], [0.6]]) * eps0
    low, high = binary(eps, n=n, eps0=eps0, width=0.01)
    assert low.shape == (2, 3)
    assert np.all((low <= high) & (high - low <= math.log10(1.011)))
    some = count.delta(0.1 * 12.0, n=n, k=2, eps0=12.0, count=[0, n // 2, n - 1], direction="both")
    assert some.max() <= high[0, 2] + 1e-6


def test_more_than_a_thousand_eps_have_the_bounds_of_each_alone():
    eps = np.linspace(0, 0.99, 1101)
    low, high = binary(eps, n=30, eps0=1.0)
    for number in (0, 500, 1023, 1024, 1100):
        alone = binary(eps[number], n=30, eps0=1.0)
        np.testing.assert_allclose([low[number], high[number]], alone, rtol=1e-12)
