"""Hadamard response."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers
from tightshuffle.randomizers.base import SupportRandomizer


@dataclass(frozen=True)
class HadamardResponse(SupportRandomizer):
    """Report a column of a Hadamard matrix; columns with +1 in the user's row are e^eps0 times as likely.

    Acharya, Sun and Zhang 2019, "Hadamard response: estimating distributions privately, efficiently, and
    with little communication", the scheme for high privacy. The matrix is Sylvester's of order K, the
    smallest power of two above k. Its entry at row r, column y is +1 if r and y share an even number of bits.
    Value x has row x + 1, as row 0 is all +1. (Their scheme for large eps0 has several blocks.)

    u is uniform on the K columns: alpha = beta = 1/4. Column 0 is +1 everywhere, and no other
    column is: everywhere = 1 / K. A third value can differ from another third value as a reference: the row
    of "x2" is the product of the rows of x0 and x1, that of "x3" (for k >= 4) is not.
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

    def sample(self, counts: npt.ArrayLike, rng: "np.random.Generator", repetitions: int = 1) -> Integers:
        """See `Randomizer.sample`. One column per user, or all of a value's at once if more than K hold it.

        A value costs the smaller of its users and K, the transform K log K.
        """
        return np.array([self._supports(dataset, rng) for dataset in self._datasets(counts, repetitions)])

    def _supports(self, counts: Integers, rng: "np.random.Generator") -> Integers:
        columns = np.arange(self.order)
        truthful = rng.binomial(counts, self._truthful)
        reports = rng.multinomial(counts.sum() - truthful.sum(), np.full(self.order, 1 / self.order))
        for value in np.flatnonzero(truthful):
            row, users = value + 1, truthful[value]
            if users > self.order:
                drawn = rng.multinomial(users, np.full(self.order // 2, 2 / self.order))
                reports[np.bitwise_count(columns & row) % 2 == 0] += drawn
            else:
                drawn = rng.integers(self.order, size=users)
                odd = np.bitwise_count(drawn & row) % 2 == 1
                drawn[odd] ^= row & -row  # one bit of the row flipped: now even, and still uniform
                reports += np.bincount(drawn, minlength=self.order)
        # sum over y of H[r, y] reports[y] is (with +1) - (with -1), and their sum is n
        return (counts.sum() + _transform(reports)[1 : self.k + 1]) // 2


def _transform(values: Integers) -> Integers:
    """Sylvester's matrix times ``values``, (K,): one bit of the index after the other."""
    for bit in range(len(values).bit_length() - 1):
        low, high = np.moveaxis(values.reshape(-1, 2, 1 << bit), 1, 0)
        values = np.stack([low + high, low - high], axis=1).reshape(-1)
    return values
