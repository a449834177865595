"""E[S_+] as a sum over a box of counts, one combination of values after the other, and the rest's bound.

Under the tilted distribution, the counts of all but one of the values nearly always lie in a box. By
x_+ <= e^(theta x) / (e theta), all other combinations add at most M(theta)^n / (e theta) times their tilted
probability.
"""

import math
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.numerics.positive_part.tilt import OPERATIONS, ULP, Points, log_rounded

_NEWTON = 12  # Newton's steps to the counts at the edge of a box


class Boxes(NamedTuple):
    """The values, 0 among them, the likeliest last, and ranges of how many users have each but the last."""

    g: Floats
    log_p: Floats
    log_weights: Floats
    first: Floats
    last: Floats
    atoms: Floats  # combinations of counts in the box


def boxes(points: Points, unlikely: Floats) -> Boxes:
    total = np.array([math.fsum(row) for row in points.p.tolist()])
    with np.errstate(divide="ignore"):
        zero = np.where(total < 0.5, np.log1p(-np.minimum(total, 0.5)), np.log(points.missing))
        log_p = np.concatenate([np.log(points.p), zero[:, None]], axis=1)
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    log_weights = log_p + points.theta[:, None] * g - points.log_mgf[:, None]
    order = np.argsort(log_weights, axis=1, kind="stable")
    g, log_p, log_weights = (np.take_along_axis(part, order, axis=1) for part in (g, log_p, log_weights))
    # Both ends where Chernoff's bound of a Poisson distribution, x log(x / m) - x + m, reaches ``unlikely``.
    n = points.n.sum(axis=1)
    expected = n[:, None] * np.exp(log_weights[:, :-1])
    first, last = _unlikely_counts(np.maximum(expected, 1e-280), unlikely[:, None])
    first = np.where(expected > unlikely[:, None], np.floor(first), 0)
    last = np.where(expected > 0, np.minimum(np.ceil(last), n[:, None]), 0)
    with np.errstate(over="ignore"):  # of hundreds of values
        atoms = np.prod(last - first + 1, axis=1)
    return Boxes(g, log_p, log_weights, first, last, atoms)


def _unlikely_counts(expected: Floats, unlikely: Floats) -> tuple[Floats, Floats]:
    """Both x at which x log(x / m) - x + m, which is convex, is ``unlikely``, for m = ``expected``.

    Newton's method from outside: below m, where there is such an x, and above it by Bernstein's inequality.
    """
    step = np.sqrt(2 * expected * unlikely)
    low = np.maximum(expected - step, 1e-12 * expected)
    high = expected + unlikely / 3 + np.hypot(unlikely / 3, step)
    for _ in range(_NEWTON):
        low, high = ((x - expected + unlikely) / np.log(x / expected) for x in (low, high))
        low = np.maximum(low, 1e-12 * expected)
    return low, high


def sum_box(point: Points, box: Boxes) -> tuple[float, float]:
    """Bounds for one point: the sum over its box. The bound on the rest is added to the upper bound only."""
    n = float(point.n.sum())
    low, high = -math.inf, log_outside(point, box)
    ranges = [np.arange(a, b + 1) for a, b in zip(box.first, box.last, strict=True)]
    x = np.array([counts.ravel() for counts in np.meshgrid(*ranges, indexing="ij")])
    x = np.concatenate([x, n - x.sum(axis=0, keepdims=True)])
    s = box.g @ x
    slack = ULP * (len(x) + 4) * (np.abs(box.g) @ x)
    possible = (x[-1] >= 0) & (s + slack > 0)
    x, s, slack = x[:, possible], s[possible], slack[possible]
    if s.size == 0:
        return low, high
    exponent, lost = _log_probabilities(box, x, n)
    top = exponent.max()
    terms = np.exp(exponent - top)
    below = float((np.maximum(s - slack, 0.0) * terms * np.exp(-lost)).sum())
    above = float(((s + slack) * terms * np.exp(np.minimum(lost, 700.0))).sum())
    if below > 0:
        # Rounding may make the probabilities' sum larger than 1: then it is divided by, n times.
        over = max(math.fsum([-1.0, *point.p.tolist()]), 0.0)
        low = float(top + log_rounded(below, round_up=False)) - ULP * 4 * abs(top) - n * over
    return low, float(np.logaddexp(high, top + log_rounded(above, round_up=True) + ULP * 4 * abs(top)))


def log_outside(point: Points, box: Boxes) -> float:
    """log of the bound on what combinations outside of the box add to E[S_+]; -inf where there are none."""
    n = float(point.n.sum())
    probabilities = np.exp(box.log_weights)
    sides = [(a - 1, w) for a, w in zip(box.first, probabilities, strict=False) if a > 0]
    sides += [(b + 1, w) for b, w in zip(box.last, probabilities, strict=False) if b < n and w > 0]
    mass = sum(math.exp(-n * _relative_entropy(x / n, min(w, 1.0))) for x, w in sides)
    if mass == 0:
        return -math.inf
    logs = log_rounded(1 / point.theta, round_up=True), log_rounded(mass, round_up=True)
    return float(point.base + point.rounding - 1 + logs[0] + logs[1])


def _log_probabilities(box: Boxes, x: Floats, n: float) -> tuple[Floats, Floats]:
    """log of the probability of each combination, the columns of ``x``, and what rounding may do to it."""
    from scipy.special import gammaln  # here, for it takes as long to import as numpy

    # log of n! / (n - counted)! as a running sum: for large n the two factorials nearly cancel.
    counted = (n - x[-1]).astype(np.int64)
    falling = np.concatenate([[0.0], np.cumsum(np.log(n - np.arange(counted.max())))])[counted]
    factorials = gammaln(x[:-1] + 1).sum(axis=0)
    log_p = np.where(np.isneginf(box.log_p), 0.0, box.log_p)
    exponent = log_p @ x + falling - factorials
    units = 4 * np.abs(log_p) @ x + (counted + 4) * falling + 8 * factorials
    lost = ULP * (units + x.shape[1] + OPERATIONS)
    return exponent, lost


def _relative_entropy(share: float, probability: float) -> float:
    """Kullback-Leibler divergence of Bernoulli(share) from Bernoulli(probability); probability in (0, 1)."""
    from scipy.special import rel_entr

    return float(rel_entr(share, probability) + rel_entr(1 - share, 1 - probability))
