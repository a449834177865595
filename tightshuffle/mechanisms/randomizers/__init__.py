"""Local randomizers: one object each, with its law, its frequency oracle and its sampler.

All have the interface of `base.Randomizer`; `parse` makes one from a name such as "subset:3".
"""

from tightshuffle.mechanisms.randomizers.base import Randomizer
from tightshuffle.mechanisms.randomizers.finite import Finite
from tightshuffle.mechanisms.randomizers.hadamard import HadamardResponse
from tightshuffle.mechanisms.randomizers.names import NAMES, parse
from tightshuffle.mechanisms.randomizers.subset import KRandomizedResponse, SubsetSelection
from tightshuffle.mechanisms.randomizers.unary import (
    LocalHashing,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)

__all__ = [
    "NAMES",
    "Finite",
    "HadamardResponse",
    "KRandomizedResponse",
    "LocalHashing",
    "OptimizedUnaryEncoding",
    "Randomizer",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "parse",
]
