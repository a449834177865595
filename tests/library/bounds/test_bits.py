"""delta of one count of bits (k = 2): against every dataset in 60 digits, at every m, and its width.

A bit is 1 with the probability p for users who hold the value, else q. Code has the log odds of these, ln(p /
(1 - p)): ``held`` and ``other``. A dataset is m, the number of other users who hold the value.
"""

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
    """`binary` gives log10 of a lower and an upper bound on the worst delta of both directions, for k-RR."""
    rng = np.random.default_rng(11)
    # (n, eps0, eps)
    cases = [(1, 1.0, 0.3), (2, 0.5, 0.0), (9, 40.0, 38.0), (12, 1e-6, 4e-7), (14, 3.0, 3.0 - 1e-9)]
    for _ in range(12):
        n, eps0 = int(rng.integers(1, 16)), 10 ** rng.uniform(-4, 1.2)
        cases.append((n, eps0, eps0 * rng.uniform()))
    for n, eps0, eps in cases:
        deltas = []
        for m in range(n):
            p, q = convolved_distributions(n=n, k=2, eps0=eps0, count=m)
            deltas += [hockey_stick(eps, p, q), hockey_stick(eps, q, p)]
        exact = mp.log10(max(deltas))
        low, high = binary(eps, n=n, eps0=eps0, width=1e-9)
        rounding = mp.mpf(1e-15) * abs(exact)  # of turning a natural logarithm into one to base 10
        assert mp.mpf(float(low)) <= exact + rounding
        assert mp.mpf(float(high)) >= exact - rounding
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


def log_odds(probability):
    return math.log(probability / (1 - probability))


@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.1), (0.95, 0.4), (0.75, 0.25), (0.5, 1e-6), (0.3, 0.29)]
)
def test_every_pair_of_bits(p, q):
    """`worst_count` gives ln of both bounds on delta: the target user's bit is 1 with p (P) or with q (Q)."""
    users, held, other = 11, log_odds(p), log_odds(q)
    target = Bit.with_log_odds(held, other)
    all_eps = np.array([0.0, 0.1, 0.5, 0.95]) * target.largest  # shares of the largest loss
    low, high = worst_count(all_eps, target, users, (held, other), goal=1e-9)

    p, q = (1 / (1 + mp.exp(-mp.mpf(odds))) for odds in (held, other))
    pairs = []
    for m in range(users + 1):
        count = functools.reduce(add_user, [p] * m + [q] * (users - m), [mp.mpf(1)])
        pairs.append((add_user(count, p), add_user(count, q)))
    for eps, below, above in zip(all_eps.tolist(), low.tolist(), high.tolist(), strict=True):
        exact = mp.log(max(hockey_stick(eps, *pair) for pair in pairs))
        assert below <= exact + 1e-15
        assert above >= exact - 1e-15
        assert above - below < 2e-9


@pytest.mark.parametrize("users", [3, 60, 300, 340, 1300, 1330, 10**5])
def test_counts_of_every_size_have_the_delta_of_their_distribution(users):
    """All users hold the value. Some sizes are next to where counts get another line of integration."""
    eps0 = 1.0
    truth, lie = special.expit([eps0, -eps0])
    loss_deviation = (truth - lie) / math.sqrt(users * truth * lie)
    all_eps = np.array([0.0, 0.5, 2.0, 5.0]) * min(loss_deviation, 0.19)  # all below eps0
    ones = np.arange(users + 2)
    others = stats.binom.pmf(ones, users, truth)
    others_and_a_one = stats.binom.pmf(ones - 1, users, truth)
    p = lie * others + truth * others_and_a_one
    q = truth * others + lie * others_and_a_one
    exact = np.log(np.maximum(p - np.exp(all_eps)[:, None] * q, 0).sum(axis=1))

    counts = BitCounts(all_eps, Bit.flipped(eps0), [eps0, -eps0])
    # How many hold the value and how many do not, for each eps.
    numbers = np.stack([np.full(all_eps.size, users), np.zeros(all_eps.size, int)])
    ln_delta, error = counts.ln_delta(numbers, np.arange(all_eps.size))
    assert np.all(np.abs(ln_delta - exact) <= error + 1e-10)  # 1e-10: of the sums of scipy's floats
    assert np.all(error < 1e-8)


class RandomBlock:
    """A block of datasets, ``first`` <= m <= ``last``, at one ``eps``, among a random number of ``users``.

    ``held`` and ``other`` are the log odds of both bits, p and q their probabilities. ``counts`` has delta of
    every m. Bounds of a random number are (least, most), and those with log10_ in the name are logarithms.
    """

    def __init__(self, rng, log10_users, other, log10_gap, largest_share, log10_width):
        """``eps`` is at most ``largest_share`` of the largest loss, and the width a share of the users.

        The gap is that of the log odds of both bits.
        """
        self.users, self.other = int(10 ** rng.uniform(*log10_users)), rng.uniform(*other)
        self.held = self.other + 10 ** rng.uniform(*log10_gap)
        self.p, self.q = (1 / (1 + math.exp(-odds)) for odds in (self.held, self.other))
        target = Bit.with_log_odds(self.held, self.other)
        least_variance = min(self.p * (1 - self.p), self.q * (1 - self.q))
        loss_deviation = (self.p - self.q) / math.sqrt(self.users * least_variance)
        self.eps = min(rng.uniform(0, 6) * loss_deviation, largest_share * target.largest)
        width = max(2, int(self.users * 10 ** rng.uniform(*log10_width)))
        self.first = int(rng.integers(0, self.users - width + 1))
        self.last = self.first + width
        odds = (self.held, self.other)
        self.counts = HolderCounts(np.array([self.eps]), target, self.users, odds)

    def ln_deltas(self, m):
        """Natural log of delta of each dataset ``m``, and the largest error of that."""
        return self.counts.ln_delta(np.zeros(m.size, int), m, self.users - m)

    def ln_curvatures(self):
        """ln of by how much delta may exceed the larger end: for every c = t - mean, and for one whole t."""
        only_eps = np.zeros(1, int)
        ends = np.array([self.first]), np.array([self.last])
        for_every_c, for_one_t = self.counts.ln_curvatures(only_eps, *ends)
        return for_every_c[0], for_one_t[0]


def test_no_delta_between_two_counts_exceeds_the_curvature_bound():
    narrow = 0  # blocks in which the best m lies inside, and the bound exceeds the ends by less than 10 %
    rng = np.random.default_rng(3)
    for _ in range(60):
        block = RandomBlock(rng, (1.5, 4.2), (-5, 1), (-1.5, 0.9), 0.98, (-2.5, 0))
        m = np.unique(np.linspace(block.first, block.last, 200).astype(int))
        ln_delta, error = block.ln_deltas(m)
        larger_end = max(ln_delta[0], ln_delta[-1])
        bound = np.logaddexp(larger_end, block.ln_curvatures()[0])
        assert np.max(ln_delta - error) <= bound
        narrow += bool(bound - larger_end < 0.1 and np.max(ln_delta) > larger_end)
    assert narrow >= 3


def test_no_delta_between_two_counts_exceeds_the_bound_for_one_whole_t():
    """This bound is for short blocks, in which the mean of the count moves by 1 at most."""
    best_inside = sharper = 0
    rng = np.random.default_rng(5)
    for _ in range(400):
        block = RandomBlock(rng, (1.5, 4.2), (-3, 0.5), (-3, 0.5), 0.98, (-3, 0))
        longest = max(2, int(1 / (block.p - block.q)))
        block.last = min(block.last, block.first + longest)
        m = np.arange(block.first, block.last + 1)
        ln_delta, error = block.ln_deltas(m)
        larger_end = max(ln_delta[0], ln_delta[-1])
        for_every_c, for_one_t = block.ln_curvatures()
        assert np.max(ln_delta - error) <= np.logaddexp(larger_end, for_one_t)
        best_inside += bool(np.max(ln_delta - error) > larger_end)
        sharper += bool(for_one_t < for_every_c - 1)
    # In so many blocks the bound is needed, and in so many it is smaller than the other one.
    assert best_inside >= 30
    assert sharper >= 100


def test_a_thousand_nearly_equal_counts_are_not_looked_at_one_by_one(monkeypatch):
    looked_at = []
    ln_delta = BitCounts.ln_delta

    def ln_delta_noted(counts, numbers, points):
        numbers_of_holders = numbers[0].tolist()
        looked_at.extend(numbers_of_holders)
        return ln_delta(counts, numbers, points)

    monkeypatch.setattr(BitCounts, "ln_delta", ln_delta_noted)
    users, odds, eps = 999, (0.02, -0.02), np.array([0.006])
    low, high = worst_count(eps, Bit.with_log_odds(*odds), users, odds, goal=4e-4, steeply=True)
    assert 0 < len(looked_at) < 250

    m = np.arange(users + 1)
    counts = HolderCounts(eps, Bit.with_log_odds(*odds), users, odds)
    exact, _ = counts.ln_delta(np.zeros(m.size, int), m, users - m)
    assert low <= exact.max() <= high <= exact.max() + 1e-9


def test_the_curvature_bound_is_above_the_integrals_of_its_proof():
    """w^2 / 8 times the second derivatives of E(m, c), by quadrature over |u| <= 1, at both ends of a block.

    E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du is the part
    of delta in `HolderCounts.ln_curvatures`, and w the width of the block. The derivative in m multiplies the
    integrand with (l' + phi0 - phi1)^2 and that in c with (theta + iu)^2. A, theta, phi and K are written out
    here; l(m) is m times the first height plus N - m times the second one.
    """
    u = np.linspace(-1, 1, 20_001)
    rng = np.random.default_rng(4)
    for _ in range(40):
        block = RandomBlock(rng, (2.5, 6), (-5, 0.5), (-1, 0.7), 0.9, (-3, 0))
        a = block.p - math.exp(block.eps) * block.q
        theta = math.log1p(math.expm1(block.eps) / a)
        heights, phis = [], []  # of a bit of who holds the value, and of another user's
        for chance in (block.p, block.q):
            mgf = 1 - chance + chance * math.exp(theta)
            tilted = chance * math.exp(theta) / mgf
            heights.append(math.log(mgf) - theta * tilted)
            phis.append(np.log(1 - tilted + tilted * np.exp(1j * u)) - 1j * u * tilted)
        denominator = np.maximum(np.abs(-np.expm1(-theta - 1j * u)), 1e-300)
        k = np.abs(np.expm1(1j * u)) / denominator
        k[u == 0] = 1.0 if theta == 0 else 0.0

        slope = heights[0] - heights[1] + phis[0] - phis[1]
        factor_of_m = (block.last - block.first) ** 2 * np.abs(slope) ** 2
        factor_of_c = theta**2 + u**2
        ln_unit = math.log(a) + 2 * theta - math.log(2 * math.pi)
        ln_in_m, ln_in_c = [], []
        for m in (block.first, block.last):
            others = block.users - m
            modulus = np.exp((m * phis[0] + others * phis[1]).real) * k
            ln_scale = m * heights[0] + others * heights[1] + ln_unit
            ln_in_m.append(ln_scale + math.log(np.trapezoid(factor_of_m * modulus, u) / 8))
            ln_in_c.append(ln_scale + math.log(np.trapezoid(factor_of_c * modulus, u) / 8))
        exact = float(np.logaddexp(max(ln_in_m), max(ln_in_c)))
        bound, _ = block.ln_curvatures()
        assert exact <= bound
        assert bound <= exact + 0.7  # it is not twice as large as needed, about


def test_a_billion_users_and_eps_from_eps0_on():
    _, high = binary([1.0, 2.0], n=10, eps0=1.0)
    assert high.tolist() == [-math.inf, -math.inf]

    n, eps0 = 10**9, np.array([1.0, 4.0, 12.0])
    eps = np.array([[0.1], [0.6]]) * eps0
    low, high = binary(eps, n=n, eps0=eps0, width=0.01)
    assert low.shape == (2, 3)
    assert np.all((low <= high) & (high - low <= math.log10(1.011)))  # the width, and rounding
    some_datasets = {"count": [0, n // 2, n - 1], "direction": "both"}
    some = count.delta(0.1 * 12.0, n=n, k=2, eps0=12.0, **some_datasets)
    assert some.max() <= high[0, 2] + 1e-6


def test_more_than_a_thousand_eps_have_the_bounds_of_each_alone():
    eps = np.linspace(0, 0.99, 1101)
    low, high = binary(eps, n=30, eps0=1.0)
    for number in (0, 500, 1023, 1024, 1100):  # at most 1024 are computed together
        alone = binary(eps[number], n=30, eps0=1.0)
        np.testing.assert_allclose([low[number], high[number]], alone, rtol=1e-12)
