"""A randomizer of which only its worst pair of values is known, which is enough for the blanket's bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_number
from tightshuffle.randomizers.base import SupportRandomizer

_ROUNDING = 1e-12  # by which 2 alpha + beta may be above 1


@dataclass(frozen=True)
class WorstPair(SupportRandomizer):
    """Any randomizer with these alpha and beta at its worst pair of values, whatever a report is.

    Every report y has a likelihood c u(y) (1 + (e^eps0 - 1) t_x(y)) with t_x(y) from 0 to 1. t_x is 1 where a
    report supports x, and 0 elsewhere, for all randomizers of this package. The mean s of t_x under u is the
    same for all x. ``chance_of_one`` is alpha, the largest E_u[t_x0 (1 - t_x1)] of all pairs, and
    ``chance_of_both`` is beta = s - alpha. docs/theory.md, "The worst pair of values", proves that the bound
    of two values with reports that support one of them with alpha, and both with beta, holds for every pair.

    Nothing depends on ``k``. What other values than the pair's share is not known. So there are no estimates
    and no bound `single_value`, and datasets of the lower bound have no third values. ValueError unless
    alpha > 0, beta >= 0 and 2 alpha + beta <= 1.
    """

    key = "support"
    # Groups with another eps0 may have another u.
    fixed_background = False

    chance_of_one: float
    chance_of_both: float

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = check_number(
            "alpha", self.chance_of_one, "above 0 and at most 1/2", lambda x: 0 < x <= 0.5
        )
        most = f"from 0 to 1 - 2 alpha = {1 - 2 * alpha:.12g}"
        beta = check_number(
            "beta", self.chance_of_both, most, lambda x: 0 <= x <= 1 - 2 * alpha + _ROUNDING
        )
        object.__setattr__(self, "chance_of_one", alpha)
        object.__setattr__(self, "chance_of_both", beta)

    @property
    def name(self) -> str:
        return f"{self.key}:{self.chance_of_one!r}:{self.chance_of_both!r}"

    @property
    def bits(self) -> float:
        """nan: how many reports there are is not known."""
        return math.nan

    def references(self) -> tuple[str, ...]:
        return ("x0", "x1")

    def patterns(self, values: Sequence[int]) -> Floats:
        """See `SupportRandomizer.patterns`. ValueError for more than two ``values``."""
        alpha, beta = self.chance_of_one, self.chance_of_both
        if len(values) == 1:
            return np.array([math.fsum([1, -alpha, -beta]), alpha + beta])
        if len(values) > 2:
            raise ValueError(f"reference must be blanket, x0 or x1 for {self.name}, or a mixture")
        neither = max(0.0, math.fsum([1, -alpha, -alpha, -beta]))
        return np.array([[neither, alpha], [alpha, beta]])

    def variance(self, shares: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
        """ValueError: alpha and beta do not say how a share is estimated."""
        raise ValueError(f"randomizer must be one with an estimate, which {self.name} has not")
