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

from tightshuffle.arguments import Floats, Integers, check_eps0, check_k, check_n
from tightshuffle.literature.renyi import check_order
from tightshuffle.numerics.binomial import log_binomial_pmf

Weights = Callable[..., tuple[Floats, Floats]]  # T, n, eps0, ... -> ln w_T, 1 - tau_T

_DEPTH = 75.0  # terms below e^-75 of the largest are left out: together they are below every float's digits
_FEW = 300  # T up to which every inner sum is done, without a spline
_SMALL_TOTAL = 64  # T up to which the inner sums are done among many T, too
_TWO_PEAKS = 0.01  # distance of the stationary points, in z, from which on the spline is not exact
_ITERATIONS = 80  # at most, of the search for stationary points
_LARGE = 40  # exponent of g's power from which on the rest is a small part of it: e^-40 is below rounding
_REACH = 14.0  # standard deviations of the window of an inner sum: beyond, about e^-98 is left
_MARGIN = 40  # further counts of the window, where the standard deviation is small
_CHUNK = 200_000  # summands at a time, which bounds the memory
_STEPS_PER_SPREAD = 6  # a smooth peak is summed at that many points per standard deviation


def rdp_clones(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Renyi divergence of the clones' pair (clones.py): an upper bound on eps(lambda) of the shuffle model.

    ``order`` lambda > 1, ``n`` users and ``eps0`` are numbers or arrays, which broadcast. Returns the
    divergence of the broadcast shape (a float for scalars), in natural logarithms, with a relative error of
    1e-8.
    """
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    return _divergences(_weights_of_clones, *points)


def rdp_two_counts(
    order: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike
) -> Floats:
    """Renyi divergence of the counts of x0 and x1 when all other users hold one third value (k = 2: x1).

    A lower bound on eps(lambda) of shuffled k-RR: it belongs to one dataset and a part of the histogram.
    Other users report x0 or x1 Bin(n - 1, 2 q) times. Parameters, result and errors: `rdp_clones`, with ``k``
    values.
    """
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0), check_k(k))
    return _divergences(_weights_of_two_counts, *points)


def _weights_of_clones(t: Floats, n: int, eps0: float) -> tuple[Floats, Floats]:
    """ln w_T and 1 - tau_T for each T = ``t``, the number of clones and the target user's report; as ``t``.

    w_T is the probability of T. Given T, tau_T is how much the target user's report tells: the two counts at
    unevenness z have 1 + tau_T z times their fair probability under P, and 1 - tau_T z times under Q.
    """
    ln_weight = log_binomial_pmf(t - 1, n - 1, np.exp(-eps0))
    return ln_weight, np.full(t.shape, 2 * special.expit(-eps0))


def _weights_of_two_counts(t: Floats, n: int, eps0: float, k: int) -> tuple[Floats, Floats]:
    """ln w_T and 1 - tau_T for each T = ``t``, the number of reports x0 or x1; both of the shape of ``t``.

    The module's docstring has both; w_T is the probability of T. The target user's report is one of the T
    reports ("inside": k-RR reports x0 or x1 with probability p + q), or not ("outside"). Each of the other
    n - 1 users, who hold a third value, reports x0 or x1 with probability 2 q. Only a report inside depends
    on the target user's value: given T, tau_T is the probability of inside times (p - q) / (p + q).
    """
    total = 1 + (k - 1) * np.exp(-eps0)
    p_plus_q = (1 + np.exp(-eps0)) / total
    q = np.exp(-eps0) / total
    with np.errstate(divide="ignore"):
        ln_t_and_inside = np.log(p_plus_q) + log_binomial_pmf(t - 1, n - 1, 2 * q)
        ln_t_and_outside = np.log((k - 2) * q) + log_binomial_pmf(t, n - 1, 2 * q)
    ln_weight = np.logaddexp(ln_t_and_inside, ln_t_and_outside)

    # Probabilities given T; 1 - (p - q) / (p + q) = 2 q / (p + q) = 2 expit(-eps0), without cancellation.
    with np.errstate(invalid="ignore"):
        inside = np.exp(ln_t_and_inside - ln_weight)
        outside = np.exp(ln_t_and_outside - ln_weight)
    gap = outside + inside * 2 * special.expit(-eps0)
    return ln_weight, np.where(np.isneginf(ln_weight), 1.0, gap)  # any number where T never occurs


def _divergences(weights: Weights, order: Floats, n: Integers, *rest: npt.NDArray[Any]) -> Floats:
    """The Renyi divergence at every point, in the shape of ``order``.

    ``weights`` is `_weights_of_clones` or `_weights_of_two_counts`; ``n`` and the ``rest`` (eps0, ...) are
    its arguments after T, each an array of that shape.
    """
    divergences = np.empty(order.shape)
    for index in np.ndindex(divergences.shape):
        lam = order[index].item()
        rest_of_point = [array[index].item() for array in rest]
        ln_sum = _ln_moment_less_1(lam, weights, n[index].item(), rest_of_point)
        divergences[index] = np.logaddexp(0, ln_sum) / (lam - 1)
    return divergences[()]


def _ln_moment_less_1(lam: float, weights: Weights, n: int, rest: list[Any]) -> float:
    """ln of e^((lambda - 1) D) - 1 for the Renyi divergence D(P || Q) of order lambda = ``lam``.

    It is the sum of w_T E[g(tau_T z)] with g(x) = (1 + x)^lambda (1 - x)^(1 - lambda) - 1 - (2 lambda - 1) x.
    T = 1..n reports, with probability w_T, make up two counts. Given T, their unevenness z = 2 a / T - 1,
    a ~ Bin(T, 1/2), has 1 + tau_T z times this probability under P, and 1 - tau_T z times under Q.
    ``weights`` gives ln w_T and the gap 1 - tau_T for T, ``n`` and the ``rest`` of its arguments (eps0, ...).
    """
    grid = _coarse_grid(n)
    ln_weight_on_grid, gap_on_grid = weights(grid, n, *rest)
    t = _relevant_totals(lam, grid, ln_weight_on_grid, gap_on_grid)
    ln_weight, gap = weights(t, n, *rest)
    if t.size <= _FEW:
        return special.logsumexp(ln_weight + _ln_means(lam, t, gap))

    # E[g] is computed at some T, the nodes: those of the grid, small ones, those with two peaks, near which a
    # spline is not exact, and both ends of each run of neighbouring T. A spline of ln E[g] in sqrt(T)
    # gives the others.
    low, high = _stationary_points(lam, t, gap)
    is_node = np.isin(t, grid) | (high - low > _TWO_PEAKS) | (t <= _SMALL_TOTAL)
    last_of_run = np.flatnonzero(np.diff(t) > 1)
    is_node[last_of_run] = True
    is_node[last_of_run + 1] = True
    is_node[[0, -1]] = True

    ln_mean = np.empty(t.size)
    ln_mean[is_node] = _ln_means(lam, t[is_node], gap[is_node])
    spline = interpolate.CubicSpline(np.sqrt(t[is_node]), ln_mean[is_node])
    ln_mean[~is_node] = spline(np.sqrt(t[~is_node]))
    return special.logsumexp(ln_weight + ln_mean)


def _coarse_grid(n: int) -> Floats:
    """T from 1 to n, everywhere closer than a quarter of the spread of any Bin(n, .) with that mean."""
    steps = np.arange(int(8 * np.sqrt(n)) + 2)
    parabola = steps**2 // 64
    grid = np.unique(np.concatenate([parabola, n - parabola]))
    return grid[(grid >= 1) & (grid <= n)].astype(float)


def _relevant_totals(lam: float, grid: Floats, ln_weight: Floats, gap: Floats) -> Floats:
    """All whole T near those of the ``grid`` that add enough to sum_T w_T E[g(tau_T z)], ascending; (T,).

    `_ln_moment_less_1` explains this sum over numbers T of reports. ``ln_weight`` and ``gap`` are ln w_T and
    1 - tau_T at the points T of the grid. What T adds is judged by its weight and the larger one of the two
    peaks of the summand of E[g(tau_T z)].
    """
    low, high = _stationary_points(lam, grid, gap)
    exponents = np.maximum(_exponent(lam, grid, gap, low), _exponent(lam, grid, gap, high))
    ln_size = ln_weight + exponents
    relevant = np.flatnonzero(ln_size >= ln_size.max() - _DEPTH)

    # An interval goes from the point before a relevant one to the point after it. Its ends are +1 and -1, so
    # that a running sum counts the intervals that cover T.
    firsts = grid[np.maximum(relevant - 1, 0)]
    lasts = grid[np.minimum(relevant + 1, grid.size - 1)]
    ends = np.zeros(int(grid[-1]) + 2, dtype=np.int32)
    np.add.at(ends, firsts.astype(int), 1)
    np.add.at(ends, lasts.astype(int) + 1, -1)
    return np.flatnonzero(np.cumsum(ends) > 0).astype(float)


def _exponent(lam: float, t: Floats, gap: Floats, z: Floats) -> Floats:
    """ln of about the summand of E[g(tau z)] at z, for T = ``t`` and ``gap`` = 1 - tau.

    -T KL((1 + z) / 2 || 1/2) + ln((1 + tau z)^lambda (1 - tau z)^(1 - lambda)): powers of T are left out.
    """
    entropy = (special.xlog1py(1 + z, z) + special.xlog1py(1 - z, -z)) / 2
    return -t * entropy + lam * np.log1p((1 - gap) * z) - (lam - 1) * np.log(1 - z + gap * z)


def _stationary_points(lam: float, t: Floats, gap: Floats) -> tuple[Floats, Floats]:
    """Bounds (low, high) on the z in [0, 1] where `_exponent` is stationary, for each T = ``t``; both (T,).

    The exponent is -T KL((1 + z) / 2 || 1/2) + lambda ln(1 + tau z) - (lambda - 1) ln(1 - tau z), lambda
    being ``lam`` and tau 1 - ``gap``. Its derivative is slope(z) - T atanh z, with the slope of the two terms
    with lambda. So z -> tanh(slope(z) / T) is iterated: from 0 to the smallest stationary point, from 1 to
    the largest. If it has not settled after `_ITERATIONS` steps, the range is wider, which costs time only.
    """
    tau = 1 - gap

    def next_z(z: Floats) -> Floats:
        """A fixed point is a stationary z."""
        slope = lam * tau / (1 + tau * z) + (lam - 1) * tau / (1 - z + gap * z)
        return np.tanh(slope / t)

    low: Floats = np.zeros(t.shape)
    high: Floats = np.ones(t.shape)
    for _ in range(_ITERATIONS):
        next_low, next_high = next_z(low), next_z(high)
        change = np.maximum(np.abs(low - next_low), np.abs(high - next_high))
        low, high = next_low, next_high
        if np.max(change) < 1e-13:
            break
    # Where both meet, rounding may exchange them.
    return np.minimum(low, high), np.maximum(low, high)


def _ln_means(lam: float, t: Floats, gap: Floats) -> Floats:
    """ln E[g(tau z)] for each T = ``t``, z = 2 a / T - 1 of a count a ~ Bin(T, 1/2); (T,).

    ``gap`` is 1 - tau, and g(x) = (1 + x)^lam (1 - x)^(1 - lam) - 1 - (2 lam - 1) x. The sum over a goes from
    the window around the lowest peak of the summand to that around the highest one. Of a single broad peak
    only every few a are summed: that step is the stride.
    """
    low, high = _stationary_points(lam, t, gap)
    first = _window_end(t, low, -1)
    last = _window_end(t, high, 1)
    spread = np.sqrt(t * (1 - high * high)) / 2
    one_peak = high - low < 1e-9
    stride = np.where(one_peak, np.maximum(1, np.floor(spread / _STEPS_PER_SPREAD)), 1)
    length = np.floor((last - first) / stride) + 1  # how many a are summed

    ln_means = np.empty(t.size)
    by_length = np.argsort(length)  # rows of similar length together
    for rows in np.array_split(by_length, max(1, int(length.sum() // _CHUNK))):
        a = first[rows, None] + stride[rows, None] * np.arange(length[rows].max())
        total = t[rows, None]
        ln_mass = np.where(a <= last[rows, None], log_binomial_pmf(a, total, 0.5), -np.inf)
        a = np.minimum(a, total)
        terms = ln_mass + _ln_g(lam, gap[rows, None], 2 * a / total, 2 * (total - a) / total)
        ln_means[rows] = np.log(stride[rows]) + special.logsumexp(terms, axis=1)
    return ln_means


def _window_end(t: Floats, z: Floats, side: int) -> Floats:
    """The count a at which the window around the peak at z ends, within 0..T; ``side``: 1 above, -1 below."""
    reach = np.ceil(_REACH * np.sqrt(t * (1 - z * z)) / 2 + _MARGIN)
    return np.clip(np.rint(t * (1 + z) / 2) + side * reach, 0, t)


def _ln_g(lam: float, gap: Floats, above: Floats, below: Floats) -> Floats:
    """ln g(tau z) from ``above`` = 1 + z and ``below`` = 1 - z, exact where one of these is small.

    g(x) = (1 + x)^lam (1 - x)^(1 - lam) - 1 - (2 lam - 1) x = e^exponent - 1 - linear, and ``gap`` is 1 -
    tau. For a large exponent ln g is the exponent plus a small correction.
    """
    z = (above - below) / 2
    x = (1 - gap) * z  # tau z
    ln_1_plus_x = np.where(above < 0.5, np.log(above - gap * z), np.log1p(np.maximum(x, -0.9)))
    ln_1_minus_x = np.where(below < 0.5, np.log(below + gap * z), np.log1p(np.maximum(-x, -0.9)))
    exponent = lam * ln_1_plus_x - (lam - 1) * ln_1_minus_x
    linear = (2 * lam - 1) * x

    # Both formulas are computed everywhere: each gets arguments within its range.
    with np.errstate(divide="ignore"):
        small = np.log(np.maximum(np.expm1(np.minimum(exponent, _LARGE)) - linear, 0))
        subtracted = 1 + np.minimum(linear, np.exp(_LARGE))
        large = exponent + np.log1p(-subtracted * np.exp(-np.maximum(exponent, _LARGE)))
    return np.where(exponent > _LARGE, large, small)
