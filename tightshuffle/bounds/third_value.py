"""delta of k-RR where all remaining users hold one third value, with budgets of their own: a lower bound.

Drop the reports of the third value x2, which is post-processing. A remaining user's report is dropped, or it
is uniform over the other k - 1 values; of the latter there is a random number J', whatever the budgets are.
The user's own report is dropped with probability q. With m reports left, and gains G' = (R_x0 - e^eps R_x1)
/ u of the uniform u on k - 1 values,

    delta = sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m r_m)_+] / m,
    r_m = q (e^eps - 1) P(J' = m) / P(J' = m - 1).

Few reports are summed one by one. For many, one slope c takes the place of all r_m: the event G'_1 + ... +
G'_m > m c has at least

    sum_m P(J' = m - 1) E[(G'_1 + ... + G'_m - m c)_+] / m
      - q (e^eps - 1) P(J' < l, G'_1 + ... + G'_J' > c J')

for every l with r_m <= c from m = l on, as r_m falls with m (sums of Bernoulli and Poisson numbers are
log-concave). Chernoff's bound covers the second term.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from tightshuffle.arguments import Floats
from tightshuffle.bounds.cover import Cover, few, ln_delta, log_probabilities, most_counted
from tightshuffle.numerics.positive_part import log_positive_part, outwards, tilted_copies

_DEPTHS = (0.0, 1.0, 2.0, 3.0, 5.0, 8.0)  # of l below the likeliest m, in standard deviations
_SLACK = 1e-6  # of r, relative: what its computation may lose
_TILTS = np.concatenate([[0.0], np.logspace(-4, 1, 60)])  # -log t that Chernoff's bound tries


def ln_delta_of_third_value(
    eps: Floats, gains: Floats, q: float, k: int, cover: Cover, *, ulps: npt.ArrayLike, width: float = 1e-4
) -> Floats:
    """Natural log of a lower bound on delta of this dataset; -inf where none is above 0.

    Parameters
    ----------
    eps : (points,)
    gains : (points, 3), (R_x0 - e^eps R_x1) / u at x0, x1 and another value, u uniform on all k values
    q : the probability that the user in question reports one given other value
    k : at least 3
    cover : of J', the reports of the other k - 1 values
    ulps : units in the last place by which gains may be wrong, broadcasts against them
    """
    gains = gains * ((k - 1) / k)
    masses = np.broadcast_to(np.array([1, 1, k - 3]) / (k - 1), gains.shape)
    growth = q * np.expm1(eps)
    cover = cover.rounded(fewer=False)
    if few(cover):
        logs = log_probabilities(cover, most_counted(cover))
        m = np.arange(1, len(logs))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(np.isneginf(logs[1:]), 0.0, np.exp(logs[1:] - logs[:-1]))
        shifts = growth[:, None] * ratio * (1 + 1e-10)
        rows, shares = outwards(
            gains[:, None] - shifts[..., None],
            np.broadcast_to(masses[:, None], (*shifts.shape, 3)),
            False,
            64.0,
        )
        terms = log_positive_part(rows, shares, m, width=width)[0] - np.log(m) + logs[:-1] - 1e-10
        return np.asarray(special.logsumexp(terms, axis=1))
    best = np.full(eps.shape, -np.inf)
    n, shares = np.append(cover.n, 1.0), np.append(cover.shares, 1.0)
    likeliest = tilted_copies(*outwards(gains - growth[:, None], masses, False, ulps), n, shares)
    spread = np.sqrt(likeliest)
    for depth in _DEPTHS:
        least = np.maximum(np.floor(likeliest - depth * spread), 1)
        slope = growth * _ratio(cover, least) * (1 + _SLACK)
        usable = np.isfinite(slope)
        if not usable.any():
            continue
        values, probabilities = outwards(gains - np.where(usable, slope, 0.0)[:, None], masses, False, ulps)
        main = ln_delta(values, probabilities, cover, round_up=False, width=width)
        lost = np.log(np.maximum(growth, 1e-300)) + _log_fewer(values, probabilities, cover, least)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = main + np.log1p(-np.exp(np.minimum(lost - main, 0.0)))
        best = np.where(usable & (value > best), value, best)
    return best


def _ratio(cover: Cover, m: Floats) -> Floats:
    """P(J' = m) / P(J' = m - 1), to about 1e-9, by Fourier inversion of tilted distributions; (points,)."""
    result = np.empty(m.shape)
    for place, at in enumerate(m.tolist()):
        t = _tilt(cover, at)
        share = np.where(cover.shares == 0, 0.0, cover.shares * t / (1 - cover.shares + cover.shares * t))
        mean = np.where(cover.shares == 0, cover.n * t, cover.n * share)
        spread = math.sqrt(float(mean @ (1 - share)))
        nodes = math.ceil(4 * spread + 60) * 6
        u = np.arange(
            -min(nodes // 2, math.ceil(9 * nodes / (2 * math.pi * max(spread, 1e-9)))), nodes // 2 + 1
        )
        u = u[np.abs(u) <= abs(u[0])] * (2 * math.pi / nodes)
        turn = np.expm1(1j * u)[:, None]
        logs = (np.where(cover.shares == 0, mean * turn, cover.n * np.log1p(share * turn))).sum(axis=1)
        likely, before = (float(np.exp(logs - 1j * u * x).sum().real) for x in (at, at - 1))
        result[place] = likely / before / t if before > 0 and likely > 0 else np.inf
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
    """Natural log of Chernoff's bound on P(J' < least, G_1 + ... + G_J' > 0); (points,)."""
    best = np.zeros(least.shape)
    n, shares = cover.n, cover.shares
    for place, (g, p, end) in enumerate(zip(values, probabilities, least.tolist(), strict=True)):
        theta = np.concatenate([[0.0], np.logspace(-8, 0, 60) * 690 / max(g.max(), 1e-300)])
        mgf = 1 + np.expm1(theta[:, None] * g) @ p  # (thetas,)
        scale = _TILTS / math.sqrt(max(cover.mean, 1.0))
        excess = np.exp(-scale)[:, None] * mgf - 1
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            logs = sum(
                count * (excess if share == 0 else np.log1p(share * excess))
                for count, share in zip(n.tolist(), shares.tolist(), strict=True)
            )
        bound = logs + scale[:, None] * (end - 1)
        best[place] = min(0.0, float(np.nanmin(bound)))
    return best
