"""Local randomizers: one object each, with its distribution and its frequency estimates.

All have the interface of `base.Randomizer`; `parse` makes one from a name such as "subset:3".
"""

import reprlib
from typing import TypeVar

from tightshuffle.randomizers.base import Randomizer, SupportRandomizer
from tightshuffle.randomizers.finite import Finite
from tightshuffle.randomizers.hadamard import HadamardResponse
from tightshuffle.randomizers.krr import KRandomizedResponse
from tightshuffle.randomizers.matrix_file import read_matrix
from tightshuffle.randomizers.subset import SubsetSelection
from tightshuffle.randomizers.unary import (
    LocalHashing,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)

__all__ = [
    "BY_KEY",
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

T = TypeVar("T")
BY_KEY: dict[str, type[SupportRandomizer]] = {
    kind.key: kind
    for kind in (
        KRandomizedResponse,
        SubsetSelection,
        OptimizedUnaryEncoding,
        LocalHashing,
        SymmetricUnaryEncoding,
        HadamardResponse,
    )
}
NAMES = (
    *(f"{key}:{kind.parameter.upper()}" if kind.parameter else key for key, kind in BY_KEY.items()),
    "file:MATRIX.csv",
)


def parse(name: str, *, k: float | None = None, eps0: float | None = None) -> Randomizer:
    """The randomizer with this name: one of `NAMES`, with a number for M or G.

    "file:..." reads a matrix (see `read_matrix`), from which ``k`` and ``eps0`` follow. ValueError names an
    argument that is bad, missing or must be left out.
    """
    key, colon, suffix = name.partition(":")
    if key == "file" and colon:
        for argument, value in (("k", k), ("eps0", eps0)):
            if value is not None:
                raise ValueError(
                    f"leave out {argument} = {value}: it follows from the matrix of {name}"
                )
        return read_matrix(suffix)

    if key not in BY_KEY or bool(colon) != bool(BY_KEY[key].parameter):
        raise ValueError(f"randomizer must be one of {', '.join(NAMES)}; got {reprlib.repr(name)}")
    kind = BY_KEY[key]
    given_k, budget = check_given(name, k, eps0)
    fields = {}
    if colon:
        fields[kind.parameter] = _parse_whole(kind.parameter, suffix)
    return kind(given_k, budget, **fields)  # type: ignore[arg-type]  # which checks them


def check_given(name: str, k: T | None, eps0: T | None) -> tuple[T, T]:
    """k and eps0. ValueError if one of them is missing for the randomizer of that name."""
    if k is None or eps0 is None:
        raise ValueError(f"{'k' if k is None else 'eps0'} must be given for randomizer {name!r}")
    return k, eps0


def _parse_whole(name: str, text: str) -> int:
    """The text as a whole number. ValueError names the parameter."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number; got {reprlib.repr(text)}") from None
