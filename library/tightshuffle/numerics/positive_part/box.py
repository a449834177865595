"""E[S_+] as a sum over a box of counts, one combination of values after the other, and the rest's bound.

S is the sum of all copies of a point's gain. Under the tilted distribution, the counts of all but one of the
values nearly always lie in a box. By x_+ <= e^(theta x) / (e theta), all other combinations add at most
M(theta)^n / (e theta) times their tilted probability. Points with the same probabilities of values share a
box: its probabilities are computed once.
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

_NEWTON_STEPS = 12  # to the counts at the edge of a box; the bounds hold for a box of any size
MOST_TOGETHER = 10**5  # combinations in a box of several points, at most
COST_OF_BOX = 10**5  # if a term of a sum costs 1
_COST_OF_PROBABILITY = 30  # of one of a box's probabilities, in the same unit
TERMS = 2**14  # about how many terms of sums are computed at once: they fit into a cache
# ln of the least probability, over the largest, that counts as it is. A smaller one would lose digits as a
# float: upper bounds take this one for it, and lower bounds 0.
_LEAST_LOG_RATIO = -690.0
# In a sum below this, over the largest probability, such replaced probabilities may count.
_VANISHING_SUM = 1e-250


class Boxes(NamedTuple):
    """A box for each point: the ranges of the counts, how many copies of the gain have each value.

    The value 0 is among the values. The last value is the likeliest under the tilt: its count is what the
    others leave, and has no range. Logarithms are natural.
    """

    # (points, values)
    g: Floats  # the values
    log_p: Floats  # logs of their probabilities
    log_weights: Floats  # logs of their probabilities under the tilt

    # (points, values - 1)
    first: Floats  # the smallest count of each value but the last in the box
    last: Floats  # the largest count

    # (points,)
    combinations: Floats  # how many combinations of counts the box has, at most
    excess: Floats  # by how much rounding makes the sum of the probabilities larger than 1

    def rows(self, index: Integers) -> "Boxes":
        """The boxes of the points with these indices."""
        return Boxes(*(part[index] for part in self))


def boxes_of_counts(points: TiltedPoints, depth: Floats) -> Boxes:
    """The `Boxes` of the points: ranges that a count leaves with a probability of about e^-depth.

    A count is the number of copies of the gain that have one value. The probability is that under the tilt:
    p e^(theta g) / M(theta) for one copy to have the value g. ``depth`` (points,) is above 0.
    """
    # The value 0 joins the others, with what they leave of the probability. Where they sum to less than a
    # half, 1 - total keeps all digits. Else ``points.probability_of_0`` is taken, which was summed exactly.
    total = np.array([math.fsum(row) for row in points.p.tolist()])
    with np.errstate(divide="ignore"):
        log_zero = np.where(
            total < 0.5, np.log1p(-np.minimum(total, 0.5)), np.log(points.probability_of_0)
        )
        log_p = np.concatenate([np.log(points.p), log_zero[:, None]], axis=1)
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    log_weights = log_p + points.theta[:, None] * g - points.log_mgf[:, None]

    # The likeliest value is moved to the end, as the last value needs no range: its count is what the others
    # leave of n.
    is_likeliest = log_weights == log_weights.max(axis=1, keepdims=True)
    order = np.argsort(is_likeliest, axis=1, kind="stable")
    g, log_p, log_weights = (
        np.take_along_axis(part, order, axis=1) for part in (g, log_p, log_weights)
    )

    # A range ends where -ln of Chernoff's bound of a Poisson distribution with the expected count m is
    # ``depth``: x ln(x / m) - x + m for a count x. Below m this is at most m, so where m <= depth the range
    # starts at 0. 1e-280 keeps ln(x / m) finite.
    n = points.n.sum(axis=1)
    expected = n[:, None] * np.exp(log_weights[:, :-1])
    first, last = _counts_at_depth(np.maximum(expected, 1e-280), depth[:, None])
    first = np.where(expected > depth[:, None], np.floor(first), 0)
    last = np.where(expected > 0, np.minimum(np.ceil(last), n[:, None]), 0)
    with np.errstate(over="ignore"):  # of hundreds of values
        combinations = np.prod(last - first + 1, axis=1)
    excess = np.array([max(math.fsum([-1.0, *row]), 0.0) for row in points.p.tolist()])
    return Boxes(g, log_p, log_weights, first, last, combinations, excess)


def _counts_at_depth(expected: Floats, depth: Floats) -> tuple[Floats, Floats]:
    """The counts x below and above m = ``expected`` at which x ln(x / m) - x + m is ``depth``.

    This convex function of x is -ln of Chernoff's bound on the probability of x or beyond, for a Poisson
    number with the mean m. Newton's method starts outside of the two roots: above m by Bernstein's
    inequality, and below m, where there is a root. Below m, x stays at 1e-12 m or more, so that ln x is
    finite.
    """
    step = np.sqrt(2 * expected * depth)
    low = np.maximum(expected - step, 1e-12 * expected)
    high = expected + depth / 3 + np.hypot(depth / 3, step)
    for _ in range(_NEWTON_STEPS):
        low, high = ((x - expected + depth) / np.log(x / expected) for x in (low, high))
        low = np.maximum(low, 1e-12 * expected)
    return low, high


def bounds_by_boxes(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, by sums over the boxes ``ranges``.

    Each combination of counts gives one S. A bound on what the combinations outside of the box add is in the
    upper bounds only.

    Points with the same numbers of copies and the same probabilities of values have the same probabilities of
    combinations. They are summed over one box, which holds the boxes of all of them. Where that is slower
    than two boxes for half of the points each, or fails, the points are divided into such halves.
    """
    low, high = np.empty((2, len(points)))
    waiting = alike_points(points, ranges)
    while waiting:
        # One group of points: it is summed, or its two halves wait.
        rows = waiting.pop()
        bounds = None
        if not _is_faster_as_two_boxes(ranges.rows(rows)):
            bounds = bounds_by_box(points.rows(rows), ranges.rows(rows))
        if bounds is None:
            waiting += _halves(rows)
        else:
            low[rows], high[rows] = bounds
    return low, high


def alike_points(points: TiltedPoints, ranges: Boxes) -> list[Integers]:
    """The indices of each group of points with the same number of copies and probabilities of values."""
    keys = np.column_stack([points.n.sum(axis=1), ranges.log_p, ranges.excess])
    group = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def _is_faster_as_two_boxes(ranges: Boxes) -> bool:
    """Whether these points are to be summed in two halves: one box for all is too large, or takes longer."""
    if len(ranges.g) == 1:
        return False
    combinations, cost = _combinations_and_cost(ranges)
    halves = _halves(np.arange(len(ranges.g)))
    costs_of_halves = [_combinations_and_cost(ranges.rows(half))[1] for half in halves]
    return combinations > MOST_TOGETHER or cost > sum(costs_of_halves)


def _combinations_and_cost(ranges: Boxes) -> tuple[float, float]:
    """How many combinations one box for all these points has, and its cost in units of one term of a sum."""
    with np.errstate(over="ignore"):  # of hundreds of values
        combinations = float(np.prod(ranges.last.max(axis=0) - ranges.first.min(axis=0) + 1))
    return combinations, COST_OF_BOX + (_COST_OF_PROBABILITY + len(ranges.g)) * combinations


def _halves(rows: Integers) -> list[Integers]:
    """The first and the second half of the indices."""
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]]


def bounds_by_box(points: TiltedPoints, ranges: Boxes) -> tuple[Floats, Floats] | None:
    """Lower and upper bounds on log E[S_+], (points,) each, by sums over one box; None if that may fail.

    The ``points`` have the same number n of copies and the same probabilities, and only their values differ
    (see `alike_points`). The one box holds all the boxes ``ranges`` of the points.

    None is returned if there are several points and one of them depends on combinations so unlikely that as
    floats they vanish beside the likeliest combination, which may be one that another point needs. Smaller
    groups of points are to be summed then.
    """
    first = ranges.first.min(axis=0)
    last = ranges.last.max(axis=0)
    log_rest = log_bound_outside(points, ranges.log_weights, first, last)
    n = float(points.n[0].sum())

    # The values are moved down and up by more than the rounding of S = g @ counts. Combinations whose S is
    # positive for no point add nothing.
    lower_g, upper_g = moved_values(ranges.g)
    counts = _combinations_of_counts(first, last, n)
    counts = counts[:, upper_g.max(axis=0) @ counts > 0]
    if counts.size == 0:
        return np.full(len(points), -np.inf), log_rest

    # The probability of each combination, in units of the largest one, moved down and up by its error.
    log_probability, error = _log_multinomial(ranges.log_p[0], counts, n)
    log_largest = log_probability.max()
    log_ratio = log_probability - log_largest
    ratio = np.exp(np.maximum(log_ratio, _LEAST_LOG_RATIO))
    lower_ratio = np.where(log_ratio < _LEAST_LOG_RATIO, 0.0, ratio * np.exp(-error))
    upper_ratio = ratio * np.exp(np.minimum(error, LARGEST_EXPONENT))

    # Bounds on the sum of probability times S_+ over the box.
    below = _positive_sums(lower_g, counts, lower_ratio)
    above = _positive_sums(upper_g, counts, upper_ratio)
    if len(points) > 1 and np.any(above < _VANISHING_SUM * upper_g.max(axis=1) * n):
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


def log_bound_outside(
    points: TiltedPoints, log_weights: Floats, first: Floats, last: Floats
) -> Floats:
    """log of a bound on what combinations of counts outside of one box add to E[S_+], (points,).

    They add at most M(theta)^n / (e theta) times their probability under the tilt. A count is Binomial(n,
    weight) under the tilt. By Chernoff's bound, it leaves its range with a probability of at most e^(-n D) on
    either side. D is the relative entropy, from weight, of the first share of n outside of the range. Where
    the box has all combinations, the result is -inf.

    ``log_weights`` (points, values) are the logs of the values' tilted probabilities, the likeliest value
    last. ``first``, ``last`` (values - 1,) are the smallest and the largest count of each other value in the
    box.
    """
    n = points.n.sum(axis=1)[:, None]
    weights = np.minimum(np.exp(log_weights[:, :-1]), 1.0)
    share_below = np.maximum(first - 1, 0) / n
    below = np.where(first > 0, np.exp(-n * _relative_entropy(share_below, weights)), 0.0)
    share_above = np.minimum(last + 1, n) / n
    may_exceed = (last < n) & (weights > 0)
    above = np.where(may_exceed, np.exp(-n * _relative_entropy(share_above, weights)), 0.0)
    mass = (below + above).sum(axis=1)

    # The log of M(theta)^n / (e theta) times this mass: ``points.log_mgf_of_sum`` is that of M(theta)^n,
    # which rounding may change by ``points.rounding``, and the 1 is that of e.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = log_rounded(1 / points.theta, side=Side.UPPER) + log_rounded(mass, side=Side.UPPER)
    return np.where(mass > 0, points.log_mgf_of_sum + points.rounding - 1 + logs, -np.inf)


def _combinations_of_counts(first: Floats, last: Floats, n: float) -> Floats:
    """The combinations of counts in the box, (values, combinations): how many of n copies have each value.

    ``first``, ``last`` (values - 1,) are the smallest and the largest count of each value but the last. The
    last row is what the other counts leave of n. Combinations of more than n copies are left out.
    """
    # Only counts that vary are axes of the grid, as arrays have at most 32 axes.
    varying = np.flatnonzero(last > first)
    ranges = [np.arange(first[value], last[value] + 1) for value in varying]
    grid = np.meshgrid(*ranges, indexing="ij")
    counts = np.repeat(first[:, None], math.prod(map(len, ranges)), axis=1)
    for value, column in zip(varying, grid, strict=True):
        counts[value] = column.ravel()
    rest = n - counts.sum(axis=0, keepdims=True)
    return np.concatenate([counts, rest])[:, rest[0] >= 0]


def _positive_sums(g: Floats, counts: Floats, weights: Floats) -> Floats:
    """The sum of weight * S_+ over all combinations of counts, (points,), where S = g @ counts.

    ``g`` (points, values) are the values of each point, ``counts`` (values, combinations) how many copies
    have each value, and ``weights`` (combinations,) the weight of each combination.
    """
    # So many points are summed at once that their terms fit into a cache.
    sums = np.empty(len(g))
    chunk = 1 + TERMS // counts.shape[1]
    for start in range(0, len(g), chunk):
        terms = g[start : start + chunk] @ counts
        np.maximum(terms, 0.0, out=terms)
        terms *= weights
        sums[start : start + chunk] = terms.sum(axis=1)
    return sums


def _log_multinomial(log_p: Floats, counts: Floats, n: float) -> tuple[Floats, Floats]:
    """Natural log of the multinomial probability of each combination of counts, and a bound on its rounding.

    Both are (combinations,). The probability is n! / (product of all counts!) times the product of the
    probabilities^counts. ``log_p`` (values,) are the natural logs of the probabilities, and ``counts``
    (values, combinations) how many of n copies have each value. The bound on rounding also has that of a sum
    over all combinations.
    """
    from scipy.special import gammaln  # here, for it takes as long to import as numpy

    # log of n! / (n - counted)! = n (n - 1) ..., as a running sum: for large n the two factorials nearly
    # cancel. (n - counted)! is the factorial of the last count.
    counted = (n - counts[-1]).astype(np.int64)  # copies with any value but the last
    running_sum = np.cumsum(np.log(n - np.arange(counted.max())))
    falling = np.concatenate([[0.0], running_sum])[counted]
    factorials = gammaln(counts[:-1] + 1).sum(axis=0)
    # A value with the probability 0 has the count 0 in every combination.
    log_p = np.where(np.isneginf(log_p), 0.0, log_p)
    log_probability = log_p @ counts + falling - factorials

    # Units in the last place of the products, the running sum and the factorials, and of a sum over all
    # combinations.
    units = 4 * np.abs(log_p) @ counts + (counted + 4) * falling + 8 * factorials
    error = ULP * (units + counts.shape[1] + OPERATIONS)
    return log_probability, error


def _relative_entropy(share: Floats, probability: Floats) -> Floats:
    """Kullback-Leibler divergence of Bernoulli(share) from Bernoulli(probability)."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(share, probability) + rel_entr(1 - share, 1 - probability))
