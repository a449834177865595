"""Rigorous bounds on delta of the histogram of n shuffled reports, for every dataset.

The gain of one report under a reference measure w is

    G(y) = (R_x0(y) - e^eps R_x1(y)) / w(y),  y ~ w,   delta_w = E[(G_1 + ... + G_n)_+] / n.

* `ln_upper`: w is the blanket, the infimum over x of R_x (Balle, Bell, Gascon and Nissim 2019, Lemma 5.3
  before any inequality; for k-RR the weak adversary of Koskela, Heikkila and Honkela, sections 3.2 to 3.4).
* `ln_lower`: the largest delta_w over w = R_x, all other users at x, and over mixtures of two.
* For k-RR with two values the histogram is one count: there `bits` gives both bounds.

docs/theory.md, Proposition 1, has the proof. Rounding errors always go to the safe side.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds import densities
from tightshuffle.bounds.bits import ln_bracket_of_binary_krr
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.points import Points, points_of_randomizers
from tightshuffle.randomizers import (
    Density,
    Finite,
    KRandomizedResponse,
    Randomizer,
    SubsetSelection,
)
from tightshuffle.side import Side

MIXTURES = (0.25, 0.5, 0.75)  # weights of the first of the two values in a mixture
BITS = 40  # classes or distributions of a matrix count as the same if they agree in so many bits
_BATCH = 2**15  # distributions times classes that are computed at once, about
WIDTH = 1e-4  # largest relative error that the computation adds to a bound
# Largest width of the bracket of k-RR with two values; mostly half of that is reached.
_WIDEST = 2e-3


def ln_upper(points: Points, *, width: float = WIDTH) -> Floats:
    """ln of an upper bound on delta of one round, for every dataset of the other users; (points,).

    Source: Balle, Bell, Gascon and Nissim 2019, Lemma 5.3, computed exactly. The bound holds in both
    directions. It is -inf where eps >= eps0. The computation adds at most ``width`` of delta, for delta down
    to about 10^-100,000; for k = 2 mostly 1e-3, and more for very small delta or very large n.
    """
    return _ln_bound(points, Side.UPPER, width, mixtures=False)


def ln_lower(points: Points, *, width: float = WIDTH, mixtures: bool = True) -> Floats:
    """ln of a lower bound on delta of one round: some dataset has at least this delta; (points,).

    ``mixtures``: whether random datasets of two values are tried, too, which is three times the work.
    """
    return _ln_bound(points, Side.LOWER, width, mixtures)


def _ln_bound(points: Points, side: Side, width: float, mixtures: bool) -> Floats:
    """ln of the bound of this ``side`` on delta of one round; (points,), -inf where eps >= eps0.

    ``side`` upper is for every dataset, and lower for some dataset. ``width`` is the largest relative error
    that the computation adds. ``mixtures`` says whether the lower bound tries random datasets of two values,
    too. k-RR with two values, whose histogram is one count, has a bound of its own, and so have densities,
    whose errors are their own.
    """
    if isinstance(points.randomizer, Density):
        return densities.ln_bounds(points, points.randomizer, side, mixtures)
    below_eps0 = points.eps < points.eps0
    is_binary = np.array([_is_binary(randomizer) for randomizer in points.randomizers], dtype=bool)
    binary_points = np.flatnonzero(below_eps0 & is_binary)
    others = np.flatnonzero(below_eps0 & ~is_binary)
    # Mostly all points are alike, and need no copies.
    if others.size == points.eps.size:
        return np.minimum(_ln_bound_of_gains(points, side, width, mixtures), 0.0)

    result = np.full(points.eps.size, -np.inf)
    if binary_points.size:
        result[binary_points] = _ln_bound_of_binary(points.at(binary_points), side, width)
    if others.size:
        result[others] = _ln_bound_of_gains(points.at(others), side, width, mixtures)
    return np.minimum(result, 0.0)


def _is_binary(randomizer: Randomizer) -> bool:
    """Whether this is k-RR with two values, where the histogram of the reports is one count."""
    return isinstance(randomizer, KRandomizedResponse) and randomizer.k == 2


def _ln_bound_of_binary(points: Points, side: Side, width: float) -> Floats:
    """ln of the bound of this ``side`` for k-RR with two values, whose histogram is one count; (points,).

    Where the bracket of `bits` is wider than `_WIDEST`, the upper bound is the smaller one of its upper end
    and of the privacy blanket. ``width`` is the relative error that the latter
    may have.
    """
    low, high = ln_bracket_of_binary_krr(points.eps, n=points.honest_users, eps0=points.eps0)
    if side is Side.LOWER:
        return low

    # For very small delta, too few datasets can be ruled out.
    far_apart = np.flatnonzero(high - low > np.log1p(_WIDEST))
    if far_apart.size:
        points = points.at(far_apart)
        # k-RR is the selection of a subset of one value. With this class, `ln_upper` takes the blanket.
        subsets = [SubsetSelection(2, eps0, 1) for eps0 in points.eps0.tolist()]
        same_points = points_of_randomizers(points.eps, points.honest_users, subsets)
        high[far_apart] = np.minimum(high[far_apart], ln_upper(same_points, width=width))
    return high


def _ln_bound_of_gains(points: Points, side: Side, width: float, mixtures: bool) -> Floats:
    """ln of a bound on delta of one round, the largest over all pairs of values and references; (points,).

    A reference w is the blanket for ``side`` upper. For lower, w is the distribution of a report if all other
    users hold one value, or, with ``mixtures``, also if each draws one of two. Each pair x0, x1 and reference
    w gives the distribution of the gain of a report y that is drawn from w, and a bound on delta:

        G = (R_x0(y) - e^eps R_x1(y)) / w(y),    delta = E[(G_1 + ... + G_n)_+] / n.

    R_x is the distribution of the report of a user who holds x, and the blanket is the smallest R_x at each
    y. ``width`` is the relative width to which each expectation is computed.

    In the body, a distribution is a row of ``values`` and ``probabilities`` of G, one class for each value.
    ``owners`` (rows,) are the indices of the rows' points. The values may be wrong by ``ulps`` units in the
    last place. These grow with eps, eps0 and the number of classes, and for a matrix by the rounding to
    `BITS` of 53 bits.
    """
    result = np.full(points.eps.size, -np.inf)
    has_matrix = any(isinstance(randomizer, Finite) for randomizer in points.randomizers)
    for owners, values, probabilities in _batches(_distributions(points, side, mixtures)):
        sizes = points.eps[owners] + points.eps0[owners]
        ulps = 16.0 + 2 * (values.shape[1] + sizes[:, None])
        if has_matrix:
            owners, values, probabilities = _without_equal_rows(owners, values, probabilities)
            # The rows are others now, so all get the largest.
            ulps = ulps.max() + 2.0 ** (53 - BITS)

        distribution = outwards(values, probabilities, side, ulps)
        users = points.honest_users[owners]
        # Only the largest row of each point has to be exact.
        ln_low, ln_high = log_positive_part(*distribution, users, width=width, groups=owners)
        ln_bounds = ln_high if side is Side.UPPER else ln_low
        np.maximum.at(result, owners, ln_bounds - np.log(users))
    return result


def _distributions(
    points: Points, side: Side, mixtures: bool
) -> Iterator[tuple[int, Floats, Floats]]:
    """For each point its index, and distributions of the gain of a report: the gains and their probabilities.

    There is a row for each pair of values and each reference; both arrays are (rows, classes). A point may
    come several times, with some of its rows at a time. For ``side`` upper the reference is the blanket.
    """
    for number, (eps, randomizer) in enumerate(
        zip(points.eps.tolist(), points.randomizers, strict=True)
    ):
        references = ["blanket"] if side is Side.UPPER else _references(randomizer, mixtures)
        for values, probabilities in randomizer.distributions(eps, references):
            yield number, values, probabilities


def _references(randomizer: Randomizer, mixtures: bool) -> list[str | dict[str, float]]:
    """The reference measures of the lower bound: all of one value, and mixtures of x0 with x1 and with x2."""
    references: list[str | dict[str, float]] = list(randomizer.references())
    if mixtures:
        for other in randomizer.references()[1:3]:
            references += [{"x0": share, other: 1 - share} for share in MIXTURES]
    return references


def _batches(
    distributions: Iterable[tuple[int, Floats, Floats]],
) -> Iterator[tuple[Integers, Floats, Floats]]:
    """The distributions in batches of about `_BATCH` numbers, each as the arrays that `_stacked` makes.

    These are the indices of points (rows,), and values and probabilities (rows, classes). ``distributions``
    are the index of one point, and values and probabilities (rows, classes).
    """
    batch: list[tuple[int, Floats, Floats]] = []
    size = 0
    for owner, values, probabilities in distributions:
        if size >= _BATCH:
            yield _stacked(batch)
            batch, size = [], 0
        batch.append((owner, values, probabilities))
        size += values.size
    if batch:
        yield _stacked(batch)


def _stacked(batch: Sequence[tuple[int, Floats, Floats]]) -> tuple[Integers, Floats, Floats]:
    """All rows of a batch in one array: the index of each row's point, values, and probabilities.

    A row is one distribution. Of each part of the ``batch``, the first number is the index of a point, and
    the others are the values and probabilities of its rows, (rows of the part, classes). The results are
    (rows,), (rows, classes) and (rows, classes). Shorter rows are filled up with classes of probability 0.
    """
    lengths = [len(values) for _, values, _ in batch]
    owners = np.repeat([owner for owner, _, _ in batch], lengths)
    classes = max(values.shape[1] for _, values, _ in batch)
    all_values, all_probabilities = np.zeros((2, len(owners), classes))
    first = 0
    for _, values, probabilities in batch:
        rows = slice(first, first + len(values))
        columns = slice(values.shape[1])
        all_values[rows, columns] = values
        all_probabilities[rows, columns] = probabilities
        first += len(values)
    return owners, all_values, all_probabilities


def _without_equal_rows(
    owners: Integers, values: Floats, probabilities: Floats
) -> tuple[Integers, Floats, Floats]:
    """The distributions without those that agree with another one of the same point to `BITS` bits.

    A distribution is a row of ``values`` and ``probabilities`` (rows, classes). Its point is the one whose
    index ``owners`` (rows,) has. The results are the same three arrays with fewer rows. Their values are
    rounded to `BITS` bits, and equal values are one class. A symmetric matrix gives few distributions that
    differ in more than the last digits.
    """
    values = rounded_to_bits(values)
    order = np.argsort(values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    probabilities = np.take_along_axis(probabilities, order, axis=1)
    class_values, class_masses = merge_equal_values(values, probabilities)

    # Equal rows have the same point, values and probabilities: the columns of one array.
    columns = [owners[:, None], class_values, rounded_to_bits(class_masses)]
    different = np.unique(np.concatenate(columns, axis=1), axis=0)
    class_values, class_masses = np.split(different[:, 1:], 2, axis=1)
    return different[:, 0].astype(int), class_values, class_masses


def merge_equal_values(values: Floats, probabilities: Floats) -> tuple[Floats, Floats]:
    """For each row, its different values (classes), and the sum of the probabilities of each of these.

    ``values`` (rows, reports) ascend in each row, and ``probabilities`` have the same shape. Both results are
    (rows, classes). Rows with fewer classes are filled up with zeros.
    """
    # The number of the class of each value. It rises by 1 where a value is above the one before.
    is_new = np.diff(values, axis=1, prepend=values[:, :1]) > 0
    class_numbers = np.cumsum(is_new, axis=1)
    rows = np.arange(len(values))[:, None]
    class_values, class_masses = np.zeros((2, len(values), class_numbers.max() + 1))
    class_values[rows, class_numbers] = values
    np.add.at(class_masses, (rows, class_numbers), probabilities)
    return class_values, class_masses


def rounded_to_bits(numbers: Floats) -> Floats:
    """``numbers``, each rounded to `BITS` bits of its mantissa."""
    mantissas, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)
