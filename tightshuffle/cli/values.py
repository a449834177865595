"""Parse numbers and names of the command line, with errors that say what was expected."""

import argparse
import difflib
import math
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation, localcontext

import numpy as np

from tightshuffle import methods
from tightshuffle.arguments import Floats

_LARGEST_COUNT = 2**53
_LONGEST_RANGE = 10_000


def whole_number(least: int) -> Callable[[str], int]:
    """A parser of whole numbers >= ``least``: 100000, 1e5, 100_000."""

    def parse(text: str) -> int:
        wanted = f"must be a whole number >= {least}, such as 100000, 1e5 or 100_000"
        value = _decimal(text, wanted)
        if not least <= value <= _LARGEST_COUNT:
            raise _refusal(wanted if value < least else f"must be at most {_LARGEST_COUNT}", text)
        if value != value.to_integral_value():
            raise _refusal(wanted, text)
        return int(value)

    return parse


def users_or_share(text: str) -> float:
    """A whole number >= 0, or a share of the users below 1: 1%, 0.01."""
    try:
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = math.nan
    if 0 < share < 1:
        return share
    if text.endswith("%"):
        raise _refusal("must be a share above 0 % and below 100 %, such as 1%", text)
    return whole_number(0)(text)


def _number(wanted: str, valid: Callable[[float], bool]) -> Callable[[str], float]:
    """A parser of finite numbers that are ``valid``."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise _refusal(wanted, text) from None
        if not (math.isfinite(value) and valid(value)):
            raise _refusal(wanted, text)
        return value

    return parse


at_least_zero = _number("must be a finite number >= 0", lambda value: value >= 0)
positive = _number("must be a finite number > 0", lambda value: value > 0)


def some(number: Callable[[str], float], *, by_factors: bool = False) -> Callable[[str], list[float]]:
    """A parser of one number, or of from:to:how many: evenly spaced, or with equal ratios."""

    def parse(text: str) -> list[float]:
        if ":" not in text:
            return [number(text)]
        ends = text.split(":")
        if len(ends) != 3:
            raise _refusal("must be a number, or a range from:to:how many, such as 0.1:2:50", text)
        first, last, count = number(ends[0]), number(ends[1]), whole_number(2)(ends[2])
        if count > _LONGEST_RANGE:
            raise _refusal(f"must be a range of at most {_LONGEST_RANGE} numbers", text)
        spaced = np.geomspace if by_factors else np.linspace
        return [float(f"{value:.15g}") for value in spaced(first, last, count)]

    return parse


def method_names(text: str) -> list[str]:
    """Names of methods, separated by commas; "all" is all of them."""
    if text == "all":
        return list(methods.METHODS)
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in methods.METHODS:
            raise argparse.ArgumentTypeError(
                f"invalid choice: {name!r}{suggestion(name, methods.METHODS)} (choose from"
                f" {', '.join(methods.METHODS)}, or several with commas, or all)"
            )
    return names


def suggestion(word: str, choices: Iterable[str]) -> str:
    """``, did you mean 'x'?``, or nothing where no choice is near."""
    near = difflib.get_close_matches(word, list(choices), n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def log10_delta(text: str) -> float:
    """log10 of a delta between 0 and 1, however small: 1e-500 is fine."""
    wanted = "must lie between 0 and 1, both excluded, such as 1e-6"
    value = _decimal(text, wanted)
    if not 0 < value < 1:
        raise _refusal(wanted, text)
    with localcontext() as context:
        context.prec = 30
        result = float(value.log10())
    if not -1e15 < result < 0:
        raise _refusal(f"{wanted}; a float cannot tell this number from 0 or 1", text)
    return result


def common_delta(text: str) -> float:
    """A delta between 0 and 1 as a float."""
    log10 = log10_delta(text)
    if not 0 < float(text) < 1 or log10 < -307:
        raise _refusal(
            "must be at least 1e-307 (below it use tightshuffle.epsilon(log10_delta=...) in Python)",
            text,
        )
    return float(text)


def histogram(path: str) -> tuple[int, Floats]:
    """How many users a file of counts has, and the share of each value."""
    from tightshuffle.counts_file import read_counts

    try:
        counts = read_counts(path)["count"]
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    return int(counts.sum()), counts / counts.sum()


def _decimal(text: str, wanted: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise _refusal(wanted, text) from None
    if not value.is_finite():
        raise _refusal(wanted, text)
    return value


def _refusal(wanted: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{wanted}; got {text!r}")
