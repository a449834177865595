"""delta of k-RR where all other users hold one third value, with different eps0: a lower bound.

Reports of the third value x2 are dropped. J' reports of other users are left, each uniform over the other
k - 1 values, whatever eps0 is. With gains G' = (R_x0 - e^eps R_x1) / u, u uniform on the k - 1 values,

    delta = sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m r_m)_+] / m,
    r_m = q (e^eps - 1) P(J' = m) / P(J' = m - 1).

For many reports, one slope c replaces all r_m: the event G'_1 + ... + G'_m > m c shows, for every l with
r_m <= c from m = l on,

    delta >= sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m c)_+] / m
             - q (e^eps - 1) P(J' < l, G'_1 + ... + G'_J' > c J').

r_m falls with m, because sums of Bernoulli and Poisson numbers are log-concave; Chernoff's bound covers the
second term. Only r_l has no proved error: it is computed to about 1e-9, and taken 1e-6 larger.
docs/theory.md, "Collections", has this dataset beside the upper bound.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from tightshuffle.arguments import Floats
from tightshuffle.collection.cover import Cover, few, ln_delta, log_probabilities
from tightshuffle.numerics.positive_part import log_positive_part, outwards, tilted_copies
from tightshuffle.side import Side

_DEPTHS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # of l below the likeliest m, in standard deviations
_SETTLED = 1e-4  # of delta, relative: what a greater depth could still gain
_SLACK = 1e-6  # of r, relative: what its computation may lose
_LEAST_LOG = -650.0  # of a probability that counts: far smaller ones are too small for a float
_TILTS = np.concatenate([[0.0], np.logspace(-4, 1, 60)])  # -log t that Chernoff's bound tries


def ln_delta_of_third_value(
    eps: Floats, gains: Floats, q: float, k: int, cover: Cover, *, ulps: npt.ArrayLike, width: float = 1e-4
) -> Floats:
    """Natural log of a lower bound on delta of this dataset, -inf where none is above 0; (points,).

    ``gains`` (points, 3) are (R_x0 - e^eps R_x1) / u at x0, x1 and another value, u uniform on all k >= 3
    values. ``q`` is the probability that the target user reports one given other value, ``cover`` that of J',
    and ``ulps`` the units in the last place by which gains may be wrong, which broadcasts against them.
    """
    masses = np.broadcast_to(np.array([1, 1, k - 3]) / (k - 1), gains.shape)
    # Subtracting a slope cancels digits, so gains are rounded before it.
    smaller, _ = outwards(gains * ((k - 1) / k), masses, Side.LOWER, ulps)
    larger, _ = outwards(gains * ((k - 1) / k), masses, Side.UPPER, ulps)
    growth = q * np.expm1(eps)
    cover = cover.rounded(Side.UPPER)
    if few(cover):
        return _ln_term_by_term(smaller, masses, growth, cover, width)

    n, shares = np.append(cover.n, 1.0), np.append(cover.shares, 1.0)
    likeliest = tilted_copies(smaller - growth[:, None], masses, n, shares)
    ulps = np.broadcast_to(ulps, (eps.size, 1))
    best = np.full(eps.shape, -np.inf)
    first_terms = np.full(eps.shape, np.inf)
    for depth in _DEPTHS:
        # A smaller l has a larger slope, so the first term falls: skip what cannot exceed the best so far.
        rows = np.flatnonzero(best < first_terms - _SETTLED)
        least = np.maximum(np.floor(likeliest - depth * np.sqrt(likeliest)), 1)[rows]
        with np.errstate(invalid="ignore"):  # at eps = 0 the slope is 0, whatever the ratio is
            slope = growth[rows] * _ratio(cover, least) * (1 + _SLACK)
        slope = np.where(growth[rows] == 0, 0.0, slope)
        usable = np.isfinite(slope)
        rows, least, slope = rows[usable], least[usable], slope[usable, None]

        with_slope = outwards(larger[rows] - slope, masses[rows], Side.UPPER, ulps[rows])
        ln_fewer = _ln_fewer(*with_slope, cover, least)
        second_terms = np.log(np.maximum(growth[rows], 1e-300)) + ln_fewer
        promising = second_terms < first_terms[rows]
        rows, second_terms, slope = rows[promising], second_terms[promising], slope[promising]

        with_slope = outwards(smaller[rows] - slope, masses[rows], Side.LOWER, ulps[rows])
        first_terms[rows] = ln_delta(*with_slope, cover, side=Side.LOWER, width=width)
        with np.errstate(invalid="ignore", divide="ignore"):
            ln_quotient = np.minimum(second_terms - first_terms[rows], 0.0)
            ln_differences = first_terms[rows] + np.log1p(-np.exp(ln_quotient))
        best[rows] = np.fmax(best[rows], ln_differences)
    return best


def _ln_term_by_term(gains: Floats, masses: Floats, growth: Floats, cover: Cover, width: float) -> Floats:
    """The bound as a sum over m; ``growth`` (points,) is q (e^eps - 1)."""
    logs = log_probabilities(cover)
    m = np.arange(1, len(logs))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(np.isneginf(logs[1:]), 0.0, np.exp(logs[1:] - logs[:-1]))
    slopes = growth[:, None] * ratio * (1 + 1e-10)

    masses = np.broadcast_to(masses[:, None], (*slopes.shape, 3))
    rows, shares = outwards(gains[:, None] - slopes[..., None], masses, Side.LOWER, 64.0)
    factors = np.where(logs[:-1] < _LEAST_LOG, -np.inf, logs[:-1] - np.log(m) - 1e-10)
    low, _ = log_positive_part(rows, shares, m, width=width, log_factors=factors)
    return np.asarray(special.logsumexp(low + factors, axis=1))


def _ratio(cover: Cover, m: Floats) -> Floats:
    """P(J' = m) / P(J' = m - 1), to about 1e-9, by Fourier inversion of tilted distributions; (points,).

    inf where the tilted J' varies by less than 1: P(J' = m - 1) would be lost in rounding.
    """
    return np.array([_ratio_at(cover, number) for number in m.tolist()], dtype=float)


def _ratio_at(cover: Cover, m: float) -> float:
    t = _tilt(cover, m)
    shares, means = cover.tilted_shares(t), cover.tilted_means(t)
    deviation = math.sqrt(float(means @ (1 - shares)))
    if deviation < 1:
        return math.inf

    # 2 half + 1 nodes are one period: exact but for probabilities 24 standard deviations away.
    half = 3 * math.ceil(4 * deviation + 60)
    step = 2 * math.pi / (2 * half + 1)
    last = min(half, math.ceil(9 / deviation / step))
    u = step * np.arange(-last, last + 1)
    turn = np.expm1(1j * u)[:, None]
    of_parts = np.where(cover.is_poisson, means * turn, cover.n * np.log1p(shares * turn))
    ln_transform = of_parts.sum(axis=1)

    likely = float(np.exp(ln_transform - 1j * u * m).sum().real)
    one_fewer = float(np.exp(ln_transform - 1j * u * (m - 1)).sum().real)
    if likely > 0 and one_fewer > 0:
        return likely / one_fewer / t
    return math.inf


def _tilt(cover: Cover, mean: float) -> float:
    """t at which the tilted mean of J' is ``mean``."""
    low, high = -700.0, 700.0
    for _ in range(80):
        middle = (low + high) / 2
        if cover.tilted_means(math.exp(middle)).sum() < mean:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


def _ln_fewer(values: Floats, probabilities: Floats, cover: Cover, least: Floats) -> Floats:
    """Natural log of Chernoff's bound on P(J' < least, G_1 + ... + G_J' > 0), rounded up; (points,)."""
    points = zip(values, probabilities, least.tolist(), strict=True)
    return np.array([_ln_fewer_at(g, p, cover, end) for g, p, end in points], dtype=float)


def _ln_fewer_at(g: Floats, p: Floats, cover: Cover, least: float) -> float:
    if not np.any(g > 0):
        return -math.inf
    x = (_TILTS / math.sqrt(max(cover.mean, 1.0)))[:, None]  # -log t
    theta = np.concatenate([[0.0], np.logspace(-8, 0, 60) * 690 / g.max()])
    exponents = theta[:, None] * g
    growth = np.expm1(exponents)
    # Of E[t e^(theta G)] over 1, (x, thetas); and the terms whose rounding counts.
    excess = np.expm1(-x) + np.exp(-x) * (growth @ p)
    terms = (np.abs(growth) + (1 + growth) * np.abs(exponents)) @ p - np.expm1(-x)

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        logs = x * (least - 1)
        rounding = x * least + 1
        for n, share in zip(cover.n.tolist(), cover.shares.tolist(), strict=True):
            if share == 0:
                ln_of_part, terms_of_part = n * excess, n * terms
            else:
                ln_of_part = n * np.log1p(share * excess)
                terms_of_part = n * (share * terms / (1 + share * excess))
            logs = logs + ln_of_part
            rounding = rounding + np.abs(ln_of_part) + terms_of_part
        return min(0.0, float(np.nanmin(logs + 32 * 2.0**-52 * rounding)))
