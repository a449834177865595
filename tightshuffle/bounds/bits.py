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

# Shares to begin with: the worst m is.
_FEW_HOLDERS = np.array([0, 1 / 512, 1 / 128, 1 / 32, 1 / 8])
_FIRST_SHARES = np.append(_FEW_HOLDERS, 1 - _FEW_HOLDERS)  # often near 0 or N
_MOST_DATASETS = 200_000  # m and blocks that are looked at for one eps, about
_MOST_EPS = 1024  # that are looked at together, which bounds the memory
_SHARES = np.linspace(0, 1, 65)  # of users who hold x0
# Of a normal density: int |u|^k e^(-u^2 / 2) du / (2 pi), for k = 0, 1, ..., 7.
_MOMENTS = [2 ** (k / 2) * math.gamma((k + 1) / 2) / math.sqrt(2) / math.pi for k in range(8)]


def binary(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, width: float = 1e-3
) -> tuple[Floats, Floats]:
    """log10 of a lower and of an upper bound on the worst dataset's delta for k = 2; -inf where eps >= eps0.

    These are bounds for shuffled k-RR with two values. The lower bound is delta of some dataset, rounded
    down. ``eps``, ``n`` users in all and ``eps0``, at most 300, are numbers or arrays, which broadcast. So
    are both results. ``width`` is the target for upper / lower - 1, which is reached unless that takes more
    than 200,000 datasets. ValueError names the argument that is out of range.
    """
    all_eps, all_n, all_eps0 = np.broadcast_arrays(
        check_eps(eps), check_n(n), check_eps0(eps0, LARGEST_EXPONENT)
    )
    goal = np.log1p(check_positive("width", width))
    low = np.full(all_eps.shape, -np.inf)
    high = np.full(all_eps.shape, -np.inf)

    # All eps of the same n and eps0 together.
    is_positive = all_eps < all_eps0
    settings = np.stack([all_n[is_positive], all_eps0[is_positive]], axis=-1)
    for users, budget in np.unique(settings, axis=0).tolist():
        of_setting = is_positive & (all_n == users) & (all_eps0 == budget)
        some_eps = all_eps[of_setting]
        bounds = [
            worst_count(
                some_eps[start : start + _MOST_EPS],
                Bit.flipped(budget),
                int(users) - 1,
                (budget, -budget),
                goal=goal,
            )
            for start in range(0, some_eps.size, _MOST_EPS)
        ]
        low[of_setting], high[of_setting] = np.concatenate(bounds, axis=-1)
    return low[()] / np.log(10), high[()] / np.log(10)


def ln_delta_among(
    eps: float,
    target_eps0: float,
    users: int,
    eps0: float,
    dummies: int = 0,
    *,
    width: float = 1e-3,
) -> tuple[float, float]:
    """Natural logs of a lower and an upper bound on delta of one report in the worst dataset, for k = 2.

    ``eps`` is below the target user's ``target_eps0``, which is math.inf if the report is the value itself.
    ``users`` other users have ``eps0``, ``dummies`` is the number of uniform reports, and ``width`` is as for
    `binary`. Nothing is checked.
    """
    odds = (eps0, -eps0)
    bit = Bit.flipped(target_eps0)
    low, high = worst_count(np.array([eps]), bit, users, odds, dummies, goal=math.log1p(width))
    return float(low[0]), float(high[0])


class HolderCounts:
    """The counts in which a bit is hidden among those of other users, some of whom hold the value.

    ``eps`` (e,) and ``bit`` are as for `BitCounts`. There are ``users`` other users, and ``odds`` are the log
    odds that the bit of one is 1, for who holds the value and for who does not. ``dummies`` is the number of
    random bits.
    """

    def __init__(
        self, eps: Floats, bit: Bit, users: int, odds: tuple[float, float], dummies: int = 0
    ) -> None:
        """Compute for each eps how a bit of who holds the value and of another user differ, once tilted."""
        self.users = users
        self._dummies = dummies
        kinds = [*odds, 0.0] if dummies > 0 else [*odds]
        self._counts = BitCounts(eps, bit, kinds)

        # Tilted by theta: of a bit of who holds the value, of another user's, and of a dummy; (kinds, e).
        # Its height is ln of its moment generating function times e^(-theta mean). `skew` bounds the third
        # derivative of phi, the log of its characteristic function, for |u| <= 1.
        theta, log_odds_of_kinds = self._counts.theta, np.array(kinds)[:, None]
        chance = tilted_probability_of_1(theta, log_odds_of_kinds)
        ln_mgfs = ln_mgf(theta, log_odds_of_kinds)
        self._height = ln_mgfs - theta * chance
        self._variance = (chance * tilted_probability_of_1(-theta, -log_odds_of_kinds)).astype(
            float
        )
        skew = self._variance / (1 - 2 * (1 - math.cos(1)) * self._variance) ** 1.5

        # How a bit of who holds the value differs from another user's; (e,).
        self._drift = np.abs((chance[0] - chance[1]).astype(float))
        self._ln_ratio = np.abs((ln_mgfs[0] - ln_mgfs[1]).astype(float))
        self._slope = np.abs((self._height[0] - self._height[1]).astype(float))
        self._half_of_variances = np.abs(self._variance[0] - self._variance[1]) / 2
        self._sixth_of_skews = (skew[0] + skew[1]) / 6

    def ln_delta(
        self, points: Integers, holders: Integers, others: Integers
    ) -> tuple[Floats, Floats]:
        """Natural log of delta of some datasets, and the largest error of that; both (rows,).

        A row is a dataset and one of the eps, whose index ``points`` has. That many of the other users are
        ``holders`` of the value, and that many are ``others``. All three are (rows,).
        """
        return self._counts.ln_delta(self._numbers(holders, others), points)

    def ln_curvatures(
        self, points: Integers, first: Integers, last: Integers
    ) -> tuple[Floats, Floats]:
        """Natural logs of two bounds on how much delta of a block may exceed the larger delta of its ends.

        A block is all m from ``first`` to ``last``, the numbers of the N other users who hold the value. Both
        bounds are (blocks,), as are ``first``, ``last`` and ``points``, the index of each block's eps. Only
        the first bound holds where the mean of the count moves by more than 1: there the second is inf.

        A function on an interval of length w exceeds its larger end by at most w^2 / 8 times its largest
        second derivative. With mu(m) and V(m), mean and variance of the count tilted by theta, and
        c = t - mu(m), the part |u| <= 1 of delta's integral, at the count t from which on P is larger, is

            E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du.

        Index 0 is for who holds the value, and 1 for another user. A = p - e^eps q, and R is the moment
        generating function of a bit. l(m) = log(R0(theta)^m R1(theta)^(N - m)) - theta mu(m) is affine, phi
        is the log of the characteristic function of a centred, tilted bit, and
        |K| = |e^iu - 1| / |1 - e^(-theta - iu)| is at most e^(theta / 2) and at most |u| / (1 - e^-theta).

        The second derivatives in m and c are at most integrals of |u|^j e^(-11 V u^2 / 24): (phi0 - phi1)''
        is the difference of the two variances at u = 0, and its derivative is bounded for |u| <= 1, so that
        |l' + phi0 - phi1| <= a + b u^2 + c |u|^3. The part |u| > 1 is at most e^(theta / 2 - V (1 - cos 1)),
        in the same units, and counts twice: in what is bounded, and at the ends.
        """
        ends = self._numbers(first, self.users - first), self._numbers(last, self.users - last)
        variances = [(numbers * self._variance[:, points]).sum(axis=0) for numbers in ends]
        heights = [
            (numbers * self._height[:, points]).sum(axis=0).astype(float) for numbers in ends
        ]
        least_variance = np.minimum(*variances)

        tilt = self._counts.theta[points]
        largest_k = np.exp(tilt / 2)
        far_part = 2 * largest_k * np.exp(-least_variance * (1 - math.cos(1)))
        ln_unit = self._counts.ln_a[points] + 2 * tilt + np.maximum(*heights)
        scale = np.sqrt(12 / 11 / np.maximum(least_variance, 1e-300))
        moments = [size * scale ** (k + 1) for k, size in enumerate(_MOMENTS)]

        def ln_excess(polynomial: Sequence[Floats]) -> Floats:
            """ln of the bound, if the second derivative is the integrand times this polynomial in |u|."""
            integral = sum(factor * moments[power] for power, factor in enumerate(polynomial))
            sloped = sum(factor * moments[power + 1] for power, factor in enumerate(polynomial))
            with np.errstate(divide="ignore", invalid="ignore"):
                sloped = np.where(tilt > 0, sloped / -np.expm1(-tilt), np.inf)
                derivative = np.minimum(largest_k * integral, sloped)
                return np.asarray(ln_unit + np.log(derivative / 8 + far_part) + 1e-9)

        # The bound for every c: first in m, then in c, whose derivative multiplies with theta + iu.
        width = (last - first).astype(float)
        a = self._slope[points]
        b = self._half_of_variances[points]
        c = self._sixth_of_skews[points]
        for_every_c = [width**2 * factor for factor in _square([a, np.zeros_like(a), b, c])]
        for_every_c[0] += tilt**2
        for_every_c[2] += 1.0
        ln_curved = ln_excess(for_every_c)

        # The bound for one t, where c moves with m: there a derivative in m multiplies with
        # log(R0 / R1) + iu (mu0 - mu1) + phi0 - phi1, mu0 and mu1 the means of a bit.
        drift = self._drift[points]
        is_short = width * drift <= 1
        if not is_short.any():
            return ln_curved, np.full(ln_curved.shape, np.inf)
        for_one_t = [width**2 * factor for factor in _square([self._ln_ratio[points], drift, b, c])]
        return ln_curved, np.where(is_short, ln_excess(for_one_t), np.inf)

    def _numbers(self, holders: Integers, others: Integers) -> Integers:
        """How many bits of each kind there are, (kinds, rows)."""
        numbers = [holders, others]
        if self._dummies > 0:
            numbers.append(np.full(holders.shape, self._dummies))
        return np.stack(numbers)


class _Blocks(NamedTuple):
    """Blocks of neighbouring m, each for one eps; every array is (blocks,).

    ``points`` are the indices of eps, ``first`` and ``last`` the m at both ends, and ``ln_first`` and
    ``ln_last`` the logs of delta there, rounded up. ``ln_bound`` is the log of a bound for every m of a
    block.
    """

    points: Integers
    first: Integers
    last: Integers
    ln_first: Floats
    ln_last: Floats
    ln_bound: Floats

    def choose(self, rows: Booleans) -> "_Blocks":
        """The blocks of these rows."""
        return _Blocks._make(array[rows] for array in self)

    def halves(self, middle: Integers, ln_middle: Floats) -> "_Blocks":
        """The first halves of all blocks, and then the second ones, which meet at ``middle``."""
        return _Blocks(
            points=np.tile(self.points, 2),
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
    odds: tuple[float, float],
    dummies: int = 0,
    *,
    goal: npt.ArrayLike,
    steeply: bool = False,
) -> tuple[Floats, Floats]:
    """Natural logs of a lower and an upper bound on delta of one bit in a count, in the worst dataset.

    The distribution of the target user's ``bit`` changes from P to Q. The number m of other users who hold
    the value is a dataset. By branch and bound: blocks of m are cut in two until a bound for all m of a block
    (`_ln_block_bounds`) rules it out. Both results are (e,), as is ``eps``, of which each is below
    ``bit.largest``. ``users`` is the number of other users, ``odds`` the log odds that their bit is 1, for
    those who hold the value and those who do not, and ``dummies`` the number of random bits. ``goal`` is the
    difference of the two bounds to be reached. With ``steeply`` the goal may be -log(delta) times as large
    where delta < 1 / e, so that eps for a given delta is about equally exact at every delta.
    """
    counts = HolderCounts(eps, bit, users, odds, dummies)
    # The largest of all m that were looked at, rounded up and down, and of all blocks that were dropped.
    ln_upper, ln_lower, ln_dropped = (np.full(eps.shape, -np.inf) for _ in range(3))

    def look_at(points: Integers, m: Integers) -> Floats:
        """ln delta of the datasets m at the eps with the indices ``points``, rounded up and noted above."""
        value, error = counts.ln_delta(points, m, users - m)
        np.maximum.at(ln_upper, points, value + error)
        np.maximum.at(ln_lower, points, value - error)
        return value + error

    # The first blocks lie between some shares of holders; eps after eps.
    borders = np.unique(np.rint(users * _FIRST_SHARES).astype(np.int64))
    indices = np.arange(eps.size)
    ln_borders = look_at(np.repeat(indices, borders.size), np.tile(borders, eps.size))
    ln_borders = ln_borders.reshape(eps.size, borders.size)
    points = np.repeat(indices, borders.size - 1)
    blocks = _Blocks(
        points,
        first=np.tile(borders[:-1], eps.size),
        last=np.tile(borders[1:], eps.size),
        ln_first=ln_borders[:, :-1].ravel(),
        ln_last=ln_borders[:, 1:].ravel(),
        ln_bound=np.full(points.size, np.inf),
    )

    looked_at = borders.size
    goals = np.broadcast_to(np.asarray(goal, dtype=float), eps.shape)
    while True:
        blocks = blocks.choose(blocks.last - blocks.first > 1)
        if blocks.points.size == 0:
            return np.minimum(ln_lower, 0.0), np.minimum(np.maximum(ln_upper, ln_dropped), 0.0)

        gap = goals * np.maximum(1.0, -ln_lower) if steeply else goals
        # Where rounding errors alone exceed the goal, as for 10^12 users, half of it above them is enough.
        # nan where nothing is sure: then no block is looked at again.
        with np.errstate(invalid="ignore"):
            ln_enough = np.maximum(ln_lower + gap, ln_upper + gap / 2)[blocks.points]
        ln_bound = _ln_block_bounds(counts, blocks, ln_upper[blocks.points], ln_enough)
        is_doubtful = (ln_bound > ln_enough) & (looked_at <= _MOST_DATASETS)
        np.maximum.at(ln_dropped, blocks.points[~is_doubtful], ln_bound[~is_doubtful])

        # Cut the other blocks in two.
        blocks = blocks._replace(ln_bound=ln_bound).choose(is_doubtful)
        middle = (blocks.first + blocks.last) // 2
        ln_middle = look_at(blocks.points, middle)
        looked_at += 2 * (middle.size // eps.size + 1)
        blocks = blocks.halves(middle, ln_middle)


def _ln_block_bounds(
    counts: HolderCounts, blocks: _Blocks, ln_known: Floats, ln_enough: Floats
) -> Floats:
    """Natural logs of upper bounds on delta for every m of each block, (blocks,), no larger than before.

    ``ln_known`` (blocks,) is the natural log of the largest delta known so far at the block's eps. A bound of
    at most ``ln_enough`` (blocks,) rules a block out, and then no sharper one is computed.
    """
    ln_curved, ln_for_one_t = counts.ln_curvatures(blocks.points, blocks.first, blocks.last)
    ln_larger_end = np.maximum(blocks.ln_first, blocks.ln_last)
    bounds = np.minimum(blocks.ln_bound, np.logaddexp(ln_larger_end, ln_curved))

    # The second bound only rules out: what it drops is below a delta that is known, and changes nothing.
    sharper = np.logaddexp(ln_larger_end, ln_for_one_t)
    bounds = np.where(sharper <= ln_known, np.minimum(bounds, sharper), bounds)

    # The third leaves out the users whose value differs within the block: their bits only add noise.
    rows = np.flatnonzero(bounds > ln_enough)
    if rows.size:
        value, error = counts.ln_delta(
            blocks.points[rows], blocks.first[rows], counts.users - blocks.last[rows]
        )
        bounds[rows] = np.minimum(bounds[rows], value + error)
    return bounds


def _square(factors: Sequence[Floats]) -> list[Floats]:
    """The factors of 1, u, u^2, ... of the square of the polynomial with these ``factors``."""
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

    They have these ``shares`` of users who hold the value x0.

    ``groups`` are number and eps0 of the other users. The other parameters are those of `ln_delta_among`.
    """
    bits = [(users, (eps0, -eps0)) for users, eps0 in groups]
    return ln_delta_of_datasets(eps, Bit.flipped(target_eps0), bits, dummies, shares)


def ln_delta_of_datasets(
    eps: float,
    bit: Bit,
    groups: Sequence[tuple[int, tuple[float, float]]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta of the target user's ``bit``: the largest of some datasets.

    The bit is that of one value, called x0. In a dataset the share of users who hold x0 is the same in every
    group, and one of the ``shares``. A group is (number of other users, (log odds that the bit of a user who
    holds x0 is 1, the same for one who does not)). ``dummies`` bits that are 1 or 0 evenly are counted, too.
    """
    shares_of_x0 = np.asarray(shares, dtype=float)
    numbers = [np.full(shares_of_x0.shape, dummies)]
    log_odds_of_kinds = [0.0]
    for users, odds in groups:
        holders = np.rint(shares_of_x0 * users).astype(np.int64)
        numbers += [holders, users - holders]
        log_odds_of_kinds += odds
    points = np.zeros(shares_of_x0.shape, dtype=int)  # every dataset is for the one eps
    counts = BitCounts(np.array([eps], dtype=float), bit, log_odds_of_kinds)
    value, error = counts.ln_delta(np.stack(numbers), points)
    return float(np.max(value - error))
