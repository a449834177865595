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
_LEAST = 1e-280  # smallest positive entry; products of smaller ones underflow
_DIGITS = 60  # of differences that nearly cancel: eps can be next to eps0, and both tiny
_EQUAL = decimal.Decimal("1e-40")  # log-ratios up to which entries count as equal


@dataclass(frozen=True, init=False, eq=False)
class Finite(Randomizer):
    """The randomizer that reports y for the value x with probability ``matrix[y, x]``.

    ``matrix`` (reports, k), k >= 2: columns sum to 1 to 1e-9, and are divided by their exact sums; entries
    count as floats. Rows of zeros are left out. ``eps0`` is the largest log-ratio of two entries of one row,
    rounded up. ValueError for another shape, for negative or infinite entries, for entries between 0 and
    1e-280, and for columns with another sum; also for a report that only some values can cause, as eps0 would
    be infinite, and for equal columns, as eps0 would be 0.
    """

    matrix: Floats
    k: int
    eps0: float
    _given: Floats = field(repr=False)  # the entries as given, (reports, k)
    _over: Floats = field(repr=False)  # by how much the sums of their columns exceed 1, (k,)
    _sums: list[Decimal] = field(repr=False)

    def __init__(self, matrix: npt.ArrayLike) -> None:
        given, over = _check_matrix(matrix)
        least, most = given.min(axis=1), given.max(axis=1)
        if np.any((least == 0) & (most > 0)):
            row = np.flatnonzero((least == 0) & (most > 0))[0]
            raise ValueError(
                f"matrix must have no row with zero and positive entries (eps0 is infinite); see row {row}"
            )
        given = given[most > 0]
        with decimal.localcontext(prec=_DIGITS):
            sums = [sum(map(Decimal, column), Decimal(0)) for column in given.T.tolist()]
        channel = given / (1 + over)
        channel.flags.writeable = False
        own = {"matrix": channel, "k": channel.shape[1], "eps0": _budget(given, sums)}
        for name, value in (own | {"_given": given, "_over": over, "_sums": sums}).items():
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
        return tuple(f"x{place}" for place in range(self.k))

    def gains(
        self, eps: float, reference: Reference = "blanket", pair: tuple[int, int] = (0, 1)
    ) -> tuple[Floats, Floats]:
        eps = self._check_question(eps, pair)
        w = self._measures(reference, pair[0], [pair[1]])[0]
        return self._excess(pair[0], [pair[1]], eps)[0] / w, w

    def distributions(self, eps: float, references: Sequence[Reference]) -> Iterator[tuple[Floats, Floats]]:
        """See `Randomizer.distributions`: those of all pairs with one x0 at a time."""
        eps = self._check_question(eps, (0, 1))
        for x0 in range(self.k):
            x1 = [value for value in range(self.k) if value != x0]
            excess = self._excess(x0, x1, eps)
            for reference in references:
                w = self._measures(reference, x0, x1)
                yield excess / w, np.broadcast_to(w, excess.shape)

    def _measures(self, reference: Reference, x0: int, x1: list[int]) -> Floats:
        """The reference measure of each pair (x0, value of x1), shape (values, reports), or (1, reports)."""
        if reference == "blanket":
            return self.matrix.min(axis=1)[None]
        weights = [self._weights(reference, (x0, other)) for other in x1]
        return np.array([self.matrix[:, list(one)] @ np.array(list(one.values())) for one in weights])

    def _excess(self, x0: int, x1: list[int], eps: float) -> Floats:
        """R_x0 - e^eps R_x1, shape (values x1, reports), to a few units in the last place.

        With the given entries m and their sums s it is (m_x0 - e^eps (s_x0 / s_x1) m_x1) / s_x0.
        """
        first, second = self._given.T[x0], self._given.T[x1]
        over, others = self._over[x0], self._over[x1]
        # Where the sums are equal, equal entries cancel exactly, and need no more digits.
        same = np.array([self._sums[x0] == self._sums[other] for other in x1])
        growth = math.expm1(eps)
        ratio = np.where(same, 0.0, (over - others) / (1 + others)) * (1 + growth)
        doubt = np.where(same, 0.0, abs(over) + np.abs(others)) * (1 + growth)
        difference = first - second
        result = difference - (growth + ratio)[:, None] * second
        close = np.abs(result) < (np.abs(difference) + (growth + doubt)[:, None] * second) / 8
        result /= 1 + over
        if close.any():
            with decimal.localcontext(prec=_DIGITS):
                factor = Decimal(eps).exp()
                for row, report in np.argwhere(close).tolist():
                    own = Decimal(first[report].item()) / self._sums[x0]
                    other = Decimal(second[row, report].item()) / self._sums[x1[row]]
                    result[row, report] = float(own - factor * other)
        return result

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """See `Randomizer.variance`; each value's depends on all shares.

        The estimate is that of least squares: of all linear unbiased ones its variances have the least sum,
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


def _budget(given: Floats, sums: list[Decimal]) -> float:
    """The largest log-ratio of two entries of one row, all divided by their columns' sums; rounded up."""
    ratios = given.max(axis=1) / given.min(axis=1)
    largest = Decimal(1)
    with decimal.localcontext(prec=_DIGITS):
        for row in given[ratios >= ratios.max() * (1 - 4 * _ROUNDING)].tolist():
            exact = [Decimal(entry) / total for entry, total in zip(row, sums, strict=True)]
            largest = max(largest, max(exact) / min(exact))
        budget = largest.ln()
        if budget < _EQUAL:
            raise ValueError("matrix must have columns that differ (eps0 is 0)")
        rounded = float(budget)
        return rounded if Decimal(rounded) >= budget else math.nextafter(rounded, math.inf)


def _check_matrix(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """``values`` as a new float array, and by how much the sums of its columns exceed 1."""
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
    if np.any((matrix > 0) & (matrix < _LEAST)):
        row = np.flatnonzero(np.any((matrix > 0) & (matrix < _LEAST), axis=1))[0]
        raise ValueError(f"matrix must have no entries between 0 and {_LEAST:g}; see row {row}")
    over = np.array([math.fsum([*column, -1.0]) for column in matrix.T.tolist()])
    wrong = np.abs(over) > _ROUNDING
    if np.any(wrong):
        column = np.flatnonzero(wrong)[0]
        total = 1 + over[column]
        raise ValueError(f"matrix must have columns that sum to 1; column {column} sums to {total}")
    return matrix, over
