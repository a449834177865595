"""Exact delta of the whole histogram for k = 2, where the two counts sum to n and are one count.

Let m of the remaining n - 1 users hold x0. The worst dataset is the m for which delta of the count is
largest. Exchanging the two values turns Q against P, for m, into P against Q, for n - 1 - m. So one direction
with every m covers all cases.

**One m.** Of the remaining users a hold x0 and c hold x1; R0(z) = q + p e^z and R1(z) = p + q e^z are the
moment generating functions of one report, 1 for x0. That of f = P - e^eps Q is

    R0(z)^a R1(z)^c (p - e^eps q)(e^z - e^theta),   e^theta = (e^(eps + eps0) - 1) / (e^eps0 - e^eps).

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

_Wide = np.longdouble  # exponents are differences of numbers that grow with n


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
            low[index], high[index] = _bracket(e, users, e0, goal)
    return low[()] / np.log(10), high[()] / np.log(10)


def _bracket(eps: float, n: int, eps0: float, goal: float) -> tuple[float, float]:
    """Natural logs of both bounds."""
    remaining = n - 1
    ends = np.unique(np.linspace(0, remaining, _FIRST + 1).astype(np.int64))
    value, error = _ln_delta(ends, remaining - ends, eps, eps0)
    best, surest = np.max(value + error), np.max(value - error)
    first, last = ends[:-1], ends[1:]
    bound = np.full(first.size, np.inf)
    dropped, looked_at = -np.inf, ends.size
    while True:
        inside = last - first > 1
        first, last, bound = first[inside], last[inside], bound[inside]
        value, error = _ln_delta(first, remaining - last, eps, eps0)
        bound = np.minimum(bound, value + error)
        doubtful = bound > surest + goal
        if looked_at > _MOST:
            doubtful[:] = False
        dropped = max(dropped, np.max(bound[~doubtful], initial=-np.inf))
        first, last, bound = first[doubtful], last[doubtful], bound[doubtful]
        if first.size == 0:
            return float(min(surest, 0.0)), float(min(max(best, dropped), 0.0))
        middle = (first + last) // 2
        value, error = _ln_delta(middle, remaining - middle, eps, eps0)
        best, surest = max(best, np.max(value + error)), max(surest, np.max(value - error))
        first, last = np.concatenate([first, middle]), np.concatenate([middle, last])
        bound = np.concatenate([bound, bound])
        looked_at += middle.size + first.size


def _ln_delta(a: Integers, c: Integers, eps: float, eps0: float) -> tuple[Floats, Floats]:
    """Natural log of delta if a remaining users hold x0 and c hold x1, shape (m,), and an error bound."""
    from scipy.special import expit  # here, for it takes as long to import as numpy

    theta = float(np.log1p(np.expm1(eps) * (1 + np.exp(-eps0)) / -np.expm1(eps - eps0)))
    probabilities = expit(np.array([theta + eps0, theta - eps0]))
    misses = expit(-np.array([theta + eps0, theta - eps0]))
    spread = np.sqrt(a * probabilities[0] * misses[0] + c * probabilities[1] * misses[1])
    # Points of one length of period together: powers of 2.
    group = np.ceil(np.log2(np.maximum(spread, _SHORTEST / _PERIOD))).astype(int)
    value, error = np.empty((2, a.size))
    for level in np.unique(group):
        members = np.flatnonzero(group == level)
        for start in range(0, members.size, _BATCH):
            rows = members[start : start + _BATCH]
            value[rows], error[rows] = _integral(a[rows], c[rows], eps, eps0, theta, spread[rows])
    return value, error


def _integral(
    a: Integers, c: Integers, eps: float, eps0: float, root: float, spread: Floats
) -> tuple[Floats, Floats]:
    from scipy.special import expit

    widest = max(float(spread.max()), _SHORTEST / _PERIOD)
    theta = max(root, _CLOSEST / widest)
    period = 2 * int(_PERIOD * widest / 2) + 1
    probabilities = expit(np.array([theta + eps0, theta - eps0]))[:, None]
    misses = expit(-np.array([theta + eps0, theta - eps0]))[:, None]
    variance = a * probabilities[0] * misses[0] + c * probabilities[1] * misses[1]

    reach = (_DECAY + np.log(widest)) / 2 / max(float(variance.min()), 1e-9)  # sin^2 of half the last angle
    count = period // 2
    if reach < 1:
        count = min(count, int(np.ceil(np.arcsin(np.sqrt(reach)) * period / np.pi)))
    u = 2 * np.pi * np.arange(count + 1) / period
    sine, versine = np.sin(u), 2 * np.sin(u / 2) ** 2
    with np.errstate(divide="ignore"):
        fall = 0.5 * np.log1p(-2 * probabilities * misses * versine)  # (2, points)
    turn = np.arctan2(probabilities * sine, 1 - probabilities * versine) - probabilities * u

    # The crossing is next to the mean under ``root``, angles count from the mean under ``theta``.
    wide_a, wide_c = a.astype(_Wide), c.astype(_Wide)
    crossing = wide_a * _expit(root, eps0) + wide_c * _expit(root, -eps0)
    centre = wide_a * _expit(theta, eps0) + wide_c * _expit(theta, -eps0)
    above = np.floor(crossing) + np.array([[1], [2]])  # (2, m)
    offset = (centre - above).astype(float)
    exponent = wide_a * _log_mgf(theta, eps0) + wide_c * _log_mgf(theta, -eps0) - _Wide(theta) * above

    d, pole = theta - root, -np.expm1(-theta)
    kernel = (np.expm1(d) * (1 - versine) - versine + 1j * np.exp(d) * sine) / (
        pole * (1 - versine) + versine + 1j * np.exp(-theta) * sine
    )
    kernel[1:] *= 2
    bell = np.outer(a, fall[0] + 1j * turn[0]) + np.outer(c, fall[1] + 1j * turn[1])
    terms = np.exp(bell + 1j * u * offset[..., None]) * kernel  # (2, m, points)
    total = terms.real.sum(axis=-1) / period
    size = np.abs(terms).sum(axis=-1) / period

    log_p, log_factor = -np.log1p(np.exp(-eps0)), np.log(-np.expm1(eps - eps0)) + root
    # The errors of the sum: rounding, points left out, all other periods.
    rounding = size * (1e-13 + 2 * np.finfo(float).eps * (a + c) * u[-1])
    left_out = np.exp(-variance * versine[-1]) * (np.exp(d) + 1) / pole if count < period // 2 else 0.0
    wrapped = np.zeros(total.shape)
    for shift in (min(1.0, 8 / widest), -min(theta, 1.0, 8 / widest)):
        h = theta + shift
        rise = wide_a * _log_mgf(h, eps0) + wide_c * _log_mgf(h, -eps0) - _Wide(h) * above - exponent
        edge = np.tanh(eps0 / 2) * np.exp(h) + np.expm1(eps) * np.exp(float(_log_mgf(h, -eps0)))
        fade = abs(shift) * period
        wrapped += np.exp(rise.astype(float) - fade - np.log(-np.expm1(-fade)) - log_p - log_factor) * edge
    best = np.argmax(total * np.exp((exponent - exponent[0]).astype(float)), axis=0)[None]
    total, exponent, error = (
        np.take_along_axis(x, best, axis=0)[0] for x in (total, exponent, rounding + left_out + wrapped)
    )
    magnitude = (a * _log_mgf(theta, eps0) + c * _log_mgf(theta, eps0) + 1).astype(float)
    relative = error / total + 16 * float(np.finfo(_Wide).eps) * magnitude + 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        value = exponent.astype(float) + np.log(total) + log_p + log_factor
        bound = np.where((total > 0) & (relative < 0.5), -np.log1p(-relative), np.inf)
    return value, bound + 4e-16 * np.abs(value)


def _log_mgf(theta: float, eps0: float) -> np.longdouble:
    """log of R0 at theta, or of R1 for -eps0: log(1 + p (e^theta - 1))."""
    return np.log1p(np.expm1(_Wide(theta)) / (1 + np.exp(-_Wide(eps0))))


def _expit(theta: float, eps0: float) -> np.longdouble:
    return 1 / (1 + np.exp(-_Wide(theta) - _Wide(eps0)))
