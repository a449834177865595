"""The pieces of which the hockey-stick divergences of shuffled k-RR are made, at any depth, in logarithms.

Given how many answers fell on x0 or x1 together (T), the answers on x0 are Bin(T, 1/2), and the
hockey-stick divergence is an expected excess E[(Bin(T, 1/2) - c)_+] over a threshold c.
"""

import numpy as np
from scipy import special

_SERIES_BELOW = 1e-100  # tails smaller than this are summed term by term
_SMALLEST_TERM = 1e-17  # relative size at which the series of a tail ends


def log_binomial_pmf(successes, trials, chance):
    """Natural log of the Binomial(trials, chance) probabilities; arguments broadcast.

    Loader's saddle-point form: the deviance and Stirling's remainders instead of differences of large
    log-factorials, so that the relative error stays near 1e-13 for 10^9 trials as for ten. -inf outside
    of 0..trials. ``chance`` in [0, 1].
    """
    x, n, p = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (successes, trials, chance)))
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
        all_hit, all_miss = special.xlogy(n, p), special.xlog1py(n, -p)
    log = np.where(x == n, all_hit, np.where(x == 0, all_miss, inner))
    return np.where((x < 0) | (y < 0), -np.inf, log)


def log_binomial_excess(trials, threshold):
    """Natural log of E[(Bin(T, 1/2) - c)_+] for T = ``trials`` >= 0 and c = ``threshold``; they broadcast.

    With m = ceil(c) and S = Pr[Bin(T, 1/2) >= m], De Moivre's identity gives
    m pmf(m) / 2 + (T / 2 - c) S. Far in the tail, where S nears the smallest float and the two terms
    cancel, the sum over i >= m of (i - c) pmf(i), all terms positive, takes its place. Relative error
    below 1e-9; -inf where c >= T.
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


def _excess_inside(t, c, m):
    tail = special.betainc(m, t - m + 1, 0.5)
    log_first = log_binomial_pmf(m, t, 0.5)
    ratio = np.empty_like(t)
    plain = tail > _SERIES_BELOW
    with np.errstate(invalid="ignore"):
        ratio[plain] = m[plain] / 2 + (t[plain] / 2 - c[plain]) * np.exp(
            np.log(tail[plain]) - log_first[plain]
        )
    if not np.all(plain):
        ratio[~plain] = _excess_series(t[~plain], c[~plain], m[~plain])
    with np.errstate(divide="ignore"):
        return log_first + np.log(np.maximum(ratio, 0))


def _excess_series(t, c, m):
    """sum_{i >= m} (i - c) pmf(i) / pmf(m), for thresholds so far out that the terms fall geometrically."""
    total, weight, i = m - c, np.ones_like(t), m.copy()
    while True:
        weight = weight * (t - i) / (i + 1)
        i = i + 1
        term = (i - c) * weight
        total = total + term
        if np.all(term <= _SMALLEST_TERM * total):
            return total


def _stirling_remainder(n):
    """log n! - log(sqrt(2 pi n) (n / e)^n): a table of exact differences below 16, the series above."""
    small = n < _REMAINDERS.size
    table = _REMAINDERS[np.where(small & (n >= 0), n, 0).astype(int)]
    with np.errstate(divide="ignore", invalid="ignore"):
        square = n * n
        series = (
            1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square
        ) / n
    return np.where(small, table, series)


def _exact_remainders(count):
    n = np.arange(1, count)
    exact = special.gammaln(n + 1.0) - (0.5 * np.log(2 * np.pi * n) + n * np.log(n) - n)
    return np.concatenate([[0.0], exact])


_REMAINDERS = _exact_remainders(16)


def _deviance(x, mean):
    """x log(x / mean) + mean - x >= 0, without cancellation where x is near its mean."""
    v = (x - mean) / (x + mean)
    near = np.abs(v) < 0.1
    u = np.where(near, v, 0.0)
    # x log(x / mean) = 2 x artanh(v): the series of Loader's bd0.
    j = np.arange(1, 10)
    series = (x - mean) * u + 2 * x * u * np.sum(u[..., None] ** (2 * j) / (2 * j + 1), axis=-1)
    return np.where(near, series, special.xlogy(x, x / mean) + mean - x)
