"""Any randomizer with finitely many reports, given by its matrix."""

import decimal
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_n
from tightshuffle.randomizers.base import Randomizer, Reference

_ROUNDING = 1e-9  # largest distance of a column's sum from 1
_SMALLEST_ENTRY = 1e-280  # of positive ones: products of smaller ones underflow
_DIGITS = 60  # of differences that nearly cancel: eps can be next to eps0, and both tiny
_EQUAL = decimal.Decimal("1e-40")  # log-ratios up to which entries count as equal


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
    _entries: Floats = field(repr=False)  # before the division, (reports, k)
    _over: Floats = field(repr=False)  # by how much the sums of their columns exceed 1, (k,)
    _sums: list[Decimal] = field(repr=False)

    def __init__(self, matrix: npt.ArrayLike) -> None:
        """Check the matrix, leave out reports that never occur, and scale its columns to sums of 1.

        ValueError if the matrix is none of a randomizer with a finite eps0.
        """
        # By how much the sum of each column exceeds 1, which only rounding may have made so.
        entries, excess_of_sums = _check_matrix(matrix)
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
            sums = [sum(map(Decimal, column), Decimal(0)) for column in entries.T.tolist()]
        normalised = entries / (1 + excess_of_sums)
        normalised.flags.writeable = False

        fields = {
            "matrix": normalised,
            "k": normalised.shape[1],
            "eps0": _largest_log_ratio(entries, sums),
            "_entries": entries,
            "_over": excess_of_sums,
            "_sums": sums,
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
        eps = self._checked_eps(eps, pair)
        x0, x1 = pair
        w = self._measures(reference, x0, [x1])[0]
        return self._excess(x0, [x1], eps)[0] / w, w

    def distributions(
        self, eps: float, references: Sequence[Reference]
    ) -> Iterator[tuple[Floats, Floats]]:
        """`gains` for every pair (x0, x1) and reference, those of one x0 at a time: values, probabilities.

        Both have the shape (k - 1, reports), with a row for each x1.
        """
        eps = self._checked_eps(eps, (0, 1))
        for x0 in range(self.k):
            other_values = [value for value in range(self.k) if value != x0]
            excess = self._excess(x0, other_values, eps)
            for reference in references:
                w = self._measures(reference, x0, other_values)
                yield excess / w, np.broadcast_to(w, excess.shape)

    def _measures(self, reference: Reference, x0: int, x1_values: list[int]) -> Floats:
        """The probability of each report under the ``reference`` of each pair (x0, x1); (values x1, reports).

        It is (1, reports) for the blanket, which is the same for all pairs.
        """
        if reference == "blanket":
            return self.matrix.min(axis=1)[None]
        measures = []
        for x1 in x1_values:
            weights = self._weights(reference, (x0, x1))
            measures.append(self.matrix[:, list(weights)] @ np.array(list(weights.values())))
        return np.array(measures)

    def _excess(self, x0: int, x1_values: list[int], eps: float) -> Floats:
        """R_x0 - e^eps R_x1, shape (values x1, reports), to a few units in the last place.

        R_x is column x of the matrix: the entries m_x as given, divided by their sum s_x. So it is (m_x0 -
        e^eps (s_x0 / s_x1) m_x1) / s_x0: here (m_x0 - m_x1) - (growth + ratio) m_x1, over s_x0. Where that
        cancels, decimals do it again.
        """
        m_x0 = self._entries.T[x0]
        m_x1 = self._entries.T[x1_values]
        over_x0 = self._over[x0]
        over_x1 = self._over[x1_values]

        # growth is e^eps - 1, ratio e^eps (s_x0 / s_x1 - 1), and doubt the size of what cancels in ratio.
        # Where the sums are equal, equal entries cancel exactly, and need no more digits.
        equal_sums = np.array([self._sums[x0] == self._sums[x1] for x1 in x1_values])
        growth = math.expm1(eps)
        ratio = np.where(equal_sums, 0.0, (over_x0 - over_x1) / (1 + over_x1)) * (1 + growth)
        doubt = np.where(equal_sums, 0.0, abs(over_x0) + np.abs(over_x1)) * (1 + growth)
        difference = m_x0 - m_x1
        excess = difference - (growth + ratio)[:, None] * m_x1
        # 3 bits.
        cancels = np.abs(excess) < (np.abs(difference) + (growth + doubt)[:, None] * m_x1) / 8
        excess /= 1 + over_x0
        if not cancels.any():
            return excess

        with decimal.localcontext(prec=_DIGITS):
            factor = Decimal(eps).exp()
            for row, report in np.argwhere(cancels).tolist():
                r_x0 = Decimal(m_x0[report].item()) / self._sums[x0]
                r_x1 = Decimal(m_x1[row, report].item()) / self._sums[x1_values[row]]
                excess[row, report] = float(r_x0 - factor * r_x1)
        return excess

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """See `Randomizer.variance`. The variance of each value's estimate depends on all shares.

        The estimate is that of least squares. Of all linear unbiased ones its variances have the least sum,
        for equal shares (as in McKenna, Maity, Mazumdar and Miklau 2020). ValueError if the matrix does not
        have k independent columns.
        """
        shares = np.asarray(shares, dtype=float)
        second_moments = shares @ (self._reconstruction() ** 2 @ self.matrix).T
        return (second_moments - shares) / check_n(n)[..., None]

    def _reconstruction(self) -> Floats:
        """B, shape (k, reports), with B R = 1."""
        roots = np.sqrt(self.matrix.mean(axis=1, keepdims=True))
        if np.linalg.matrix_rank(self.matrix / roots) < self.k:
            raise ValueError("matrix must have linearly independent columns to estimate the shares")
        return np.linalg.pinv(self.matrix / roots) / roots.T


def _largest_log_ratio(entries: Floats, sums: list[Decimal]) -> float:
    """eps0: the largest log-ratio of two entries of one row, divided by their columns' sums, rounded up."""
    ratios = entries.max(axis=1) / entries.min(axis=1)
    # The division may change their order.
    near_largest = ratios >= ratios.max() * (1 - 4 * _ROUNDING)
    largest = Decimal(1)
    with decimal.localcontext(prec=_DIGITS):
        for row in entries[near_largest].tolist():
            exact_row = [Decimal(entry) / total for entry, total in zip(row, sums, strict=True)]
            largest = max(largest, max(exact_row) / min(exact_row))
        log_ratio = largest.ln()
        if log_ratio < _EQUAL:
            raise ValueError("matrix must have columns that differ (eps0 is 0)")

        eps0 = float(log_ratio)
        if Decimal(eps0) < log_ratio:
            eps0 = math.nextafter(eps0, math.inf)
        return eps0


def _check_matrix(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """``values`` as a new float array (reports, k), and by how much the sum of each column exceeds 1; (k,).

    ValueError names what makes it no matrix of probabilities, as `Finite` lists.
    """
    try:
        matrix = np.array(values, dtype=float)
    except (TypeError, ValueError):
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

    over = np.array([math.fsum([*column, -1.0]) for column in matrix.T.tolist()])
    wrong = np.abs(over) > _ROUNDING
    if np.any(wrong):
        column = np.flatnonzero(wrong)[0]
        total = 1 + over[column]
        raise ValueError(f"matrix must have columns that sum to 1; column {column} sums to {total}")
    return matrix, over
