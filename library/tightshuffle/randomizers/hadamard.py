"""Hadamard response."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.randomizers.base import SupportRandomizer


@dataclass(frozen=True)
class HadamardResponse(SupportRandomizer):
    """Report a column of a Hadamard matrix. Columns with +1 in the user's row are e^eps0 times as likely.

    Acharya, Sun and Zhang 2019, "Hadamard response: estimating distributions privately, efficiently, and with
    little communication", the scheme for high privacy. The matrix is Sylvester's of order K, the smallest
    power of two above k, and value x has row x + 1. u is uniform on the K columns: alpha = beta = 1/4,
    everywhere = 1 / K. The row of "x2" is the product of the rows of x0 and x1, and that of "x3" (for k >= 4)
    is not, so they differ as references.
    """

    key = "hadamard"

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
        """See `SupportRandomizer.patterns`.

        Report y supports value x if the bits of y and of x + 1, the value's row of the Hadamard matrix, have
        an even number of ones in common.

        Call the tuple with 1 for every value that is *not* supported the report's parities. Parities add up
        modulo 2: those of report y are the sum of the parities of the powers of two in y. So the tuples that
        occur are all sums of the parities of the reports 1, 2, 4, ... They are equally likely.
        """
        rows = [value + 1 for value in values]
        all_parities = {(0,) * len(values)}  # those of report 0, which supports every value
        for bit in range(self.k.bit_length()):
            parities_of_power = [row >> bit & 1 for row in rows]  # of the report 2^bit
            for parities in list(all_parities):
                pairs = zip(parities, parities_of_power, strict=True)
                all_parities.add(tuple(a ^ b for a, b in pairs))

        masses = np.zeros((2,) * len(values))
        for parities in all_parities:
            supported = tuple(1 - parity for parity in parities)
            masses[supported] = 1 / len(all_parities)
        return masses
