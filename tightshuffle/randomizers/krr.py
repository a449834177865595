"""k-randomized response as one of the local randomizers; `tightshuffle.krr` samples and inverts it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.numerics.binomial import log2_choose
from tightshuffle.randomizers.base import SupportRandomizer


@dataclass(frozen=True)
class KRandomizedResponse(SupportRandomizer):
    """k-randomized response (Kairouz, Bonawitz and Ramage 2016; "GRR").

    A report supports the value that it names, and u is uniform: alpha = 1 / k, beta = 0.
    """

    key = "grr"
    title = "k-randomized response"
    m: ClassVar[int] = 1  # it is subset selection of one value

    @property
    def bits(self) -> float:
        return log2_choose(self.k, 1)

    def patterns(self, values: Sequence[int]) -> Floats:
        """A report is one of the ``values`` or none of them."""
        number_of_values = len(values)
        masses = np.zeros(number_of_values + 1)  # by how many of the values a report supports
        masses[0] = (self.k - number_of_values) / self.k
        masses[1] = 1 / self.k
        return masses[np.indices((2,) * number_of_values).sum(axis=0)]
