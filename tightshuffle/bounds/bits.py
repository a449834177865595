"""delta of one count of bits, for the worst dataset: the whole histogram for k = 2, and a column of sums.

Each user sends one bit. It is 1 with probability p for users who hold the value, else with q < p; the target
user changes from p (P) to q (Q). Of the N other users, m hold the value; the worst dataset is the m for which
delta is largest. For one m, delta is a trapezoid sum for a Fourier integral. Blocks of m are ruled out by the
curvature of that integral, or by leaving users out. docs/theory.md, "One count of bits", has the proof.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    LARGEST_EXPONENT,
    Floats,
    Integers,
    check_eps,
    check_eps0,
    check_n,
    check_positive,
)

_DECAY = 60.0  # points whose weight is below e^-60 are left out
_PERIOD = 14.0  # L in standard deviations of the tilted distribution
_SHORTEST = 81  # and at least: an odd number
_CLOSEST = 3.0  # in 1 / standard deviation, how close the line of integration comes to the pole at 0
_ENDS = np.array([0, 1 / 512, 1 / 128, 1 / 32, 1 / 8])  # shares of holders to begin with: the worst m is
_FIRST = np.append(_ENDS, 1 - _ENDS)  # often near an end
_MOST = 200_000  # m and blocks that are looked at for one eps, about
_BATCH = 4096  # and at once
_SHARES = np.linspace(0, 1, 65)  # of users who hold x0
_MOMENTS = [2 ** (k / 2) * math.gamma((k + 1) / 2) / math.sqrt(2) / math.pi for k in range(8)]

_Wide = np.longdouble  # exponents are differences of numbers that grow with n
# Reports: how many, shape (rows,), and the log of the odds that one is 1: eps0, -eps0, or 0 for a dummy.
_Reports = Sequence[tuple[Integers, float]]


class Bit(NamedTuple):
    """The bit of the target user: the log of the odds that it is 1, under P and, smaller, under Q.

    ``largest``: log(p / q), the largest loss, rounded up; ``slack``: its relative rounding error.
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

    ``eps``, ``n`` users in all and ``eps0``, at most 300, are numbers or arrays, which broadcast; so are both
    results. ``width``: target for upper / lower - 1; reached unless that takes more than 200,000 datasets.
    The first result is delta of some dataset, rounded down. ValueError names the argument that is out of
    range.
    """
    points = np.broadcast_arrays(check_eps(eps), check_n(n), check_eps0(eps0, LARGEST_EXPONENT))
    goal = np.log1p(check_positive("width", width))
    low, high = (np.full(points[0].shape, -np.inf) for _ in range(2))
    below = points[0] < points[2]
    for users, budget in np.unique(np.stack([points[1][below], points[2][below]], axis=-1), axis=0).tolist():
        here = below & (points[1] == users) & (points[2] == budget)
        own = Bit.flipped(budget)
        low[here], high[here] = worst_count(
            points[0][here], own, int(users) - 1, (budget, -budget), goal=goal
        )
    return low[()] / np.log(10), high[()] / np.log(10)


def ln_delta_among(
    eps: float, own: float, users: int, eps0: float, dummies: int = 0, *, width: float = 1e-3
) -> tuple[float, float]:
    """Natural logs of a lower and an upper bound on delta of one report in the worst dataset; not checked.

    ``eps`` is below ``own``, the target user's eps0, math.inf if the report is the value itself. ``users``
    other users have ``eps0``; ``dummies``: how many uniform reports; ``width``: as for `binary`.
    """
    low, high = worst_count(
        np.array([eps]), Bit.flipped(own), users, (eps0, -eps0), dummies, goal=math.log1p(width)
    )
    return float(low[0]), float(high[0])


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

    ``eps`` (e,), each below ``own.largest``; ``users`` other users; ``odds``: log odds that their bit is 1,
    for those who hold the value and those who do not; ``dummies``: how many random bits; ``goal``: the wanted
    difference of the two bounds. ``steeply``: the goal may be -log(delta) times as large where delta < 1 / e,
    so that eps for a given delta is about equally exact at every delta.
    """

    def ln_delta(place: Integers, a: Integers, c: Integers) -> tuple[Floats, Floats]:
        reports = [(a, odds[0]), (c, odds[1])] + [(np.full(a.shape, dummies), 0.0)] * (dummies > 0)
        return _ln_delta(reports, eps, own, place)

    def look_at(place: Integers, m: Integers) -> Floats:
        value, error = ln_delta(place, m, users - m)
        np.maximum.at(best, place, value + error)
        np.maximum.at(surest, place, value - error)
        return value + error

    best, surest, dropped = (np.full(eps.shape, -np.inf) for _ in range(3))
    ends = np.unique(np.rint(users * _FIRST).astype(np.int64))
    place = np.repeat(np.arange(eps.size), ends.size)
    at_ends = look_at(place, np.tile(ends, eps.size)).reshape(eps.size, ends.size)
    # A block: its eps, first and last m (blocks); delta there, and a bound for every m of it (values).
    blocks = np.stack(
        [
            np.repeat(np.arange(eps.size), ends.size - 1),
            *(np.tile(x, eps.size) for x in (ends[:-1], ends[1:])),
        ]
    )
    values = np.stack([at_ends[:, :-1].ravel(), at_ends[:, 1:].ravel(), np.full(blocks.shape[1], np.inf)])
    looked_at = ends.size
    aim = np.broadcast_to(np.asarray(goal, dtype=float), eps.shape)
    while True:
        inside = blocks[2] - blocks[1] > 1
        blocks, values = blocks[:, inside], values[:, inside]
        place, first, last = blocks
        if place.size == 0:
            return np.minimum(surest, 0.0), np.minimum(np.maximum(best, dropped), 0.0)
        # Where rounding errors alone exceed the goal, as for 10^12 users, half of it above them is enough.
        wanted = aim * (np.maximum(1.0, -surest) if steeply else 1.0)
        with np.errstate(invalid="ignore"):  # nan where nothing is sure: then no block is looked at again
            enough = np.maximum(surest + wanted, best + wanted / 2)[place]
        curved, slid = _curvature(eps, own, users, odds, dummies, place, first, last)
        larger_end = values[:2].max(axis=0)
        bound = np.minimum(values[2], np.logaddexp(larger_end, curved))
        # The second bound only rules out: what it drops is below a delta that is known, and changes nothing.
        sharper = np.logaddexp(larger_end, slid)
        bound = np.where(sharper <= best[place], np.minimum(bound, sharper), bound)
        rows = np.flatnonzero(bound > enough)
        if rows.size:
            missing = ln_delta(place[rows], first[rows], users - last[rows])
            bound[rows] = np.minimum(bound[rows], np.add(*missing))
        values[2] = bound
        doubtful = (bound > enough) & (looked_at <= _MOST)
        np.maximum.at(dropped, place[~doubtful], bound[~doubtful])
        blocks, values = blocks[:, doubtful], values[:, doubtful]
        middle = blocks[1:].sum(axis=0) // 2
        at_middle = look_at(blocks[0], middle)
        looked_at += 2 * (middle.size // eps.size + 1)
        blocks, values = np.tile(blocks, 2), np.tile(values, 2)
        blocks[2, : middle.size] = blocks[1, middle.size :] = middle
        values[1, : middle.size] = values[0, middle.size :] = at_middle


def _curvature(
    eps: Floats,
    own: Bit,
    users: int,
    odds: tuple[float, float],
    dummies: int,
    place: Integers,
    first: Integers,
    last: Integers,
) -> tuple[Floats, Floats]:
    """Natural logs of two bounds on how much delta for m from ``first`` to ``last`` may exceed both ends'.

    With mu(m) and V(m), mean and variance of the tilted count, and c = t - mu(m), the part |u| <= 1 of F(t)
    is

        E(m, c) = A e^theta / (2 pi) int exp(l(m) - (theta + iu) c + m (phi0 - phi1) + N phi1) K(u) du,

    l(m) = log(R0(theta)^m R1(theta)^(N - m)) - theta mu(m) is affine, phi is the log of the characteristic
    function of a centred, tilted bit, and |K| = |e^iu - 1| / |1 - e^(-theta - iu)| is at most e^(theta / 2)
    and at most |u| / (1 - e^-theta). The second derivatives in m and c are at most integrals of
    |u|^j e^(-11 V u^2 / 24): (phi0 - phi1)'' is the difference of the two variances at u = 0, and its
    derivative is bounded for |u| <= 1. The part |u| > 1 is at most e^(theta / 2 - V (1 - cos 1)), in the
    same units, and counts twice: in what is bounded, and at the ends.
    """
    theta, log_a = _root(eps, own)
    heights, variances, skews = [], [], []
    for each in (*odds, 0.0):
        chance, miss = _expit(theta, each), _expit(-theta, -each)
        heights.append(_log_mgf(theta, each) - theta.astype(_Wide) * chance)
        variance = (chance * miss).astype(float)
        variances.append(variance)
        skews.append(variance / (1 - 2 * (1 - math.cos(1)) * variance) ** 1.5)

    def of_ends(parts: list[Floats]) -> tuple[Floats, Floats]:
        one, other, dummy = (part[place] for part in parts)
        low, high = (one * m + other * (users - m) + dummies * dummy for m in (first, last))
        return np.minimum(low, high), np.maximum(low, high)

    least = of_ends(variances)[0]
    scale = np.sqrt(12 / 11 / np.maximum(least, 1e-300))
    moment = [size * scale ** (k + 1) for k, size in enumerate(_MOMENTS)]
    width = (last - first).astype(float)
    a = np.abs((heights[0] - heights[1]).astype(float))[place]
    b, c = np.abs(variances[0] - variances[1])[place] / 2, (skews[0] + skews[1])[place] / 6
    tilt = theta[place]
    steep = np.exp(tilt / 2)
    far = 2 * steep * np.exp(-least * (1 - math.cos(1)))
    log_unit = log_a[place] + 2 * tilt + of_ends(heights)[1].astype(float)

    def of_derivative(polynomial: Sequence[Floats]) -> Floats:
        """The bound, if this polynomial in |u| bounds what the derivative multiplies the integrand with."""
        flat, sloped = (
            sum(factor * moment[power + more] for power, factor in enumerate(polynomial)) for more in (0, 1)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.minimum(steep * flat, np.where(tilt > 0, sloped / -np.expm1(-tilt), np.inf))
            return np.asarray(log_unit + np.log(sizes / 8 + far) + 1e-9)

    for_every_c = [width**2 * factor for factor in _square([a, np.zeros_like(a), b, c])]
    for_every_c[0] += tilt**2
    for_every_c[2] += 1.0
    curved = of_derivative(for_every_c)

    drift = np.abs((_expit(theta, odds[0]) - _expit(theta, odds[1])).astype(float))[place]
    short = width * drift <= 1
    if not short.any():
        return curved, np.full(curved.shape, np.inf)
    ratio = np.abs((_log_mgf(theta, odds[0]) - _log_mgf(theta, odds[1])).astype(float))[place]
    for_one_t = [width**2 * factor for factor in _square([ratio, drift, b, c])]
    return curved, np.where(short, of_derivative(for_one_t), np.inf)


def _square(factors: Sequence[Floats]) -> list[Floats]:
    """The square of the polynomial with these factors of 1, u, u^2, ..."""
    result = [np.zeros_like(factors[0]) for _ in range(2 * len(factors) - 1)]
    for i, one in enumerate(factors):
        for j, other in enumerate(factors):
            result[i + j] += one * other
    return result


def ln_delta_of_some(
    eps: float,
    own: float,
    groups: Sequence[tuple[int, float]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta: the largest of the datasets with these ``shares`` of x0.

    ``groups``: number and eps0 of the other users. The other parameters are those of `ln_delta_among`.
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
    held = np.asarray(shares, dtype=float)
    reports = [(np.full(held.shape, dummies), 0.0)]
    for users, odds in groups:
        ones = np.rint(held * users).astype(np.int64)
        reports += [(ones, odds[0]), (users - ones, odds[1])]
    place = np.zeros(held.shape, dtype=int)
    value, error = _ln_delta(reports, np.array([eps], dtype=float), own, place)
    return float(np.max(value - error))


def _root(eps: Floats, own: Bit) -> tuple[Floats, Floats]:
    """theta and the log of A = p - e^eps q."""
    fall = -np.expm1(eps - own.largest)
    return np.log1p(np.expm1(eps) * (1 + np.exp(-own.held)) / fall), np.log(fall) - np.log1p(
        np.exp(-own.held)
    )


def _ln_delta(reports: _Reports, eps: Floats, own: Bit, place: Integers) -> tuple[Floats, Floats]:
    """Natural log of delta at ``eps[place]`` of a bit among ``reports``, (rows,), and an error bound."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    root, _ = _root(eps, own)
    variance = np.sum(
        [number * (expit(root + odds) * expit(-(root + odds)))[place] for number, odds in reports], axis=0
    )
    spread = np.sqrt(variance)
    # Points of one length of period together: powers of 2.
    group = np.ceil(np.log2(np.maximum(spread, _SHORTEST / _PERIOD))).astype(int)
    value, error = np.empty((2, spread.size))
    for level in np.unique(group):
        members = np.flatnonzero(group == level)
        for start in range(0, members.size, _BATCH):
            rows = members[start : start + _BATCH]
            some = [(number[rows], odds) for number, odds in reports]
            value[rows], error[rows] = _integral(some, eps, own, place[rows], spread[rows])
    return value, error


def _integral(
    reports: _Reports, eps: Floats, own: Bit, place: Integers, spread: Floats
) -> tuple[Floats, Floats]:
    """`_ln_delta` for points with a ``spread`` of about the same size, by the trapezoid rule with L points.

    The line of integration is a little to the right of theta where theta is next to the pole at 0. The rule
    adds F(t + l L) e^(theta l L) for every whole l != 0, each at most Chernoff's bound: for every h >= 0,

        |F(t)| <= e^(-h t) R0(h)^a R1(h)^c ((p - q) e^h + (e^eps - 1) R1(h)).

    Points far from the real axis are left out, as |R(h + iu)| <= R(h) e^(-variance (1 - cos u)).
    """
    from scipy.special import expit

    used, place = np.unique(place, return_inverse=True)  # of eps: what depends on it alone is computed once
    eps = eps[used]
    root, log_a = _root(eps, own)
    widest = max(float(spread.max()), _SHORTEST / _PERIOD)
    theta = np.maximum(root, _CLOSEST / widest)
    period = 2 * int(_PERIOD * widest / 2) + 1
    chances = [(expit(theta + odds), expit(-(theta + odds))) for _, odds in reports]
    numbers = [number for number, _ in reports]
    variance = np.sum(
        [number * (p * q)[place] for number, (p, q) in zip(numbers, chances, strict=True)], axis=0
    )
    most = np.sum(numbers, axis=0)

    reach = (_DECAY + np.log(widest)) / 2 / max(float(variance.min()), 1e-9)  # sin^2 of half the last angle
    count = period // 2
    if reach < 1:
        count = min(count, int(np.ceil(np.arcsin(np.sqrt(reach)) * period / np.pi)))
    u = 2 * np.pi * np.arange(count + 1) / period
    sine, versine = np.sin(u), 2 * np.sin(u / 2) ** 2
    bell = np.zeros((spread.size, u.size), dtype=complex)
    crossing, centre, exponent = (np.zeros(spread.size, dtype=_Wide) for _ in range(3))
    # The crossing is next to the mean under ``root``, angles count from the mean under ``theta``.
    for (number, odds), (p, q) in zip(reports, chances, strict=True):
        p, q = p[:, None], q[:, None]
        with np.errstate(divide="ignore"):
            fall = 0.5 * np.log1p(-2 * p * q * versine)
        turn = np.arctan2(p * sine, 1 - p * versine) - p * u
        bell += number[:, None] * (fall + 1j * turn)[place]
        wide = number.astype(_Wide)
        crossing += wide * _expit(root, odds)[place]
        centre += wide * _expit(theta, odds)[place]
        exponent += wide * _log_mgf(theta, odds)[place]
    above = np.floor(crossing) + 1
    offset = (centre - above).astype(float)
    exponent = exponent - np.asarray(theta, _Wide)[place] * above

    d, pole = (theta - root)[:, None], -np.expm1(-theta)[:, None]
    kernel = (np.expm1(d) * (1 - versine) - versine + 1j * np.exp(d) * sine) / (
        pole * (1 - versine) + versine + 1j * np.exp(-theta)[:, None] * sine
    )
    kernel[:, 1:] *= 2
    terms = np.exp(bell + 1j * u * offset[:, None]) * kernel[place]  # (rows, points), for t = above
    total = np.stack([terms.real.sum(axis=-1), (terms * np.exp(-1j * u)).real.sum(axis=-1)]) / period
    size = np.abs(terms).sum(axis=-1) / period
    exponent = np.stack([exponent, exponent - np.asarray(theta, _Wide)[place]])  # for t = above, above + 1
    above = np.stack([above, above + 1])

    log_factor = (log_a + root)[place]
    # The errors of the sum: rounding, points left out, all other periods.
    rounding = size * (2e-13 + 2 * np.finfo(float).eps * most * u[-1])
    left_out = 0.0
    if count < period // 2:
        left_out = np.exp(-variance * versine[-1]) * ((np.exp(d) + 1) / pole)[place, 0]
    wrapped = np.zeros(total.shape)
    apart = -np.expm1(own.other - own.held) / (1 + np.exp(-own.held)) / (1 + np.exp(own.other))  # p - q
    for shift in (np.full(eps.shape, min(1.0, 8 / widest)), -np.minimum(theta, min(1.0, 8 / widest))):
        h = theta + shift
        rise = sum(number.astype(_Wide) * _log_mgf(h, odds)[place] for number, odds in reports)
        rise = rise - np.asarray(h, _Wide)[place] * above - exponent
        edge = apart * np.exp(h) + np.expm1(eps) * np.exp(_log_mgf(h, own.other).astype(float))
        fade = (np.abs(shift) * period)[place]
        wrapped += np.exp(rise.astype(float) - fade - np.log(-np.expm1(-fade)) - log_factor) * edge[place]
    best = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)[None]
    total, exponent, error = (
        np.take_along_axis(x, best, axis=0)[0] for x in (total, exponent, rounding + left_out + wrapped)
    )
    magnitude = np.asarray(
        1 + sum(number * _log_mgf(theta, abs(odds))[place] for number, odds in reports), float
    )
    relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude + 1e-12
    relative += (own.slack * (1 + own.largest / (own.largest - eps)))[place] if own.slack else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = exponent.astype(float) + np.log(total) + log_factor
        known = (total > 0) & (relative < 0.5)
        value, bound = np.where(known, value, 0.0), np.where(known, -np.log1p(-relative), np.inf)
    return value, bound + 4e-16 * np.abs(value)


def _log_mgf(theta: Floats, odds: float) -> npt.NDArray[np.longdouble]:
    """log of R0 at theta, or of R1 for -eps0: log(1 + p (e^theta - 1))."""
    return np.asarray(np.log1p(np.expm1(np.asarray(theta, _Wide)) / (1 + np.exp(-_Wide(odds)))))


def _expit(theta: Floats, odds: float) -> npt.NDArray[np.longdouble]:
    return np.asarray(1 / (1 + np.exp(-np.asarray(theta, _Wide) - _Wide(odds))))
