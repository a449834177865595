"""The names of randomizers, as Python and the command line take them."""

from collections.abc import Callable
from typing import TypeVar

from tightshuffle.arguments import check_k
from tightshuffle.randomizers.base import Randomizer
from tightshuffle.randomizers.hadamard import HadamardResponse
from tightshuffle.randomizers.matrix_file import read_matrix
from tightshuffle.randomizers.subset import KRandomizedResponse, SubsetSelection
from tightshuffle.randomizers.unary import LocalHashing, OptimizedUnaryEncoding, SymmetricUnaryEncoding

T = TypeVar("T")
NAMES = ("grr", "subset:M", "rappor", "oue", "hadamard", "hash:G", "file:MATRIX.csv")
_PLAIN: dict[str, Callable[[int, float], Randomizer]] = {
    "grr": KRandomizedResponse,
    "rappor": SymmetricUnaryEncoding,
    "oue": OptimizedUnaryEncoding,
    "hadamard": HadamardResponse,
}


def parse(name: str, *, k: float | None = None, eps0: float | None = None) -> Randomizer:
    """The randomizer of a name, one of `NAMES` with a number for M or G.

    Parameters
    ----------
    name : such as "subset:3"; "file:..." reads a matrix, see `read_matrix`
    k, eps0 : the number of values and the local budget; a file has its own

    Raises
    ------
    ValueError that names the argument which is bad, missing or does not belong.
    """
    kind, colon, parameter = name.partition(":")
    if kind == "file" and colon:
        for unwanted, value in (("k", k), ("eps0", eps0)):
            if value is not None:
                raise ValueError(f"{unwanted} must not be given for {name}, whose matrix tells; got {value}")
        return read_matrix(parameter)
    if kind not in (*_PLAIN, "subset", "hash") or bool(colon) != (kind in ("subset", "hash")):
        raise ValueError(f"randomizer must be one of {', '.join(NAMES)}; got {name!r}")
    given, budget = check_given(name, k, eps0)
    values = int(check_k(given))
    if kind in _PLAIN:
        return _PLAIN[kind](values, budget)
    number = _whole("m" if kind == "subset" else "g", parameter)
    return (
        SubsetSelection(values, budget, number) if kind == "subset" else LocalHashing(values, budget, number)
    )


def check_given(name: str, k: T | None, eps0: T | None) -> tuple[T, T]:
    """k and eps0; ValueError where one is missing for the randomizer of that name."""
    if k is None or eps0 is None:
        raise ValueError(f"{'k' if k is None else 'eps0'} must be given for randomizer {name!r}")
    return k, eps0


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} must be a whole number; got {text!r}") from None
