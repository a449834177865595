"""Any randomizer with finitely many reports, given by its matrix."""

import decimal
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers, check_n
from tightshuffle.mechanisms.randomizers.base import Randomizer, Reference

_ROUNDING = 1e-9  # how far a column's sum may be from 1


@dataclass(frozen=True, init=False, eq=False)
class Finite(Randomizer):
    """The randomizer that reports y for the value x with probability ``matrix[y, x]``.

    Parameters
    ----------
    matrix : shape (reports, k), k >= 2. Columns sum to 1 to 1e-9, and are divided by their sums.
        ``eps0`` is the largest log-ratio of two entries of one row. Rows of zeros are left out.

    Raises
    ------
    ValueError for another shape, negative or infinite entries, other sums, a report that only some values can
    cause (eps0 would be infinite), and equal columns (eps0 would be 0).
    """

    matrix: Floats
    k: int
    eps0: float

    def __init__(self, matrix: npt.ArrayLike) -> None:
        channel = _check_matrix(matrix)
        least, most = channel.min(axis=1), channel.max(axis=1)
        if np.any((least == 0) & (most > 0)):
            row = np.flatnonzero((least == 0) & (most > 0))[0]
            raise ValueError(
                f"matrix must have no row with zero and non-zero entries (eps0 is infinite); row {row} has"
            )
        channel = channel[most > 0]
        least, most = least[most > 0], most[most > 0]
        eps0 = float(np.log1p((most - least) / least).max())
        if eps0 == 0:
            raise ValueError("matrix must have columns that differ (eps0 is 0)")
        channel.flags.writeable = False
        object.__setattr__(self, "matrix", channel)
        object.__setattr__(self, "k", channel.shape[1])
        object.__setattr__(self, "eps0", eps0)

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
        if reference == "blanket":
            w = self.matrix.min(axis=1)
        else:
            weights = self._weights(reference, pair)
            w = self.matrix[:, list(weights)] @ np.array(list(weights.values()))
        gains = _excess(self.matrix[:, pair[0]], self.matrix[:, pair[1]], eps) / w
        values, classes = np.unique(gains, return_inverse=True)
        return values, np.bincount(classes, weights=w).astype(float)

    def sample(self, counts: npt.ArrayLike, rng: np.random.Generator, repetitions: int = 1) -> Integers:
        """See `Randomizer.sample`: how often each report occurs, one multinomial per value, O(k reports)."""
        datasets = self._datasets(counts, repetitions)
        return np.array([rng.multinomial(dataset, self.matrix.T).sum(axis=0) for dataset in datasets])

    def estimate(self, observed: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """See `Randomizer.estimate`; ``observed`` are the counts of reports, shape (..., reports).

        Of all linear unbiased estimates this one has the smallest variance, summed over the values, where all
        values have equal shares: weighted least squares (McKenna, Maity, Mazumdar and Miklau 2020 reconstruct
        like this). ValueError if the matrix does not have k independent columns.
        """
        frequencies = np.asarray(observed, dtype=float) / check_n(n)[..., None]
        return frequencies @ self._reconstruction().T

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """See `Randomizer.variance`; each cell's depends on all shares."""
        shares = np.asarray(shares, dtype=float)
        second_moments = shares @ (self._reconstruction() ** 2 @ self.matrix).T
        return (second_moments - shares) / check_n(n)[..., None]

    def _reconstruction(self) -> Floats:
        """B, shape (k, reports), with B R = 1."""
        roots = np.sqrt(self.matrix.mean(axis=1, keepdims=True))
        if np.linalg.matrix_rank(self.matrix / roots) < self.k:
            raise ValueError("matrix must have independent columns, or shares cannot be estimated")
        return np.linalg.pinv(self.matrix / roots) / roots.T


def _excess(first: Floats, second: Floats, eps: float) -> Floats:
    """first - e^eps second, with nearly all digits also where the two are nearly equal."""
    difference, surplus = first - second, np.expm1(eps) * second
    result = difference - surplus
    close = np.flatnonzero(np.abs(result) < (np.abs(difference) + surplus) / 16)
    if len(close):
        with decimal.localcontext(prec=40):
            factor = Decimal(eps).exp()
            pairs = zip(first[close].tolist(), second[close].tolist(), strict=True)
            result[close] = [float(Decimal(one) - factor * Decimal(other)) for one, other in pairs]
    return result


def _check_matrix(values: npt.ArrayLike) -> Floats:
    """``values`` as a new float array with columns that sum to 1."""
    try:
        matrix = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("matrix must have numbers only, and rows of one length") from None
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 2:
        raise ValueError(f"matrix must have two axes, reports and k >= 2 values; got {matrix.shape}")
    if not np.all(np.isfinite(matrix) & (matrix >= 0)):
        raise ValueError("matrix must have finite entries >= 0")
    sums = np.array([math.fsum(column) for column in matrix.T])
    wrong = np.abs(sums - 1) > _ROUNDING
    if np.any(wrong):
        column = np.flatnonzero(wrong)[0]
        raise ValueError(f"matrix must have columns that sum to 1; column {column} sums to {sums[column]}")
    return matrix / sums
