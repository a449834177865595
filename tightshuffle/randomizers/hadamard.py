"""Hadamard response."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.randomizers.base import SupportRandomizer


@dataclass(frozen=True)
class HadamardResponse(SupportRandomizer):
    """Report a column of a Hadamard matrix; columns with +1 in the user's row are e^eps0 times as likely.

    Acharya, Sun and Zhang 2019, "Hadamard response: estimating distributions privately, efficiently, and with
    little communication", the scheme for high privacy. The matrix is Sylvester's of order K, the smallest
    power of two above k; value x has row x + 1. u is uniform on the K columns: alpha = beta = 1/4, everywhere
    = 1 / K. The row of "x2" is the product of the rows of x0 and x1, that of "x3" (for k >= 4) is not: so
    they differ as references.
    """

    key = "hadamard"
    title = "Hadamard response"

    @property
    def order(self) -> int:
        """K, the number of reports."""
        return 1 << self.k.bit_length()

    @property
    def bits(self) -> float:
        return float(self.k.bit_length())

    @property
    def everywhere(self) -> float:
        return 1 / self.order

    def references(self) -> tuple[str, ...]:
        return ("x0", "x1", "x2", "x3")[: self.k]

    def patterns(self, values: Sequence[int]) -> Floats:
        """Uniform on the patterns that occur: the sums modulo 2 of those of the columns 1, 2, 4, ..."""
        occurring = {0}  # a pattern's bit i is 1 where values[i] is not supported
        for bit in range(self.k.bit_length()):
            column = sum(((value + 1) >> bit & 1) << place for place, value in enumerate(values))
            occurring |= {pattern ^ column for pattern in occurring}
        masses = np.zeros((2,) * len(values))
        for pattern in occurring:
            masses[tuple(1 - (pattern >> place & 1) for place in range(len(values)))] = 1 / len(occurring)
        return masses
