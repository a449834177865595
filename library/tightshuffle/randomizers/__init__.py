"""Local randomizers: one object each, with its distribution and its frequency estimates.

All have the interface of `base.Randomizer`; `parse` makes one from a name such as "subset:3".
"""

import reprlib
from typing import TypeVar

import numpy as np

from tightshuffle.randomizers.base import Randomizer, SupportRandomizer
from tightshuffle.randomizers.density import Density, Gaussian, Laplace
from tightshuffle.randomizers.density_file import PiecewiseLinear, parse_density
from tightshuffle.randomizers.finite import Finite
from tightshuffle.randomizers.hadamard import HadamardResponse
from tightshuffle.randomizers.krr import KRandomizedResponse
from tightshuffle.randomizers.matrix_file import read_matrix
from tightshuffle.randomizers.subset import SubsetSelection
from tightshuffle.randomizers.unary import (
    ChosenUnaryEncoding,
    LocalHashing,
    OptimizedUnaryEncoding,
    SymmetricUnaryEncoding,
)
from tightshuffle.randomizers.worst_pair import WorstPair

__all__ = [
    "BY_KEY",
    "NAMES",
    "ChosenUnaryEncoding",
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
    "WorstPair",
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
    "unary:P:Q",
    "support:ALPHA:BETA",
    "file:MATRIX.csv",
    "density:laplace:SCALE",
    "density:gaussian:SIGMA",
    "density:file:FILE.csv",
)
# The names of the two numbers in a name, by its key.
_NUMBERS = {"unary": ("p", "q"), "support": ("alpha", "beta")}
_ANY_K = 2  # where nothing depends on k


def has_own_budget(name: str) -> bool:
    """Whether k and eps0 follow from what this ``name`` of a randomizer says, and must be left out."""
    return name.startswith(("file:", "density:"))


def parse(name: str, *, k: float | None = None, eps0: float | None = None) -> Randomizer:
    """The randomizer with this ``name``, of ``k`` values and with local budget ``eps0``.

    `NAMES` lists the names: "grr", "subset:M" and "hash:G" with a whole number for M or G, and so on.
    "unary:P:Q" has its own eps0, which may be left out, and "support:ALPHA:BETA" (`WorstPair`) no k.
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

    if key in _NUMBERS:
        given_k, budget = check_given(name, k, eps0)
        first, second = _parse_two_numbers(name)
        if key == "unary":
            return ChosenUnaryEncoding(given_k, first, second)  # type: ignore[arg-type]
        return WorstPair(given_k, budget, first, second)  # type: ignore[arg-type]  # which checks k

    # `BY_KEY` has the classes. A name has a colon if and only if its class has a parameter.
    if key not in BY_KEY or bool(colon) != bool(BY_KEY[key].parameter):
        raise _unknown(name)
    kind = BY_KEY[key]
    given_k, budget = check_given(name, k, eps0)
    parameter = {}
    if colon:
        parameter[kind.parameter] = _parse_whole(kind.parameter, suffix)
    return kind(given_k, budget, **parameter)  # type: ignore[arg-type]  # which checks them


def check_given(name: str, k: T | None, eps0: T | None) -> tuple[T | int, T | float]:
    """``k`` and ``eps0`` as they are, or as they follow from the ``name`` of the randomizer if they are None.

    ValueError if one is None that the randomizer needs, if ``eps0`` is not that of "unary:P:Q", or for
    a name that is none.
    """
    key = name.partition(":")[0]
    needed_k: T | int | None = _ANY_K if key == "support" and k is None else k
    needed_eps0: T | float | None = eps0
    if key == "unary":
        own_eps0 = ChosenUnaryEncoding(_ANY_K, *_parse_two_numbers(name)).eps0
        if eps0 is not None and np.any(np.asarray(eps0) != own_eps0):
            raise ValueError(
                f"leave out eps0 = {eps0}: it follows from {name}, which has {own_eps0}"
            )
        needed_eps0 = own_eps0
    if needed_k is None or needed_eps0 is None:
        # A number that is missing is not the fault of a name that is none, such as "density".
        if key not in BY_KEY and key not in _NUMBERS:
            raise _unknown(name)
        missing = "k" if needed_k is None else "eps0"
        raise ValueError(f"{missing} must be given for randomizer {name!r}")
    return needed_k, needed_eps0


def _unknown(name: str) -> ValueError:
    """The error for a ``name`` that is none of `NAMES`."""
    return ValueError(f"randomizer must be one of {', '.join(NAMES)}; got {reprlib.repr(name)}")


def _parse_two_numbers(name: str) -> tuple[float, float]:
    """The two numbers in a ``name`` such as "unary:0.5:0.1"; ValueError says what is expected."""
    key, *texts = name.split(":")
    if len(texts) != 2:
        raise _unknown(name)
    numbers = []
    for number, text in zip(_NUMBERS[key], texts, strict=True):
        try:
            numbers.append(float(text))
        except ValueError:
            raise ValueError(f"{number} must be a number; got {reprlib.repr(text)}") from None
    return numbers[0], numbers[1]


def _parse_whole(name: str, text: str) -> int:
    """The ``text`` as a whole number. ValueError says that the parameter ``name`` must be one."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number; got {reprlib.repr(text)}") from None
