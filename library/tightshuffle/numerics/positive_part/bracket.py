"""The bracket of log E[S_+]: it tries boxes of counts and contour integrals until it is narrow.

S = G_1 + ... + G_n is the sum of the copies of a point's gain G; `TiltedPoints` has M and the tilt theta. A
narrow bracket has high - low <= log(1 + ``width``) if possible.
"""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Booleans, Floats, Integers
from tightshuffle.numerics.positive_part.box import bounds_by_boxes, boxes_of_counts
from tightshuffle.numerics.positive_part.contour import contour_bounds, high_without_zero
from tightshuffle.numerics.positive_part.tilt import TiltedPoints, log_rounded, tilted_points
from tightshuffle.numerics.side import Side

_SMALLEST = 1e-150  # bound on the largest value of G: its square and the square of its reciprocal are floats
_MOST_COPIES = 1e12  # the largest n that is accepted
ATTEMPTS = 8  # contour integrals of one point, at most
_COARSE_WIDTH = 0.1  # of the brackets that rule out most of a group
_NEGLIGIBLE_SHARE = 0.01  # of the width: what all points that do not count in a sum add, at most
_DEPTH = 42.0  # counts of a value that are rarer than e^-42, about 6e-19, are left out
# Up to so many combinations of values are summed one by one:
FEW_COMBINATIONS = 4_000  # before any contour integral,
SOME_COMBINATIONS = 5 * 10**4  # after one contour integral whose bracket is too wide,
MOST_COMBINATIONS = 2 * 10**6  # after all contour integrals
MOST_COUNTED = 4_000  # copies without the likeliest value, in such a combination


def log_positive_part(
    values: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    shares: npt.ArrayLike | None = None,
    width: float = 1e-4,
    groups: npt.ArrayLike | None = None,
    log_factors: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Bounds (low, high) with low <= log E[(G_1 + ... + G_n)_+] <= high; -inf where G has no positive value.

    Parameters
    ----------
    values, probabilities : float arrays (..., c)
        The values of one G and their probabilities; what is missing to 1 is the probability of the value 0.
        The largest value, if positive, lies between 1e-150 and 1e150.
    n : int array, from 1 to 10^12
        The number of independent copies of G; broadcasts with the leading dimensions. With ``shares``, both
        have one more axis (..., m): the copies are then a sum of m independent numbers.
    shares : float array (..., m), from 0 to 1
        Each number is Binomial(n, share), or Poisson of mean n where the share is 0. One share at least is
        above 0.
    width : float, above 0
        high - low is at most log(1 + width), unless rounding or a limit of about a million nodes prevents it;
        the bounds hold in any case.
    groups : int array of the broadcast leading shape
        Only those points of a group that can have its largest expectation get this width; the bracket of
        another point only shows that it is smaller.
    log_factors : float array, which broadcasts to the leading shape
        Natural logs of factors. Only those points get this width that count in the sum of factor times
        expectation over the last axis, which then has about this width.

    Raises
    ------
    ValueError for a largest value out of its range.
    """
    # One row for each point. A value with the probability 0 is as good as the value 0.
    g, p, copies, shares, shape = _rows_of_points(values, probabilities, n, shares)
    g = np.where(p > 0, g, 0.0)
    low, high = np.full((2, len(g)), -np.inf)
    largest = g.max(axis=1)
    rows = np.flatnonzero(largest > 0)
    if not np.all((largest[rows] > _SMALLEST) & (largest[rows] < 1 / _SMALLEST)):
        raise ValueError(f"the largest value must lie between {_SMALLEST:g} and {1 / _SMALLEST:g}")
    if rows.size == 0:
        return low.reshape(shape), high.reshape(shape)

    points = tilted_points(_clipped_values(g[rows]), p[rows], copies[rows], shares[rows])
    if groups is not None:
        brackets = _brackets_for_largest(points, np.reshape(groups, -1)[rows], width)
    elif log_factors is not None:
        # The points of one sum differ in the last index only.
        sums = rows // shape[-1]
        factors = np.broadcast_to(np.asarray(log_factors, float), shape).ravel()
        brackets = _brackets_for_sums(points, sums, factors[rows], width)
    else:
        brackets = _brackets(points, width)
    low[rows], high[rows] = brackets
    return low.reshape(shape), high.reshape(shape)


def _rows_of_points(
    values: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    n: npt.ArrayLike,
    shares: npt.ArrayLike | None,
) -> tuple[Floats, Floats, Floats, Floats, tuple[int, ...]]:
    """The arguments of `log_positive_part` with one row for each point, and the shape of the points.

    Returns the values and the probabilities, (points, c) each, the numbers of copies and their shares,
    (points, m) each, and the shape that the points have in the broadcast arguments. Without ``shares`` there
    is one number of copies, n, none of which is left out: m is 1 and the share 1.
    """
    if shares is None:
        n = np.asarray(n)[..., None]
        shares = 1.0
    g, p = np.broadcast_arrays(np.asarray(values, float), np.asarray(probabilities, float))
    copies, shares = np.broadcast_arrays(np.asarray(n, float), np.asarray(shares, float))
    shape = np.broadcast_shapes(g.shape[:-1], copies.shape[:-1])

    def flatten(array: Floats) -> Floats:
        """The array (..., columns) with a row for each point, (points, columns)."""
        columns = array.shape[-1]
        return np.broadcast_to(array, (*shape, columns)).reshape(-1, columns)

    return flatten(g), flatten(p), flatten(copies), flatten(shares), shape


def tilted_copies(
    values: Floats, probabilities: Floats, n: npt.ArrayLike, shares: npt.ArrayLike
) -> Floats:
    """About how many copies of G there are in the outcomes that make up E[(G_1 + ... + G_n)_+]; (points,).

    These are the outcomes of the tilted distribution: the result is the mean number of copies under the tilt,
    a number of copies, no logarithm. It is 1 for a point without a positive value.

    Parameters
    ----------
    values, probabilities : float arrays (points, c)
        The values of one G and their probabilities.
    n, shares : arrays (m,)
        The m independent numbers of copies, Binomial(n, share) or Poisson, as of `log_positive_part`. They
        are the same for all points.
    """
    g = np.where(probabilities > 0, values, 0.0)
    mean_copies = np.ones(len(values))
    rows = np.flatnonzero(g.max(axis=1) > 0)
    if rows.size:
        shape = (len(rows), np.size(n))
        copies = np.asarray(np.broadcast_to(n, shape), float)
        shares = np.asarray(np.broadcast_to(shares, shape), float)
        points = tilted_points(_clipped_values(g[rows]), probabilities[rows], copies, shares)
        mean_copies[rows] = points.mean_copies.sum(axis=1)
    return mean_copies


def _clipped_values(g: Floats) -> Floats:
    """The values ``g`` (..., c), none lower than -10^13 times the largest: else squares could overflow.

    One copy of a value lower than that outweighs all that up to 10^12 other copies can add. So S_+ is 0 for
    either value.
    """
    return np.maximum(g, -10 * _MOST_COPIES * g.max(axis=-1, keepdims=True))


def _log_chernoff_bound(points: TiltedPoints) -> Floats:
    """Natural log of Chernoff's upper bound M(theta)^n / (e theta) on E[S_+]; (points,).

    It holds as x_+ <= e^(theta x) / (e theta). The 1 is the log of e.
    """
    return (
        points.log_mgf_of_sum + points.rounding - 1 + log_rounded(1 / points.theta, side=Side.UPPER)
    )


def _brackets_for_largest(
    points: TiltedPoints, groups: Integers, width: float
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, narrow for the largest of each group.

    ``groups`` (points,) is the number of each point's group, from 0. Any other bracket only shows that the
    point is not the largest of its group.
    """
    low = np.full(len(points), -np.inf)
    high = _log_chernoff_bound(points)
    best = np.full(groups.max() + 1, -np.inf)  # a lower bound on the largest of each group

    # First comes the point of each group with the largest Chernoff bound. Then come the others: with a coarse
    # width, to rule out most of them, and then with the width that is asked for.
    order = np.lexsort((-high, groups))
    first_of_group = np.unique(groups[order], return_index=True)[1]
    likely = order[first_of_group]
    unlikely = np.sort(np.delete(order, first_of_group))
    for candidates, goal in ((likely, width), (unlikely, _COARSE_WIDTH), (unlikely, width)):
        # ~(a <= b) instead of a > b holds for nan, too, the difference of two infinite bounds.
        may_be_largest = ~(high[candidates] < best[groups[candidates]])
        too_wide = ~(high[candidates] - low[candidates] <= math.log1p(goal))
        rows = candidates[may_be_largest & too_wide]
        if rows.size:
            low[rows], high[rows] = _brackets(points.rows(rows), goal)
            np.maximum.at(best, groups[rows], low[rows])
    return low, high


def _brackets_for_sums(
    points: TiltedPoints, sums: Integers, log_factors: Floats, width: float
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, narrow for the points that count in their sum.

    A sum over points adds factor times E[S_+]. ``sums`` (points,) is the number of the sum that each point is
    in, from 0, and ``log_factors`` (points,) are the natural logs of the factors.

    A point counts if its summand may be larger than a negligible share of the largest summand. The largest
    summand is taken from the approximation at the saddle point first, which may be too large where S is
    rarely positive. Then it is taken from the lower bounds of the points that were chosen first.
    """
    low = np.full(len(points), -np.inf)
    high = _log_chernoff_bound(points)
    log_most = high + log_factors
    # Of the largest summand: 0.01 width, divided by the number of summands in the sum. So all summands that
    # do not count add at most 0.01 width of the largest one together.
    log_negligible = math.log(_NEGLIGIBLE_SHARE * width) - np.log(np.bincount(sums)[sums])
    done = np.zeros(len(points), bool)
    for likely in (points.log_mgf_of_sum + log_gaussian_guess(points), low):
        largest = np.full(sums.max() + 1, -np.inf)
        np.maximum.at(largest, sums, likely + log_factors)
        rows = np.flatnonzero(~done & (log_most > largest[sums] + log_negligible))
        if rows.size:
            low[rows], high[rows] = _brackets(points.rows(rows), width)
            done[rows] = True
    return low, high


def log_gaussian_guess(points: TiltedPoints) -> Floats:
    """Natural log of 1 / (sqrt(2 pi) theta^2 sigma), about log(E[S_+] / M(theta)^n); (points,).

    sigma is the standard deviation of S under the tilt. The approximation is good where S is about Gaussian
    under the tilt.
    """
    return -np.log(points.theta**2 * points.sigma * math.sqrt(2 * math.pi))


def _brackets(points: TiltedPoints, width: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, narrow for every point.

    First, sums over boxes with few combinations of values are tried, then contour integrals, then larger
    boxes. A contour integral gives E[(S + U)_+] of a Gaussian U with the standard deviation tau. tau falls
    from attempt to attempt, which makes the bracket narrower.
    """
    search = _Search(points, width)
    is_summed = search.narrow_by_boxes(np.ones(len(points), bool), FEW_COMBINATIONS, _DEPTH)
    remaining = np.flatnonzero(~is_summed)

    # A contour integral's bracket has a relative width of about 1.5 (theta tau)^2.
    tau = math.sqrt(width / 2) / points.theta
    guess = log_gaussian_guess(points)  # of log(E[S_+] / M(theta)^n)
    ratio_before = np.full(len(points), np.inf)

    for attempt in range(ATTEMPTS):
        if not remaining.size:
            break
        # The bracket of a contour integral. The guess at E[S_+], for the next one, is at most its upper
        # bound.
        new_low, new_high = contour_bounds(
            points.rows(remaining), tau[remaining], guess[remaining], width
        )
        search.narrow(remaining, new_low, new_high)
        guess[remaining] = np.minimum(
            guess[remaining], search.high[remaining] - points.log_mgf_of_sum[remaining]
        )
        # Larger boxes are tried once, for the brackets that are still too wide.
        if attempt == 0:
            search.narrow_by_boxes(
                ~is_summed & (search.width_ratio() > 1), SOME_COMBINATIONS, search.depth_of_boxes()
            )

        # What U adds where S = 0 is subtracted from the upper bounds that are still too high.
        still_wide = search.width_ratio()[remaining] > 1
        rows = remaining[still_wide]
        without = high_without_zero(points.rows(rows), tau[rows], new_high[still_wide])
        search.high[rows] = np.minimum(search.high[rows], without)

        # The width of a bracket grows with the square of tau. So tau is divided by the root of the width over
        # the one asked for, and a little more. It falls by a factor of 1.2 at least, for one attempt should
        # help, and of 6 at most, for it should not cost too many nodes.
        ratio = search.width_ratio()[remaining]
        tau[remaining] /= np.clip(1.1 * np.sqrt(np.maximum(ratio, 0.0)), 1.2, 6.0)

        # A point goes on while its bracket gets narrower by a fifth.
        has_improved = (ratio < 0.8 * ratio_before[remaining]) | np.isinf(ratio)
        ratio_before[remaining] = ratio
        remaining = remaining[(ratio > 1) & has_improved]
    search.narrow_by_boxes(search.width_ratio() > 1, MOST_COMBINATIONS, search.depth_of_boxes())
    return search.low, search.high


class _Search:
    """The brackets of points while they are narrowed: ``low`` and ``high`` bound log E[S_+], (points,)."""

    def __init__(self, points: TiltedPoints, width: float) -> None:
        self.points = points
        self.width = width
        self.log_chernoff_bound = _log_chernoff_bound(points)
        self.low = np.full(len(points), -np.inf)
        self.high = self.log_chernoff_bound.copy()

    def narrow(self, rows: Integers, low: Floats, high: Floats) -> None:
        """Take these bounds on log E[S_+] of the points ``rows`` where they are better."""
        self.low[rows] = np.maximum(self.low[rows], low)
        self.high[rows] = np.minimum(self.high[rows], high)

    def width_ratio(self) -> Floats:
        """The width of each bracket, without rounding, over the width asked for; (points,).

        The width asked for is log(1 + ``self.width``). The rounding ``self.points.rounding`` on both sides is
        subtracted, as a smaller tau of a contour integral does not help against it.
        """
        gap = self.high - self.low - 2 * self.points.rounding
        return np.asarray(gap / math.log1p(self.width))

    def depth_of_boxes(self) -> Floats:
        """-ln of the probability of the counts of a value that a box leaves out; (points,).

        The bound on what is left out is Chernoff's bound on E[S_+], ``self.log_chernoff_bound`` by its log,
        times this probability. Where S is nearly always 0, or just below, Chernoff's bound is far above
        E[S_+]. So the depth grows by as much, but by at most 600, for a float e^-depth.
        """
        return np.asarray(_DEPTH + np.clip(self.log_chernoff_bound - self.low, 0.0, 600.0))

    def narrow_by_boxes(
        self, candidates: Booleans, most_combinations: int, depth: npt.ArrayLike
    ) -> Booleans:
        """Narrow the brackets of those ``candidates`` with a small box, and return which points these are.

        Both are masks (points,). Only points with a fixed number of copies have a box. It is small if it has
        ``most_combinations`` or fewer. Its counts are those with a probability above e^-depth or so, and
        ``depth`` is one number or (points,).
        """
        has_fixed_copies = np.all(self.points.shares == 1, axis=1)
        candidates = candidates & has_fixed_copies
        if not candidates.any():
            return candidates
        ranges = boxes_of_counts(self.points, np.broadcast_to(depth, len(self.points)))
        # A combination of more than eight values counts as more than one, as it takes longer.
        size = ranges.combinations * max(ranges.g.shape[1] / 8, 1.0)
        is_small = (size <= most_combinations) & (ranges.last.sum(axis=1) <= MOST_COUNTED)
        summed = candidates & is_small
        rows = np.flatnonzero(summed)
        if rows.size:
            self.narrow(rows, *bounds_by_boxes(self.points.rows(rows), ranges.rows(rows)))
        return summed
