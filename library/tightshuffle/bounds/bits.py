"""delta of one count of bits, for the worst dataset: the whole histogram for k = 2, and a column of sums.

Each user sends one bit. It is 1 with probability p for users who hold the value, else with q < p. The target
user changes from p (P) to q (Q). Of the N other users, m hold the value; the worst dataset is the m for which
delta is largest. For one m, `BitCounts` has delta. Blocks of m are ruled out by the curvature of its
integral, or by leaving users out. docs/theory.md, "One count of bits", has the proof.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    LARGEST_EXPONENT,
    Booleans,
    Floats,
    Integers,
    check_eps,
    check_eps0,
    check_n,
    check_positive,
)
from tightshuffle.bounds.bit_counts import Bit, BitCounts, ln_mgf, tilted_probability_of_1

# The search begins with datasets of these shares of holders. The worst share is often near 0 or 1.
_FEW_HOLDERS = np.array([0, 1 / 512, 1 / 128, 1 / 32, 1 / 8])
_FIRST_SHARES = np.append(_FEW_HOLDERS, 1 - _FEW_HOLDERS)
_MOST_DATASETS = 200_000  # m and blocks that are looked at for one eps, about
_MOST_EPS = 1024  # that are looked at together, which bounds the memory
_SHARES = np.linspace(0, 1, 65)  # of users who hold x0
# Of a normal density: int |u|^k e^(-u^2 / 2) du / (2 pi), for k = 0, 1, ..., 7.
_MOMENTS = [2 ** (k / 2) * math.gamma((k + 1) / 2) / math.sqrt(2) / math.pi for k in range(8)]


def ln_bracket_of_binary_krr(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, width: float = 1e-3
) -> tuple[Floats, Floats]:
    """ln of a lower and of an upper bound on the worst dataset's delta for k = 2; -inf where eps >= eps0.

    These are bounds for shuffled k-RR with two values. The lower bound is delta of some dataset, rounded
    down. ``n`` is the number of all users. ``eps``, ``n`` and ``eps0``, at most 300, are numbers or arrays,
    which broadcast. Both results have the broadcast shape. ``width`` is the target for upper / lower - 1. It
    is reached unless that takes more than about 200,000 datasets (`_MOST_DATASETS`). ValueError names the
    argument that is out of range.
    """
    all_eps, all_n, all_eps0 = np.broadcast_arrays(
        check_eps(eps), check_n(n), check_eps0(eps0, LARGEST_EXPONENT)
    )
    width = float(check_positive("width", width))
    # Natural logs; delta is 0 where eps >= eps0.
    ln_low = np.full(all_eps.shape, -np.inf)
    ln_high = np.full(all_eps.shape, -np.inf)

    # All eps of the same n and eps0 are computed together.
    is_positive = all_eps < all_eps0
    settings = np.stack([all_n[is_positive], all_eps0[is_positive]], axis=-1)
    for users, budget in np.unique(settings, axis=0).tolist():
        has_setting = is_positive & (all_n == users) & (all_eps0 == budget)
        ln_low[has_setting], ln_high[has_setting] = ln_delta_among(
            all_eps[has_setting], budget, int(users) - 1, budget, width=width
        )
    return ln_low[()], ln_high[()]


def ln_delta_among(
    eps: Floats,
    target_eps0: float,
    users: int,
    eps0: float,
    dummies: int = 0,
    *,
    width: float = 1e-3,
) -> tuple[Floats, Floats]:
    """Natural logs of a lower and an upper bound on delta of one report in the worst dataset, for k = 2.

    Both are (e,), as is ``eps``, of which each is below the target user's ``target_eps0``. That is math.inf
    if the report is the value itself. ``users`` is the number of other users, who all have ``eps0``, and
    ``dummies`` that of uniform reports. ``width`` is that of `ln_bracket_of_binary_krr`. Nothing is checked.
    """
    log_odds = (eps0, -eps0)
    bit = Bit.flipped(target_eps0)
    bounds = []
    for start in range(0, eps.size, _MOST_EPS):
        some_eps = eps[start : start + _MOST_EPS]
        bounds.append(worst_count(some_eps, bit, users, log_odds, dummies, goal=math.log1p(width)))
    low, high = np.concatenate(bounds, axis=-1)
    return low, high


class HolderCounts:
    """The counts in which a bit is hidden among those of other users, some of whom hold the value.

    ``eps`` (e,) and ``bit`` are as for `BitCounts`. There are ``users`` other users. ``log_odds`` are two
    numbers: the log odds that the bit of one is 1, for who holds the value and for who does not. ``dummies``
    is the number of random bits.
    """

    def __init__(
        self,
        eps: Floats,
        bit: Bit,
        users: int,
        log_odds: tuple[float, float],
        dummies: int = 0,
    ) -> None:
        """Compute for each eps what the bounds of `ln_curvatures` need of one tilted bit of each kind.

        The kinds are 0, a bit of who holds the value, 1, a bit of another user, and 2, a dummy, if there are
        any. To tilt a bit by theta is to multiply its odds of 1 by e^theta; theta (e,) is chosen by
        `BitCounts`. For a tilted bit that is 1 with probability p, ``_variances`` (kinds, e) are p (1 - p).
        With the moment generating function R of the bit, ``_heights`` (kinds, e) are ln R(theta) - theta p.
        ``skews`` (kinds, e) bound the absolute third derivative of phi(u), the log of the characteristic
        function of the centred and tilted bit, for |u| <= 1.
        """
        self.users = users
        self._dummies = dummies
        kinds = [*log_odds, 0.0] if dummies > 0 else [*log_odds]
        self._counts = BitCounts(eps, bit, kinds)

        theta, log_odds_of_kinds = self._counts.theta, np.array(kinds)[:, None]
        p = tilted_probability_of_1(theta, log_odds_of_kinds)
        one_minus_p = tilted_probability_of_1(-theta, -log_odds_of_kinds)
        ln_mgfs = ln_mgf(theta, log_odds_of_kinds)
        self._heights = ln_mgfs - theta * p
        self._variances = (p * one_minus_p).astype(float)
        # |third derivative| <= p (1 - p) / |1 + p (e^iu - 1)|^3, and |1 + p (e^iu - 1)|^2 is
        # 1 - 2 p (1 - p) (1 - cos u), which is smallest at |u| = 1, the largest that counts.
        skews = self._variances / (1 - 2 * (1 - math.cos(1)) * self._variances) ** 1.5

        # How a bit of who holds the value differs from another user's, in absolute value; all (e,). The
        # drift is that of the means, and the ratio that of R(theta).
        self._drift = np.abs((p[0] - p[1]).astype(float))
        self._ln_ratio = np.abs((ln_mgfs[0] - ln_mgfs[1]).astype(float))
        self._slope = np.abs((self._heights[0] - self._heights[1]).astype(float))
        # The coefficients of u^2 and u^3 in a bound on |phi_0(u) - phi_1(u)|.
        self._half_of_variances = np.abs(self._variances[0] - self._variances[1]) / 2
        self._sixth_of_skews = (skews[0] + skews[1]) / 6

    def ln_delta(
        self, eps_indices: Integers, holders: Integers, others: Integers
    ) -> tuple[Floats, Floats]:
        """Natural log of delta of some datasets, and the largest error of this logarithm; both (rows,).

        A row is a dataset at one eps, whose index ``eps_indices`` has. So many of the other users are
        ``holders`` of the value, and so many are ``others``. All three are (rows,).
        """
        return self._counts.ln_delta(self._numbers_of_kinds(holders, others), eps_indices)

    def ln_curvatures(
        self, eps_indices: Integers, first: Integers, last: Integers
    ) -> tuple[Floats, Floats]:
        """Natural logs of two bounds on how much delta of a block may exceed the larger delta of its ends.

        Both are (blocks,). A block is all m from ``first`` to ``last``, where m of the N other users hold the
        value. ``first``, ``last`` and ``eps_indices``, the index of each block's eps, are (blocks,). The
        second bound holds only where the mean of the count moves by at most 1 within the block. Elsewhere it
        is inf.

        *Idea.* A function on an interval of length w exceeds its larger end by at most w^2 / 8 times its
        largest second derivative. delta is a function of m, or of m and c = t - mu(m). Here t is the count
        from which on P is larger, and mu(m) and V(m) are the mean and variance of the count tilted by theta.
        But for the factor of dummies, in which there is no m, the integral of delta over |u| <= 1 is

            E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du,

        where index 0 is for who holds the value, and 1 for another user, A = p - e^eps q of the target user's
        bit, R is the moment generating function of a bit, and phi(u) is the log of the characteristic
        function of a centred, tilted bit. l(m) = ln(R0(theta)^m R1(theta)^(N - m)) - theta mu(m) is affine.
        |K| = |e^iu - 1| / |1 - e^(-theta - iu)| is at most e^(theta / 2), and at most |u| / (1 - e^-theta).

        *Bounds.* With the real part of m phi0 + (N - m) phi1 at most -11 V u^2 / 24, second derivatives are
        at most integrals of |u|^j e^(-11 V u^2 / 24) over |u| <= 1. A derivative in m is a factor
        l' + phi0 - phi1, and one in c is a factor theta + iu. As (phi0 - phi1)'' is the difference of the two
        variances at u = 0, and its derivative is bounded for |u| <= 1,

            |l' + phi0 - phi1| <= slope + half_of_variances u^2 + sixth_of_skews |u|^3.

        The part |u| > 1 of delta is at most e^(theta / 2 - V (1 - cos 1)) in the same units. It counts twice:
        in what is bounded, and at the ends. The unit is A e^theta e^(l(m) - theta c), at most A e^(2 theta)
        e^l(m), as c >= -1.
        """
        ends = [self._numbers_of_kinds(m, self.users - m) for m in (first, last)]
        variances = [(numbers * self._variances[:, eps_indices]).sum(axis=0) for numbers in ends]
        heights = [
            (numbers * self._heights[:, eps_indices]).sum(axis=0).astype(float) for numbers in ends
        ]
        least_variance = np.minimum(*variances)

        theta = self._counts.theta[eps_indices]
        largest_k = np.exp(theta / 2)
        far_part = 2 * largest_k * np.exp(-least_variance * (1 - math.cos(1)))
        # ln of A e^theta e^(l(m) - theta c) at its largest.
        ln_unit = self._counts.ln_a[eps_indices] + 2 * theta + np.maximum(*heights)
        # int |u|^k e^(-11 V u^2 / 24) du / (2 pi) over |u| <= 1: at most that over all u, which follows from
        # the one with V = 12 / 11, and at most that for V = 0. 1e-30 is for a V next to 0.
        scale = np.sqrt(12 / 11 / np.maximum(least_variance, 1e-30))
        moments = [
            np.minimum(moment * scale ** (k + 1), 1 / (math.pi * (k + 1)))
            for k, moment in enumerate(_MOMENTS)
        ]

        def ln_excess(factors: Sequence[Floats]) -> Floats:
            """ln of the bound, from w^2 times the second derivative: the integrand of E times a polynomial.

            ``factors`` are those of 1, |u|, |u|^2, ... in the polynomial.
            """
            # With both bounds on |K|: the constant one, and the one with a further |u|.
            integral = sum(factor * moments[k] for k, factor in enumerate(factors))
            sloped = sum(factor * moments[k + 1] for k, factor in enumerate(factors))
            with np.errstate(divide="ignore", invalid="ignore"):
                sloped = np.where(theta > 0, sloped / -np.expm1(-theta), np.inf)
                derivative = np.minimum(largest_k * integral, sloped)
                # 1e-9 is more than what rounding may take away.
                return np.asarray(ln_unit + np.log(derivative / 8 + far_part) + 1e-9)

        # The first bound, for every c: over m, w = last - first, and then over c, w = 1 between two whole t.
        w = (last - first).astype(float)
        slope = self._slope[eps_indices]
        half_of_variances = self._half_of_variances[eps_indices]
        sixth_of_skews = self._sixth_of_skews[eps_indices]
        in_m = [slope, np.zeros_like(slope), half_of_variances, sixth_of_skews]
        for_every_c = [w**2 * factor for factor in _squared_polynomial(in_m)]
        # |theta + iu|^2
        for_every_c[0] += theta**2
        for_every_c[2] += 1.0
        ln_curved = ln_excess(for_every_c)

        # The second bound, for one t, where c moves with m. There a derivative in m is the factor
        # ln(R0 / R1) + iu (mu0 - mu1) + phi0 - phi1, where mu0 and mu1 are the means of a bit.
        drift = self._drift[eps_indices]
        is_short = w * drift <= 1
        if not is_short.any():
            return ln_curved, np.full(ln_curved.shape, np.inf)
        in_m = [self._ln_ratio[eps_indices], drift, half_of_variances, sixth_of_skews]
        for_one_t = [w**2 * factor for factor in _squared_polynomial(in_m)]
        return ln_curved, np.where(is_short, ln_excess(for_one_t), np.inf)

    def _numbers_of_kinds(self, holders: Integers, others: Integers) -> Integers:
        """How many bits of each kind there are, of holders, others, and dummies if any; (kinds, rows)."""
        numbers = [holders, others]
        if self._dummies > 0:
            numbers.append(np.full(holders.shape, self._dummies))
        return np.stack(numbers)


class _Blocks(NamedTuple):
    """Blocks of neighbouring m, the numbers of holders, each for one eps; every array is (blocks,).

    ``eps_indices`` are the indices of eps, and ``first`` and ``last`` the m at both ends. ``ln_first`` and
    ``ln_last`` are the natural logs of delta there, rounded up, and ``ln_bound`` that of a bound for every m
    of a block.
    """

    eps_indices: Integers
    first: Integers
    last: Integers
    ln_first: Floats
    ln_last: Floats
    ln_bound: Floats

    def choose(self, rows: Booleans) -> "_Blocks":
        """The blocks of these rows."""
        return _Blocks._make(array[rows] for array in self)

    def halves(self, middle: Integers, ln_middle: Floats) -> "_Blocks":
        """The first halves of all blocks, and then the second halves; twice as many blocks.

        The halves of a block meet at ``middle`` (blocks,), a number m of holders. ``ln_middle`` (blocks,) is
        the natural log of delta there, rounded up. A bound for every m of a block also holds for its halves.
        """
        return _Blocks(
            eps_indices=np.tile(self.eps_indices, 2),
            first=np.concatenate([self.first, middle]),
            last=np.concatenate([middle, self.last]),
            ln_first=np.concatenate([self.ln_first, ln_middle]),
            ln_last=np.concatenate([ln_middle, self.ln_last]),
            ln_bound=np.tile(self.ln_bound, 2),
        )


def worst_count(
    eps: Floats,
    bit: Bit,
    users: int,
    log_odds: tuple[float, float],
    dummies: int = 0,
    *,
    goal: npt.ArrayLike,
    steeply: bool = False,
) -> tuple[Floats, Floats]:
    """Natural logs of a lower and an upper bound on delta of one bit in a count, in the worst dataset.

    Both are (e,), as is ``eps``, of which each is below ``bit.largest``. ``users``, ``log_odds`` and
    ``dummies`` are those of `HolderCounts`.

    The search for the worst number m of holders is branch and bound: blocks of neighbouring m are cut in two
    until a bound for all m of a block (`_ln_bounds_of_blocks`) rules the block out. ``goal`` is the
    difference of the two results to be reached. With ``steeply``, the goal may be -ln(delta) times as large
    where delta < 1 / e. Then eps for a given delta is about equally exact at every delta.
    """
    counts = HolderCounts(eps, bit, users, log_odds, dummies)
    # For each eps: the largest ln delta of all m so far, rounded up and down, and the largest bound of all
    # blocks that were ruled out.
    ln_upper, ln_lower, ln_dropped = np.full((3, eps.size), -np.inf)

    def evaluate(eps_indices: Integers, m: Integers) -> Floats:
        """ln delta of the datasets ``m`` at the eps with these indices, rounded up; the largest are kept."""
        value, error = counts.ln_delta(eps_indices, m, users - m)
        np.maximum.at(ln_upper, eps_indices, value + error)
        np.maximum.at(ln_lower, eps_indices, value - error)
        return value + error

    # The first blocks lie between neighbours of a few borders; eps after eps.
    borders = np.unique(np.rint(users * _FIRST_SHARES).astype(np.int64))
    indices = np.arange(eps.size)
    ln_borders = evaluate(np.repeat(indices, borders.size), np.tile(borders, eps.size))
    ln_borders = ln_borders.reshape(eps.size, borders.size)
    eps_of_blocks = np.repeat(indices, borders.size - 1)
    blocks = _Blocks(
        eps_of_blocks,
        first=np.tile(borders[:-1], eps.size),
        last=np.tile(borders[1:], eps.size),
        ln_first=ln_borders[:, :-1].ravel(),
        ln_last=ln_borders[:, 1:].ravel(),
        ln_bound=np.full(eps_of_blocks.size, np.inf),
    )

    looked_at = borders.size  # datasets and blocks per eps, about
    goals = np.broadcast_to(np.asarray(goal, dtype=float), eps.shape)
    while True:
        # Blocks of two neighbours have no m between them.
        blocks = blocks.choose(blocks.last - blocks.first > 1)
        if blocks.first.size == 0:
            return np.minimum(ln_lower, 0.0), np.minimum(np.maximum(ln_upper, ln_dropped), 0.0)

        # A block whose bound is at most `ln_enough` is ruled out. Where rounding errors alone exceed the
        # goal, as for 10^12 users, half the goal above `ln_upper` is enough. `ln_enough` is nan where nothing
        # is sure: then no block is looked at again.
        gap = goals * np.maximum(1.0, -ln_lower) if steeply else goals
        with np.errstate(invalid="ignore"):
            ln_enough = np.maximum(ln_lower + gap, ln_upper + gap / 2)[blocks.eps_indices]
        ln_known = ln_upper[blocks.eps_indices]
        ln_bound = _ln_bounds_of_blocks(counts, blocks, ln_known, ln_enough)
        is_doubtful = (ln_bound > ln_enough) & (looked_at <= _MOST_DATASETS)
        np.maximum.at(ln_dropped, blocks.eps_indices[~is_doubtful], ln_bound[~is_doubtful])

        # Cut the other blocks in two: for each, one more dataset, and one more block.
        blocks = blocks._replace(ln_bound=ln_bound).choose(is_doubtful)
        middle = (blocks.first + blocks.last) // 2
        ln_middle = evaluate(blocks.eps_indices, middle)
        looked_at += 2 * (middle.size // eps.size + 1)
        blocks = blocks.halves(middle, ln_middle)


def _ln_bounds_of_blocks(
    counts: HolderCounts, blocks: _Blocks, ln_known: Floats, ln_enough: Floats
) -> Floats:
    """Natural logs of upper bounds on delta for every m of a block, at most ``blocks.ln_bound``; (blocks,).

    A block is a range of m, the number of other users who hold the value, at one eps. ``ln_known`` (blocks,)
    is the natural log of the largest delta known so far at this eps. A bound of at most ``ln_enough``
    (blocks,) rules a block out. The third bound costs most, and is only computed for other blocks.
    """
    ln_curved, ln_for_one_t = counts.ln_curvatures(blocks.eps_indices, blocks.first, blocks.last)
    # 1. delta exceeds its larger end by at most e^ln_curved.
    ln_larger_end = np.maximum(blocks.ln_first, blocks.ln_last)
    ln_bounds = np.minimum(blocks.ln_bound, np.logaddexp(ln_larger_end, ln_curved))

    # 2. The same with the bound for one t, which only rules out: what it rules out is below a delta that
    # is known, and changes nothing.
    sharper = np.logaddexp(ln_larger_end, ln_for_one_t)
    ln_bounds = np.where(sharper <= ln_known, np.minimum(ln_bounds, sharper), ln_bounds)

    # 3. delta without the users whose value differs within the block: their bits only add noise.
    rows = np.flatnonzero(ln_bounds > ln_enough)
    if rows.size:
        surely_others = counts.users - blocks.last[rows]
        value, error = counts.ln_delta(blocks.eps_indices[rows], blocks.first[rows], surely_others)
        ln_bounds[rows] = np.minimum(ln_bounds[rows], value + error)
    return ln_bounds


def _squared_polynomial(factors: Sequence[Floats]) -> list[Floats]:
    """The factors of 1, u, u^2, ... in the square of the polynomial that has these ``factors``."""
    square = [np.zeros_like(factors[0]) for _ in range(2 * len(factors) - 1)]
    for i, factor_i in enumerate(factors):
        for j, factor_j in enumerate(factors):
            square[i + j] += factor_i * factor_j
    return square


def ln_delta_of_some(
    eps: float,
    target_eps0: float,
    groups: Sequence[tuple[int, float]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta of one report for k = 2: the largest of some datasets.

    In each dataset, the share of users who hold the value x0 is one of the ``shares``, and the same in every
    group. ``groups`` are the number and eps0 of the other users. ``target_eps0`` is that of the target user,
    or math.inf if the report is the value itself. ``dummies`` is the number of uniform reports.
    """
    groups_of_bits = [(users, (eps0, -eps0)) for users, eps0 in groups]
    return ln_delta_of_datasets(eps, Bit.flipped(target_eps0), groups_of_bits, dummies, shares)


def ln_delta_of_datasets(
    eps: float,
    bit: Bit,
    groups: Sequence[tuple[int, tuple[float, float]]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta of the target user's ``bit``: the largest of some datasets.

    The bit says whether a user holds one value, called x0. In a dataset, the share of users who hold x0 is
    one of the ``shares``, and the same in every group. Each of the ``groups`` is a number of other users, and
    the log odds that the bit of one is 1: a pair, for who holds x0 and for who does not. ``dummies`` bits
    that are 1 or 0 evenly are counted, too.
    """
    shares_of_x0 = np.asarray(shares, dtype=float)
    # Each kind of bit has one entry in both lists. The first kind is a dummy.
    numbers = [np.full(shares_of_x0.shape, dummies)]
    log_odds_of_kinds = [0.0]
    for users, log_odds_of_group in groups:
        holders = np.rint(shares_of_x0 * users).astype(np.int64)
        numbers += [holders, users - holders]
        log_odds_of_kinds += log_odds_of_group

    counts = BitCounts(np.array([eps], dtype=float), bit, log_odds_of_kinds)
    eps_indices = np.zeros(shares_of_x0.shape, dtype=int)  # every dataset is for the one eps
    value, error = counts.ln_delta(np.stack(numbers), eps_indices)
    return float(np.max(value - error))
