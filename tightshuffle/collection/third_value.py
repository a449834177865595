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

_DEPTHS = (1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # of l below the likeliest m, in standard deviations
_SETTLED = 1e-4  # of delta, relative: what a greater depth could still gain
_SLACK = 1e-6  # of r, relative: what its computation may lose
_LEAST_LOG = -650.0  # of a probability that counts: far smaller ones are too small for a float
_TILTS = np.concatenate([[0.0], np.logspace(-4, 1, 60)])  # -log t that Chernoff's bound tries


def ln_delta_of_third_value(
    eps: Floats, gains: Floats, q: float, k: int, cover: Cover, *, ulps: npt.ArrayLike, width: float = 1e-4
) -> Floats:
    """Natural log of a lower bound on delta of this dataset; -inf where none is above 0.

    ``eps`` (points,); ``gains`` (points, 3): (R_x0 - e^eps R_x1) / u at x0, x1 and another value, u uniform
    on all k >= 3 values; ``q``: the probability that the target user reports one given other value;
    ``cover``: of J'; ``ulps``: units in the last place by which gains may be wrong, broadcasts against them.
    """
    masses = np.broadcast_to(np.array([1, 1, k - 3]) / (k - 1), gains.shape)
    # Subtracting a slope cancels digits, so gains are rounded before it.
    smaller, larger = (
        outwards(gains * ((k - 1) / k), masses, round_up, ulps)[0] for round_up in (False, True)
    )
    growth = q * np.expm1(eps)
    cover = cover.rounded(fewer=False)
    if few(cover):
        logs = log_probabilities(cover)
        m = np.arange(1, len(logs))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.isneginf(logs[1:]), 0.0, np.exp(logs[1:] - logs[:-1]))
        shifts = growth[:, None] * ratio * (1 + 1e-10)
        rows, shares = outwards(
            smaller[:, None] - shifts[..., None],
            np.broadcast_to(masses[:, None], (*shifts.shape, 3)),
            False,
            64.0,
        )
        factors = np.where(logs[:-1] < _LEAST_LOG, -np.inf, logs[:-1] - np.log(m) - 1e-10)
        low, _ = log_positive_part(rows, shares, m, width=width, log_factors=factors)
        return np.asarray(special.logsumexp(low + factors, axis=1))
    n, shares = np.append(cover.n, 1.0), np.append(cover.shares, 1.0)
    likeliest = tilted_copies(smaller - growth[:, None], masses, n, shares)
    ulps = np.broadcast_to(ulps, (eps.size, 1))
    best, most = np.full(eps.shape, -np.inf), np.full(eps.shape, np.inf)
    for depth in _DEPTHS:
        # A smaller l has a larger slope, so the first term falls: skip what cannot exceed the best so far.
        some = np.flatnonzero(best < most - _SETTLED)
        least = np.maximum(np.floor(likeliest - depth * np.sqrt(likeliest)), 1)[some]
        with np.errstate(invalid="ignore"):  # at eps = 0 the slope is 0, whatever the ratio is
            slope = np.where(growth[some] == 0, 0.0, growth[some] * _ratio(cover, least) * (1 + _SLACK))
        usable = np.isfinite(slope)
        some, least, slope = some[usable], least[usable], slope[usable, None]
        fewer = _log_fewer(*outwards(larger[some] - slope, masses[some], True, ulps[some]), cover, least)
        lost = np.log(np.maximum(growth[some], 1e-300)) + fewer
        known = lost < most[some]
        some, lost, slope = some[known], lost[known], slope[known]
        gained = outwards(smaller[some] - slope, masses[some], False, ulps[some])
        most[some] = ln_delta(*gained, cover, round_up=False, width=width)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = most[some] + np.log1p(-np.exp(np.minimum(lost - most[some], 0.0)))
        best[some] = np.fmax(best[some], value)
    return best


def _ratio(cover: Cover, m: Floats) -> Floats:
    """P(J' = m) / P(J' = m - 1), to about 1e-9, by Fourier inversion of tilted distributions; (points,).

    inf where the tilted J' varies by less than 1: P(J' = m - 1) would be lost in rounding.
    """
    result = np.full(m.shape, np.inf)
    for place, at in enumerate(m.tolist()):
        t = _tilt(cover, at)
        share = np.where(cover.shares == 0, 0.0, cover.shares * t / (1 - cover.shares + cover.shares * t))
        mean = np.where(cover.shares == 0, cover.n * t, cover.n * share)
        spread = math.sqrt(float(mean @ (1 - share)))
        if spread < 1:
            continue
        # 2 half + 1 nodes are one period: exact but for probabilities 24 standard deviations away.
        half = 3 * math.ceil(4 * spread + 60)
        step = 2 * math.pi / (2 * half + 1)
        last = min(half, math.ceil(9 / spread / step))
        u = step * np.arange(-last, last + 1)
        turn = np.expm1(1j * u)[:, None]
        logs = (np.where(cover.shares == 0, mean * turn, cover.n * np.log1p(share * turn))).sum(axis=1)
        likely, before = (float(np.exp(logs - 1j * u * x).sum().real) for x in (at, at - 1))
        if before > 0 and likely > 0:
            result[place] = likely / before / t
    return result


def _tilt(cover: Cover, mean: float) -> float:
    """t at which the tilted mean of J' is ``mean``."""
    low, high = -700.0, 700.0
    for _ in range(80):
        middle = (low + high) / 2
        t = math.exp(middle)
        expected = cover.n * np.where(
            cover.shares == 0, t, cover.shares * t / (1 - cover.shares + cover.shares * t)
        )
        low, high = (middle, high) if expected.sum() < mean else (low, middle)
    return math.exp((low + high) / 2)


def _log_fewer(values: Floats, probabilities: Floats, cover: Cover, least: Floats) -> Floats:
    """Natural log of Chernoff's bound on P(J' < least, G_1 + ... + G_J' > 0), rounded up; (points,)."""
    best = np.zeros(least.shape)
    x = (_TILTS / math.sqrt(max(cover.mean, 1.0)))[:, None]  # -log t
    parts = list(zip(cover.n.tolist(), cover.shares.tolist(), strict=True))
    for place, (g, p, end) in enumerate(zip(values, probabilities, least.tolist(), strict=True)):
        if not np.any(g > 0):
            best[place] = -np.inf
            continue
        theta = np.concatenate([[0.0], np.logspace(-8, 0, 60) * 690 / g.max()])
        exponents = theta[:, None] * g
        growth = np.expm1(exponents)
        # Of E[t e^(theta G)] over 1, (x, thetas); and the terms whose rounding counts.
        excess = np.expm1(-x) + np.exp(-x) * (growth @ p)
        terms = (np.abs(growth) + (1 + growth) * np.abs(exponents)) @ p - np.expm1(-x)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            logs, rounding = x * (end - 1), x * end + 1
            for n, share in parts:
                part = n * (excess if share == 0 else np.log1p(share * excess))
                logs = logs + part
                rounding = (
                    rounding
                    + np.abs(part)
                    + n * (terms if share == 0 else share * terms / (1 + share * excess))
                )
            best[place] = min(0.0, float(np.nanmin(logs + 32 * 2.0**-52 * rounding)))
    return best
