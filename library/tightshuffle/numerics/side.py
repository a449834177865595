"""The two sides of a bracket, and the safe direction of rounding on each."""

from enum import Enum


class Side(Enum):
    """A bound on delta or eps: an upper bound is rounded up, a lower bound down."""

    UPPER = "upper"
    LOWER = "lower"

    def __repr__(self) -> str:
        return str(self)
