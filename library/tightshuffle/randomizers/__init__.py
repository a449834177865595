"""Local randomizers: one object each, with its distribution and its frequency estimates.

All have the interface of `base.Randomizer`; `parse` makes one from a name such as "subset:3".
"""

import reprlib
from typing import TypeVar

from tightshuffle.randomizers.base import Randomizer, SupportRandomizer
from tightshuffle.randomizers.density import Density, Gaussian, Laplace
from tightshuffle.randomizers.density_file import PiecewiseLinear, parse_density
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
    "Density",
    "Finite",
    "Gaussian",
    "HadamardResponse",
    "KRandomizedResponse",
    "Laplace",
    "LocalHashing",
    "OptimizedUnaryEncoding",
    "PiecewiseLinear",
    "Randomizer",
    "SubsetSelection",
    "SymmetricUnaryEncoding",
    "check_given",
    "has_own_budget",
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
    "density:laplace:SCALE",
    "density:gaussian:SIGMA",
    "density:file:FILE.csv",
)


def has_own_budget(name: str) -> bool:
    """Whether k and eps0 follow from what this ``name`` of a randomizer says, and must be left out."""
    return name.startswith(("file:", "density:"))


def parse(name: str, *, k: float | None = None, eps0: float | None = None) -> Randomizer:
    """The randomizer with this ``name``, of ``k`` values and with local budget ``eps0``.

    `NAMES` lists the names: "grr", "subset:M" and "hash:G" with a whole number for M or G, and so on.
    "file:MATRIX.csv" reads a randomizer's matrix from a file (see `read_matrix`). Its k and eps0 follow from
    the matrix, and must be left out, as for a density (see `density_file.parse_density`). ValueError names an
    argument that is bad, missing or must be left out.
    """
    key, colon, suffix = name.partition(":")
    if has_own_budget(name):
        subject = "matrix" if key == "file" else "density"
        for argument, value in (("k", k), ("eps0", eps0)):
            if value is not None:
                raise ValueError(
                    f"leave out {argument} = {value}: it follows from the {subject} of {name}"
                )
        return read_matrix(suffix) if key == "file" else parse_density(suffix)

    # `BY_KEY` has the classes. A name has a colon if and only if its class has a parameter.
    if key not in BY_KEY or bool(colon) != bool(BY_KEY[key].parameter):
        raise ValueError(f"randomizer must be one of {', '.join(NAMES)}; got {reprlib.repr(name)}")
    kind = BY_KEY[key]
    given_k, budget = check_given(name, k, eps0)
    parameter = {}
    if colon:
        parameter[kind.parameter] = _parse_whole(kind.parameter, suffix)
    return kind(given_k, budget, **parameter)  # type: ignore[arg-type]  # which checks them


def check_given(name: str, k: T | None, eps0: T | None) -> tuple[T, T]:
    """``k`` and ``eps0`` as they are. ValueError if one is None, as the randomizer ``name`` needs both."""
    if k is None or eps0 is None:
        raise ValueError(f"{'k' if k is None else 'eps0'} must be given for randomizer {name!r}")
    return k, eps0


def _parse_whole(name: str, text: str) -> int:
    """The ``text`` as a whole number. ValueError says that the parameter ``name`` must be one."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number; got {reprlib.repr(text)}") from None
