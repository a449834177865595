"""delta of the whole histogram: rigorous bounds, lower and upper, for every dataset of the remaining users.

Differential privacy asks for the worst dataset of the remaining n - 1 users. No formula is known for it
(docs/worst_case.md shows that it changes with eps), but it lies between

* ``upper``: the weak adversary of Koskela, Heikkila and Honkela (sections 3.2 to 3.4), who is told which of
  the remaining users told the truth and how many, B, answered with a uniform cell. Whatever the remaining
  users hold, the histogram is a post-processing of what this adversary sees, so the bound holds for them all.
* ``lower``: the exact delta of one dataset, all remaining users in one third cell x2, seen through its counts
  of x0, x1 and x2; or that of the count of x0 alone when all remaining users hold x0 or none does, if larger.

All three pairs of laws have likelihood ratios that are affine in the answers a on x0, for given T answers on
x0 and x1 together. So each divergence is a sum over T of an expected excess E[(Bin(T, 1/2) - u T - v)_+]
with u = e^eps / (1 + e^eps), known in closed form, and over one more number: B or the count of x2.

What is left out is bounded by Chernoff's argument: x_+ <= e^(theta x) / (e theta) for every theta > 0, so
a region of outcomes adds at most E[e^(theta x)] / (e theta) times its probability under the law tilted by
theta. ``upper`` adds this for the regions that it leaves out; ``lower`` leaves them out.
Floating-point errors stay below 2e-8 of delta (log_binomial_excess is good to 1e-8, all summands are
positive); both bounds are moved by that much to their safe side.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from tightshuffle.arguments import Floats, Integers, check_eps, check_eps0, check_k, check_n
from tightshuffle.privacy import count as count_of_x0
from tightshuffle.privacy.hockey_stick import log_binomial_excess, log_binomial_pmf

_LARGEST_EPS0 = 20  # beyond it differences from ratios of e^eps0 drown in rounding
_REACH = 7.5  # standard deviations of the tilted law inside a window; beyond lies less than exp(-27)
_MARGIN = 40  # further values of a window, for lopsided laws
_ROUNDING = 1e-15  # relative error of a threshold u T + v, of a few operations
_SAFETY = 2e-8  # relative floating-point error that the bounds allow for
_LOOSENESS = 1e-3  # relative cost of treating values of B in blocks that upper aims at
_SMALL = 20_000  # users up to which lower looks at every count of x2 instead of blocks
_EVALUATIONS = 400  # values of B that upper looks at, at most,
_DEEP = 300  # -log delta from which precision gives way to speed
_TERMS = 1_500_000  # and terms that it sums for them, about
_BATCH = 2**16  # terms of the sums over T that are computed at once, about
_STEEPEST = 2.0**20  # tilt at which the search for a better one ends


def upper(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 of an upper bound on delta for every dataset of the remaining users, both directions.

    Given B, delta falls with B (one more uniform answer is post-processing), so the smallest B of a block of
    values bounds them all: rigorous, and fast for large n.

    Parameters: ``eps``, ``n``, ``k``, ``eps0``, numbers or arrays, which broadcast. Returns log10 delta, -inf
    for eps >= eps0. Raises ValueError naming a bad argument.
    """
    return _pointwise(_log_upper, eps, n, k, eps0)


def lower(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 of a lower bound on the worst dataset's delta: some dataset and event that are that bad.

    For the dataset with all remaining users in x2 and many users, the count of x2 is taken in blocks, each
    with its mean: by Jensen's inequality this lowers the divergence. Same parameters and errors as ``upper``.
    """
    return _pointwise(_log_lower, eps, n, k, eps0)


def exact_histogram(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 of the tight delta of the dataset in which all remaining users hold one third cell; k >= 3.

    Both directions are equal. Relative error that of log_binomial_excess. O(n) steps, for n up to 10^5.
    Same parameters as ``upper``.
    """
    if np.any(check_k(k) < 3):
        raise ValueError("k must be a whole number >= 3 for a third cell to exist; got 2")
    return _pointwise(_log_exact, eps, n, k, eps0)


def _pointwise(
    log_bound: Callable[..., float],
    eps: npt.ArrayLike,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
) -> Floats:
    points = np.broadcast_arrays(check_eps(eps), check_n(n), check_k(k), check_eps0(eps0))
    if np.any(points[3] > _LARGEST_EPS0):
        raise ValueError(f"eps0 must be at most {_LARGEST_EPS0} for rigorous bounds; got {np.max(eps0)}")
    result = np.full(points[0].shape, -np.inf)
    for index in np.ndindex(result.shape):
        e, users, cells, e0 = (point[index].item() for point in points)
        if e < e0:
            result[index] = min(0.0, log_bound(e, users, cells, e0))
    return result[()] / np.log(10)


def _slope_and_unit(eps: float, eps0: float, side: int = 0) -> tuple[float, float]:
    """u, and the v that one answer elsewhere adds: thresholds are u T + v times the weight elsewhere.

    tanh instead of exponentials, so that no budget overflows: v = tanh(eps / 2) / (e^eps0 - 1). With
    ``side`` -1 or 1 no rounding leaves a threshold above, or below, the true one: close to eps0 a threshold
    is nearly T, and the rounding of u T is no longer small beside what is left.
    """
    factor = 1 + side * _ROUNDING
    return special.expit(eps) * factor, math.tanh(eps / 2) / math.expm1(eps0) * factor


# --- upper -------------------------------------------------------------------------------------------------


def _log_upper(eps: float, n: int, k: int, eps0: float) -> float:
    slope, unit = _slope_and_unit(eps, eps0, side=-1)
    gamma = k / (math.expm1(eps0) + k)
    # x = (scale / N) (a - u T - v) with N = B + 1 uniform answers, v = N k unit / k = N unit.
    steps = np.array([1 - slope, -slope, 0.0]) - unit
    chances = np.array([1, 1, k - 2]) / k
    theta, log_mgf = _best_tilt(steps, chances)
    mgf = math.exp(log_mgf)
    tilted = gamma * mgf / (1 - gamma + gamma * mgf)
    blankets = n - 1
    first, last = _window(blankets, tilted)
    b = np.arange(first, last + 1)
    weights = log_binomial_pmf(b, blankets, gamma)

    log_scale = math.log1p(-gamma) + math.log(k) + math.log1p(math.exp(eps))

    def log_delta_given(b: Integers) -> Floats:
        value, left_out = _log_excess(b + 1, 1 / k, slope, (b + 1) * unit)
        return np.logaddexp(value, left_out) + log_scale - np.log(b + 1)

    exponent = log_mgf + blankets * math.log1p(gamma * (mgf - 1))
    # All windows of T are about as wide as the widest; very deep tails take long sums.
    widest = _window(n, float(np.sum(chances * np.exp(theta * steps - log_mgf), where=[True, True, False])))
    terms = (widest[1] - widest[0] + 1) * (1 if exponent > -_DEEP else 30)
    total = _blockwise(b, weights, log_delta_given, max(16, min(_EVALUATIONS, _TERMS // terms)))
    left_out = _log_chernoff(theta, 1 - slope, exponent)
    left_out += log_scale + _log_outside(blankets, tilted, first, last)
    return _moved(np.logaddexp(total, left_out), +1)


def _blockwise(
    b: Integers, weights: Floats, log_delta_given: Callable[[Integers], Floats], evaluations: int
) -> float:
    """log of the sum over blocks of probability times delta at the smallest b; halves blocks as needed."""
    edges = np.unique(np.linspace(0, b.size, min(b.size, 8) + 1).astype(int))
    known = np.full(b.size, np.nan)
    while True:
        starts, ends = edges[:-1], edges[1:]
        asked = np.unique(np.minimum(edges, b.size - 1))
        new = asked[np.isnan(known[asked])]
        known[new] = log_delta_given(b[new])
        mass = np.logaddexp.reduceat(weights, starts)
        high = mass + known[starts]
        low = mass + known[np.minimum(ends, b.size - 1)]
        total = _log_sums(high, [0])[0]
        if np.isneginf(total):
            return total
        cost = np.where(ends - starts == 1, 0, np.exp(high - total) - np.exp(low - total))
        if cost.sum() <= _LOOSENESS or np.count_nonzero(~np.isnan(known)) >= evaluations:
            return total
        split = cost > _LOOSENESS / (2 * cost.size)
        edges = np.unique(np.concatenate([edges, ((starts + ends) // 2)[split]]))


# --- lower and exact ---------------------------------------------------------------------------------------


def _third_cell(
    eps: float, n: int, k: int, eps0: float, side: int = 0
) -> tuple[float, float, float, Floats, Floats, float]:
    """All remaining users hold x2: their law, a multinomial F over (x0, x1, x2, elsewhere), and its tilt.

    P / F = (e^eps0 a + b + e^-eps0 c + elsewhere) / n and Q / F the same with a and b exchanged, hence
    (P - e^eps Q) / F = (e^eps0 - 1)(1 + e^eps) / n (a - u T - unit (n - kappa c)), kappa = 1 - e^-eps0.
    """
    slope, unit = _slope_and_unit(eps, eps0, side)
    kappa = -math.expm1(-eps0)
    q = 1 / (math.expm1(eps0) + k)
    chances = np.array([q, q, 1 - (k - 1) * q, (k - 3) * q])
    steps = np.array([1 - slope, -slope, kappa * unit, 0.0]) - unit
    theta, log_mgf = _best_tilt(steps, chances)
    tilted = chances * np.exp(theta * steps - log_mgf)
    log_scale = math.log(math.expm1(eps0)) + math.log1p(math.exp(eps)) - math.log(n)
    return slope, unit, kappa, chances, tilted, log_scale


def _log_exact(eps: float, n: int, k: int, eps0: float, side: int = 0) -> float:
    slope, unit, kappa, chances, tilted, log_scale = _third_cell(eps, n, k, eps0, side)
    first, last = _window(n, tilted[2])
    c = np.arange(first, last + 1)
    weights = log_binomial_pmf(c, n, chances[2])
    values, _ = _log_excess(n - c, 1 / (k - 1), slope, unit * (n - kappa * c))
    return _log_sums(weights + values, [0])[0] + log_scale


def _log_lower(eps: float, n: int, k: int, eps0: float) -> float:
    candidates = [
        float(count_of_x0.delta(eps, n=n, k=k, eps0=eps0, count=holders, direction="both")) * math.log(10)
        for holders in {0, n - 1}
    ]
    if k >= 3:
        third_cell = _log_exact if n <= _SMALL else _log_third_cell_in_blocks
        candidates.append(third_cell(eps, n, k, eps0, side=1))
    return _moved(max(candidates), -1)


def _log_third_cell_in_blocks(eps: float, n: int, k: int, eps0: float, side: int) -> float:
    slope, unit, kappa, chances, tilted, log_scale = _third_cell(eps, n, k, eps0, side)
    first, last = _window(n, tilted[0] + tilted[1])
    t = np.arange(first, last + 1)
    weights = log_binomial_pmf(t, n, 2 * chances[0])
    share = chances[2] / (chances[2] + chances[3])
    # Edges around where the tilted law has the count of x2; the outermost blocks are half-lines.
    centre = tilted[2] / (tilted[2] + tilted[3])
    elsewhere = (n - t)[:, None]
    spread = np.sqrt(elsewhere * centre * (1 - centre))
    # The more users, the less the count of x2 varies relative to n, and the fewer blocks it takes.
    blocks = 48 if n <= 10**5 else 12
    inner = np.floor(elsewhere * centre + spread * np.linspace(-6, 6, blocks - 1))
    below = np.full(elsewhere.shape, -1.0)
    edges = np.concatenate([below, np.clip(inner, -1, elsewhere), elsewhere], axis=1)
    mass = np.diff(_cdf(edges, elsewhere, share), axis=1)
    # E[X; X <= x] = trials share (Pr[X <= x] - (1 - share) Pr[X' = x]), X' of one trial less.
    ends = np.exp(log_binomial_pmf(edges, elsewhere - 1, share))
    moment = elsewhere * share * (mass - (1 - share) * np.diff(ends, axis=1))
    used = mass > 1e-290  # lighter blocks are left out: lower stays lower
    mean = np.divide(moment, mass, out=np.zeros_like(mass), where=used)
    mean = np.clip(mean, edges[:, :-1] + 1, edges[:, 1:])
    log_mass = _log(np.where(used, mass, 0))
    excess = _log_answers_excess(t[:, None], slope, unit * (n - kappa * mean))
    return special.logsumexp(weights[:, None] + log_mass + excess) + log_scale


def _cdf(successes: Floats, trials: Integers, chance: float) -> Floats:
    """Binomial distribution function; 0 below 0 and 1 from ``trials`` on, also for -1 trials."""
    inside = (successes >= 0) & (successes < trials)
    # Not special.bdtr: for 10^9 trials it is wrong in the first digit.
    values = special.betainc(
        np.where(inside, trials - successes, 1), np.maximum(successes, 0) + 1, 1 - chance
    )
    return np.where(inside, values, (successes >= trials).astype(float))


# --- the sum over T, tilts and windows ---------------------------------------------------------------------


def _log_excess(draws: Integers, chance: float, slope: float, offset: Floats) -> tuple[Floats, Floats]:
    """log E[(a - slope T - offset)_+], T ~ Bin(draws, 2 chance), a ~ Bin(T, 1/2); a bound on the omitted.

    ``draws`` and ``offset`` are arrays of one shape (m,); two arrays of that shape are returned.
    """
    value, left_out = np.full((2, draws.size), -np.inf)
    some = np.flatnonzero(offset < draws * (1 - slope))
    if some.size == 0:
        return value, left_out
    draws, offset = draws[some], offset[some]
    theta, log_mgf = _best_tilt(
        np.array([1 - slope, -slope, 0.0]) - (offset / draws)[:, None],
        np.array([chance, chance, max(0.0, 1 - 2 * chance)]),
    )
    tilted = np.ones_like(theta)
    if chance < 0.5:
        log_weight = math.log(chance) + np.logaddexp(theta * (1 - slope), -theta * slope)
        tilted = special.expit(log_weight - math.log1p(-2 * chance))
    first, last = _window(draws, tilted)
    smallest = np.floor(offset / (1 - slope)).astype(int)  # up to here T leaves no excess
    outside = _log_outside(draws, tilted, np.where(first <= smallest, 0, first), last)
    left_out[some] = _log_chernoff(theta, draws * (1 - slope), draws * log_mgf) + outside

    first = np.minimum(np.maximum(first, smallest), last)  # no window is empty
    sizes = last - first + 1
    for rows in _batches(sizes):
        size = sizes[rows]
        starts = np.cumsum(size) - size
        t = np.arange(size.sum()) + np.repeat(first[rows] - starts, size)
        n, c = np.repeat(draws[rows], size), np.repeat(offset[rows], size)
        terms = log_binomial_pmf(t, n, min(1.0, 2 * chance)) + _log_answers_excess(t, slope, c)
        value[some[rows]] = _log_sums(terms, starts)
    return value, left_out


def _log_answers_excess(t: Integers, slope: float, offset: Floats) -> Floats:
    """log E[(a - slope t - offset)_+], a ~ Bin(t, 1/2); ``t`` and ``offset`` are arrays that broadcast.

    The expectation is linear in the threshold from one whole number to the next. Where many offsets share
    their whole numbers, it is looked up there and interpolated: two positive terms, nothing cancels.
    """
    threshold = slope * t + offset
    values = np.arange(t.min(), t.max() + 1)
    lowest = np.floor(slope * values + offset.min())
    columns = math.ceil(np.ptp(offset)) + 3
    if columns * values.size >= threshold.size:
        return log_binomial_excess(t, threshold)
    table = log_binomial_excess(values[:, None], lowest[:, None] + np.arange(columns))
    whole = np.floor(threshold)
    share = threshold - whole
    cell = (t - values[0]) * columns + (whole - lowest[t - values[0]]).astype(int)
    low, high = table.ravel()[cell], table.ravel()[cell + 1]
    return np.logaddexp(low + np.log1p(-share), high + _log(share))


def _batches(sizes: Integers) -> list[slice]:
    """Slices of consecutive windows, of about _BATCH terms together or of one window."""
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _BATCH)) + 1
    return [slice(*ends) for ends in itertools.pairwise([0, *cuts.tolist(), sizes.size])]


def _log_sums(terms: Floats, starts: Integers | list[int]) -> Floats:
    """log sum exp of each run of ``terms``, which begin at ``starts``."""
    # Not special.logsumexp: it takes one run at a time, and its start costs more than a short sum.
    peak = np.maximum.reduceat(terms, starts)
    peak = np.where(np.isneginf(peak), 0.0, peak)
    sizes = np.diff(starts, append=terms.size)
    return peak + _log(np.add.reduceat(np.exp(terms - np.repeat(peak, sizes)), starts))


def _best_tilt(steps: Floats, chances: Floats) -> tuple[Any, Any]:
    """theta >= 0 that minimises log E[e^(theta step)], and that minimum; the mean step is <= 0.

    ``steps`` have the shape (..., answers); only the first may be positive. At the minimum the derivative's
    positive part, from the first step, equals its negative part. In logarithms the former is a straight line
    in theta and the latter convex, so Newton's steps from 0 rise to the root and never pass it. Any
    theta >= 0 gives valid bounds: the last digits do not matter.
    """
    first, others = steps[..., 0], steps[..., 1:]
    # By rounding, no step may be positive where eps all but equals eps0: then the tilt is _STEEPEST.
    gain, loss = _log(chances[0] * np.maximum(first, 0.0)), _log(chances[1:] * -others)
    theta = np.zeros(first.shape)
    for _ in range(100):
        terms = loss + theta[..., None] * others
        total = np.logaddexp.reduce(terms, axis=-1)
        mean = np.sum(np.exp(terms - total[..., None]) * others, axis=-1)
        move = (total - gain - theta * first) / (first - mean)
        theta = np.clip(theta + move, 0.0, _STEEPEST)
        if np.all((move <= 1e-12 + 1e-10 * theta) | (theta == _STEEPEST)):
            break
    logs = _log(chances)
    return theta, np.logaddexp.reduce(logs + theta[..., None] * steps, axis=-1)


def _window(trials: npt.ArrayLike, chance: npt.ArrayLike) -> tuple[Any, Any]:
    """First and last value that a Binomial(trials, chance) window holds."""
    mean = np.multiply(trials, chance)
    reach = _REACH * np.sqrt(np.maximum(0.0, mean * np.subtract(1, chance))) + _MARGIN
    first, last = np.maximum(0, np.floor(mean - reach)), np.minimum(trials, np.ceil(mean + reach))
    return first.astype(int), last.astype(int)


def _log_outside(trials: Any, chance: Any, first: Any, last: Any) -> Any:
    """log of a bound on the probability that Binomial(trials, chance) lies outside of first..last."""
    # special.betainc, as scipy.stats takes half a second to import. A tail that underflows counts as e^-700:
    # still a bound.
    below = np.maximum(-700.0, _log(special.betainc(trials - first + 1, np.maximum(first, 1), 1 - chance)))
    above = np.maximum(-700.0, _log(special.betainc(last + 1, np.maximum(trials - last, 1), chance)))
    return np.logaddexp(np.where(first > 0, below, -np.inf), np.where(last < trials, above, -np.inf))


def _log_chernoff(theta: Any, largest: Any, log_mgf: Any) -> Any:
    """log of min(1 / (e theta), largest) E[e^(theta x)] >= E[x_+]."""
    return np.minimum(np.log(largest), -1 - _log(theta)) + log_mgf


def _log(values: npt.ArrayLike) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _moved(log_delta: float, direction: int) -> float:
    """A natural logarithm moved by the floating-point error in the given direction."""
    return log_delta + direction * (_SAFETY + 1e-14 * abs(log_delta)) if np.isfinite(log_delta) else log_delta
