"""delta of one count of bits (k = 2): against every dataset in mpmath, at every m, and its width.

A bit is 1 with the probability p for users who hold the value, else q. Code has the log odds of these, ln(p /
(1 - p)). A dataset is m, the number of other users who hold the value.
"""

import functools
import math
from unittest.mock import patch

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from tests.printed import add_user, hockey_stick
from tightshuffle.bounds import bit_counts
from tightshuffle.bounds.bit_counts import Bit, BitCounts
from tightshuffle.bounds.bits import (
    HolderCounts,
    _Blocks,
    _ln_bounds_of_blocks,
    ln_bracket_of_binary_krr,
    worst_count,
)
from tightshuffle.literature.count import ln_delta_of_count


def worst_delta(eps, users, p, q):
    """delta of P against Q of the worst dataset, in mpmath.

    A user's bit is 1 with probability p if the user holds the value, else with q. The target user holds the
    value under P only. A dataset is how many of the ``users`` hold it: m. A law of a count is a list of
    probabilities, to which `add_user` adds one more user.
    """
    deltas = []
    for m in range(users + 1):
        bits = [p] * m + [q] * (users - m)
        of_others = functools.reduce(add_user, bits, [mp.mpf(1)])
        deltas.append(hockey_stick(eps, add_user(of_others, p), add_user(of_others, q)))
    return max(deltas)


def random_settings():
    """Twelve random settings (n, eps0, eps), with eps0 from 1e-4 to 16."""
    rng = np.random.default_rng(11)
    for _ in range(12):
        n, eps0 = int(rng.integers(1, 16)), 10 ** rng.uniform(-4, 1.2)
        yield n, eps0, eps0 * rng.uniform()


AT_THE_EDGES = [
    *[(1, 1.0, 0.3), (2, 0.5, 0.0), (9, 40.0, 38.0), (12, 1e-6, 4e-7), (14, 3.0, 3.0 - 1e-9)],
    # The other bits hardly vary.
    *[(6, 300.0, 0.0), (14, 300.0, 258.7), (14, 300.0, 299.9999997)],
]


@mp.workdps(400)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("n", "eps0", "eps"), [*AT_THE_EDGES, *random_settings()])
def test_both_bounds_enclose_delta_of_the_worst_dataset(n, eps0, eps):
    """The bounds are ln delta for k-RR with k = 2. Exact is delta in mpmath's 400 digits.

    By symmetry both directions have the same worst delta.
    """
    p = 1 / (1 + mp.exp(-mp.mpf(eps0)))
    exact = mp.log(worst_delta(eps, n - 1, p, 1 - p))
    low, high = ln_bracket_of_binary_krr(eps, n=n, eps0=eps0, width=1e-9)
    assert mp.mpf(float(low)) <= exact <= mp.mpf(float(high))
    assert high - low < 2.3e-9


@pytest.mark.parametrize(("eps0", "eps"), [(1.0, 0.05), (4.0, 0.4), (0.3, 0.2999), (2.0, 0.0)])
def test_both_bounds_enclose_delta_of_90_users(eps0, eps):
    """Expected is ln delta by `ln_delta_of_count`, for every number of other users who hold x0."""
    n = 90
    ln_deltas = ln_delta_of_count(eps, n=n, k=2, eps0=eps0, count=np.arange(n), direction="both")
    low, high = ln_bracket_of_binary_krr(eps, n=n, eps0=eps0, width=1e-3)
    promised = 1e-9  # by ln_delta_of_count
    assert low <= ln_deltas.max() + promised
    assert high >= ln_deltas.max() - promised
    assert high - low <= math.log(1.0011)


@pytest.mark.parametrize(
    ("p", "q"), [(0.5, 0.1), (0.95, 0.4), (0.75, 0.25), (0.5, 1e-6), (0.3, 0.29)]
)
def test_both_bounds_enclose_delta_of_any_pair_of_bits(p, q):
    """A bit is 1 with probability p if the user holds the value, else with q. Bounds are ln of delta."""
    users, both_odds = 11, special.logit([p, q]).tolist()
    target = Bit.with_log_odds(*both_odds)
    all_eps = np.array([0.0, 0.1, 0.5, 0.95]) * target.largest  # shares of the largest loss
    low, high = worst_count(all_eps, target, users, both_odds, goal=1e-9)

    # p and q of the log odds, which are rounded to floats.
    exact_p, exact_q = [1 / (1 + mp.exp(-mp.mpf(odds))) for odds in both_odds]
    for eps, ln_low, ln_high in zip(all_eps.tolist(), low.tolist(), high.tolist(), strict=True):
        exact = mp.log(worst_delta(eps, users, exact_p, exact_q))
        # 1e-15 is about a float's rounding. (The bounds are 1e-12 or more away from delta.)
        assert ln_low <= exact + 1e-15
        assert ln_high >= exact - 1e-15
        assert ln_high - ln_low < 2e-9  # twice the goal


def ln_delta_by_sums(eps, users, truth, lie):
    """ln delta of the count of ones among the target user's bit and those of ``users`` others; as ``eps``.

    A bit is 1 with probability ``truth`` if the user holds the value, as all others do, else ``lie``. The
    target user holds it under P, and not under Q.
    """
    ones = np.arange(users + 2)
    of_others = stats.binom.pmf(ones, users, truth)
    of_others_and_a_one = stats.binom.pmf(ones - 1, users, truth)
    p = lie * of_others + truth * of_others_and_a_one
    q = truth * of_others + lie * of_others_and_a_one
    return np.log(np.maximum(p - np.exp(eps)[:, None] * q, 0).sum(axis=1))


@pytest.mark.parametrize("users", [3, 60, 300, 340, 1300, 1330, 10**5])
def test_counts_of_every_size_have_the_delta_of_their_distribution(users):
    """`BitCounts.ln_delta` is ln delta of a count among ``users`` who hold the value, up to its error.

    `BitCounts` takes another line of integration above a variance of 8^2, and of 16^2. At eps = 0 it is
    users truth lie: above 325 and 1302 users.
    """
    eps0 = 1.0
    truth, lie = special.expit([eps0, -eps0])
    loss_deviation = (truth - lie) / math.sqrt(users * truth * lie)
    # Up to 5 standard deviations of the loss, and below eps0: 5 times 0.19 is 0.95.
    eps = np.array([0.0, 0.5, 2.0, 5.0]) * min(loss_deviation, 0.19)
    counts = BitCounts(eps, Bit.flipped(eps0), log_odds=[eps0])
    ln_delta, error = counts.ln_delta(np.full((1, eps.size), users), np.arange(eps.size))
    rounding = 1e-10  # of the sums of scipy's floats
    assert np.all(np.abs(ln_delta - ln_delta_by_sums(eps, users, truth, lie)) <= error + rounding)
    assert np.all(error < 1e-8)  # about 100 times the largest one seen


def test_the_error_of_a_count_covers_angles_that_are_left_out():
    """With the usual `_DECAY` of 60 they are far below rounding; here they are 2e-7 of delta, about."""
    eps0, users = 1.0, 340
    truth, lie = special.expit([eps0, -eps0])
    eps = np.array([0.0, 0.01])
    with patch.object(bit_counts, "_DECAY", 10.0):
        counts = BitCounts(eps, Bit.flipped(eps0), log_odds=[eps0])
        ln_delta, error = counts.ln_delta(np.full((1, 2), users), np.arange(2))
    missed = np.abs(ln_delta - ln_delta_by_sums(eps, users, truth, lie))
    assert np.all(missed > 1e-8)
    assert np.all(missed <= error)


class RandomBlock:
    """Datasets with ``first`` <= m <= ``last``, where m of a random number of ``users`` hold the value.

    ``p`` and ``q`` are the probabilities of a 1 of who holds the value, and of who does not. ``counts`` has
    delta of every m at one ``eps``.
    """

    def __init__(
        self, rng, *, other, log10_gap, log10_width, log10_users=(1.5, 4.2), largest_share=0.98
    ):
        """Draw a block with ``rng``; each argument that is a pair is the range (least, most) of a number.

        ``other`` is the range of the log odds of q. The gap is how much larger those of p are. The width,
        last - first, is drawn as a share of the users, and at least 2. ``eps`` is at most 6 standard
        deviations of the privacy loss, and ``largest_share`` of the largest loss.
        """
        self.users = int(10 ** rng.uniform(*log10_users))
        odds_of_q = rng.uniform(*other)
        both_odds = (odds_of_q + 10 ** rng.uniform(*log10_gap), odds_of_q)
        self.p, self.q = special.expit(both_odds).tolist()
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
        index_of_eps, first, last = np.array([[0], [self.first], [self.last]])
        for_every_c, for_one_t = self.counts.ln_curvatures(index_of_eps, first, last)
        return for_every_c[0], for_one_t[0]


def test_no_delta_between_two_counts_exceeds_the_curvature_bound():
    """In a block of m, delta exceeds the larger delta of both ends by at most the curvature bound.

    m is the number of users who hold the value. delta is looked at in up to 200 m of each of 60 random
    blocks. delta and the bound are natural logs, which `block.ln_deltas` and `block.ln_curvatures` have.
    """
    # Blocks in which delta is largest inside, and the bound is less than about 10 % above the larger end.
    narrow = 0
    rng = np.random.default_rng(3)
    for _ in range(60):
        block = RandomBlock(rng, other=(-5, 1), log10_gap=(-1.5, 0.9), log10_width=(-2.5, 0))
        m = np.unique(np.linspace(block.first, block.last, 200).astype(int))
        ln_delta, error = block.ln_deltas(m)
        larger_end = max(ln_delta[0], ln_delta[-1])
        for_every_c, _ = block.ln_curvatures()
        bound = np.logaddexp(larger_end, for_every_c)
        assert np.all(ln_delta - error <= bound)
        narrow += bool(bound - larger_end < 0.1 and np.max(ln_delta) > larger_end)
    assert narrow >= 3  # of the 60; it was 4


def test_no_delta_between_two_counts_exceeds_the_bound_for_one_whole_t():
    """In a short block of m, delta exceeds the larger delta of both ends by at most the second bound.

    m is the number of users who hold the value: one more moves the mean of the count by p - q. Short is a
    block in which the mean moves by about 1 at most. Only there is the second bound of `ln_curvatures`, for
    one whole number t of the count, known. All are natural logs.
    """
    largest_inside = sharper = 0  # numbers of blocks
    rng = np.random.default_rng(5)
    for _ in range(400):
        block = RandomBlock(rng, other=(-3, 0.5), log10_gap=(-3, 0.5), log10_width=(-3, 0))
        longest = max(2, int(1 / (block.p - block.q)))
        block.last = min(block.last, block.first + longest)
        ln_delta, error = block.ln_deltas(np.arange(block.first, block.last + 1))
        larger_end = max(ln_delta[0], ln_delta[-1])
        for_every_c, for_one_t = block.ln_curvatures()
        assert np.all(ln_delta - error <= np.logaddexp(larger_end, for_one_t))
        largest_inside += np.any(ln_delta - error > larger_end)
        sharper += for_one_t < for_every_c - 1  # natural logs: by a factor of e
    # Of 400 blocks, in 61 delta was larger inside, and in 159 the second bound was sharper than the first.
    assert largest_inside >= 30
    assert sharper >= 100


def test_a_bound_of_a_block_that_leaves_users_out_is_above_every_delta():
    """Here delta of one dataset may be wrong by a tenth, and is too small by that."""
    ln_delta = BitCounts.ln_delta

    def too_small(counts, numbers, eps_indices):
        value, error = ln_delta(counts, numbers, eps_indices)
        return value - 0.1, error + 0.1

    def unknown(counts, eps_indices, first, last):
        return np.full((2, first.size), np.inf)

    block = RandomBlock(
        np.random.default_rng(6), other=(-1, 1), log10_gap=(-1, 0), log10_width=(-3, -2)
    )
    ln_deltas, _ = block.ln_deltas(np.arange(block.first, block.last + 1))
    index, first, last, unbounded = np.array([[0], [block.first], [block.last], [math.inf]])
    blocks = _Blocks(index.astype(int), first.astype(int), last.astype(int), *[unbounded] * 3)
    with (
        patch.object(HolderCounts, "ln_curvatures", unknown),
        patch.object(BitCounts, "ln_delta", too_small),
    ):
        bound = _ln_bounds_of_blocks(block.counts, blocks, unbounded, -unbounded)
    assert ln_deltas.max() <= bound < ln_deltas.max() + 0.1


def test_a_thousand_nearly_equal_counts_are_not_looked_at_one_by_one():
    """`worst_count` finds the largest delta of 1,000 datasets from delta of fewer than 250 (116 were seen).

    A dataset is how many of 999 users hold the value: m. ``goal`` is by how much both bounds, in ln delta,
    may differ; ``steeply`` allows more where delta is below 1 / e.
    """
    users, odds, eps = 999, (0.02, -0.02), np.array([0.006])
    target = Bit.with_log_odds(*odds)
    ln_delta = BitCounts.ln_delta
    with patch.object(BitCounts, "ln_delta", autospec=True, side_effect=ln_delta) as spy:
        low, high = worst_count(eps, target, users, odds, goal=4e-4, steeply=True)
    # Each call is for an array of datasets, (kinds of bits, datasets).
    datasets_of_calls = [call.args[1].shape[1] for call in spy.call_args_list]
    assert 0 < sum(datasets_of_calls) < 250

    m = np.arange(users + 1)
    index_of_eps = np.zeros(m.size, int)
    exact, _ = HolderCounts(eps, target, users, odds).ln_delta(index_of_eps, m, users - m)
    # The goal would allow more than 1e-9, which is of rounding; but what was ruled out has a smaller delta.
    assert low <= exact.max() <= high <= exact.max() + 1e-9


def ln_bound_by_integrals(block):
    """ln of w^2 / 8 times the second derivatives of E(m, c), by quadrature over |u| <= 1.

    They are taken at both ends of the ``block`` of m: m of the N users hold the value. E is the part of
    delta that `HolderCounts.ln_curvatures` bounds,

        E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du.

    w is the width of the block for the derivative in m, and 1 for that in c. The derivative in m multiplies
    the integrand with (l' + phi0 - phi1)^2, and that in c with (theta + iu)^2. The code has A as ``a``, and
    l(m) = m heights[0] + (N - m) heights[1]. e^(-theta c) is at its largest: e^theta, as c >= -1.
    """
    u = np.linspace(-1, 1, 20_001)
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
    return float(np.logaddexp(max(ln_in_m), max(ln_in_c)))


def test_the_curvature_bound_is_above_the_integrals_of_its_proof():
    """In a random block of datasets, `ln_curvatures` is at least `ln_bound_by_integrals`, and close to it."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        ranges = {"other": (-5, 0.5), "log10_gap": (-1, 0.7), "log10_width": (-3, 0)}
        block = RandomBlock(rng, log10_users=(2.5, 6), largest_share=0.9, **ranges)
        exact = ln_bound_by_integrals(block)
        bound, _ = block.ln_curvatures()
        assert exact <= bound
        assert bound <= exact + 0.7  # natural logs: it is not twice as large as needed, about


@pytest.mark.parametrize(("p", "q"), [(0.3, 0.1), (0.05, 0.01), (0.95, 0.8), (0.6, 0.5)])
def test_the_third_derivatives_of_two_bits_are_at_most_their_skews(p, q):
    """That of ln(1 - p + p e^iu) is -i t (1 - t) (1 - 2 t) with t = p e^iu / (1 - p + p e^iu), |u| <= 1.

    At eps = 0 a bit is not tilted. The code has the sum of both skews as a sixth, a coefficient of |u|^3.
    """
    both_odds = special.logit([p, q]).tolist()
    counts = HolderCounts(np.array([0.0]), Bit.with_log_odds(*both_odds), 10, both_odds)
    e_iu = np.exp(1j * np.linspace(-1, 1, 2001))
    largest = []
    for chance in (p, q):
        t = chance * e_iu / (1 - chance + chance * e_iu)
        largest.append(np.abs(t * (1 - t) * (1 - 2 * t)).max())
    assert sum(largest) <= 6 * counts._sixth_of_skews.item()


def test_delta_is_0_from_eps0_on():
    _, ln_delta = ln_bracket_of_binary_krr([1.0, 2.0], n=10, eps0=1.0)
    assert ln_delta.tolist() == [-math.inf, -math.inf]


def test_both_bounds_of_a_billion_users_differ_by_at_most_the_width():
    """The bounds are ln delta, in the shape of eps. Upper / lower - 1 is at most the width."""
    eps0 = np.array([1.0, 4.0, 12.0])
    eps = np.array([[0.1], [0.6]]) * eps0
    low, high = ln_bracket_of_binary_krr(eps, n=10**9, eps0=eps0, width=0.01)
    assert low.shape == (2, 3)
    assert np.all((low <= high) & (high - low <= math.log(1.011)))  # the width, and rounding


def test_the_upper_bound_of_a_billion_users_is_not_below_some_datasets():
    """The bounds are ln delta. In the datasets nobody, half or all of the other users hold x0."""
    n, setting = 10**9, {"n": 10**9, "eps0": 12.0}
    holders = [0, n // 2, n - 1]
    some_ln_deltas = ln_delta_of_count(1.2, k=2, count=holders, direction="both", **setting)
    _, high = ln_bracket_of_binary_krr(1.2, width=0.01, **setting)
    # 2e-6 is of rounding: about 1e-9 of ln delta, which is -2086.
    assert some_ln_deltas.max() <= high + 2e-6


def test_more_than_a_thousand_eps_have_the_bounds_of_each_alone():
    eps = np.linspace(0, 0.99, 1101)
    low, high = ln_bracket_of_binary_krr(eps, n=30, eps0=1.0)
    for number in (0, 500, 1023, 1024, 1100):  # at most 1024 are computed together
        alone = ln_bracket_of_binary_krr(eps[number], n=30, eps0=1.0)
        np.testing.assert_allclose([low[number], high[number]], alone, rtol=1e-12)
