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

# `_weights_of_clones` or `_weights_of_two_counts`: T, n, eps0, ... -> ln w_T, 1 - tau_T.
Weights = Callable[..., tuple[Floats, Floats]]

# Terms below e^-75 of the largest are left out: together they are below every float's digits.
_LEFT_OUT_BELOW = 75.0
_FEW_TOTALS = 300  # T up to which every inner sum is done, without a spline
_SMALL_TOTAL = 64  # T up to which the inner sums are done among many T, too
_TWO_PEAKS = 0.01  # distance of the stationary points, in z, from which on the spline is not exact
_MOST_ITERATIONS = 80  # at most, of the search for stationary points
# Exponent of g's power from which on the rest is a small part of it: e^-40 is below rounding.
_LARGE_EXPONENT = 40
_REACH = 14.0  # standard deviations of the window of an inner sum: beyond, about e^-98 is left
_MARGIN = 40  # further counts of the window, where the standard deviation is small
_MOST_SUMMANDS = 200_000  # summands at a time, which bounds the memory
_STEPS_PER_SPREAD = 6  # a smooth peak is summed at that many points per standard deviation


def rdp_clones(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Renyi divergence of the clones' pair (clones.py): an upper bound on eps(lambda) of the shuffle model.

    Parameters, shape, unit and errors: `renyi.rdp_upper`. The relative error is 1e-8.
    """
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    return _divergences(_weights_of_clones, *points)


def rdp_two_counts(
    order: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike
) -> Floats:
    """Renyi divergence of the counts of x0 and x1 when all other users hold one third value.

    It is a lower bound on eps(lambda) of shuffled k-RR, as it belongs to one dataset and a part of the
    histogram. The counts of the other users' reports x0 and x1 have the sum Bin(n - 1, 2 q). Parameters,
    result and errors: `rdp_clones`, with ``k`` values. ValueError for k = 2, where there is no third value.
    """
    values = check_k(k)
    if np.any(values < 3):
        raise ValueError("k must be at least 3: all other users hold a third value; got 2")
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0), values)
    return _divergences(_weights_of_two_counts, *points)


def _weights_of_clones(t: Floats, n: int, eps0: float) -> tuple[Floats, Floats]:
    """ln w_T and 1 - tau_T for each T = ``t``, the number of clones plus the target user's report.

    Both arrays have the shape of ``t``. Each of the n - 1 other users hides a clone of the target user with
    probability e^-eps0. Given T, the target user's report tells x0 from x1 by tau_T = (e^eps0 - 1) / (e^eps0
    + 1).
    """
    ln_weight = log_binomial_pmf(t - 1, n - 1, np.exp(-eps0))
    return ln_weight, np.full(t.shape, 2 * special.expit(-eps0))


def _weights_of_two_counts(t: Floats, n: int, eps0: float, k: int) -> tuple[Floats, Floats]:
    """ln w_T and 1 - tau_T for each T = ``t``, the number of reports x0 or x1; both of the shape of ``t``.

    The target user holds x0 under P, and x1 under Q. Each of the other ``n`` - 1 users holds a third value,
    and reports x0 or x1 with probability 2 q. The target user's report is one of the T reports ("inside",
    with probability p + q), or not ("outside"). `krr` has p and q, of ``k`` values and ``eps0``. As only a
    report inside depends on the target user's value, tau_T is P(inside | T) (p - q) / (p + q).
    """
    total = 1 + (k - 1) * np.exp(-eps0)  # 1 / p
    p_plus_q = (1 + np.exp(-eps0)) / total
    q = np.exp(-eps0) / total
    with np.errstate(divide="ignore"):
        ln_t_and_inside = np.log(p_plus_q) + log_binomial_pmf(t - 1, n - 1, 2 * q)
        ln_t_and_outside = np.log((k - 2) * q) + log_binomial_pmf(t, n - 1, 2 * q)
    ln_weight = np.logaddexp(ln_t_and_inside, ln_t_and_outside)

    # The gap 1 - tau_T = P(outside | T) + P(inside | T) (1 - (p - q) / (p + q)) without cancellation: the
    # last factor is 2 q / (p + q) = 2 expit(-eps0).
    with np.errstate(invalid="ignore"):
        inside = np.exp(ln_t_and_inside - ln_weight)
        outside = np.exp(ln_t_and_outside - ln_weight)
    gap = outside + inside * 2 * special.expit(-eps0)
    # A T that never occurs has the weight 0. Its gap may be any number.
    return ln_weight, np.where(np.isneginf(ln_weight), 1.0, gap)


def _divergences(weights: Weights, order: Floats, n: Integers, *rest: npt.NDArray[Any]) -> Floats:
    """The Renyi divergence D(P || Q), in natural logarithms, of each ``order`` > 1; in its shape.

    ``weights`` is `_weights_of_clones` or `_weights_of_two_counts`. ``n`` and the ``rest`` (eps0, ...) are
    its arguments after T, each an array of the shape of ``order``.
    """
    divergences = np.empty(order.shape)
    for index in np.ndindex(divergences.shape):
        lam = order[index].item()
        rest_of_point = [array[index].item() for array in rest]
        # This is ln(e^((lam - 1) D) - 1), and so logaddexp of 0 and it is (lam - 1) D.
        ln_moment_less_1 = _ln_moment_less_1(lam, weights, n[index].item(), rest_of_point)
        divergences[index] = np.logaddexp(0, ln_moment_less_1) / (lam - 1)
    return divergences[()]


def _ln_moment_less_1(lam: float, weights: Weights, n: int, rest: list[Any]) -> float:
    """ln(e^((lambda - 1) D) - 1), D = D(P || Q) being the Renyi divergence of order lambda = ``lam``.

    It is ln of the module's sum, with T = 1..n. ``weights(T, n, *rest)`` gives ln w_T and the gap 1 - tau_T
    for an array of T, where ``rest`` is eps0, and k for some weights.
    """
    grid = _coarse_grid(n)
    ln_weight_on_grid, gap_on_grid = weights(grid, n, *rest)
    t = _totals_that_matter(lam, grid, ln_weight_on_grid, gap_on_grid)
    ln_weight, gap = weights(t, n, *rest)
    if t.size <= _FEW_TOTALS:
        return special.logsumexp(ln_weight + _ln_means_of_g(lam, t, gap))

    # E[g] is a sum over a for each T. Of many T, only some, the nodes, get this sum: those of the grid, small
    # ones, those with two peaks of the summand, near which a spline is not exact, and both ends of each run
    # of successive T. A spline of ln E[g] in sqrt(T) through the nodes gives the others.
    low, high = _stationary_points(lam, t, gap)
    has_two_peaks = high - low > _TWO_PEAKS
    is_node = np.isin(t, grid) | has_two_peaks | (t <= _SMALL_TOTAL)
    last_of_run = np.flatnonzero(np.diff(t) > 1)
    is_node[last_of_run] = True
    is_node[last_of_run + 1] = True
    is_node[[0, -1]] = True

    ln_mean = np.empty(t.size)
    ln_mean[is_node] = _ln_means_of_g(lam, t[is_node], gap[is_node])
    spline = interpolate.CubicSpline(np.sqrt(t[is_node]), ln_mean[is_node])
    ln_mean[~is_node] = spline(np.sqrt(t[~is_node]))
    return special.logsumexp(ln_weight + ln_mean)


def _coarse_grid(n: int) -> Floats:
    """Whole T from 1 to ``n``, ascending, about sqrt(min(T, n - T)) / 4 apart; all T where that is below 1.

    Where some T are left out, neighbours near T are closer than 0.6 standard deviations of a binomial
    number of n trials with mean T.
    """
    steps = np.arange(int(8 * np.sqrt(n)) + 2)
    # From s^2 / 64 to (s + 1)^2 / 64 it is about sqrt(T) / 4 at T = s^2 / 64.
    parabola = steps**2 // 64
    grid = np.unique(np.concatenate([parabola, n - parabola]))
    return grid[(grid >= 1) & (grid <= n)].astype(float)


def _totals_that_matter(lam: float, grid: Floats, ln_weight: Floats, gap: Floats) -> Floats:
    """The whole T whose terms of sum_T w_T E[g(tau_T z)] are not negligible, ascending; shape (T,).

    The terms are estimated on a coarse ``grid`` of T, ascending. There ``ln_weight`` is ln w_T, and ``gap``
    is 1 - tau_T. All three have the shape (grid,). The estimate of a term is w_T times the largest summand of
    the mean over a. If a point of the grid matters, all T from its neighbour below to the one above are
    returned.
    """
    # The summand of the mean has its peaks at the lowest and at the highest stationary point z.
    low, high = _stationary_points(lam, grid, gap)
    ln_peak = np.maximum(_ln_summand(lam, grid, gap, low), _ln_summand(lam, grid, gap, high))
    ln_term = ln_weight + ln_peak
    relevant = np.flatnonzero(ln_term >= ln_term.max() - _LEFT_OUT_BELOW)

    # For each relevant point, the interval from the point before it to the point after it. In `changes`, +1
    # is where an interval starts, and -1 just beyond its end: a running sum is how many intervals cover T.
    firsts = grid[np.maximum(relevant - 1, 0)]
    lasts = grid[np.minimum(relevant + 1, grid.size - 1)]
    changes = np.zeros(int(grid[-1]) + 2, dtype=np.int32)
    np.add.at(changes, firsts.astype(int), 1)
    np.add.at(changes, lasts.astype(int) + 1, -1)
    return np.flatnonzero(np.cumsum(changes) > 0).astype(float)


def _ln_summand(lam: float, t: Floats, gap: Floats, z: Floats) -> Floats:
    """ln, about, of the summand of E[g(tau z)] at z; ``t``, ``gap`` and ``z`` broadcast.

    z = 2 a / T - 1 of a ~ Bin(T, 1/2), with T = ``t``, lambda = ``lam``, tau = 1 - ``gap``. The summand is
    P(a) times g, which is about (1 + tau z)^lambda (1 - tau z)^(1 - lambda). P(a) is e^(-T KL) up to powers
    of T, which are left out. KL is that of Bernoulli((1 + z) / 2) from Bernoulli(1/2).
    """
    divergence = (special.xlog1py(1 + z, z) + special.xlog1py(1 - z, -z)) / 2
    return -t * divergence + lam * np.log1p((1 - gap) * z) - (lam - 1) * np.log(1 - z + gap * z)


def _stationary_points(lam: float, t: Floats, gap: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest z in [0, 1] where ln of a summand is stationary, for each T; both (T,).

    With T = ``t``, lambda = ``lam`` and tau = 1 - ``gap``, this is about the logarithm

        -T KL((1 + z) / 2 || 1/2) + lambda ln(1 + tau z) - (lambda - 1) ln(1 - tau z).

    Its derivative is slope(z) - T atanh(z), where slope(z) is the derivative of the two terms with lambda. So
    at a stationary point z = tanh(slope(z) / T). This map is iterated, from 0 up to the smallest stationary
    point, and from 1 down to the largest. If it has not settled after `_MOST_ITERATIONS` steps, all
    stationary points still lie between the two results, and the wider range only costs time.
    """
    tau = 1 - gap

    def next_z(z: Floats) -> Floats:
        """tanh(slope(z) / T), which is z at a stationary point."""
        slope = lam * tau / (1 + tau * z) + (lam - 1) * tau / (1 - z + gap * z)
        return np.tanh(slope / t)

    low: Floats = np.zeros(t.shape)
    high: Floats = np.ones(t.shape)
    for _ in range(_MOST_ITERATIONS):
        next_low, next_high = next_z(low), next_z(high)
        change = np.maximum(np.abs(low - next_low), np.abs(high - next_high))
        low, high = next_low, next_high
        if np.max(change) < 1e-13:  # rounding alone is left
            break
    # Where both meet, rounding may exchange them.
    return np.minimum(low, high), np.maximum(low, high)


def _ln_means_of_g(lam: float, t: Floats, gap: Floats) -> Floats:
    """ln E[g(tau z)] for each T = ``t``; shape (T,). ``gap`` (T,) is 1 - tau.

    The mean is a sum over a, whose summand has its lowest and highest peak at the stationary points z = low
    and z = high. The sum goes from a window around the one to a window around the other. Where there is a
    single broad peak, only every stride-th a is summed, and the sum is multiplied by the stride.
    """
    low, high = _stationary_points(lam, t, gap)
    first = _end_of_window(t, low, side=-1)
    last = _end_of_window(t, high, side=1)
    spread = np.sqrt(t * (1 - high * high)) / 2  # standard deviation of a at the highest peak
    one_peak = high - low < 1e-9
    stride = np.where(one_peak, np.maximum(1, np.floor(spread / _STEPS_PER_SPREAD)), 1)
    length = np.floor((last - first) / stride) + 1  # how many a are summed

    # A few T at a time, as rows of an array (rows, a). Rows of similar length go together: in a shorter row,
    # what is beyond its last a gets the mass 0.
    ln_means = np.empty(t.size)
    by_length = np.argsort(length)
    for rows in np.array_split(by_length, max(1, int(length.sum() // _MOST_SUMMANDS))):
        a = first[rows, None] + stride[rows, None] * np.arange(length[rows].max())
        total = t[rows, None]
        ln_mass = np.where(a <= last[rows, None], log_binomial_pmf(a, total, 0.5), -np.inf)
        a = np.minimum(a, total)  # so that g is a number there, too
        one_plus_z = 2 * a / total
        one_minus_z = 2 * (total - a) / total
        ln_terms = ln_mass + _ln_g(lam, gap[rows, None], one_plus_z, one_minus_z)
        ln_means[rows] = np.log(stride[rows]) + special.logsumexp(ln_terms, axis=1)
    return ln_means


def _end_of_window(t: Floats, z: Floats, *, side: int) -> Floats:
    """The count a, within 0..T, at which the window around a peak at z ends; ``side``: 1 above, -1 below.

    a = T (1 + z) / 2 at z. Near it a has the standard deviation sqrt(T (1 - z^2)) / 2.
    """
    reach = np.ceil(_REACH * np.sqrt(t * (1 - z * z)) / 2 + _MARGIN)
    return np.clip(np.rint(t * (1 + z) / 2) + side * reach, 0, t)


def _ln_g(lam: float, gap: Floats, one_plus_z: Floats, one_minus_z: Floats) -> Floats:
    """ln g(tau z) from ``one_plus_z`` = 1 + z and ``one_minus_z`` = 1 - z, exact where one of these is small.

    z lies in [-1, 1], ``gap`` is 1 - tau, and with x = tau z

        g(x) = (1 + x)^lam (1 - x)^(1 - lam) - 1 - (2 lam - 1) x = e^exponent - 1 - linear.

    For a large exponent, e^exponent may be no float: there ln g is the exponent plus a small correction,
    ln(1 - (1 + linear) e^-exponent). All arrays broadcast.
    """
    z = (one_plus_z - one_minus_z) / 2
    x = (1 - gap) * z
    # 1 + x = (1 + z) - gap z, and 1 - x = (1 - z) + gap z: without cancellation where z is near -1 or 1. The
    # -0.9 only keeps the other formula's argument, which is not used there, within the range of log1p.
    ln_1_plus_x = np.where(
        one_plus_z < 0.5, np.log(one_plus_z - gap * z), np.log1p(np.maximum(x, -0.9))
    )
    ln_1_minus_x = np.where(
        one_minus_z < 0.5, np.log(one_minus_z + gap * z), np.log1p(np.maximum(-x, -0.9))
    )
    exponent = lam * ln_1_plus_x - (lam - 1) * ln_1_minus_x
    linear = (2 * lam - 1) * x

    # Both formulas are computed everywhere: each gets arguments within its range, here by `minimum` and
    # `maximum`.
    with np.errstate(divide="ignore"):
        small = np.log(np.maximum(np.expm1(np.minimum(exponent, _LARGE_EXPONENT)) - linear, 0))
        subtracted = 1 + np.minimum(linear, np.exp(_LARGE_EXPONENT))
        large = exponent + np.log1p(-subtracted * np.exp(-np.maximum(exponent, _LARGE_EXPONENT)))
    return np.where(exponent > _LARGE_EXPONENT, large, small)
