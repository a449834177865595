"""Binomial probabilities and expected excesses for hockey-stick divergences of shuffled k-RR, in logarithms.

Given the number T of reports x0 and x1 together, the reports x0 are Bin(T, 1/2), and the hockey-stick
divergence is an expected excess E[(Bin(T, 1/2) - c)_+] over a threshold c.
"""

import functools

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats

_ARTANH = (0.0, *(1 / (2 * j + 1) for j in range(1, 10)))  # of artanh(v) / v - 1, in v^2
_FAR = 1 / 15  # (2 m - T) / T from which a tail is summed term by term: fewer than 300 terms
_UNDERFLOW = 1e-290  # and below which it has to be
_PRECISION = 1e-17  # relative size of the last term


def log_binomial_pmf(successes: npt.ArrayLike, trials: npt.ArrayLike, probability: npt.ArrayLike) -> Floats:
    """Natural log of the Binomial(trials, probability) probabilities; arguments broadcast.

    Loader's saddle-point form: the deviance and Stirling's remainders instead of differences of large
    log-factorials, so that the relative error stays near 1e-13 for 10^9 trials as for ten. -inf outside
    of 0..trials. ``probability`` in [0, 1].
    """
    x, n, p = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (successes, trials, probability)))
    y = n - x
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            _stirling_remainder(n)
            - _stirling_remainder(x)
            - _stirling_remainder(y)
            - _deviance(x, n * p)
            - _deviance(y, n * (1 - p))
            + 0.5 * np.log(n / (2 * np.pi * x * y))
        )
        all_hit, all_miss = scipy.special.xlogy(n, p), scipy.special.xlog1py(n, -p)
    log = np.where(x == n, all_hit, np.where(x == 0, all_miss, inner))
    return np.where((x < 0) | (y < 0), -np.inf, log)


def log_binomial_excess(trials: npt.ArrayLike, threshold: npt.ArrayLike) -> Floats:
    """Natural log of E[(Bin(T, 1/2) - c)_+] for T = ``trials`` >= 0 and c = ``threshold``; they broadcast.

    With m = ceil(c) and S = Pr[Bin(T, 1/2) >= m], De Moivre's identity gives
    m pmf(m) / 2 + (T / 2 - c) S. Far in the tail, where the two terms cancel or S underflows, the sum over
    i >= m of (i - c) pmf(i), all terms positive, is used instead. Relative error below 1e-9 where the
    excess is above 1e-100, and below 1e-8 everywhere, for T up to 10^8; -inf where c >= T.
    """
    t, c = np.broadcast_arrays(np.asarray(trials, dtype=float), np.asarray(threshold, dtype=float))
    m = np.ceil(c)
    result = np.full(t.shape, -np.inf)
    with np.errstate(divide="ignore"):
        result[...] = np.where(m <= 0, np.log(np.maximum(t / 2 - c, 0)), result)
    inside = (m > 0) & (c < t)
    if np.any(inside):
        result[inside] = _excess_inside(t[inside], c[inside], m[inside])
    return result[()]


def _excess_inside(t: Floats, c: Floats, m: Floats) -> Floats:
    log_first = log_binomial_pmf(m, t, 0.5)
    tail = scipy.special.betainc(m, t - m + 1, 0.5)
    far = (2 * m - t > _FAR * t) | (tail < _UNDERFLOW)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.log(m / 2 * np.exp(log_first) + (t / 2 - c) * tail)
    if np.any(far):
        result[far] = log_first[far] + np.log(_excess_series(t[far], c[far], m[far]))
    return result


def _excess_series(t: Floats, c: Floats, m: Floats) -> Floats:
    """sum_{i >= m} (i - c) pmf(i) / pmf(m), for thresholds so far out that the terms fall geometrically."""
    total, weight, i = m - c, np.ones_like(t), m.copy()
    while True:
        weight = weight * (t - i) / (i + 1)
        i = i + 1
        term = (i - c) * weight
        total = total + term
        if np.all(term <= _PRECISION * total):
            return total


def _stirling_remainder(n: Floats) -> Floats:
    """log n! - log(sqrt(2 pi n) (n / e)^n): a table of exact differences below 16, the series above."""
    exact = _exact_remainders()
    small = n < exact.size
    table = exact[np.where(small & (n >= 0), n, 0).astype(int)]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = n * n
        series = (
            1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square
        ) / n
    return np.where(small, table, series)


@functools.cache
def _exact_remainders() -> Floats:
    n = np.arange(1, 16)
    exact = scipy.special.gammaln(n + 1.0) - (0.5 * np.log(2 * np.pi * n) + n * np.log(n) - n)
    return np.concatenate([[0.0], exact])


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x / mean) + mean - x >= 0, without cancellation where x is near its mean."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    u = np.where(near, v, 0.0)
    # x log(x / mean) = 2 x artanh(v): the series of Loader's bd0.
    series = (x - mean) * u + 2 * x * u * np.polynomial.polynomial.polyval(u * u, _ARTANH)
    return np.where(near, series, scipy.special.xlogy(x, x / mean) + mean - x)
