"""Checks of the arguments that all bounds share. A ValueError names the bad argument."""

import os
import reprlib
import stat
import sys
from collections.abc import Callable, Collection
from decimal import Decimal
from importlib.util import find_spec
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]
Booleans = npt.NDArray[np.bool_]

# Of a divergence: P against Q, Q against P, the larger one.
DIRECTIONS = ("forward", "reverse", "both")
LARGEST_EXPONENT = 300.0  # largest eps0 in formulas with e^(eps + eps0): no overflow
_SMALLEST_EPS0 = 1e-100  # eps0^2 / n is then still a float
_ROUNDING_OF_SHARES = 1e-5  # of the sum of 10 million shares, each a float of 32 bits


class OutsideRange(UserWarning):
    """A theorem does not apply, because its conditions fail; the result is nan."""


def check_eps(eps: npt.ArrayLike) -> Floats:
    """``eps`` as a float array. ValueError unless every value is finite and >= 0."""
    return _numbers("eps", eps, "finite and >= 0", lambda x: x >= 0)


def check_eps0(eps0: npt.ArrayLike, largest: float = np.inf) -> Floats:
    """``eps0`` as a float array. ValueError unless every value is finite, from 1e-100 to ``largest``."""
    array = check_positive("eps0", eps0)
    if array.size and array.min() < _SMALLEST_EPS0:
        raise ValueError(f"eps0 must be at least {_SMALLEST_EPS0:g}; got {array.min()}")
    check_at_most("eps0", array, largest)
    return array


def check_at_most(name: str, values: Floats | Integers, largest: float) -> None:
    """ValueError unless every value is at most ``largest``; the error calls the argument ``name``."""
    if np.any(values > largest):
        raise ValueError(f"{name} must be at most {largest:.10g}; got {np.max(values)}")


def check_positive(name: str, value: npt.ArrayLike) -> Floats:
    """The argument ``name`` as a float array. ValueError unless every value is finite and > 0."""
    return _numbers(name, value, "finite and > 0", lambda x: x > 0)


def check_delta(delta: npt.ArrayLike, name: str = "delta") -> Floats:
    """The argument ``name`` as a float array. ValueError unless every value lies in (0, 1)."""
    return _numbers(name, delta, "between 0 and 1, both excluded", lambda x: (x > 0) & (x < 1))


def check_log10_delta(delta: npt.ArrayLike | None, log10_delta: npt.ArrayLike | None) -> Floats:
    """log10 delta as a float array. ValueError unless exactly one argument is given, with delta in (0, 1)."""
    if (delta is None) == (log10_delta is None):
        raise ValueError("delta or log10_delta must be given, but not both")
    if delta is not None:
        return np.log10(check_delta(delta))
    assert log10_delta is not None
    return _numbers("log10_delta", log10_delta, "finite and < 0", lambda x: x < 0)


def check_n(n: npt.ArrayLike) -> Integers:
    """``n`` (users) as an integer array. ValueError unless every value is a whole number >= 1."""
    return _integers("n", n, "a whole number >= 1", lambda x: x >= 1)


def check_k(k: npt.ArrayLike) -> Integers:
    """``k`` (values) as an integer array. ValueError unless every value is a whole number >= 2."""
    return _integers("k", k, "a whole number >= 2", lambda x: x >= 2)


def check_rounds(rounds: npt.ArrayLike) -> Integers:
    """``rounds`` as an integer array. ValueError unless every value is a whole number >= 1."""
    return _integers("rounds", rounds, "a whole number >= 1", lambda x: x >= 1)


def check_count(count: npt.ArrayLike, n: npt.ArrayLike) -> Integers:
    """``count`` (other users who hold x0) as an integer array. ValueError unless 0 <= count <= n - 1."""
    largest = np.asarray(n) - 1
    rule = "a whole number between 0 and n - 1"
    return _integers("count", count, rule, lambda x: (x >= 0) & (x <= largest))


def check_users(name: str, counts: npt.ArrayLike) -> Integers:
    """The argument ``name``, counts of users, as an integer array. ValueError unless whole and >= 0."""
    return _integers(name, counts, "whole numbers >= 0", lambda x: x >= 0)


def check_whole(name: str, value: npt.ArrayLike, least: int, most: int | None = None) -> int:
    """The argument ``name`` as an int. ValueError unless it is a whole number from ``least`` to ``most``."""
    if most is None:
        array = _integers(name, value, f"a whole number >= {least}", lambda x: x >= least)
    else:
        rule = f"a whole number from {least} to {most}"
        array = _integers(name, value, rule, lambda x: (x >= least) & (x <= most))
    return check_one(name, array)


def check_one(name: str, values: Floats | Integers) -> Any:
    """The number in an array without axes. ValueError if the argument ``name`` is an array with axes."""
    if values.ndim:
        raise ValueError(f"{name} must be one number; got {values.size} of them")
    return values.item()


def check_colluding(colluding: npt.ArrayLike, n: npt.ArrayLike) -> Integers:
    """``colluding`` (users whose reports the adversary knows) as an integer array.

    A number between 0 and 1 is a share of the users. The share is rounded up, to at most n - 1 users.
    ValueError unless 0 <= colluding <= n - 1.
    """
    rule = "a whole number between 0 and n - 1, or a share of the users below 1"
    users = np.asarray(n)
    numbers = _numbers("colluding", colluding, rule, lambda x: x >= 0)
    counts = _users_or_share(numbers, users)
    return _integers("colluding", counts, rule, lambda x: (x >= 0) & (x < users))


def colluding_users(colluding: npt.ArrayLike, n: npt.ArrayLike) -> Integers:
    """`check_colluding` of what was checked before, for at least as many users."""
    return _users_or_share(np.asarray(colluding), np.asarray(n)).astype(np.int64)


def _users_or_share(numbers: Floats, n: Integers) -> Floats:
    """The ``numbers`` of users; one between 0 and 1 is a share of n users, rounded up, to at most n - 1."""
    # 7 % of 100 users are 7 users, although 0.07 * 100 is a little more than 7 as a float.
    users_of_share = np.minimum(np.ceil(numbers * n * (1 - 2**-51)), n - 1)
    is_share = (numbers > 0) & (numbers < 1)
    return np.where(is_share, users_of_share, numbers)


def check_number(name: str, value: Any, wanted: str, valid: Callable[[float], bool]) -> float:
    """``value`` as a float. ValueError unless it is one ``valid`` number, which may be infinite."""
    try:
        number = float(as_floats(value))
        if not valid(number):
            raise ValueError
    except (TypeError, ValueError, OverflowError):  # a whole number may have hundreds of digits
        raise ValueError(f"{name} must be {wanted}; got {reprlib.repr(value)}") from None
    return number


def check_shares(shares: npt.ArrayLike, k: int) -> Floats:
    """``shares`` of the users for each of ``k`` values as a float array (k,).

    ValueError unless they are k numbers >= 0 that sum to 1, but for the rounding of floats of 32 bits.
    """
    array = _numbers("shares", shares, "finite and >= 0", lambda x: x >= 0)
    if array.shape != (k,):
        raise ValueError(
            f"shares must be k = {k} numbers, one per value; got the shape {array.shape}"
        )
    total = float(array.sum())
    if abs(total - 1) > _ROUNDING_OF_SHARES:
        raise ValueError(f"shares must sum to 1; they sum to {total:.10g}")
    return array


def check_numbers(name: str, value: npt.ArrayLike) -> Floats:
    """The argument ``name`` as a float array. ValueError unless every value is finite."""
    return _numbers(name, value, "finite", np.isfinite)


def check_probability(name: str, value: npt.ArrayLike) -> Floats:
    """The argument ``name`` as a float array. ValueError unless every value is from 0 to 1."""
    return _numbers(name, value, "between 0 and 1", lambda x: (x >= 0) & (x <= 1))


def check_participation(participation: object, where: str = "") -> float:
    """``participation`` as a float. ValueError, which starts with ``where``, unless it is in (0, 1]."""
    name = f"{where}participation"
    return check_number(name, participation, "a probability above 0", lambda x: 0 < x <= 1)


def check_flag(name: str, value: object) -> bool:
    """``value`` as a bool. ValueError unless it is one, of Python or numpy.

    Python takes the text "false" for yes, and a flag often chooses between two guarantees.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be true or false; got {reprlib.repr(value)}")
    return bool(value)


def check_choice(name: str, value: str, choices: Collection[str]) -> str:
    """``value``, unchanged. ValueError unless it is one of ``choices``."""
    if not isinstance(value, str) or value not in list(choices):
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {reprlib.repr(value)}")
    return value


def check_path(name: str, path: object) -> str:
    """``path`` as a text. ValueError unless it is one or a `os.PathLike`, as a number is an open file."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise ValueError(f"{name} must be the name of a file; got {reprlib.repr(path)}")
    return os.fsdecode(path)


def check_regular_file(path: str, most_bytes: int) -> None:
    """ValueError unless the file is a regular one, as a device may never end, of at most so many bytes.

    OSError if there is no such file.
    """
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode) or state.st_size > most_bytes:
        raise ValueError(f"{path}: expected a CSV file of at most {most_bytes:,} bytes")


def check_installed(extra: str, *libraries: str) -> None:
    """ModuleNotFoundError, with the command to run, unless the ``extra``'s ``libraries`` are installed."""
    missing = [name for name in libraries if find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"this needs {', '.join(missing)}: in the project's folder, pip install '.[{extra}]'"
        )


def as_floats(value: Any) -> Floats:
    """``value`` as a float array. TypeError for a kind that is no number; ValueError, OverflowError.

    Numpy would convert more: "0.5", b"1", True, 1j, a date, a time and the values behind a mask.
    """
    _check_kind(value)
    return np.asarray(value, dtype=float)


def _check_kind(value: Any) -> None:
    """TypeError unless ``value``, an array or each item of a list is of a kind of numbers."""
    if isinstance(value, list | tuple):
        for item in value:
            if type(item) not in (float, int):  # most items, in no time
                _check_kind(item)
        return
    masked = sys.modules.get("numpy.ma")  # which is slow to import
    if isinstance(value, bytearray | memoryview) or (
        masked is not None and isinstance(value, masked.MaskedArray)
    ):
        raise TypeError
    array = np.asarray(value)
    if array.dtype.kind == "O":
        if not all(map(_is_number, array.flat)):
            raise TypeError
    elif array.dtype.kind not in "fiu":
        raise TypeError


def _is_number(item: Any) -> bool:
    """Whether an object is a real number. Python counts bool as an int, and numpy a time as one."""
    return isinstance(item, Real | Decimal) and not isinstance(item, bool | np.timedelta64)


def _numbers(
    name: str, value: npt.ArrayLike, rule: str, is_valid: Callable[[Floats], Any]
) -> Floats:
    """``value`` as a float array. ValueError that states the ``rule`` unless all are finite and valid."""
    try:
        array = as_floats(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {rule}; got {reprlib.repr(value)}") from None
    except OverflowError:
        raise ValueError(f"{name} must be {rule}; got a number beyond 1e308") from None
    _require(name, array, rule, np.isfinite(array) & is_valid(array))
    return array


def _integers(
    name: str, value: npt.ArrayLike, rule: str, is_valid: Callable[[Integers], Any]
) -> Integers:
    """``value`` as an integer array. ValueError that states the ``rule`` unless all are whole and valid."""
    array = _numbers(name, value, rule, lambda x: x == np.floor(x))
    # Floats from 2**53 on skip whole numbers: a count would become a different one without a warning.
    _require(name, array, f"{rule}, below 2**53", np.abs(array) < 2.0**53)
    integers = array.astype(np.int64)
    _require(name, integers, rule, is_valid(integers))
    return integers


def _require(name: str, array: npt.NDArray[Any], rule: str, is_good: Booleans) -> None:
    """ValueError with the first number that is not good. ``is_good`` may have more axes than the array."""
    if is_good.all():  # a search asks thousands of times: nothing else is computed if all is well
        return
    array, is_good = np.broadcast_arrays(array, is_good)
    culprit = array[~is_good].flat[0]
    raise ValueError(f"{name} must be {rule}; got {culprit}")
