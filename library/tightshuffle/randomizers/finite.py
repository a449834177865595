"""Any randomizer with finitely many reports, given by its matrix."""

import decimal
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, as_floats, check_n
from tightshuffle.randomizers.base import Randomizer, Reference

_MOST_ROUNDING = 1e-9  # by which a column's sum may differ from 1
_SMALLEST_ENTRY = 1e-280  # of positive ones: products of smaller ones underflow
_DIGITS = 60  # of differences that nearly cancel: eps can be next to eps0, and both tiny
_SMALLEST_EPS0 = decimal.Decimal("1e-40")  # for a smaller log-ratio entries count as equal
# Of a difference that nearly cancels, from which on it is computed again, with decimals.
_LOST_BITS = 3


@dataclass(frozen=True, init=False, eq=False)
class Finite(Randomizer):
    """The randomizer that reports y for the value x with probability ``matrix[y, x]``.

    ``matrix`` has the shape (reports, k), k >= 2. Columns sum to 1 to 1e-9, and are divided by their exact
    sums. Entries count as floats. Rows of zeros are left out. ``eps0`` is the largest log-ratio of two
    entries of one row, rounded up.

    ValueError for another shape, for negative or infinite entries, for entries between 0 and 1e-280, and for
    columns with another sum. Also for a report that only some values can cause, as eps0 would be infinite,
    and for equal columns, as eps0 would be 0.
    """

    matrix: Floats
    k: int
    eps0: float
    _entries: Floats = field(repr=False)  # as given, before the division by the sums; (reports, k)
    _excess_of_sums: Floats = field(repr=False)  # sum of each column of _entries, less 1; (k,)
    _exact_sums: list[Decimal] = field(repr=False)  # sum of each column of _entries; (k,)

    def __init__(self, matrix: npt.ArrayLike) -> None:
        """Check the ``matrix``, leave out reports that never occur, and scale its columns to sums of 1.

        For later sums in more digits it also keeps the entries as given, without rows of zeros, and the sums
        of their columns: less 1 as floats, and exact as decimals.
        """
        # `excess_of_sums` (k,) is the sum of each column less 1, which is rounding.
        entries, excess_of_sums = _matrix_and_excess_of_sums(matrix)
        smallest = entries.min(axis=1)
        largest = entries.max(axis=1)
        identifying = (smallest == 0) & (largest > 0)  # reports that only some values can cause
        if np.any(identifying):
            row = np.flatnonzero(identifying)[0]
            raise ValueError(
                f"matrix must have no row with zero and positive entries (eps0 is infinite); see row {row}"
            )

        entries = entries[largest > 0]
        # Enough digits for every sum of floats to be exact.
        with decimal.localcontext(prec=_DIGITS):
            columns = entries.T.tolist()
            exact_sums = [sum(map(Decimal, column), Decimal(0)) for column in columns]
        normalised = entries / (1 + excess_of_sums)
        normalised.flags.writeable = False

        # The dataclass is frozen, so its fields are set as object's.
        fields = {
            "matrix": normalised,
            "k": normalised.shape[1],
            "eps0": _eps0_rounded_up(entries, exact_sums),
            "_entries": entries,
            "_excess_of_sums": excess_of_sums,
            "_exact_sums": exact_sums,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        return "file"

    @property
    def bits(self) -> float:
        return float(np.log2(len(self.matrix)))

    @property
    def gamma(self) -> float:
        """The blanket's mass."""
        return float(self.matrix.min(axis=1).sum())

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every ordered pair."""
        return itertools.permutations(range(self.k), 2)

    def references(self) -> tuple[str, ...]:
        return tuple(f"x{index}" for index in range(self.k))

    def gains(
        self, eps: float, reference: Reference = "blanket", pair: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Floats]:
        """See `Randomizer.gains`; a class is a single report, so both arrays have the shape (reports,)."""
        eps = self._checked_eps(eps, pair)
        x0, x1 = pair
        w = self._reference_masses(reference, x0, [x1])[0]
        return self.numerators_of_gains(x0, [x1], eps)[0] / w, w

    def distributions(
        self, eps: float, references: Sequence[Reference]
    ) -> Iterator[tuple[Floats, Floats]]:
        """`gains` for every pair (x0, x1) and reference, those of one x0 at a time: values, probabilities.

        Both have the shape (k - 1, reports), with a row for each x1.
        """
        eps = self._checked_eps(eps, (0, 1))
        for x0 in range(self.k):
            other_values = [value for value in range(self.k) if value != x0]
            numerators = self.numerators_of_gains(x0, other_values, eps)
            for reference in references:
                w = self._reference_masses(reference, x0, other_values)
                yield numerators / w, np.broadcast_to(w, numerators.shape)

    def _reference_masses(self, reference: Reference, x0: int, x1_values: list[int]) -> Floats:
        """The probability of each report under the ``reference`` of each pair (x0, x1); (values x1, reports).

        It is (1, reports) for the blanket, which is the same for all pairs.
        """
        if reference == "blanket":
            return self.matrix.min(axis=1)[None]
        masses = []
        for x1 in x1_values:
            # {value: weight}; the reference is this mixture of the values' columns.
            weights = self._weights_of_reference(reference, (x0, x1))
            masses.append(self.matrix[:, list(weights)] @ np.array(list(weights.values())))
        return np.array(masses)

    def numerators_of_gains(self, x0: int, x1_values: list[int], eps: float) -> Floats:
        """R_x0 - e^eps R_x1 for each x1, shape (values x1, reports), to a few units in the last place.

        R_x, the distribution of reports for x, is m_x / s_x: the column of entries as given, ``_entries``,
        over its sum, which is 1 + ``_excess_of_sums``, and in decimals ``_exact_sums``. So the result is

            (m_x0 - m_x1 - (growth + correction) m_x1) / s_x0,
            growth = e^eps - 1,    correction = e^eps (s_x0 / s_x1 - 1).

        Where these terms nearly cancel, decimals with many digits do it again.
        """
        m_x0 = self._entries.T[x0]
        m_x1 = self._entries.T[x1_values]
        excess_x0 = self._excess_of_sums[x0]  # s_x0 - 1
        excess_x1 = self._excess_of_sums[x1_values]  # s_x1 - 1

        # The correction is a difference itself, and `size` is the size of its two terms, from which its
        # rounding error follows. Where the sums are equal, both are exactly 0.
        equal_sums = np.array([self._exact_sums[x0] == self._exact_sums[x1] for x1 in x1_values])
        growth = math.expm1(eps)
        correction = np.where(equal_sums, 0.0, (excess_x0 - excess_x1) / (1 + excess_x1))
        correction = correction * (1 + growth)
        size = np.where(equal_sums, 0.0, abs(excess_x0) + np.abs(excess_x1)) * (1 + growth)
        difference = m_x0 - m_x1
        numerators = difference - (growth + correction)[:, None] * m_x1
        size_of_terms = np.abs(difference) + (growth + size)[:, None] * m_x1
        cancels = np.abs(numerators) < size_of_terms / 2**_LOST_BITS
        numerators /= 1 + excess_x0
        if not cancels.any():
            return numerators

        with decimal.localcontext(prec=_DIGITS):
            factor = Decimal(eps).exp()
            for row, report in np.argwhere(cancels).tolist():
                r_x0 = Decimal(m_x0[report].item()) / self._exact_sums[x0]
                r_x1 = Decimal(m_x1[row, report].item()) / self._exact_sums[x1_values[row]]
                numerators[row, report] = float(r_x0 - factor * r_x1)
        return numerators

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """See `Randomizer.variance`. The variance of each value's estimate depends on all shares.

        The estimate is that of least squares. Of all linear unbiased ones its variances have the least sum,
        for equal shares (as in McKenna, Maity, Mazumdar and Miklau 2020). ValueError if the matrix does not
        have k independent columns.
        """
        shares = np.asarray(shares, dtype=float)
        # A user with value z and report y contributes B[x, y] to the estimate of x, of mean 1 if x = z, else
        # 0. So the second moments less the squared means add up to this.
        second_moments = shares @ (self._least_squares_inverse() ** 2 @ self.matrix).T
        return (second_moments - shares) / check_n(n)[..., None]

    def _least_squares_inverse(self) -> Floats:
        """B, shape (k, reports), with B ``matrix`` = the identity, by which reports become estimates.

        Of all such B it is that of least squares, with each report weighted by the inverse of its probability
        if all values have equal shares. ValueError if there is none.
        """
        roots = np.sqrt(self.matrix.mean(axis=1, keepdims=True))
        if np.linalg.matrix_rank(self.matrix / roots) < self.k:
            raise ValueError("matrix must have linearly independent columns to estimate the shares")
        return np.linalg.pinv(self.matrix / roots) / roots.T


def _eps0_rounded_up(entries: Floats, sums: list[Decimal]) -> float:
    """eps0, the natural log of the largest ratio of two probabilities of the same report, rounded up.

    Probabilities are the ``entries`` (reports, k), all > 0, divided by the exact sum of their column, one of
    ``sums`` (k,). ValueError for an eps0 below 1e-40.
    """
    # Only rows that may have the largest ratio are computed exactly. As sums are within 1e-9 of 1, a division
    # by them changes a ratio by 2e-9 at most, and so two ratios against each other by 4e-9.
    ratios = entries.max(axis=1) / entries.min(axis=1)
    near_largest = ratios >= ratios.max() * (1 - 4 * _MOST_ROUNDING)
    largest = Decimal(1)
    with decimal.localcontext(prec=_DIGITS):
        for row in entries[near_largest].tolist():
            exact_row = [Decimal(entry) / total for entry, total in zip(row, sums, strict=True)]
            largest = max(largest, max(exact_row) / min(exact_row))
        log_ratio = largest.ln()
        if log_ratio < _SMALLEST_EPS0:
            raise ValueError("matrix must have columns that differ (eps0 is 0)")

        eps0 = float(log_ratio)
        if Decimal(eps0) < log_ratio:
            eps0 = math.nextafter(eps0, math.inf)
        return eps0


def _matrix_and_excess_of_sums(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """``values`` as a new float array (reports, k), and the sum of each column less 1, (k,).

    ValueError names what makes it no matrix of probabilities: another shape than two axes of at least 2, an
    entry that is no finite number >= 0, or that is above 0 and below 1e-280, or a column whose sum is not 1
    to 1e-9.
    """
    try:
        matrix = np.array(as_floats(values))
    except (TypeError, ValueError, OverflowError):
        raise ValueError("matrix must have numbers only, and rows of one length") from None

    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 2:
        raise ValueError(
            "matrix must have two axes, with a row per report and a column per value, at least 2 each;"
            f" got the shape {matrix.shape}"
        )
    if not np.all(np.isfinite(matrix) & (matrix >= 0)):
        raise ValueError("matrix must have finite entries >= 0")

    too_small = (matrix > 0) & (matrix < _SMALLEST_ENTRY)
    if np.any(too_small):
        row = np.flatnonzero(np.any(too_small, axis=1))[0]
        raise ValueError(
            f"matrix must have no entries between 0 and {_SMALLEST_ENTRY:g}; see row {row}"
        )

    # A single sum with -1, rounded once, has all digits of the excess.
    excess_of_sums = np.array([math.fsum([*column, -1.0]) for column in matrix.T.tolist()])
    wrong = np.abs(excess_of_sums) > _MOST_ROUNDING
    if np.any(wrong):
        column = np.flatnonzero(wrong)[0]
        total = 1 + excess_of_sums[column]
        raise ValueError(f"matrix must have columns that sum to 1; column {column} sums to {total}")
    return matrix, excess_of_sums
