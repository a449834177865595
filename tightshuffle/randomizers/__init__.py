"""Local randomizers: one object each, with its law, its frequency oracle and its sampler.

All have the interface of `base.Randomizer`; `parse` makes one from a name such as "subset:3".
"""

from tightshuffle.randomizers.base import Randomizer
from tightshuffle.randomizers.finite import Finite
from tightshuffle.randomizers.hadamard import HadamardResponse
from tightshuffle.randomizers.names import NAMES, check_given, parse
from tightshuffle.randomizers.subset import KRandomizedResponse, SubsetSelection
from tightshuffle.randomizers.unary import LocalHashing, OptimizedUnaryEncoding, SymmetricUnaryEncoding

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
    "check_given",
    "parse",
]
