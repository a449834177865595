"""E[S_+] as a sum over a box of counts, one combination of values after the other, and the rest's bound.

Under the tilted distribution, the counts of all but one of the values nearly always lie in a box. By
x_+ <= e^(theta x) / (e theta), all other combinations add at most M(theta)^n / (e theta) times their tilted
probability. Points with the same probabilities of values share a box: its probabilities are computed once.
"""

import math
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.positive_part.tilt import OPERATIONS, ULP, TiltedPoints, log_rounded
from tightshuffle.side import Side

_NEWTON = 12  # Newton's steps to the counts at the edge of a box
_TOGETHER = 10**5  # combinations in a box of several points, at most
_CALL, _PROBABILITY = 10**5, 30  # what a box, and one of its probabilities, cost beside a term of a sum
_TERMS = 2**14  # about how many terms of sums are computed at once: they fit into a cache
_LEAST_LOG = -690.0  # of a probability beside the largest one, that counts as its own; a smaller one is moved
_VANISHING = 1e-250  # a sum beside the largest probability that is too close to these


class Boxes(NamedTuple):
    """The values, 0 among them, the likeliest last, and ranges of how many users have each but the last.

    One row for each point.
    """

    g: Floats
    log_p: Floats
    log_weights: Floats
    first: Floats
    last: Floats
    atoms: Floats  # (points,): combinations of counts in the box
    over: Floats  # (points,): by how much rounding makes the sum of the probabilities larger than 1

    def rows(self, index: Integers) -> "Boxes":
        return Boxes(*(part[index] for part in self))


def boxes(points: TiltedPoints, unlikely: Floats) -> Boxes:
    total = np.array([math.fsum(row) for row in points.p.tolist()])
    with np.errstate(divide="ignore"):
        zero = np.where(total < 0.5, np.log1p(-np.minimum(total, 0.5)), np.log(points.missing))
        log_p = np.concatenate([np.log(points.p), zero[:, None]], axis=1)
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    log_weights = log_p + points.theta[:, None] * g - points.log_mgf[:, None]
    likeliest = log_weights == log_weights.max(axis=1, keepdims=True)
    order = np.argsort(likeliest, axis=1, kind="stable")
    g, log_p, log_weights = (np.take_along_axis(part, order, axis=1) for part in (g, log_p, log_weights))
    # Both ends where Chernoff's bound of a Poisson distribution, x log(x / m) - x + m, reaches ``unlikely``.
    n = points.n.sum(axis=1)
    expected = n[:, None] * np.exp(log_weights[:, :-1])
    first, last = _unlikely_counts(np.maximum(expected, 1e-280), unlikely[:, None])
    first = np.where(expected > unlikely[:, None], np.floor(first), 0)
    last = np.where(expected > 0, np.minimum(np.ceil(last), n[:, None]), 0)
    with np.errstate(over="ignore"):  # of hundreds of values
        atoms = np.prod(last - first + 1, axis=1)
    over = np.array([max(math.fsum([-1.0, *row]), 0.0) for row in points.p.tolist()])
    return Boxes(g, log_p, log_weights, first, last, atoms, over)


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


def sum_boxes(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats]:
    """Bounds by the sums over boxes, (points,). The bound on the rest is added to the upper bounds only.

    Combinations of counts have the same probabilities for all points with the same numbers of copies and the
    same probabilities of values. Such points are summed over one box, which holds the boxes of all of them.
    """
    low, high = np.empty((2, len(points)))
    waiting = _alike(points, ranges)
    while waiting:
        rows = waiting.pop()
        bounds = None if _apart(ranges.rows(rows)) else _sum_box(points.rows(rows), ranges.rows(rows))
        if bounds is None:
            waiting += _halves(rows)
        else:
            low[rows], high[rows] = bounds
    return low, high


def _alike(points: TiltedPoints, ranges: Boxes) -> list[Integers]:
    """The numbers of the points with the same number of copies and the same probabilities of values."""
    keys = np.column_stack([points.n.sum(axis=1), ranges.log_p, ranges.over])
    owners = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(owners, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(owners[order])) + 1)


def _apart(ranges: Boxes) -> bool:
    """Whether to sum these in two halves: one box for all is too large, or takes longer than two boxes."""
    if len(ranges.g) == 1:
        return False
    atoms, terms = _size(ranges)
    halves = [_size(ranges.rows(rows))[1] for rows in _halves(np.arange(len(ranges.g)))]
    return atoms > _TOGETHER or terms > sum(halves)


def _size(ranges: Boxes) -> tuple[float, float]:
    """How many combinations one box for all of these has, and how long it takes, in terms of its sums."""
    with np.errstate(over="ignore"):  # of hundreds of values
        atoms = float(np.prod(ranges.last.max(axis=0) - ranges.first.min(axis=0) + 1))
    return atoms, _CALL + (_PROBABILITY + len(ranges.g)) * atoms


def _halves(rows: Integers) -> list[Integers]:
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]]


def _sum_box(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats] | None:
    """Bounds for points that are alike, by sums over one box.

    None if there are several points, and the probabilities that count for one of them are too small for a
    float beside those that count for another one.
    """
    first, last = ranges.first.min(axis=0), ranges.last.max(axis=0)
    outside = log_outside(points, ranges.log_weights, first, last)
    n = float(points.n[0].sum())

    less, more = moved_values(ranges.g)
    x = _combinations(first, last, n)
    x = x[:, more.max(axis=0) @ x > 0]
    if x.size == 0:
        return np.full(len(points), -np.inf), outside

    exponent, lost = _log_probabilities(ranges.log_p[0], x, n)
    top = exponent.max()
    terms = np.exp(np.maximum(exponent - top, _LEAST_LOG))
    below = _positive_sums(less, x, np.where(exponent - top < _LEAST_LOG, 0.0, terms * np.exp(-lost)))
    above = _positive_sums(more, x, terms * np.exp(np.minimum(lost, 700.0)))
    if len(points) > 1 and np.any(above < _VANISHING * more.max(axis=1) * n):
        return None

    rounding = ULP * 4 * abs(top)
    # Rounding may make the probabilities' sum larger than 1: then it is divided by, n times.
    divided = n * float(ranges.over[0])
    with np.errstate(divide="ignore"):
        low = np.where(below > 0, top + log_rounded(below, side=Side.LOWER) - rounding - divided, -np.inf)
    return low, np.logaddexp(outside, top + log_rounded(above, side=Side.UPPER) + rounding)


def moved_values(g: Floats) -> tuple[Floats, Floats]:
    """Values (..., values) whose sums over users are below and above those of ``g``, rounding included."""
    slack = ULP * (g.shape[-1] + 4) * np.abs(g)
    return g - slack, g + slack


def log_outside(points: TiltedPoints, log_weights: Floats, first: Floats, last: Floats) -> Floats:
    """log of the bound on what combinations outside of one box add to E[S_+]; -inf where there are none.

    ``log_weights`` (points, values): as in `Boxes`; ``first``, ``last`` (values - 1,): the box.
    """
    n = points.n.sum(axis=1)[:, None]
    weights = np.minimum(np.exp(log_weights[:, :-1]), 1.0)
    below = np.where(first > 0, np.exp(-n * _relative_entropy(np.maximum(first - 1, 0) / n, weights)), 0.0)
    may_exceed = (last < n) & (weights > 0)
    above = np.where(may_exceed, np.exp(-n * _relative_entropy(np.minimum(last + 1, n) / n, weights)), 0.0)
    mass = (below + above).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = log_rounded(1 / points.theta, side=Side.UPPER) + log_rounded(mass, side=Side.UPPER)
    return np.where(mass > 0, points.base + points.rounding - 1 + logs, -np.inf)


def _combinations(first: Floats, last: Floats, n: float) -> Floats:
    """How many of n users have each value, one column for each combination of counts in the box."""
    counts = [np.arange(a, b + 1) for a, b in zip(first, last, strict=True)]
    x = np.array([column.ravel() for column in np.meshgrid(*counts, indexing="ij")])
    rest = n - x.sum(axis=0, keepdims=True)
    return np.concatenate([x, rest])[:, rest[0] >= 0]


def _positive_sums(g: Floats, x: Floats, weights: Floats) -> Floats:
    """The sums of weight times (g x)_+ over all combinations, the columns of ``x``; (points,)."""
    sums = np.empty(len(g))
    chunk = 1 + _TERMS // x.shape[1]
    for start in range(0, len(g), chunk):
        s = g[start : start + chunk] @ x
        np.maximum(s, 0.0, out=s)
        s *= weights
        sums[start : start + chunk] = s.sum(axis=1)
    return sums


def _log_probabilities(log_p: Floats, x: Floats, n: float) -> tuple[Floats, Floats]:
    """log of the probability of each combination, the columns of ``x``, and what rounding may do to it."""
    from scipy.special import gammaln  # here, for it takes as long to import as numpy

    # log of n! / (n - counted)! as a running sum: for large n the two factorials nearly cancel.
    counted = (n - x[-1]).astype(np.int64)
    falling = np.concatenate([[0.0], np.cumsum(np.log(n - np.arange(counted.max())))])[counted]
    factorials = gammaln(x[:-1] + 1).sum(axis=0)
    log_p = np.where(np.isneginf(log_p), 0.0, log_p)
    exponent = log_p @ x + falling - factorials
    units = 4 * np.abs(log_p) @ x + (counted + 4) * falling + 8 * factorials
    lost = ULP * (units + x.shape[1] + OPERATIONS)
    return exponent, lost


def _relative_entropy(share: Floats, probability: Floats) -> Floats:
    """Kullback-Leibler divergence of Bernoulli(share) from Bernoulli(probability)."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(share, probability) + rel_entr(1 - share, 1 - probability))
