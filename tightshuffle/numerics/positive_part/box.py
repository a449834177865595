"""E[S_+] as a sum over a box of counts, one combination of values after the other, and the rest's bound.

Under the tilted distribution, the counts of all but one of the values nearly always lie in a box. By
x_+ <= e^(theta x) / (e theta), all other combinations add at most M(theta)^n / (e theta) times their tilted
probability. Points with the same probabilities of values share a box: its probabilities are computed once.
"""

import math
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.positive_part.tilt import (
    LARGEST_EXPONENT,
    OPERATIONS,
    ULP,
    TiltedPoints,
    log_rounded,
)
from tightshuffle.side import Side

_NEWTON = (
    12  # Newton's steps to the counts at the edge of a box; the bounds hold for a box of any size
)
MOST_TOGETHER = 10**5  # combinations in a box of several points, at most
COST_OF_BOX = 10**5  # if a term of a sum costs 1
_COST_OF_PROBABILITY = 30  # of one of a box's probabilities, in the same unit
TERMS = 2**14  # about how many terms of sums are computed at once: they fit into a cache
# log of the least probability, over the largest, that counts as it is. A smaller one would lose digits as a
# float: upper bounds take this one for it, and lower bounds 0.
_LEAST_LOG = -690.0
_VANISHING = (
    1e-250  # a sum over the largest probability below which such replaced probabilities may count
)


class Boxes(NamedTuple):
    """The values, 0 among them, the likeliest last, and ranges of how many copies have each but the last.

    One row for each point. "Likeliest" is meant under the tilt. Logarithms are natural.
    """

    g: Floats  # (points, values), as the two below
    log_p: Floats  # of the probabilities
    log_weights: Floats  # of the tilted probabilities
    first: Floats  # (points, values - 1): the smallest count of each value in the box
    last: Floats  # and the largest
    combinations: Floats  # (points,): of counts in the box, at most
    excess: (
        Floats  # (points,): by how much rounding makes the sum of the probabilities larger than 1
    )

    def rows(self, index: Integers) -> "Boxes":
        """The boxes of the points with these indices."""
        return Boxes(*(part[index] for part in self))


def boxes(points: TiltedPoints, depth: Floats) -> Boxes:
    """The `Boxes` of the points: ranges of counts that a count leaves with a probability of about e^-depth.

    A count is the number of copies of the gain that have one value. ``depth`` (points,), above 0. The
    probability is that under the tilt.
    """
    # The value 0 joins the others, with what they leave of the probability: with all digits if that is much.
    total = np.array([math.fsum(row) for row in points.p.tolist()])
    with np.errstate(divide="ignore"):
        log_zero = np.where(
            total < 0.5, np.log1p(-np.minimum(total, 0.5)), np.log(points.probability_of_0)
        )
        log_p = np.concatenate([np.log(points.p), log_zero[:, None]], axis=1)
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    log_weights = log_p + points.theta[:, None] * g - points.log_mgf[:, None]  # under the tilt

    # The count of the last value is what the others leave of n, so it needs no range: the likeliest is last.
    is_likeliest = log_weights == log_weights.max(axis=1, keepdims=True)
    order = np.argsort(is_likeliest, axis=1, kind="stable")
    g, log_p, log_weights = (
        np.take_along_axis(part, order, axis=1) for part in (g, log_p, log_weights)
    )

    # Both ends where Chernoff's bound of a Poisson distribution, x log(x / m) - x + m, reaches ``depth``.
    # Below m it is at most m, so where m <= depth the range starts at 0. 1e-280 keeps log(x / m) finite.
    n = points.n.sum(axis=1)
    expected = n[:, None] * np.exp(log_weights[:, :-1])
    first, last = _unlikely_counts(np.maximum(expected, 1e-280), depth[:, None])
    first = np.where(expected > depth[:, None], np.floor(first), 0)
    last = np.where(expected > 0, np.minimum(np.ceil(last), n[:, None]), 0)
    with np.errstate(over="ignore"):  # of hundreds of values
        combinations = np.prod(last - first + 1, axis=1)
    excess = np.array([max(math.fsum([-1.0, *row]), 0.0) for row in points.p.tolist()])
    return Boxes(g, log_p, log_weights, first, last, combinations, excess)


def _unlikely_counts(expected: Floats, depth: Floats) -> tuple[Floats, Floats]:
    """The counts x below and above m = ``expected`` at which x log(x / m) - x + m is ``depth``.

    This is -ln of Chernoff's bound on the probability of x or beyond, and convex. Newton's method from
    outside: below m, where there is such an x, and above it by Bernstein's inequality. Below m, x stays at
    1e-12 m or more, so that its logarithm is finite.
    """
    step = np.sqrt(2 * expected * depth)
    low = np.maximum(expected - step, 1e-12 * expected)
    high = expected + depth / 3 + np.hypot(depth / 3, step)
    for _ in range(_NEWTON):
        low, high = ((x - expected + depth) / np.log(x / expected) for x in (low, high))
        low = np.maximum(low, 1e-12 * expected)
    return low, high


def sum_boxes(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, by sums over the boxes ``ranges``.

    S is the sum of all copies of a point's gain: each combination of counts gives one S. The bound on the
    combinations outside is added to the upper bounds only. Points with the same numbers of copies and the
    same probabilities of values have the same probabilities of combinations. They are summed over one box,
    which holds the boxes of all of them, unless that takes longer than two boxes.
    """
    low, high = np.empty((2, len(points)))
    waiting = alike_points(points, ranges)
    while waiting:
        rows = waiting.pop()
        bounds = None
        if not _is_faster_as_two_boxes(ranges.rows(rows)):
            bounds = sum_box(points.rows(rows), ranges.rows(rows))
        if bounds is None:
            waiting += _halves(rows)
        else:
            low[rows], high[rows] = bounds
    return low, high


def alike_points(points: TiltedPoints, ranges: Boxes) -> list[Integers]:
    """Groups of points with the same number of copies and the same probabilities of values: their indices."""
    keys = np.column_stack([points.n.sum(axis=1), ranges.log_p, ranges.excess])
    group = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def _is_faster_as_two_boxes(ranges: Boxes) -> bool:
    """Whether these points are to be summed in two halves: one box for all is too large, or takes longer."""
    if len(ranges.g) == 1:
        return False
    combinations, cost = _size(ranges)
    costs_of_halves = [_size(ranges.rows(rows))[1] for rows in _halves(np.arange(len(ranges.g)))]
    return combinations > MOST_TOGETHER or cost > sum(costs_of_halves)


def _size(ranges: Boxes) -> tuple[float, float]:
    """How many combinations one box for all these points has, and how long it takes, in terms of its sums."""
    with np.errstate(over="ignore"):  # of hundreds of values
        combinations = float(np.prod(ranges.last.max(axis=0) - ranges.first.min(axis=0) + 1))
    return combinations, COST_OF_BOX + (_COST_OF_PROBABILITY + len(ranges.g)) * combinations


def _halves(rows: Integers) -> list[Integers]:
    """The first and the second half of the indices."""
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]]


def sum_box(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats] | None:
    """Lower and upper bounds on log E[S_+], (points,) each, by sums over one box.

    S is the sum of all copies of a point's gain. The ``points`` have the same number of copies and the same
    probabilities, only their values differ (see `alike_points`). The one box holds all the boxes ``ranges``
    of the points.

    None if there are several points and one of them depends on combinations so unlikely that as floats they
    vanish beside the likeliest combination, which may be one that another point needs. Smaller groups of
    points are to be summed then.
    """
    first = ranges.first.min(axis=0)
    last = ranges.last.max(axis=0)
    log_rest = log_outside(points, ranges.log_weights, first, last)
    n = float(points.n[0].sum())

    # Combinations whose sum S is positive for no point add nothing.
    lower_g, upper_g = moved_values(ranges.g)
    counts = _combinations(first, last, n)
    counts = counts[:, upper_g.max(axis=0) @ counts > 0]
    if counts.size == 0:
        return np.full(len(points), -np.inf), log_rest

    # The probability of each combination over the largest one, moved down and up by its error.
    log_probability, error = _log_probabilities(ranges.log_p[0], counts, n)
    log_largest = log_probability.max()
    log_ratio = log_probability - log_largest
    ratio = np.exp(np.maximum(log_ratio, _LEAST_LOG))
    lower_ratio = np.where(log_ratio < _LEAST_LOG, 0.0, ratio * np.exp(-error))
    upper_ratio = ratio * np.exp(np.minimum(error, LARGEST_EXPONENT))

    below = _positive_sums(lower_g, counts, lower_ratio)
    above = _positive_sums(upper_g, counts, upper_ratio)
    if len(points) > 1 and np.any(above < _VANISHING * upper_g.max(axis=1) * n):
        return None

    # If rounding made the sum of the probabilities 1 + excess, each of them is too large by this factor, and
    # a product of n of them by (1 + excess)^n <= e^(n excess).
    rounding = ULP * 4 * abs(log_largest)
    log_excess = n * float(ranges.excess[0])
    with np.errstate(divide="ignore"):
        log_below = log_largest + log_rounded(below, side=Side.LOWER) - rounding - log_excess
    low = np.where(below > 0, log_below, -np.inf)
    return low, np.logaddexp(log_rest, log_largest + log_rounded(above, side=Side.UPPER) + rounding)


def moved_values(g: Floats) -> tuple[Floats, Floats]:
    """Values (..., values) whose sums over copies, computed in floats, are below and above those of ``g``."""
    slack = ULP * (g.shape[-1] + 4) * np.abs(g)
    return g - slack, g + slack


def log_outside(points: TiltedPoints, log_weights: Floats, first: Floats, last: Floats) -> Floats:
    """log of the bound on what combinations outside of one box add to E[S_+]; -inf where there are none.

    The result is (points,). S is the sum of n copies of the gain G, and M(theta) = E[e^(theta G)] with the
    point's tilt theta. By x_+ <= e^(theta x) / (e theta) the combinations add at most M(theta)^n / (e theta)
    times their probability under the tilt. By Chernoff's bound, a count leaves its range with
    a probability of at most e^(-n D), D being the relative entropy of the first share of n outside of the
    range.
    ``log_weights`` (points, values): as in `Boxes`; ``first``, ``last`` (values - 1,): the box.
    """
    n = points.n.sum(axis=1)[:, None]
    weights = np.minimum(np.exp(log_weights[:, :-1]), 1.0)
    below = np.where(
        first > 0, np.exp(-n * _relative_entropy(np.maximum(first - 1, 0) / n, weights)), 0.0
    )
    may_exceed = (last < n) & (weights > 0)
    above = np.where(
        may_exceed, np.exp(-n * _relative_entropy(np.minimum(last + 1, n) / n, weights)), 0.0
    )
    mass = (below + above).sum(axis=1)

    # M(theta)^n / (e theta) times this mass: ``base`` is log of M(theta)^n, and the 1 is the log of e.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = log_rounded(1 / points.theta, side=Side.UPPER) + log_rounded(mass, side=Side.UPPER)
    return np.where(mass > 0, points.log_mgf_of_sum + points.rounding - 1 + logs, -np.inf)


def _combinations(first: Floats, last: Floats, n: float) -> Floats:
    """The combinations of counts in the box, one per column: how many of n copies have each value.

    ``first``, ``last`` (values - 1,): the box. The last row (of values rows) is what the other counts leave
    of n; combinations of more than n copies are left out.
    """
    ranges = [np.arange(a, b + 1) for a, b in zip(first, last, strict=True)]
    counts = np.array([column.ravel() for column in np.meshgrid(*ranges, indexing="ij")])
    rest = n - counts.sum(axis=0, keepdims=True)
    return np.concatenate([counts, rest])[:, rest[0] >= 0]


def _positive_sums(g: Floats, counts: Floats, weights: Floats) -> Floats:
    """The sums of weight times (g @ counts)_+ over all combinations, (points,).

    ``g`` (points, values); ``counts`` (values, combinations), as of `_combinations`; ``weights``
    (combinations,).
    """
    sums = np.empty(len(g))
    chunk = 1 + TERMS // counts.shape[1]
    for start in range(0, len(g), chunk):
        terms = g[start : start + chunk] @ counts
        np.maximum(terms, 0.0, out=terms)
        terms *= weights
        sums[start : start + chunk] = terms.sum(axis=1)
    return sums


def _log_probabilities(log_p: Floats, counts: Floats, n: float) -> tuple[Floats, Floats]:
    """log of the multinomial probability of each combination, and what rounding may do to this log.

    ``log_p`` (values,): logs of the probabilities. ``counts`` (values, combinations), as of `_combinations`.
    The log is that of n! / (product of all counts!) times the product of the probabilities^counts.
    """
    from scipy.special import gammaln  # here, for it takes as long to import as numpy

    # log of n! / (n - counted)! as a running sum: for large n the two factorials nearly cancel.
    counted = (n - counts[-1]).astype(np.int64)  # copies with any value but the last
    falling = np.concatenate([[0.0], np.cumsum(np.log(n - np.arange(counted.max())))])[counted]
    factorials = gammaln(counts[:-1] + 1).sum(axis=0)
    log_p = np.where(np.isneginf(log_p), 0.0, log_p)  # its counts are all 0
    log_probability = log_p @ counts + falling - factorials

    # Of the products, the running sum and the factorials; then of `_positive_sums` over all combinations.
    units = 4 * np.abs(log_p) @ counts + (counted + 4) * falling + 8 * factorials
    error = ULP * (units + counts.shape[1] + OPERATIONS)
    return log_probability, error


def _relative_entropy(share: Floats, probability: Floats) -> Floats:
    """Kullback-Leibler divergence of Bernoulli(share) from Bernoulli(probability)."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(share, probability) + rel_entr(1 - share, 1 - probability))
