"""Exact Renyi divergences of pairs of distributions of two counts, at any real order.

    exp((lambda - 1) D(P || Q)) - 1 = sum_T w_T E[g(tau_T z)],
    g(x) = (1 + x)^lambda (1 - x)^(1 - lambda) - 1 - (2 lambda - 1) x,

where T reports are clones or name x0 or x1, with weights w_T, and z = 2 a / T - 1 for a ~ Bin(T, 1/2): given
T, the first count is a with probability Bin(T, 1/2)(a) (1 + tau_T z) under P and (1 - tau_T z) under Q. The
linear part, of mean 0, is taken out so that nothing cancels; each pair is its own mirror image.

A summand has its peak near the mean of a tilted binomial, and for large orders and few clones a second one at
z = 1. Everything from the smallest to the largest stationary point of its exponent is summed. Where many T
have weight, a spline in sqrt(T) replaces most of the inner sums.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import interpolate, special

from tightshuffle.arguments import Floats, check_eps0, check_k, check_n
from tightshuffle.literature.renyi import check_order
from tightshuffle.numerics.binomial import log_binomial_pmf

Weights = Callable[..., tuple[Floats, Floats]]  # T, n, eps0, ... -> log w_T, 1 - tau_T

_DEPTH = 75.0  # terms below e^-75 of the largest are left out
_FEW = 300  # inner sums that are all done
_ITERATIONS = 80
_REACH = 14.0  # standard deviations of the window of an inner sum, and further counts
_MARGIN = 40
_CHUNK = 200_000  # summands at a time
_STEPS_PER_SPREAD = 6  # a smooth peak is summed at that many points per standard deviation


def rdp_clones(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Renyi divergence of the clones' pair (clones.py): an upper bound on eps(lambda) of the shuffle model.

    Parameters: ``order`` lambda > 1, ``n`` users, ``eps0``; numbers or arrays, which broadcast. Returns the
    divergence of the broadcast shape (a float for scalars), natural logarithms, relative error 1e-8.
    """

    def weights(t: Floats, users: int, budget: float) -> tuple[Floats, Floats]:
        return log_binomial_pmf(t - 1, users - 1, np.exp(-budget)), np.full(
            t.shape, 2 * special.expit(-budget)
        )

    values = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    return _divergences(weights, *values)


def rdp_two_counts(
    order: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike
) -> Floats:
    """Renyi divergence of the counts of x0 and x1 when all other users hold one third value (k = 2: x1).

    A lower bound on eps(lambda) of shuffled k-RR: it belongs to one dataset and a part of the histogram.
    Other users report x0 or x1 Bin(n - 1, 2 q) times. Parameters, result and errors: `rdp_clones`, with ``k``
    values.
    """
    values = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0), check_k(k))
    return _divergences(_two_counts, *values)


def _two_counts(t: Floats, n: int, eps0: float, k: int) -> tuple[Floats, Floats]:
    """log w_T and 1 - tau_T: C = T - 1 and the user's report is one of the two, or C = T and it is not."""
    total = 1 + (k - 1) * np.exp(-eps0)
    one, q = (1 + np.exp(-eps0)) / total, np.exp(-eps0) / total  # one = p + q
    with np.errstate(divide="ignore"):
        inside = np.log(one) + log_binomial_pmf(t - 1, n - 1, 2 * q)
        outside = np.log((k - 2) * q) + log_binomial_pmf(t, n - 1, 2 * q)
    log_weight = np.logaddexp(inside, outside)
    with np.errstate(invalid="ignore"):
        inside, outside = np.exp(inside - log_weight), np.exp(outside - log_weight)
    gap = outside + inside * 2 * special.expit(-eps0)
    return log_weight, np.where(np.isneginf(log_weight), 1.0, gap)


def _divergences(
    weights: Weights, order: Floats, n: npt.NDArray[Any], eps0: Floats, *more: npt.NDArray[Any]
) -> Floats:
    result = np.empty(order.shape)
    for index in np.ndindex(result.shape):
        lam, *setting = (value[index].item() for value in (order, n, eps0, *more))
        log_sum = _log_sum(lam, setting, weights)
        result[index] = np.logaddexp(0, log_sum) / (lam - 1)
    return result[()]


def _log_sum(lam: float, setting: list[Any], weights: Weights) -> float:
    """log of sum_T w_T E[g(tau_T z)], T = 1..n; ``setting`` is n, eps0, ..."""
    grid = _coarse_grid(setting[0])
    t = _worth_it(lam, grid, *weights(grid, *setting))
    log_weight, gap = weights(t, *setting)
    if t.size <= _FEW:
        return special.logsumexp(log_weight + _log_means(lam, t, gap))
    low, high = _stationary(lam, t, gap)
    chosen = np.isin(t, grid) | (high - low > 0.01) | (t <= 64)  # two peaks: not smooth enough
    breaks = np.flatnonzero(np.diff(t) > 1)
    chosen[np.concatenate([[0], breaks, breaks + 1, [t.size - 1]])] = True
    log_mean = np.empty(t.size)
    log_mean[chosen] = _log_means(lam, t[chosen], gap[chosen])
    curve = interpolate.CubicSpline(np.sqrt(t[chosen]), log_mean[chosen])
    log_mean[~chosen] = curve(np.sqrt(t[~chosen]))
    return special.logsumexp(log_weight + log_mean)


def _coarse_grid(n: int) -> Floats:
    """T from 1 to n, everywhere closer than a quarter of the spread of any Bin(n, .) with that mean."""
    steps = np.arange(int(8 * np.sqrt(n)) + 2)
    parabola = steps**2 // 64
    grid = np.unique(np.concatenate([parabola, n - parabola]))
    return grid[(grid >= 1) & (grid <= n)].astype(float)


def _worth_it(lam: float, grid: Floats, log_weight: Floats, gap: Floats) -> Floats:
    """All T near those of the grid whose share of the sum is not negligible, ascending."""
    size = log_weight + np.max([_exponent(lam, grid, gap, z) for z in _stationary(lam, grid, gap)], axis=0)
    kept = np.flatnonzero(size >= size.max() - _DEPTH)
    first, last = grid[np.maximum(kept - 1, 0)], grid[np.minimum(kept + 1, grid.size - 1)]
    edges = np.zeros(int(grid[-1]) + 2, dtype=np.int32)
    np.add.at(edges, first.astype(int), 1)
    np.add.at(edges, last.astype(int) + 1, -1)
    return np.flatnonzero(np.cumsum(edges) > 0).astype(float)


def _exponent(lam: float, t: Floats, gap: Floats, z: Floats) -> Floats:
    """log of the summand at z without its powers of T: -T KL((1 + z) / 2 || 1/2) + log (g + ...)."""
    entropy = (special.xlog1py(1 + z, z) + special.xlog1py(1 - z, -z)) / 2
    return -t * entropy + lam * np.log1p((1 - gap) * z) - (lam - 1) * np.log(1 - z + gap * z)


def _stationary(lam: float, t: Floats, gap: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest z in [0, 1] where the exponent is stationary: T atanh z = slope(z).

    The iterations come from outside: if they end early, the window between them is only too large.
    """
    tau = 1 - gap

    def step(z: Floats) -> Floats:
        return np.tanh((lam * tau / (1 + tau * z) + (lam - 1) * tau / (1 - z + gap * z)) / t)

    low: Floats = np.zeros(t.shape)
    high: Floats = np.ones(t.shape)
    for _ in range(_ITERATIONS):
        before, (low, high) = (low, high), (step(low), step(high))
        if np.max(np.abs(np.subtract(before, (low, high)))) < 1e-13:
            break
    return np.minimum(low, high), np.maximum(low, high)


def _log_means(lam: float, t: Floats, gap: Floats) -> Floats:
    """log E[g(tau z)] for each T."""
    low, high = _stationary(lam, t, gap)
    first = _window_end(t, low, -1)
    last = _window_end(t, high, 1)
    spread = np.sqrt(t * (1 - high * high)) / 2
    one_peak = high - low < 1e-9
    stride = np.where(one_peak, np.maximum(1, np.floor(spread / _STEPS_PER_SPREAD)), 1)
    points = np.floor((last - first) / stride) + 1
    result = np.empty(t.size)
    order = np.argsort(points)  # rows of similar length together
    for rows in np.array_split(order, max(1, int(points.sum() // _CHUNK))):
        a = first[rows, None] + stride[rows, None] * np.arange(points[rows].max())
        total = t[rows, None]
        terms = np.where(a <= last[rows, None], log_binomial_pmf(a, total, 0.5), -np.inf)
        a = np.minimum(a, total)
        terms = terms + _log_g(lam, gap[rows, None], 2 * a / total, 2 * (total - a) / total)
        result[rows] = np.log(stride[rows]) + special.logsumexp(terms, axis=1)
    return result


def _window_end(t: Floats, z: Floats, side: int) -> Floats:
    """Where the window around the peak at z ends, within 0..T."""
    reach = np.ceil(_REACH * np.sqrt(t * (1 - z * z)) / 2 + _MARGIN)
    return np.clip(np.rint(t * (1 + z) / 2) + side * reach, 0, t)


def _log_g(lam: float, gap: Floats, above: Floats, below: Floats) -> Floats:
    """log g(tau z) from ``above`` = 1 + z and ``below`` = 1 - z, exact where they are small."""
    z = (above - below) / 2
    x = (1 - gap) * z
    log_up = np.where(above < 0.5, np.log(above - gap * z), np.log1p(np.maximum(x, -0.9)))
    log_down = np.where(below < 0.5, np.log(below + gap * z), np.log1p(np.maximum(-x, -0.9)))
    power = lam * log_up - (lam - 1) * log_down
    linear = (2 * lam - 1) * x
    with np.errstate(divide="ignore"):
        small = np.log(np.maximum(np.expm1(np.minimum(power, 40)) - linear, 0))
        large = power + np.log1p(-(1 + np.minimum(linear, np.exp(40))) * np.exp(-np.maximum(power, 40)))
    return np.where(power > 40, large, small)
