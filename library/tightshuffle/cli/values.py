"""Parse numbers of the command line. The library checks their range, and names the argument that is wrong."""

import argparse
import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation, localcontext
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.number_text import e_notation, from_log10

_LONGEST_RANGE = 10_000  # numbers
_LEAST_LOG10 = -300.0  # of a float with all its digits, about


def number(text: str) -> float:
    """The float that the ``text`` stands for."""
    try:
        return float(text)
    except ValueError:
        raise _refusal("must be a number", text) from None


def whole(text: str) -> float:
    """The number that the ``text`` stands for, an int if it is whole: 100000, 1e5, 100_000.

    The library refuses any other float.
    """
    value = number(text)
    return int(value) if value.is_integer() else value


def users_or_share(text: str) -> float:
    """A number of users, or a share of them below 1: 1000, 1%, 0.01."""
    if not text.endswith("%"):
        return whole(text)
    share = number(text[:-1]) / 100
    if not 0 < share < 1:
        raise _refusal("must be a share above 0 % and below 100 %, such as 1%", text)
    return share


def share(text: str) -> float:
    """A share: 80%, 0.8, 1. The library refuses what is not between 0 and 1."""
    return number(text[:-1]) / 100 if text.endswith("%") else whole(text)


def range_parser(*, by_factors: bool = False) -> Callable[[str], list[float]]:
    """A function that parses one number, or a range from:to:how many, into a list of numbers.

    The numbers of a range are evenly spaced. With ``by_factors`` they have equal ratios instead.
    """

    def parse(text: str) -> list[float]:
        """The numbers that ``text`` stands for, such as "0.5" or "0.1:2:50"."""
        numbers = [number(word) for word in text.split(":")]
        if len(numbers) == 1:
            return numbers

        # `in range` also refuses a length that is not whole.
        if len(numbers) != 3 or numbers[2] not in range(2, _LONGEST_RANGE + 1):
            raise _refusal(
                "must be a number, or a range from:to:how many, such as 0.1:2:50, of 2 to 10000 numbers",
                text,
            )
        if by_factors and not min(numbers) > 0:
            raise _refusal("must be a range of numbers > 0", text)

        first, last, length = numbers
        spaced_numbers = np.geomspace if by_factors else np.linspace
        # 15 digits: 0.3 and not 0.30000000000000004.
        return [float(f"{value:.15g}") for value in spaced_numbers(first, last, int(length))]

    return parse


def interval(text: str) -> tuple[float, float]:
    """Two finite numbers with a colon between them, the second above the first: -40:50."""
    words = text.split(":")
    if len(words) != 2:
        raise _refusal("must be two numbers A:B, such as 0:120", text)
    low, high = number(words[0]), number(words[1])
    if not (low < high and math.isfinite(high - low)):
        raise _refusal("must be two finite numbers A:B with A below B, such as 0:120", text)
    return low, high


def log10_delta(text: str) -> float:
    """log10 of a delta between 0 and 1, however small: 1e-500 is fine."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    # Decimal has exponents below those of a float. 0.0 stands for a delta that is refused.
    with localcontext(prec=30):
        result = float(value.log10()) if value.is_finite() and 0 < value < 1 else 0.0
    if not -1e15 < result < 0:
        raise _refusal("must lie between 0 and 1, both excluded, such as 1e-6", text)
    return result


class Delta(NamedTuple):
    """A delta that the user names, however small: its log10, and the number as the user typed it."""

    log10: float
    typed: str

    @property
    def is_float(self) -> bool:
        """Whether a float has all digits of the number."""
        return self.log10 > _LEAST_LOG10

    @property
    def text(self) -> str:
        """The number with six digits; if no float has it, as it was typed."""
        return f"{float(self.typed):g}" if self.is_float else self.typed


def deltas(text: str) -> list[Delta]:
    """One delta, or those of a range from:to:how many, which have equal ratios."""
    words = text.split(":")
    if len(words) == 1:
        return [Delta(log10_delta(text), text)]
    ends = [log10_delta(word) for word in words[:2]]
    length = len(range_parser()(text))  # which also refuses what is no range
    if min(ends) > _LEAST_LOG10:
        numbers = [repr(value) for value in range_parser(by_factors=True)(text)]
    else:  # the same by their logarithms
        numbers = [
            e_notation(from_log10(log10), 6) for log10 in np.linspace(ends[0], ends[1], length)
        ]
    return [Delta(log10_delta(number), number) for number in numbers]


def histogram(path: str) -> tuple[int, Floats]:
    """The number of users in a file of counts, and the share of them who hold each value, (k,)."""
    from tightshuffle.counts_file import read_counts

    try:
        counts = read_counts(path)["count"]
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    return int(counts.sum()), counts / counts.sum()


def _refusal(requirement: str, text: str) -> argparse.ArgumentTypeError:
    """The error for a ``text`` that does not meet the ``requirement``."""
    return argparse.ArgumentTypeError(f"{requirement}; got {text!r}")
