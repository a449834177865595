"""delta of one count of bits (k = 2): against every dataset in 60 digits, at every m, and its width.

A bit is 1 with the probability p for users who hold the value, else q. Code has the log odds of these, ln(p /
(1 - p)). A dataset is m, the number of other users who hold the value.
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
    """`binary`'s two bounds, log10 of delta, enclose delta of the worst dataset of k-RR with k = 2.

    A dataset is the number m of the n - 1 other users who hold x0. Exact is the largest delta of all m and of
    both directions, in mpmath's 60 digits. `convolved_distributions` has the laws P and Q of the count of x0,
    and `hockey_stick` the delta of its first law against its second.
    """
    rng = np.random.default_rng(11)
    # (n, eps0, eps): five at the edges, and twelve random ones, with eps0 from 1e-4 to 16.
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
    """`worst_count`'s two bounds, ln of delta, enclose delta of P against Q in the worst dataset.

    A user's bit is 1 with probability p if the user holds the value, else with q. The target user holds the
    value under P only. A dataset is how many of 11 other users hold it: m. Exact is the largest delta of all
    m, in mpmath. A law of a count is a list of probabilities, to which `add_user` adds one more user.
    """
    users, both_odds = 11, (log_odds(p), log_odds(q))
    target = Bit.with_log_odds(*both_odds)
    all_eps = np.array([0.0, 0.1, 0.5, 0.95]) * target.largest  # shares of the largest loss
    low, high = worst_count(all_eps, target, users, both_odds, goal=1e-9)

    # p and q of the log odds, which are rounded to floats.
    exact_p, exact_q = (1 / (1 + mp.exp(-mp.mpf(odds))) for odds in both_odds)
    pairs = []
    for m in range(users + 1):
        bits = [exact_p] * m + [exact_q] * (users - m)
        of_others = functools.reduce(add_user, bits, [mp.mpf(1)])
        pairs.append((add_user(of_others, exact_p), add_user(of_others, exact_q)))
    for eps, ln_low, ln_high in zip(all_eps.tolist(), low.tolist(), high.tolist(), strict=True):
        exact = mp.log(max(hockey_stick(eps, *pair) for pair in pairs))
        # 1e-15 is about a float's rounding. (The bounds are 1e-12 or more away from delta.)
        assert ln_low <= exact + 1e-15
        assert ln_high >= exact - 1e-15
        assert ln_high - ln_low < 2e-9  # twice the goal


@pytest.mark.parametrize("users", [3, 60, 300, 340, 1300, 1330, 10**5])
def test_counts_of_every_size_have_the_delta_of_their_distribution(users):
    """`BitCounts.ln_delta` is ln delta of a count of ones, up to its own error; expected are sums in scipy.

    A count is of the bits of the target user and of ``users`` others, who all hold the value. P is its law
    if the target user holds the value, too, and Q if not. `BitCounts` takes another line of integration
    above a variance of 8^2, and of 16^2. At eps = 0 it is users truth lie: above 325 and 1302 users.
    """
    eps0 = 1.0
    # The probabilities of a 1 of who holds the value, and of who does not.
    truth, lie = special.expit([eps0, -eps0])
    loss_deviation = (truth - lie) / math.sqrt(users * truth * lie)
    # Up to 5 standard deviations of the loss, and below eps0: 5 times 0.19 is 0.95.
    all_eps = np.array([0.0, 0.5, 2.0, 5.0]) * min(loss_deviation, 0.19)
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
    assert np.all(error < 1e-8)  # about 100 times the largest one seen


class RandomBlock:
    """A block of datasets, ``first`` <= m <= ``last``, at one ``eps``, among a random number of ``users``.

    ``held`` and ``other`` are the log odds of both bits, p and q their probabilities. ``counts`` has delta of
    every m. Bounds of a random number are (least, most), and those with log10_ in the name are logarithms.
    """

    def __init__(
        self, rng, *, other, log10_gap, log10_width, log10_users=(1.5, 4.2), largest_share=0.98
    ):
        """Draw a block with ``rng``; each argument that is a pair is the range (least, most) of a number.

        A block is all m from ``first`` to ``last``, where m of the ``users`` hold the value. ``held`` and
        ``other`` are the log odds of a 1 of who holds the value, and of who does not. Their difference is the
        gap. The width, last - first, is drawn as a share of the users, and at least 2. ``eps`` is at most 6
        standard deviations of the privacy loss, and ``largest_share`` of the largest loss.
        """
        self.users = int(10 ** rng.uniform(*log10_users))
        self.other = rng.uniform(*other)
        self.held = self.other + 10 ** rng.uniform(*log10_gap)
        both_odds = (self.held, self.other)
        self.p, self.q = (1 / (1 + math.exp(-odds)) for odds in both_odds)
        target = Bit.with_log_odds(*both_odds)
        # About the largest standard deviation of the loss: p - q over the smallest one of the count.
        least_variance = min(self.p * (1 - self.p), self.q * (1 - self.q))
        loss_deviation = (self.p - self.q) / math.sqrt(self.users * least_variance)
        self.eps = min(rng.uniform(0, 6) * loss_deviation, largest_share * target.largest)
        width = max(2, int(self.users * 10 ** rng.uniform(*log10_width)))
        self.first = int(rng.integers(0, self.users - width + 1))
        self.last = self.first + width
        self.counts = HolderCounts(np.array([self.eps]), target, self.users, both_odds)

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
    """In a block of m, delta exceeds the larger delta of both ends by at most the curvature bound.

    m is the number of users who hold the value. The bound is checked at up to 200 m of each of 60 random
    blocks, and it has to be narrow for some of them. delta and the bound are natural logs, which
    `block.ln_deltas` and `block.ln_curvatures` have. ``error`` is the largest error of ln delta.
    """
    # Blocks in which delta is largest inside, and the bound is less than about 10 % above the larger end.
    narrow = 0
    rng = np.random.default_rng(3)
    for _ in range(60):
        block = RandomBlock(rng, other=(-5, 1), log10_gap=(-1.5, 0.9), log10_width=(-2.5, 0))
        m = np.unique(np.linspace(block.first, block.last, 200).astype(int))
        ln_delta, error = block.ln_deltas(m)
        larger_end = max(ln_delta[0], ln_delta[-1])
        bound = np.logaddexp(larger_end, block.ln_curvatures()[0])
        assert np.max(ln_delta - error) <= bound
        narrow += bool(bound - larger_end < 0.1 and np.max(ln_delta) > larger_end)
    assert narrow >= 3  # of the 60; it was 4


def test_no_delta_between_two_counts_exceeds_the_bound_for_one_whole_t():
    """In a short block of m, delta exceeds the larger delta of both ends by at most the second bound.

    m is the number of users who hold the value: one more moves the mean of the count by p - q. Short is a
    block in which the mean moves by about 1 at most. Only there is the second bound of `ln_curvatures`, for
    one whole number t of the count, known. All are natural logs.
    """
    best_inside = sharper = 0
    rng = np.random.default_rng(5)
    for _ in range(400):
        block = RandomBlock(rng, other=(-3, 0.5), log10_gap=(-3, 0.5), log10_width=(-3, 0))
        longest = max(2, int(1 / (block.p - block.q)))
        block.last = min(block.last, block.first + longest)
        m = np.arange(block.first, block.last + 1)
        ln_delta, error = block.ln_deltas(m)
        larger_end = max(ln_delta[0], ln_delta[-1])
        for_every_c, for_one_t = block.ln_curvatures()
        assert np.max(ln_delta - error) <= np.logaddexp(larger_end, for_one_t)
        best_inside += bool(np.max(ln_delta - error) > larger_end)
        sharper += bool(for_one_t < for_every_c - 1)  # natural logs: by a factor of e
    # Of 400 blocks, in 61 delta was larger inside, and in 159 the second bound was sharper than the first.
    assert best_inside >= 30
    assert sharper >= 100


def test_a_thousand_nearly_equal_counts_are_not_looked_at_one_by_one(monkeypatch):
    """`worst_count` finds the largest delta of 1,000 datasets from delta of fewer than 250 (116 were seen).

    A dataset is how many of 999 users hold the value: m. `worst_count` calls `BitCounts.ln_delta`, which is
    replaced by one that notes each m. Expected is the largest ln delta of all m. ``goal`` is by how much both
    bounds, in ln delta, may differ; ``steeply`` allows more where delta is below 1 / e.
    """
    looked_at = []
    ln_delta = BitCounts.ln_delta

    def ln_delta_noted(counts, numbers_of_kinds, eps_indices):
        numbers_of_holders = numbers_of_kinds[0].tolist()
        looked_at.extend(numbers_of_holders)
        return ln_delta(counts, numbers_of_kinds, eps_indices)

    monkeypatch.setattr(BitCounts, "ln_delta", ln_delta_noted)
    users, odds, eps = 999, (0.02, -0.02), np.array([0.006])
    low, high = worst_count(eps, Bit.with_log_odds(*odds), users, odds, goal=4e-4, steeply=True)
    assert 0 < len(looked_at) < 250

    # delta of every m, for which the index of eps is 0.
    m = np.arange(users + 1)
    counts = HolderCounts(eps, Bit.with_log_odds(*odds), users, odds)
    exact, _ = counts.ln_delta(np.zeros(m.size, int), m, users - m)
    # The goal would allow more than 1e-9, which is of rounding; but what was ruled out has a smaller delta.
    assert low <= exact.max() <= high <= exact.max() + 1e-9


def test_the_curvature_bound_is_above_the_integrals_of_its_proof():
    """The bound is at least w^2 / 8 times the second derivatives of E(m, c), by quadrature over |u| <= 1.

    They are taken at both ends of a random block of m: m of the N users hold the value. E is the part of
    delta that `HolderCounts.ln_curvatures` bounds,

        E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du.

    w is the width of the block for the derivative in m, and 1 for that in c. The derivative in m multiplies
    the integrand with (l' + phi0 - phi1)^2, and that in c with (theta + iu)^2. The code has A as ``a``, and
    l(m) = m heights[0] + (N - m) heights[1]. e^(-theta c) is at its largest: e^theta, as c >= -1.
    """
    u = np.linspace(-1, 1, 20_001)
    rng = np.random.default_rng(4)
    for _ in range(40):
        ranges = {"other": (-5, 0.5), "log10_gap": (-1, 0.7), "log10_width": (-3, 0)}
        block = RandomBlock(rng, log10_users=(2.5, 6), largest_share=0.9, **ranges)
        a = block.p - math.exp(block.eps) * block.q
        theta = math.log1p(math.expm1(block.eps) / a)
        heights, phis = [], []  # of a bit of who holds the value, and of another user's
        for chance in (block.p, block.q):
            mgf = 1 - chance + chance * math.exp(theta)
            tilted = chance * math.exp(theta) / mgf
            heights.append(math.log(mgf) - theta * tilted)
            phis.append(np.log(1 - tilted + tilted * np.exp(1j * u)) - 1j * u * tilted)
        # |K| = |e^iu - 1| / |1 - e^(-theta - iu)|; at u = 0 it is 0 / 0 if theta is 0, with the limit 1.
        denominator = np.maximum(np.abs(np.expm1(-theta - 1j * u)), 1e-300)
        abs_k = np.abs(np.expm1(1j * u)) / denominator
        abs_k[u == 0] = 1.0 if theta == 0 else 0.0

        slope = heights[0] - heights[1] + phis[0] - phis[1]
        factor_of_m = (block.last - block.first) ** 2 * np.abs(slope) ** 2
        factor_of_c = theta**2 + u**2
        ln_unit = math.log(a) + 2 * theta - math.log(2 * math.pi)
        ln_in_m, ln_in_c = [], []
        for m in (block.first, block.last):
            others = block.users - m
            modulus = np.exp((m * phis[0] + others * phis[1]).real) * abs_k
            ln_scale = m * heights[0] + others * heights[1] + ln_unit
            ln_in_m.append(ln_scale + math.log(np.trapezoid(factor_of_m * modulus, u) / 8))
            ln_in_c.append(ln_scale + math.log(np.trapezoid(factor_of_c * modulus, u) / 8))
        exact = float(np.logaddexp(max(ln_in_m), max(ln_in_c)))
        bound, _ = block.ln_curvatures()
        assert exact <= bound
        assert bound <= exact + 0.7  # natural logs: it is not twice as large as needed, about


def test_a_billion_users_and_eps_from_eps0_on():
    """`binary`'s lower and upper bound, log10 of delta, keep three promises.

    1. delta is 0 from eps0 on. 2. For 10^9 users both bounds have the shape of all eps, and upper / lower - 1
    is at most the ``width`` of 0.01, but for rounding. 3. The upper one is not below `count.delta` of three
    datasets, in which nobody, half or all of the other users hold the value.
    """
    _, high = binary([1.0, 2.0], n=10, eps0=1.0)
    assert high.tolist() == [-math.inf, -math.inf]

    n, eps0 = 10**9, np.array([1.0, 4.0, 12.0])
    eps = np.array([[0.1], [0.6]]) * eps0
    low, high = binary(eps, n=n, eps0=eps0, width=0.01)
    assert low.shape == (2, 3)
    assert np.all((low <= high) & (high - low <= math.log10(1.011)))  # the width, and rounding
    some_datasets = {"count": [0, n // 2, n - 1], "direction": "both"}
    some = count.delta(0.1 * 12.0, n=n, k=2, eps0=12.0, **some_datasets)
    # At eps0 = 12 and eps = 1.2. 1e-6 is of rounding: about 1e-9 of log10 delta, which is -906.
    assert some.max() <= high[0, 2] + 1e-6


def test_more_than_a_thousand_eps_have_the_bounds_of_each_alone():
    eps = np.linspace(0, 0.99, 1101)
    low, high = binary(eps, n=30, eps0=1.0)
    for number in (0, 500, 1023, 1024, 1100):  # at most 1024 are computed together
        alone = binary(eps[number], n=30, eps0=1.0)
        np.testing.assert_allclose([low[number], high[number]], alone, rtol=1e-12)
