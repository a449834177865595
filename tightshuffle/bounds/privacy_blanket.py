"""Rigorous bounds on delta of the histogram of n shuffled reports, for every dataset.

The gain of one report under a reference measure w is

    G(y) = (R_x0(y) - e^eps R_x1(y)) / w(y),  y ~ w,   delta_w = E[(G_1 + ... + G_n)_+] / n.

* `log10_upper`: w is the blanket, the infimum over x of R_x (Balle, Bell, Gascon and Nissim 2019, Lemma 5.3
  before any inequality; for k-RR the weak adversary of Koskela, Heikkila and Honkela, sections 3.2 to 3.4).
* `log10_lower`: the largest delta_w over w = R_x, all other users at x, and over mixtures of two.
* For k-RR with two values the histogram is one count: there `bits` gives both bounds.

docs/theory.md, Proposition 1, has the proof. Rounding errors always go to the safe side.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.bits import binary
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.points import Points, points_of_randomizers
from tightshuffle.randomizers import Finite, KRandomizedResponse, Randomizer, SubsetSelection
from tightshuffle.side import Side

_MIXTURES = (0.25, 0.5, 0.75)  # weights of the first of the two values in a mixture
BITS = 40  # classes or distributions of a matrix count as the same if they agree in so many bits
_BATCH = 2**15  # distributions times classes that are computed at once, about
WIDTH = 1e-4  # largest relative error that the computation adds to a bound
_WIDEST = (
    2e-3  # largest width of the bracket of k-RR with two values; mostly half of that is reached
)


def log10_upper(points: Points, *, width: float = WIDTH) -> Floats:
    """log10 of an upper bound on delta of one round, for every dataset of the other users; (points,).

    Source: Balle, Bell, Gascon and Nissim 2019, Lemma 5.3, computed exactly. The bound holds in both
    directions. It is -inf where eps >= eps0. The computation adds at most ``width`` of delta, for delta down
    to about 10^-100,000; for k = 2 mostly 1e-3, and more for very small delta or very large n.
    """
    return _log10_bound(points, Side.UPPER, width, mixtures=False)


def log10_lower(points: Points, *, width: float = WIDTH, mixtures: bool = True) -> Floats:
    """log10 of a lower bound on delta of one round: some dataset has at least this delta; (points,).

    ``mixtures``: whether random datasets of two values are tried, too, which is three times the work.
    """
    return _log10_bound(points, Side.LOWER, width, mixtures)


def _log10_bound(points: Points, side: Side, width: float, mixtures: bool) -> Floats:
    """log10 of the bound of this ``side`` on delta of one round, -inf from eps0 on; (points,).

    k-RR with two values goes to `_log10_of_count`, and every other randomizer to `_log10_of_gains`.
    """
    below_eps0 = points.eps < points.eps0
    is_bit = np.array([_is_bit(randomizer) for randomizer in points.randomizers], dtype=bool)
    bits = np.flatnonzero(below_eps0 & is_bit)
    others = np.flatnonzero(below_eps0 & ~is_bit)
    if others.size == points.eps.size:
        return np.minimum(_log10_of_gains(points, side, width, mixtures), 0.0)
    result = np.full(points.eps.size, -np.inf)
    if bits.size:
        result[bits] = _log10_of_count(points.at(bits), side, width)
    if others.size:
        result[others] = _log10_of_gains(points.at(others), side, width, mixtures)
    return np.minimum(result, 0.0)


def _is_bit(randomizer: Randomizer) -> bool:
    """Whether the histogram is one count: k-RR with two values."""
    return isinstance(randomizer, KRandomizedResponse) and randomizer.k == 2


def _log10_of_count(points: Points, side: Side, width: float) -> Floats:
    """log10 of the bound of this ``side`` for k-RR with two values, whose histogram is one count; (points,).

    ``width`` is for the points at which the upper bound is that of all gains, which may be smaller.
    """
    low, high = binary(points.eps, n=points.users, eps0=points.eps0)
    if side is Side.LOWER:
        return low
    # For very small delta, too many datasets stay possible. k-RR is subset selection of one value.
    wide = np.flatnonzero(high - low > np.log10(1 + _WIDEST))
    if wide.size:
        points = points.at(wide)
        subsets = [SubsetSelection(2, eps0, 1) for eps0 in points.eps0.tolist()]
        same_points = points_of_randomizers(points.eps, points.users, subsets)
        high[wide] = np.minimum(high[wide], log10_upper(same_points, width=width))
    return high


def _log10_of_gains(points: Points, side: Side, width: float, mixtures: bool) -> Floats:
    """log10 of a bound on delta of one round, the largest over all pairs of values and references; (points,).

    Each pair and reference gives one distribution of the gain G of a report, and the bound
    E[(G_1 + ... + G_n)_+] / n on delta. Row i of a batch of distributions belongs to the point with the
    number ``owners[i]``. ``ulps`` are units in the last place by which the gains may be wrong. They grow with
    eps, eps0 and the number of classes (different gains), and for a matrix also by the rounding to `BITS`
    bits. ``width`` is the relative one of the computed bracket, and ``mixtures`` are those of `log10_lower`.
    """
    result = np.full(points.eps.size, -np.inf)
    has_matrix = any(isinstance(randomizer, Finite) for randomizer in points.randomizers)
    for owners, values, probabilities in _batches(_distributions(points, side, mixtures)):
        sizes = points.eps[owners] + points.eps0[owners]
        ulps = 16.0 + 2 * (values.shape[1] + sizes[:, None])
        if has_matrix:
            owners, values, probabilities = _merged(owners, values, probabilities)
            ulps = ulps.max() + 2.0 ** (53 - BITS)
        distribution = outwards(values, probabilities, side, ulps)
        users = points.users[owners]
        low, high = log_positive_part(*distribution, users, width=width, groups=owners)
        ln_bounds = high if side is Side.UPPER else low
        np.maximum.at(result, owners, (ln_bounds - np.log(users)) / np.log(10))
    return result


def _distributions(
    points: Points, side: Side, mixtures: bool
) -> Iterator[tuple[int, Floats, Floats]]:
    """For each point its number, and the gains and probabilities of its pairs and references.

    Both arrays are (m, classes), with m distributions. A point may come several times.
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
            references += [{"x0": share, other: 1 - share} for share in _MIXTURES]
    return references


def _batches(
    distributions: Iterable[tuple[int, Floats, Floats]],
) -> Iterator[tuple[Integers, Floats, Floats]]:
    """The distributions in batches of about `_BATCH` numbers, each as the arrays that `_padded` makes.

    ``distributions`` are numbers of points, values and probabilities, as from `_distributions`.
    """
    batch: list[tuple[int, Floats, Floats]] = []
    size = 0
    for owner, values, probabilities in distributions:
        if size >= _BATCH:
            yield _padded(batch)
            batch, size = [], 0
        batch.append((owner, values, probabilities))
        size += values.size
    if batch:
        yield _padded(batch)


def _padded(batch: Sequence[tuple[int, Floats, Floats]]) -> tuple[Integers, Floats, Floats]:
    """All distributions of a batch as rows: the numbers of their points (m,), values and probabilities.

    Both are (m, classes). Shorter rows are filled up with classes of probability 0.
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


def _merged(
    owners: Integers, values: Floats, probabilities: Floats
) -> tuple[Integers, Floats, Floats]:
    """The distributions that differ in `BITS` bits: numbers of their points, values and probabilities.

    Arguments and results are as from `_padded`. Values are rounded to `BITS` bits, and equal ones become one
    class. A symmetric matrix gives few distributions that differ in more than the last digits.
    """
    values = rounded_to_bits(values)
    order = np.argsort(values, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    probabilities = np.take_along_axis(probabilities, order, axis=1)

    class_values, class_masses = merge_equal_values(values, probabilities)
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
    """``numbers`` to `BITS` bits."""
    mantissas, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)
