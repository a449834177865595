"""The paper's printed values, and how well ours agree with them.

``data/published/values.csv`` holds one row per printed value; its README explains the columns and the rules.
Everything stays text until it is compared: printed digits are evidence, and deltas reach below the smallest
float.
"""

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

Row = dict[str, str]  # one row of a CSV file

COLUMNS = (
    "item", "quantity", "n", "k", "eps0", "eps", "count", "x0", "dataset", "mechanism",
    "printed", "source", "kind", "tolerance", "note",
)  # fmt: skip
NUMBERS = ("n", "k", "count", "x0", "eps0", "eps")
_PRINTED = re.compile(r"(\d+|\d{1,3}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?")
_DIGITS = re.compile(r"digits or (\d+(?:\.\d+)?) %")
_CENTRAL = re.compile(r"central (\d+(?:\.\d+)?) %")
_SIGNIFICANT = 12  # digits of ours that are compared; further digits are floating-point noise


@dataclass(frozen=True)
class Verdict:
    """The verdict on one printed value. Numbers are decimal strings, "" if there is none."""

    verdict: str
    reproduced: str = ""
    exact: str = ""
    quantile: str = ""
    low: str = ""
    high: str = ""
    reason: str = ""  # to be added to the value's note


def read_values(path: str | os.PathLike[str]) -> pd.DataFrame:
    """The printed values of ``path`` in the file's order, the columns `COLUMNS` as text.

    Raises ValueError that names the file and the line; OSError if it cannot be read.
    """
    return pd.DataFrame([row for _, row in numbered_rows(path, COLUMNS)], columns=list(COLUMNS))


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame of texts as dicts."""
    return cast(list[Row], frame.to_dict("records"))


def numbered_rows(path: str | os.PathLike[str], columns: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    """Line number and row of each row of a CSV file that has exactly these columns.

    Raises ValueError that names the file and the line; OSError if it cannot be read.
    """
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or tuple(reader.fieldnames) != columns:
            raise ValueError(f"{path}: the columns must be {','.join(columns)}; got {reader.fieldnames}")
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(
                    f"{path}, line {reader.line_num}: expected {len(columns)} fields;"
                    " quote a field that has a comma"
                )
            yield reader.line_num, row


def printed_to_decimal(printed: str) -> Decimal:
    """The number behind printed characters such as ``12E-4``, ``6.580E-7`` or ``123,108``, digits kept."""
    if not _PRINTED.fullmatch(printed):
        raise ValueError(f"printed must be a number such as 12E-4, 0.2 or 123,108; got {printed!r}")
    return Decimal(printed.replace(",", ""))


def parse_tolerance(text: str) -> tuple[str, Decimal]:
    """``("digits", 0.05)`` from "digits or 5 %", ``("central", 0.99)`` from "central 99 %", as Decimals."""
    for rule, pattern in (("digits", _DIGITS), ("central", _CENTRAL)):
        match = pattern.fullmatch(text)
        if match and 0 < Decimal(match[1]) < 100:
            return rule, Decimal(match[1]) / 100
    raise ValueError(f"tolerance must be 'digits or X %' or 'central X %' with 0 < X < 100; got {text!r}")


def to_text(value: Decimal | float | None, digits: int = 6) -> str:
    """A Decimal or float as a decimal string of ``digits`` significant digits; 0 as "0"; "" for None."""
    if value is None:
        return ""
    value = Decimal(value)
    return "0" if value == 0 else f"{value:.{digits - 1}e}"


def digits_verdict(printed: str, value: Decimal, close: Decimal = Decimal("0.05")) -> str:
    """``same digits``, ``close`` or ``differs`` for a printed number and ours, a Decimal >= 0.

    same digits: ours, rounded or cut off at the last printed digit, is what is printed; a printed 0 must be
    exactly 0. close: within ``close`` of the printed number, relative, border included.
    """
    target = printed_to_decimal(printed)
    if target == 0 or value == 0:
        return "same digits" if target == value else "differs"
    value = Decimal(f"{value:.{_SIGNIFICANT - 1}e}")
    last = -int(target.as_tuple().exponent)
    scaled = value.scaleb(last)
    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN):
        if scaled.to_integral_value(rounding) == target.scaleb(last):
            return "same digits"
    return "close" if abs(value - target) <= close * target else "differs"


def judge_number(row: Row, value: Decimal | None, exact: Decimal | None = None) -> Verdict:
    """Verdict on a deterministic value or a count: ours (None without a formula) and the exact one."""
    if value is None:
        return Verdict("not comparable", exact=to_text(exact))
    if row["kind"] == "data":
        texts = str(value), "" if exact is None else str(exact)
    else:
        texts = to_text(value), to_text(exact)
    close = parse_tolerance(row["tolerance"])[1]
    return Verdict(digits_verdict(row["printed"], value, close), *texts)


def judge_draw(row: Row, sample: npt.ArrayLike) -> Verdict:
    """Verdict on one printed draw of a random quantity, given our draws, shape (repetitions,).

    consistent: the printed number is in the central part of ours that the row's tolerance asks for (borders
    included). The quantile is the mid-rank of the printed number among ours: the share below it and half of
    the share equal to it. ``reproduced`` is our median. ValueError: no draw, or one that is not finite.
    """
    sample = np.asarray(sample, dtype=float)
    if sample.ndim != 1 or sample.size == 0 or not np.all(np.isfinite(sample)):
        raise ValueError("a printed draw needs one or more finite draws of ours to compare with")
    central = float(parse_tolerance(row["tolerance"])[1])
    value = float(printed_to_decimal(row["printed"]))
    low, median, high = np.quantile(sample, [(1 - central) / 2, 0.5, (1 + central) / 2])
    quantile = np.mean(sample < value) + np.mean(sample == value) / 2
    return Verdict(
        "consistent" if low <= value <= high else "inconsistent",
        reproduced=to_text(median),
        # The calibration of the Gaussian depends on delta; the shuffle model's error is the same exactly.
        exact=to_text(median) if row["mechanism"] == "shuffle+INV" else "",
        quantile=f"{quantile:.4g}",
        low=to_text(low),
        high=to_text(high),
    )
