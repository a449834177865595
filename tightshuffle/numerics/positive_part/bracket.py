"""The bracket of log E[S_+]: it tries boxes of counts and contour integrals until it is narrow."""

import math

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Booleans, Floats, Integers
from tightshuffle.numerics.positive_part.box import boxes, sum_boxes
from tightshuffle.numerics.positive_part.contour import contour, without_zero
from tightshuffle.numerics.positive_part.tilt import Points, at_saddle, log_rounded

_SMALLEST = 1e-150  # bound on the largest value of G: its square and the square of its reciprocal are floats
_MOST_USERS = 1e12
_ATTEMPTS = 8
_COARSE = 0.1  # width of the bracket that rules out most of a group
_NEGLIGIBLE = 0.01  # of the width: what all points together may add that do not count in a sum
_UNLIKELY = 42.0  # -log of the probability beyond which counts of a value are left out
# Up to so many combinations of values are summed one by one:
_FEW_ATOMS = 4_000  # before any contour integral,
_SOME_ATOMS = 5 * 10**4  # after one contour integral whose bracket is too wide,
_MOST_ATOMS = 2 * 10**6  # after all contour integrals
_MOST_COUNTED = 4_000  # users without the likeliest value in one combination


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
    values, probabilities : shape (..., c), of one G; what is missing to 1 is the probability of the value 0.
        The largest value, if positive, lies between 1e-150 and 1e150, or a ValueError is raised.
    n : number of independent copies of G, from 1 to 10^12; broadcasts with the leading dimensions. With
        ``shares``, both have one more axis (..., m): the copies are then a sum of m independent numbers, each
        Binomial(n, share), or Poisson of mean n where the share is 0. One share at least is above 0.
    width : high - low is at most log(1 + width), unless rounding or a limit of about a million nodes prevents
        it; the bounds hold in any case
    groups : whole numbers of the broadcast leading shape. Only those points of a group that can have its
        largest expectation get this width; the bracket of another point only shows that it is smaller.
    log_factors : natural logs of factors, which broadcast to the leading shape. Only those points get this
        width that count in the sum of factor times expectation over the last axis, which then has about this
        width.
    """
    g, p = np.broadcast_arrays(np.asarray(values, float), np.asarray(probabilities, float))
    if shares is None:
        n, shares = np.asarray(n)[..., None], 1.0
    users, thinned = np.broadcast_arrays(np.asarray(n, float), np.asarray(shares, float))
    shape = np.broadcast_shapes(g.shape[:-1], users.shape[:-1])
    classes, parts = g.shape[-1], users.shape[-1]
    g = np.broadcast_to(g, (*shape, classes)).reshape(-1, classes)
    p = np.broadcast_to(p, (*shape, classes)).reshape(-1, classes)
    users, thinned = (np.broadcast_to(part, (*shape, parts)).reshape(-1, parts) for part in (users, thinned))
    g = np.where(p > 0, g, 0.0)
    low = np.full(len(users), -np.inf)
    high = low.copy()
    largest = g.max(axis=1)
    some = np.flatnonzero(largest > 0)
    if not np.all((largest[some] > _SMALLEST) & (largest[some] < 1 / _SMALLEST)):
        raise ValueError(f"the largest value must lie between {_SMALLEST:g} and {1 / _SMALLEST:g}")
    if some.size:
        points = at_saddle(_clipped(g[some]), p[some], users[some], thinned[some])
        if groups is not None:
            low[some], high[some] = _largest(points, np.reshape(groups, -1)[some], width)
        elif log_factors is not None:
            factors = np.broadcast_to(np.asarray(log_factors, float), shape).ravel()
            low[some], high[some] = _summands(points, some // shape[-1], factors[some], width)
        else:
            low[some], high[some] = _brackets(points, width)
    return low.reshape(shape), high.reshape(shape)


def tilted_copies(values: Floats, probabilities: Floats, n: npt.ArrayLike, shares: npt.ArrayLike) -> Floats:
    """About how many copies of G there are where (G_1 + ... + G_n)_+ has its expectation; (points,).

    ``values``, ``probabilities`` (points, c); ``n``, ``shares`` (m,), as for `log_positive_part`. 1 where no
    value is positive.
    """
    result = np.ones(len(values))
    some = np.flatnonzero(np.where(probabilities > 0, values, 0.0).max(axis=1) > 0)
    if some.size:
        g, p = _clipped(np.where(probabilities > 0, values, 0.0)[some]), probabilities[some]
        users, thinned = (np.broadcast_to(part, (len(some), np.size(n))) for part in (n, shares))
        points = at_saddle(g, p, np.asarray(users, float), np.asarray(thinned, float))
        result[some] = points.rates.sum(axis=1)
    return result


def _clipped(g: Floats) -> Floats:
    """Values without those so far below 0 that their squares overflow.

    From there on one value outweighs all that the other copies can add: how far below does not matter.
    """
    return np.maximum(g, -10 * _MOST_USERS * g.max(axis=-1, keepdims=True))


def _chernoff(points: Points) -> Floats:
    """log of M(theta)^n / (e theta), which is at least E[S_+]."""
    return points.base + points.rounding - 1 + log_rounded(1 / points.theta, round_up=True)


def _largest(points: Points, groups: Integers, width: float) -> tuple[Floats, Floats]:
    """Brackets, as narrow as ``width`` for those points that can be the largest of their group."""
    low, high = np.full(len(points), -np.inf), _chernoff(points)
    best = np.full(groups.max() + 1, -np.inf)
    order = np.lexsort((-high, groups))
    first = np.unique(groups[order], return_index=True)[1]
    likely, unlikely = order[first], np.sort(np.delete(order, first))
    for rows, wanted in ((likely, width), (unlikely, _COARSE), (unlikely, width)):
        rows = rows[~(high[rows] < best[groups[rows]]) & ~(high[rows] - low[rows] <= math.log1p(wanted))]
        if rows.size:
            low[rows], high[rows] = _brackets(points.rows(rows), wanted)
            np.maximum.at(best, groups[rows], low[rows])
    return low, high


def _summands(points: Points, sums: Integers, log_factors: Floats, width: float) -> tuple[Floats, Floats]:
    """Brackets, as narrow as ``width`` for those points that count in their sum, the number in ``sums``.

    The first choice is by the approximation at the saddle point, which may be too large where S is rarely
    positive. The second choice is by the brackets of the first.
    """
    low, high = np.full(len(points), -np.inf), _chernoff(points)
    most = high + log_factors
    negligible = math.log(_NEGLIGIBLE * width) - np.log(np.bincount(sums)[sums])
    done = np.zeros(len(points), bool)
    for likely in (points.base + _log_bell(points), low):
        largest = np.full(sums.max() + 1, -np.inf)
        np.maximum.at(largest, sums, likely + log_factors)
        rows = np.flatnonzero(~done & (most > largest[sums] + negligible))
        if rows.size:
            low[rows], high[rows] = _brackets(points.rows(rows), width)
            done[rows] = True
    return low, high


def _log_bell(points: Points) -> Floats:
    """About log(E[S_+] / M(theta)^n), if S has a bell under the tilt."""
    return -np.log(points.theta**2 * points.sigma * math.sqrt(2 * math.pi))


def _brackets(points: Points, width: float) -> tuple[Floats, Floats]:
    low = np.full(len(points), -np.inf)
    high = _chernoff(points)
    chernoff = high.copy()

    def sum_counts(asked: Booleans, most: int, unlikely: npt.ArrayLike) -> Booleans:
        asked = asked & np.all(points.shares == 1, axis=1)  # of a fixed number of copies
        if not asked.any():
            return asked
        ranges = boxes(points, np.broadcast_to(unlikely, len(points)))
        held = ranges.atoms * max(ranges.g.shape[1] / 8, 1.0)  # many values count as more combinations
        asked = asked & (held <= most) & (ranges.last.sum(axis=1) <= _MOST_COUNTED)
        rows = np.flatnonzero(asked)
        if rows.size:
            of_boxes = sum_boxes(points.rows(rows), ranges.rows(rows))
            low[rows], high[rows] = np.maximum(low[rows], of_boxes[0]), np.minimum(high[rows], of_boxes[1])
        return asked

    def depth() -> Floats:
        # Where S is nearly always 0, or just below, Chernoff's bound is far above E[S_+].
        return np.asarray(_UNLIKELY + np.clip(chernoff - low, 0.0, 600.0))

    few = sum_counts(np.ones(len(points), bool), _FEW_ATOMS, _UNLIKELY)
    left = np.flatnonzero(~few)
    tau = math.sqrt(width / 2) / points.theta
    guess = _log_bell(points)
    before = np.full(len(points), np.inf)

    def open_by(rows: Integers | slice) -> Floats:
        # A smaller tau helps against smoothing only, not against rounding.
        gap = high[rows] - low[rows] - 2 * points.rounding[rows]
        return np.asarray(gap / math.log1p(width))

    for attempt in range(_ATTEMPTS):
        if not left.size:
            break
        new_low, new_high = contour(points.rows(left), tau[left], guess[left], width)
        low[left], high[left] = np.maximum(low[left], new_low), np.minimum(high[left], new_high)
        guess[left] = np.minimum(guess[left], high[left] - points.base[left])
        if attempt == 0:
            sum_counts(~few & (open_by(slice(None)) > 1), _SOME_ATOMS, depth())
        still = open_by(left) > 1
        smooth, rows = new_high[still], left[still]
        high[rows] = np.minimum(high[rows], without_zero(points.rows(rows), tau[rows], smooth))
        excess = open_by(left)
        tau[left] /= np.clip(1.1 * np.sqrt(np.maximum(excess, 0.0)), 1.2, 6.0)
        go_on = (excess > 1) & ((excess < 0.8 * before[left]) | np.isinf(excess))
        before[left] = excess
        left = left[go_on]
    sum_counts(open_by(slice(None)) > 1, _MOST_ATOMS, depth())
    return low, high
