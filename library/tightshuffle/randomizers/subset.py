"""Subset selection: k-randomized response with subsets of several values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.numerics.binomial import log2_choose
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.krr import KRandomizedResponse


@dataclass(frozen=True)
class SubsetSelection(SupportRandomizer):
    """Report a subset of ``m`` values. Subsets with the user's value are e^eps0 times as likely.

    Ye and Barg 2018, "Optimal schemes for discrete distribution estimation under locally differential
    privacy"; Wang et al. 2016, "Mutual information optimally local private discrete distribution estimation".
    The variance is least for m near k / (e^eps0 + 1). u is uniform: alpha = m (k - m) / (k (k - 1)), and
    beta = m (m - 1) / (k (k - 1)). ValueError unless 1 <= m < k.
    """

    key = "subset"
    parameter = "m"

    m: int

    @classmethod
    def tuned(cls, k: int, eps0: float) -> SupportRandomizer:
        """Subset selection with the m of the smallest error, near k / (e^eps0 + 1); k-RR if m is 1."""
        best_m = round(k / (math.exp(eps0) + 1))
        return cls.of(k, eps0, max(1, min(k - 1, best_m)))

    @classmethod
    def of(cls, k: int, eps0: float, parameter: int) -> SupportRandomizer:
        """Subset selection of m = ``parameter`` values; for m = 1 it is `KRandomizedResponse`."""
        return cls(k, eps0, parameter) if parameter > 1 else KRandomizedResponse(k, eps0)

    @staticmethod
    def parameters(k: int) -> range:
        """Every m that subset selection of ``k`` values may have."""
        return range(1, k)

    @staticmethod
    def chances(k: npt.ArrayLike, m: npt.ArrayLike) -> tuple[Floats, Floats]:
        """alpha and beta, arrays; ``k`` and ``m`` broadcast.

        They are the probabilities, for uniform reports, to support one given value and not another, and to
        support both.
        """
        k, m = np.asarray(k, dtype=float), np.asarray(m, dtype=float)
        return m * (k - m) / (k * (k - 1)), m * (m - 1) / (k * (k - 1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.m, int | np.integer) and 1 <= self.m < self.k):
            raise ValueError(
                f"m must be a whole number between 1 and k - 1 = {self.k - 1}; got {self.m!r}"
            )

    @property
    def bits(self) -> float:
        return log2_choose(self.k, self.m)

    def patterns(self, values: Sequence[int]) -> Floats:
        """See `SupportRandomizer.patterns`.

        If j of r ``values`` are supported, the probability is that of drawing those j into the report, a set
        of ``self.m`` of the k values, and the other r - j not, without replacement.
        """
        k, m, r = self.k, int(self.m), len(values)
        probability_by_j = np.empty(r + 1)
        for j in range(r + 1):
            probability_by_j[j] = (
                _falling_factorial(m, j)
                * _falling_factorial(k - m, r - j)
                / _falling_factorial(k, r)
            )
        j_of_pattern = np.indices((2,) * r).sum(axis=0)
        return probability_by_j[j_of_pattern]


def _falling_factorial(number: int, factors: int) -> int:
    """number (number - 1) (number - 2) ..., a product of so many ``factors``; ``number`` >= 0."""
    # One of the factors is 0.
    if factors > number:
        return 0
    return math.prod(range(number - factors + 1, number + 1))
