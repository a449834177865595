"""How delta is chosen at equal privacy: fixed, or falling with n."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class DeltaRule:
    """How delta is chosen for n users: ``factor`` n^-``exponent``."""

    factor: float = 1.0
    exponent: float = 0.0

    @property
    def name(self) -> str:
        """The rule as a text, as the column delta_rule of the results has it: 1e-06 or n^-1.1."""
        if self.exponent == 0:
            return repr(self.factor)
        return f"n^-{self.exponent:g}"

    def delta(self, n: int) -> float:
        """delta for ``n`` users."""
        return self.factor * math.pow(n, -self.exponent)


def delta_rules(fixed: Iterable[float], exponents: Iterable[float]) -> list[DeltaRule]:
    """One list of rules: delta is each of the numbers ``fixed``, and n^-a for each a of ``exponents``."""
    rules = [DeltaRule(factor=float(delta)) for delta in fixed]
    rules += [DeltaRule(exponent=float(exponent)) for exponent in exponents]
    return rules
