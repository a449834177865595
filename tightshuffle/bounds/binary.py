"""delta of the whole histogram for k = 2, where the two counts sum to a known number and are one count.

Let m of the remaining n - 1 users hold x0. The worst dataset is the m for which delta of the count is
largest. Exchanging the two values turns Q against P, for m, into P against Q, for n - 1 - m. So one direction
with every m covers all cases.

**One m.** Of the remaining users a hold x0 and c hold x1; R0(z) = q + p e^z and R1(z) = p + q e^z are the
moment generating functions of one report, 1 for x0. That of f = P - e^eps Q is

    R0(z)^a R1(z)^c (p - e^eps q)(e^z - e^theta),   e^theta = (e^(eps + eps0) - 1) / (e^eps0 - e^eps).

The remaining users may have another eps0 than the user in question, whose p, q and eps0 are those of the last
factor (p = 1, q = 0 if the report is the value itself). A dummy is a report with eps0 = 0, ((1 + e^z) / 2)^h.

f(s) >= 0 where the distribution of the remaining users' count, tilted by theta, falls from s - 1 to s. This
distribution has one mode, one of the two whole numbers next to its mean (Darroch 1964). So delta = F(t), the
sum of f(s) over s >= t, with t one of two known numbers, whichever F is larger. F(t) is a Fourier integral,
of f's function times e^(-z t) / (1 - e^-z), over one period along Re z = theta (a little to the right where
theta is next to 0). The trapezoid rule with L points adds F(t + l L) e^(theta l L), l = +-1, +-2, ..., each
with Chernoff's bound

    |F(t)| <= e^(-h t) R0(h)^a R1(h)^c ((p - q) e^h + (e^eps - 1) R1(h))    for every h >= 0,

and points far from the real axis may be left out, as |R(h + iu)| <= R(h) exp(-variance (1 - cos u)). So about
50 points are enough for any number of users and any delta, with a known error.

**Every m.** One dataset bounds delta for all m between ``low`` and ``high``. In it, ``low`` users hold x0,
n - 1 - ``high`` users hold x1, and all other users are missing. Missing users would only add noise that does
not depend on the secret.
"""

import math
from collections.abc import Sequence

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
_FIRST = 64  # blocks of m to begin with
_MOST = 200_000  # m and blocks that are looked at in all, about
_BATCH = 4096  # and at once
_SHARES = np.linspace(0, 1, 65)  # of users who hold x0

_Wide = np.longdouble  # exponents are differences of numbers that grow with n
# Reports: how many, shape (m,), and the log of the odds that one is x0: eps0, -eps0, or 0 for a dummy.
_Reports = Sequence[tuple[Integers, float]]


def binary(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike, width: float = 1e-3
) -> tuple[Floats, Floats]:
    """log10 of a lower and of an upper bound on the worst dataset's delta for k = 2.

    Parameters
    ----------
    eps, n, eps0 : numbers or arrays, which broadcast; ``n`` users in all, eps0 at most 300
    width : target for upper / lower - 1; reached unless that takes more than 200,000 datasets

    Returns
    -------
    Two arrays of the broadcast shape (floats for scalars); -inf where eps >= eps0. The first is delta of
    some dataset, rounded down; the second is never below delta of the worst dataset.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    points = np.broadcast_arrays(check_eps(eps), check_n(n), check_eps0(eps0, LARGEST_EXPONENT))
    goal = float(np.log1p(check_positive("width", width)))
    low, high = (np.full(points[0].shape, -np.inf) for _ in range(2))
    for index in np.ndindex(low.shape):
        e, users, e0 = (point[index].item() for point in points)
        if e < e0:
            low[index], high[index] = ln_delta_among(e, e0, users - 1, e0, width=math.expm1(goal))
    return low[()] / np.log(10), high[()] / np.log(10)


def ln_delta_among(
    eps: float, own: float, users: int, eps0: float, dummies: int = 0, *, width: float = 1e-3
) -> tuple[float, float]:
    """Natural logs of a lower and an upper bound on delta of one report in the worst dataset; not checked.

    Parameters
    ----------
    eps : below ``own``
    own : eps0 of the user in question; math.inf if the report is the value itself
    users, eps0 : how many remaining users, and their eps0
    dummies : how many uniform reports
    width : as for `binary`
    """
    goal = math.log1p(width)

    def ln_delta(a: Integers, c: Integers) -> tuple[Floats, Floats]:
        reports = [(a, eps0), (c, -eps0)] + [(np.full(a.shape, dummies), 0.0)] * (dummies > 0)
        return _ln_delta(reports, eps, own)

    remaining = users
    ends = np.unique(np.linspace(0, remaining, _FIRST + 1).astype(np.int64))
    value, error = ln_delta(ends, remaining - ends)
    best, surest = np.max(value + error), np.max(value - error)
    first, last = ends[:-1], ends[1:]
    bound = np.full(first.size, np.inf)
    dropped, looked_at = -np.inf, ends.size
    while True:
        inside = last - first > 1
        first, last, bound = first[inside], last[inside], bound[inside]
        value, error = ln_delta(first, remaining - last)
        bound = np.minimum(bound, value + error)
        doubtful = bound > surest + goal
        if looked_at > _MOST:
            doubtful[:] = False
        dropped = max(dropped, np.max(bound[~doubtful], initial=-np.inf))
        first, last, bound = first[doubtful], last[doubtful], bound[doubtful]
        if first.size == 0:
            return float(min(surest, 0.0)), float(min(max(best, dropped), 0.0))
        middle = (first + last) // 2
        value, error = ln_delta(middle, remaining - middle)
        best, surest = max(best, np.max(value + error)), max(surest, np.max(value - error))
        first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
        bound = np.concatenate([bound, bound])
        looked_at += middle.size + first.size


def ln_delta_of_some(
    eps: float,
    own: float,
    groups: Sequence[tuple[int, float]],
    dummies: int = 0,
    shares: npt.ArrayLike = _SHARES,
) -> float:
    """Natural log of a lower bound on delta: the largest of the datasets with these ``shares`` of x0.

    ``groups``: number and eps0 of the remaining users. The other parameters are those of `ln_delta_among`.
    """
    held = np.asarray(shares, dtype=float)
    reports = [(np.full(held.shape, dummies), 0.0)]
    for users, eps0 in groups:
        ones = np.rint(held * users).astype(np.int64)
        reports += [(ones, eps0), (users - ones, -eps0)]
    value, error = _ln_delta(reports, eps, own)
    return float(np.max(value - error))


def _ln_delta(reports: _Reports, eps: float, own: float) -> tuple[Floats, Floats]:
    """Natural log of delta of a report with eps0 = ``own`` among ``reports``, (m,), and an error bound."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    theta = float(np.log1p(np.expm1(eps) * (1 + np.exp(-own)) / -np.expm1(eps - own)))
    spread = np.sqrt(
        np.sum([count * expit(theta + odds) * expit(-(theta + odds)) for count, odds in reports], axis=0)
    )
    # Points of one length of period together: powers of 2.
    group = np.ceil(np.log2(np.maximum(spread, _SHORTEST / _PERIOD))).astype(int)
    value, error = np.empty((2, spread.size))
    for level in np.unique(group):
        members = np.flatnonzero(group == level)
        for start in range(0, members.size, _BATCH):
            rows = members[start : start + _BATCH]
            some = [(count[rows], odds) for count, odds in reports]
            value[rows], error[rows] = _integral(some, eps, own, theta, spread[rows])
    return value, error


def _integral(
    reports: _Reports, eps: float, own: float, root: float, spread: Floats
) -> tuple[Floats, Floats]:
    from scipy.special import expit

    widest = max(float(spread.max()), _SHORTEST / _PERIOD)
    theta = max(root, _CLOSEST / widest)
    period = 2 * int(_PERIOD * widest / 2) + 1
    chances = [(expit(theta + odds), expit(-(theta + odds))) for _, odds in reports]
    numbers = [number for number, _ in reports]
    variance = np.sum([number * p * q for number, (p, q) in zip(numbers, chances, strict=True)], axis=0)
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
        with np.errstate(divide="ignore"):
            fall = 0.5 * np.log1p(-2 * p * q * versine)
        turn = np.arctan2(p * sine, 1 - p * versine) - p * u
        bell += np.outer(number, fall + 1j * turn)
        wide = number.astype(_Wide)
        crossing += wide * _expit(root, odds)
        centre += wide * _expit(theta, odds)
        exponent += wide * _log_mgf(theta, odds)
    above = np.floor(crossing) + np.array([[1], [2]])  # (2, m)
    offset = (centre - above).astype(float)
    exponent = exponent - _Wide(theta) * above

    d, pole = theta - root, -np.expm1(-theta)
    kernel = (np.expm1(d) * (1 - versine) - versine + 1j * np.exp(d) * sine) / (
        pole * (1 - versine) + versine + 1j * np.exp(-theta) * sine
    )
    kernel[1:] *= 2
    terms = np.exp(bell + 1j * u * offset[..., None]) * kernel  # (2, m, points)
    total = terms.real.sum(axis=-1) / period
    size = np.abs(terms).sum(axis=-1) / period

    log_p, log_factor = -np.log1p(np.exp(-own)), np.log(-np.expm1(eps - own)) + root
    # The errors of the sum: rounding, points left out, all other periods.
    rounding = size * (1e-13 + 2 * np.finfo(float).eps * most * u[-1])
    left_out = np.exp(-variance * versine[-1]) * (np.exp(d) + 1) / pole if count < period // 2 else 0.0
    wrapped = np.zeros(total.shape)
    for shift in (min(1.0, 8 / widest), -min(theta, 1.0, 8 / widest)):
        h = theta + shift
        rise = sum(number.astype(_Wide) * _log_mgf(h, odds) for number, odds in reports)
        rise = rise - _Wide(h) * above - exponent
        edge = np.tanh(own / 2) * np.exp(h) + np.expm1(eps) * np.exp(float(_log_mgf(h, -own)))
        fade = abs(shift) * period
        wrapped += np.exp(rise.astype(float) - fade - np.log(-np.expm1(-fade)) - log_p - log_factor) * edge
    best = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)[None]
    total, exponent, error = (
        np.take_along_axis(x, best, axis=0)[0] for x in (total, exponent, rounding + left_out + wrapped)
    )
    magnitude = np.asarray(1 + sum(number * _log_mgf(theta, abs(odds)) for number, odds in reports), float)
    relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude + 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        value = exponent.astype(float) + np.log(total) + log_p + log_factor
        known = (total > 0) & (relative < 0.5)
        value, bound = np.where(known, value, 0.0), np.where(known, -np.log1p(-relative), np.inf)
    return value, bound + 4e-16 * np.abs(value)


def _log_mgf(theta: float, odds: float) -> np.longdouble:
    """log of R0 at theta, or of R1 for -eps0: log(1 + p (e^theta - 1))."""
    return np.log1p(np.expm1(_Wide(theta)) / (1 + np.exp(-_Wide(odds))))


def _expit(theta: float, odds: float) -> np.longdouble:
    return 1 / (1 + np.exp(-_Wide(theta) - _Wide(odds)))
