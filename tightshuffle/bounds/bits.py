"""delta of one count of bits, for the worst dataset: the whole histogram for k = 2, and a column of sums.

Each user sends one bit. It is 1 with probability p for users who hold the value, else with q < p. The target
user changes from p (P) to q (Q). Of the N other users, m hold the value; the worst dataset is the m for which
delta is largest. For one m, delta is a trapezoid sum for a Fourier integral. Blocks of m are ruled out by the
curvature of that integral, or by leaving users out. docs/theory.md, "One count of bits", has the proof.
"""

import math
from collections.abc import Callable, Sequence
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

_DECAY = 60.0  # points whose weight is below e^-60, far below rounding, are left out
_PERIOD = 14.0  # L, the points of a whole period, in standard deviations of the tilted distribution
_SHORTEST = 81  # the least L, an odd number
_CLOSEST = 3.0  # in 1 / standard deviation, how close the line of integration comes to the pole at 0
_FEW_HOLDERS = np.array([0, 1 / 512, 1 / 128, 1 / 32, 1 / 8])  # shares to begin with: the worst m is
_FIRST_SHARES = np.append(_FEW_HOLDERS, 1 - _FEW_HOLDERS)  # often near 0 or N
_MOST_DATASETS = 200_000  # m and blocks that are looked at for one eps, about
_BATCH = 4096  # datasets that are looked at together, which bounds the memory
_SHARES = np.linspace(0, 1, 65)  # of users who hold x0
# Of a normal density: int |u|^k e^(-u^2 / 2) du / (2 pi), for k = 0, 1, ..., 7.
_MOMENTS = [2 ** (k / 2) * math.gamma((k + 1) / 2) / math.sqrt(2) / math.pi for k in range(8)]

_Wide = np.longdouble  # exponents are differences of numbers that grow with n
_WideFloats = npt.NDArray[np.longdouble]
_Complexes = npt.NDArray[np.complex128]
# Reports: how many, shape (rows,), and the log of the odds that one is 1: eps0, -eps0, or 0 for a dummy.
_Reports = Sequence[tuple[Integers, float]]


class Bit(NamedTuple):
    """The bit of the target user.

    ``held`` and, smaller, ``other`` are the log of the odds that it is 1, under P and under Q. ``largest`` is
    log(p / q), the largest loss, rounded up, and ``slack`` its relative rounding error.
    """

    held: float
    other: float
    largest: float
    slack: float = 0.0

    @staticmethod
    def of(held: float, other: float) -> "Bit":
        """The bit with these log odds; `flipped` if they are each other's negatives."""
        if held == -other:
            return Bit.flipped(held)
        if held - other < 30:
            largest = math.log1p(math.expm1(held - other) / (1 + math.exp(min(held, 700.0))))
        else:
            largest = float(np.logaddexp(0, -other) - np.logaddexp(0, -held))
        slack = 2.0**-48 * (1 + abs(held) + abs(other)) / min(held - other, 1.0)
        # Rounded up, as delta counts as 0 from here on.
        return Bit(held, other, largest * (1 + 2.0**-49), slack)

    @staticmethod
    def flipped(eps0: float) -> "Bit":
        """A bit flipped with probability 1 / (e^eps0 + 1); never for eps0 = inf."""
        return Bit(eps0, -eps0, eps0)


def binary(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, width: float = 1e-3
) -> tuple[Floats, Floats]:
    """log10 of a lower and of an upper bound on the worst dataset's delta for k = 2; -inf where eps >= eps0.

    The lower bound is delta of some dataset, rounded down. ``eps``, ``n`` users in all and ``eps0``, at most
    300, are numbers or arrays, which broadcast; so are both results. ``width`` is the target for
    upper / lower - 1, which is reached unless that takes more than 200,000 datasets. ValueError names the
    argument that is out of range.
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
        rows = is_positive & (all_n == users) & (all_eps0 == budget)
        odds = (budget, -budget)
        low[rows], high[rows] = worst_count(
            all_eps[rows], Bit.flipped(budget), int(users) - 1, odds, goal=goal
        )
    return low[()] / np.log(10), high[()] / np.log(10)


def ln_delta_among(
    eps: float, own: float, users: int, eps0: float, dummies: int = 0, *, width: float = 1e-3
) -> tuple[float, float]:
    """Natural logs of a lower and an upper bound on delta of one report in the worst dataset, for k = 2.

    ``eps`` is below ``own``, the target user's eps0, which is math.inf if the report is the value itself.
    ``users`` other users have ``eps0``, ``dummies`` is the number of uniform reports, and ``width`` is as for
    `binary`. Nothing is checked.
    """
    odds = (eps0, -eps0)
    bit = Bit.flipped(own)
    low, high = worst_count(np.array([eps]), bit, users, odds, dummies, goal=math.log1p(width))
    return float(low[0]), float(high[0])


class _Count(NamedTuple):
    """What is counted: the target user's ``bit``, and those of ``users`` other users and of ``dummies``.

    ``odds`` are the log odds that another user's bit is 1, for who holds the value and who does not.
    """

    bit: Bit
    users: int
    odds: tuple[float, float]
    dummies: int

    def ln_delta(
        self, eps: Floats, points: Integers, holders: Integers, others: Integers
    ) -> tuple[Floats, Floats]:
        """Natural log of delta of some datasets, and the largest error of that; both (rows,).

        A row is a dataset and one of the ``eps``, whose index ``points`` has: that many of the other users
        are ``holders`` of the value, and that many are ``others``; all three are (rows,).
        """
        reports = [(holders, self.odds[0]), (others, self.odds[1])]
        if self.dummies > 0:
            reports.append((np.full(holders.shape, self.dummies), 0.0))
        return _ln_delta(reports, eps, self.bit, points)


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
    own: Bit,
    users: int,
    odds: tuple[float, float],
    dummies: int = 0,
    *,
    goal: npt.ArrayLike,
    steeply: bool = False,
) -> tuple[Floats, Floats]:
    """Natural logs of a lower and an upper bound on delta of one bit, P against Q, in the worst dataset.

    Both are (e,), as is ``eps``, of which each is below ``own.largest``. ``users`` is the number of other
    users, ``odds`` the log odds that their bit is 1, for those who hold the value and those who do not, and
    ``dummies`` the number of random bits. ``goal`` is the difference of the two bounds to be reached. With
    ``steeply`` the goal may be -log(delta) times as large where delta < 1 / e, so that eps for a given delta
    is about equally exact at every delta.
    """
    count = _Count(own, users, odds, dummies)
    # The largest of all m that were looked at, rounded up and down, and of all blocks that were dropped.
    ln_upper, ln_lower, ln_dropped = (np.full(eps.shape, -np.inf) for _ in range(3))

    def look_at(points: Integers, m: Integers) -> Floats:
        value, error = count.ln_delta(eps, points, m, users - m)
        np.maximum.at(ln_upper, points, value + error)
        np.maximum.at(ln_lower, points, value - error)
        return value + error

    # The first blocks lie between some shares of holders.
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
        with np.errstate(invalid="ignore"):  # nan where nothing is sure: then no block is looked at again
            ln_enough = np.maximum(ln_lower + gap, ln_upper + gap / 2)[blocks.points]
        ln_bound = _ln_block_bounds(eps, count, blocks, ln_upper[blocks.points], ln_enough)
        is_doubtful = (ln_bound > ln_enough) & (looked_at <= _MOST_DATASETS)
        np.maximum.at(ln_dropped, blocks.points[~is_doubtful], ln_bound[~is_doubtful])

        # Cut the other blocks in two.
        blocks = blocks._replace(ln_bound=ln_bound).choose(is_doubtful)
        middle = (blocks.first + blocks.last) // 2
        ln_middle = look_at(blocks.points, middle)
        looked_at += 2 * (middle.size // eps.size + 1)
        blocks = blocks.halves(middle, ln_middle)


def _ln_block_bounds(
    eps: Floats, count: _Count, blocks: _Blocks, ln_known: Floats, ln_enough: Floats
) -> Floats:
    """Natural logs of bounds on delta for every m of each block, (blocks,), no larger than those before.

    ``ln_known`` is the log of the largest delta known so far. A bound of at most ``ln_enough`` rules a block
    out; then no sharper one is computed.
    """
    ln_curved, ln_for_one_t = _ln_curvatures(eps, count, blocks.points, blocks.first, blocks.last)
    ln_larger_end = np.maximum(blocks.ln_first, blocks.ln_last)
    bounds = np.minimum(blocks.ln_bound, np.logaddexp(ln_larger_end, ln_curved))

    # The second bound only rules out: what it drops is below a delta that is known, and changes nothing.
    sharper = np.logaddexp(ln_larger_end, ln_for_one_t)
    bounds = np.where(sharper <= ln_known, np.minimum(bounds, sharper), bounds)

    # The third leaves out the users whose value differs within the block.
    rows = np.flatnonzero(bounds > ln_enough)
    if rows.size:
        value, error = count.ln_delta(
            eps, blocks.points[rows], blocks.first[rows], count.users - blocks.last[rows]
        )
        bounds[rows] = np.minimum(bounds[rows], value + error)
    return bounds


def _ln_curvatures(
    eps: Floats, count: _Count, points: Integers, first: Integers, last: Integers
) -> tuple[Floats, Floats]:
    """Natural logs of two bounds on how much delta for m from ``first`` to ``last`` may exceed both ends'.

    Both are (blocks,), as are ``points``, the indices in ``eps`` of each block, and ``first`` and ``last``.
    The second bound is inf where mu moves by more than 1. With mu(m) and V(m), mean and variance of the
    tilted count, and c = t - mu(m), the part |u| <= 1 of F(t) is

        E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du,

    l(m) = log(R0(theta)^m R1(theta)^(N - m)) - theta mu(m) is affine, phi is the log of the characteristic
    function of a centred, tilted bit, and |K| = |e^iu - 1| / |1 - e^(-theta - iu)| is at most e^(theta / 2)
    and at most |u| / (1 - e^-theta). The second derivatives in m and c are at most integrals of
    |u|^j e^(-11 V u^2 / 24): (phi0 - phi1)'' is the difference of the two variances at u = 0, and its
    derivative is bounded for |u| <= 1, so that |l' + phi0 - phi1| <= a + b u^2 + c |u|^3. The part |u| > 1 is
    at most e^(theta / 2 - V (1 - cos 1)), in the same units, and counts twice: in what is bounded, and at the
    ends.
    """
    theta, ln_a = _theta_and_ln_a(eps, count.bit)
    # Of a bit of who holds the value, of another user's, and of a dummy; each (e,).
    heights, variances, skews = [], [], []
    for log_odds in (*count.odds, 0.0):
        chance = _wide_chance(theta, log_odds)
        variance = (chance * _wide_chance(-theta, -log_odds)).astype(float)
        heights.append(_ln_mgf(theta, log_odds) - theta.astype(_Wide) * chance)
        variances.append(variance)
        skews.append(variance / (1 - 2 * (1 - math.cos(1)) * variance) ** 1.5)

    def sum_over_bits(values: list[Floats], m: Integers) -> Floats:
        holder, other, dummy = values
        devices = holder[points] * m + other[points] * (count.users - m)
        return devices + count.dummies * dummy[points]

    least_variance = np.minimum(sum_over_bits(variances, first), sum_over_bits(variances, last))
    largest_height = np.maximum(sum_over_bits(heights, first), sum_over_bits(heights, last))
    tilt = theta[points]
    largest_k = np.exp(tilt / 2)
    far_part = 2 * largest_k * np.exp(-least_variance * (1 - math.cos(1)))
    ln_unit = ln_a[points] + 2 * tilt + largest_height.astype(float)
    scale = np.sqrt(12 / 11 / np.maximum(least_variance, 1e-300))
    moments = [size * scale ** (k + 1) for k, size in enumerate(_MOMENTS)]

    def ln_excess(polynomial: Sequence[Floats]) -> Floats:
        """The bound, if this polynomial in |u| bounds what the derivative multiplies the integrand with."""
        integral = sum(factor * moments[power] for power, factor in enumerate(polynomial))
        sloped = sum(factor * moments[power + 1] for power, factor in enumerate(polynomial))
        with np.errstate(divide="ignore", invalid="ignore"):
            sloped = np.where(tilt > 0, sloped / -np.expm1(-tilt), np.inf)
            derivative = np.minimum(largest_k * integral, sloped)
            return np.asarray(ln_unit + np.log(derivative / 8 + far_part) + 1e-9)

    # First in m, then in c: the derivative in c multiplies with theta + iu.
    width = (last - first).astype(float)
    a = np.abs((heights[0] - heights[1]).astype(float))[points]
    b = np.abs(variances[0] - variances[1])[points] / 2
    c = (skews[0] + skews[1])[points] / 6
    for_every_c = [width**2 * factor for factor in _square([a, np.zeros_like(a), b, c])]
    for_every_c[0] += tilt**2
    for_every_c[2] += 1.0
    ln_curved = ln_excess(for_every_c)

    # For one t, c moves with m: the derivative is log(R0 / R1) + iu (mu0 - mu1) + phi0 - phi1.
    drift = _wide_chance(theta, count.odds[0]) - _wide_chance(theta, count.odds[1])
    drift = np.abs(drift.astype(float))[points]
    is_short = width * drift <= 1
    if not is_short.any():
        return ln_curved, np.full(ln_curved.shape, np.inf)
    ln_ratio = _ln_mgf(theta, count.odds[0]) - _ln_mgf(theta, count.odds[1])
    ln_ratio = np.abs(ln_ratio.astype(float))[points]
    for_one_t = [width**2 * factor for factor in _square([ln_ratio, drift, b, c])]
    return ln_curved, np.where(is_short, ln_excess(for_one_t), np.inf)


def _square(factors: Sequence[Floats]) -> list[Floats]:
    """The factors of 1, u, u^2, ... of the square of the polynomial with these ``factors``."""
    square = [np.zeros_like(factors[0]) for _ in range(2 * len(factors) - 1)]
    for i, factor_i in enumerate(factors):
        for j, factor_j in enumerate(factors):
            square[i + j] += factor_i * factor_j
    return square


def ln_delta_of_some(
    eps: float,
    own: float,
    groups: Sequence[tuple[int, float]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta: the largest of the datasets with these ``shares`` of x0.

    ``groups`` are number and eps0 of the other users. The other parameters are those of `ln_delta_among`.
    """
    bits = [(users, (eps0, -eps0)) for users, eps0 in groups]
    return ln_delta_of_datasets(eps, Bit.flipped(own), bits, dummies, shares)


def ln_delta_of_datasets(
    eps: float,
    own: Bit,
    groups: Sequence[tuple[int, tuple[float, float]]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """`ln_delta_of_some` for any bits: of each group the number of users, and odds as in `worst_count`."""
    shares_of_x0 = np.asarray(shares, dtype=float)
    reports = [(np.full(shares_of_x0.shape, dummies), 0.0)]
    for users, odds in groups:
        holders = np.rint(shares_of_x0 * users).astype(np.int64)
        reports.append((holders, odds[0]))
        reports.append((users - holders, odds[1]))
    points = np.zeros(shares_of_x0.shape, dtype=int)
    value, error = _ln_delta(reports, np.array([eps], dtype=float), own, points)
    return float(np.max(value - error))


def _theta_and_ln_a(eps: Floats, bit: Bit) -> tuple[Floats, Floats]:
    """The tilt theta, where f's transform is 0, and ln of A = p - e^eps q, for the ``bit``; both (e,)."""
    share = -np.expm1(eps - bit.largest)  # A / p
    theta = np.log1p(np.expm1(eps) * (1 + np.exp(-bit.held)) / share)
    return theta, np.log(share) - np.log1p(np.exp(-bit.held))


def _ln_delta(reports: _Reports, eps: Floats, bit: Bit, points: Integers) -> tuple[Floats, Floats]:
    """Natural log of delta of ``bit`` among ``reports``, and the largest error of that; both (rows,).

    A row has its numbers of reports and one of the ``eps`` (e,), whose index is in ``points`` (rows,).
    """
    theta, _ = _theta_and_ln_a(eps, bit)
    deviations = np.sqrt(_variances(reports, theta, points))

    # Points of one length of period together: powers of 2.
    levels = np.ceil(np.log2(np.maximum(deviations, _SHORTEST / _PERIOD))).astype(int)
    value, error = np.empty((2, deviations.size))
    for level in np.unique(levels):
        members = np.flatnonzero(levels == level)
        for start in range(0, members.size, _BATCH):
            rows = members[start : start + _BATCH]
            reports_of_rows = [(number[rows], odds) for number, odds in reports]
            value[rows], error[rows] = _ln_integrals(
                reports_of_rows, eps, bit, points[rows], float(deviations[rows].max())
            )
    return value, error


class _Line(NamedTuple):
    """The line theta + iu of integration for each of some eps.

    ``root`` is where f's transform is 0, and ``ln_factor`` the log of A e^root; these are (e,), as ``eps``
    and ``theta``. ``period`` is L, ``deviation`` the largest one of the counts, and ``u`` (angles,) are the
    points of the trapezoid rule, from 0 on.
    """

    eps: Floats
    theta: Floats
    root: Floats
    ln_factor: Floats
    period: int
    deviation: float
    u: Floats


def _ln_integrals(
    reports: _Reports, eps: Floats, bit: Bit, points: Integers, largest_deviation: float
) -> tuple[Floats, Floats]:
    """`_ln_delta` for counts with standard deviations of about the same size, by the trapezoid rule.

    ``largest_deviation`` is the largest of these; it sets the number L of points. Points far from the real
    axis are left out, as |R(h + iu)| <= R(h) e^(-variance (1 - cos u)).
    """
    used, points = np.unique(points, return_inverse=True)  # what depends on eps alone is computed once
    line, variances = _line(reports, eps[used], bit, points, largest_deviation)
    theta, u = line.theta, line.u

    # t is next to the mean under ``root``; angles count from the mean under ``theta``.
    t = np.floor(_wide_sums(reports, _wide_chance, line.root, points)) + 1
    offset = (_wide_sums(reports, _wide_chance, theta, points) - t).astype(float)
    wide_theta = np.asarray(theta, _Wide)[points]
    exponent = _wide_sums(reports, _ln_mgf, theta, points) - wide_theta * t
    ln_bells = _ln_bells(reports, theta, points, u)
    terms = np.exp(ln_bells + 1j * u * offset[:, None]) * _kernel(line)[points]  # (rows, angles), for t

    # F(t) and F(t + 1) in units of e^exponent and of the factor; (2, rows).
    next_terms = terms * np.exp(-1j * u)
    total = np.stack([terms.real.sum(axis=-1), next_terms.real.sum(axis=-1)]) / line.period
    t = np.stack([t, t + 1])
    exponent = np.stack([exponent, exponent - wide_theta])

    # The errors of the sum: rounding, points left out, all other periods.
    size = np.abs(terms).sum(axis=-1) / line.period
    number_of_reports = np.sum([number for number, _ in reports], axis=0)
    error = size * (2e-13 + 2 * np.finfo(float).eps * number_of_reports * u[-1])
    if u.size - 1 < line.period // 2:
        largest_kernel = (np.exp(theta - line.root) + 1) / -np.expm1(-theta)
        error = error + np.exp(-variances * _versine(u)[-1]) * largest_kernel[points]
    error = error + _other_periods(reports, bit, line, points, t, exponent)

    # delta is the larger F.
    larger = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)
    chosen = (larger, np.arange(points.size))
    total, exponent, error = total[chosen], exponent[chosen], error[chosen]
    likelier_ones = [(number, abs(odds)) for number, odds in reports]
    magnitude = 1 + _wide_sums(likelier_ones, _ln_mgf, theta, points)
    relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude.astype(float) + 1e-12
    if bit.slack:
        relative += (bit.slack * (1 + bit.largest / (bit.largest - line.eps)))[points]
    with np.errstate(divide="ignore", invalid="ignore"):
        ln_delta = exponent.astype(float) + np.log(total) + line.ln_factor[points]
        is_known = (total > 0) & (relative < 0.5)
        ln_delta = np.where(is_known, ln_delta, 0.0)
        ln_error = np.where(is_known, -np.log1p(-relative), np.inf)
    return ln_delta, ln_error + 4e-16 * np.abs(ln_delta)


def _line(
    reports: _Reports, eps: Floats, bit: Bit, points: Integers, largest_deviation: float
) -> tuple[_Line, Floats]:
    """The line for all these ``eps``, and the variances of the counts that are tilted by its theta, (rows,).

    ``points`` (rows,) are the indices of eps of the ``reports``. The line is a little to the right of the
    root where that is next to the pole at 0.
    """
    root, ln_a = _theta_and_ln_a(eps, bit)
    deviation = max(largest_deviation, _SHORTEST / _PERIOD)
    theta = np.maximum(root, _CLOSEST / deviation)
    variances = _variances(reports, theta, points)

    period = 2 * int(_PERIOD * deviation / 2) + 1
    last = period // 2
    # sin^2 of half the last angle
    square_of_sine = (_DECAY + np.log(deviation)) / 2 / max(float(variances.min()), 1e-9)
    if square_of_sine < 1:
        last = min(last, int(np.ceil(np.arcsin(np.sqrt(square_of_sine)) * period / np.pi)))
    u = 2 * np.pi * np.arange(last + 1) / period
    return _Line(eps, theta, root, ln_a + root, period, deviation, u), variances


def _ln_bells(reports: _Reports, theta: Floats, points: Integers, u: Floats) -> _Complexes:
    """ln of the characteristic function of the tilted, centred count at ``u``; (rows, angles), complex.

    Over u it has the shape of a bell. A row is a count of ``reports``, tilted by ``theta[points]``: ``theta``
    is (e,), and ``points`` (rows,) has indices. ``u`` (angles,) are angles. A bit that is 1 with probability
    p, and 0 with q, adds the log of (1 + p (e^iu - 1)) e^(-iup): half the log of its squared modulus
    1 - 2 p q (1 - cos u), and i times its angle.
    """
    sine, versine = np.sin(u), _versine(u)
    ln_bells = np.zeros((points.size, u.size), dtype=complex)
    for number, odds in reports:
        p, q = (chance[:, None] for chance in _chances(theta, odds))
        with np.errstate(divide="ignore"):
            ln_modulus = 0.5 * np.log1p(-2 * p * q * versine)
        angle = np.arctan2(p * sine, 1 - p * versine) - p * u
        ln_bells += number[:, None] * (ln_modulus + 1j * angle)[points]
    return ln_bells


def _kernel(line: _Line) -> _Complexes:
    """(e^(z - root) - 1) / (1 - e^-z) at z = theta + iu, (e, angles), doubled but for u = 0."""
    theta = line.theta[:, None]
    shift = (line.theta - line.root)[:, None]
    sine, versine = np.sin(line.u), _versine(line.u)
    numerator = np.expm1(shift) * (1 - versine) - versine + 1j * np.exp(shift) * sine
    denominator = -np.expm1(-theta) * (1 - versine) + versine + 1j * np.exp(-theta) * sine
    kernel = numerator / denominator
    kernel[:, 1:] *= 2
    return kernel


def _other_periods(
    reports: _Reports, bit: Bit, line: _Line, points: Integers, t: _WideFloats, exponent: _WideFloats
) -> Floats:
    """A bound on what the trapezoid rule adds to F(t), in units of e^exponent and of the factor; (2, rows).

    It adds F(t + l L) e^(theta l L) for every whole l != 0, each at most Chernoff's bound: for every h >= 0,

        |F(t)| <= e^(-h t) R0(h)^a R1(h)^c ((p - q) e^h + (e^eps - 1) R1(h)).
    """
    p_minus_q = -np.expm1(bit.other - bit.held) / (1 + np.exp(-bit.held)) / (1 + np.exp(bit.other))
    step = min(1.0, 8 / line.deviation)
    bound = np.zeros(t.shape)
    for shift in (np.full(line.theta.shape, step), -np.minimum(line.theta, step)):
        h = line.theta + shift
        ln_power = _wide_sums(reports, _ln_mgf, h, points) - np.asarray(h, _Wide)[points] * t - exponent
        mgf = np.exp(_ln_mgf(h, bit.other).astype(float))
        edge = p_minus_q * np.exp(h) + np.expm1(line.eps) * mgf

        # The bounds for l = 1, 2, ..., or -1, -2, ..., are a geometric series.
        decay = (np.abs(shift) * line.period)[points]
        ln_series = ln_power.astype(float) - decay - np.log(-np.expm1(-decay))
        bound += np.exp(ln_series - line.ln_factor[points]) * edge[points]
    return bound


def _variances(reports: _Reports, theta: Floats, points: Integers) -> Floats:
    """The variance of each count of ``reports``, tilted by ``theta[points]``, ``theta`` (e,); (rows,)."""
    variances = []
    for number, odds in reports:
        p, q = _chances(theta, odds)
        variances.append(number * (p * q)[points])
    return np.asarray(np.sum(variances, axis=0))


def _chances(theta: Floats, odds: float) -> tuple[Floats, Floats]:
    """The probabilities that a bit of log ``odds``, tilted by ``theta``, is 1 and that it is 0; both (e,)."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    return expit(theta + odds), expit(-(theta + odds))


def _versine(u: Floats) -> Floats:
    """1 - cos u."""
    return np.asarray(2 * np.sin(u / 2) ** 2)


def _wide_sums(
    reports: _Reports,
    function: Callable[[Floats, float], _WideFloats],
    theta: Floats,
    points: Integers,
) -> _WideFloats:
    """The sum over all reports of ``function(theta, their log odds)``, at ``theta[points]``; (rows,)."""
    total = np.zeros(points.size, dtype=_Wide)
    for number, odds in reports:
        total += number.astype(_Wide) * function(theta, odds)[points]
    return total


def _ln_mgf(theta: Floats, odds: float) -> _WideFloats:
    """Natural log of E[e^(theta bit)] = 1 + p (e^theta - 1), for a bit that is 1 with these log ``odds``."""
    return np.asarray(np.log1p(np.expm1(np.asarray(theta, _Wide)) / (1 + np.exp(-_Wide(odds)))))


def _wide_chance(theta: Floats, odds: float) -> _WideFloats:
    """The probability that a bit of log ``odds``, tilted by ``theta``, is 1; in more digits than a float."""
    return np.asarray(1 / (1 + np.exp(-np.asarray(theta, _Wide) - _Wide(odds))))
