"""k-randomized response as one of the local randomizers; `mechanisms.krr` samples and inverts it."""

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
    m: ClassVar[int] = 1  # it is subset selection of one value

    @property
    def bits(self) -> float:
        return log2_choose(self.k, 1)

    def patterns(self, values: Sequence[int]) -> Floats:
        """See `SupportRandomizer.patterns`. Patterns with two or more entries 1 never occur."""
        number_of_values = len(values)
        probability_by_supported = np.zeros(number_of_values + 1)
        probability_by_supported[0] = (self.k - number_of_values) / self.k
        probability_by_supported[1] = 1 / self.k
        supported_values = np.indices((2,) * number_of_values).sum(axis=0)
        return probability_by_supported[supported_values]
