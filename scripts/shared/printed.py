"""The paper's printed values.

``data/published/values.csv`` holds one row per printed value; its README explains the columns and the rules.
Everything stays text until it is compared: printed digits are evidence, and deltas reach below the smallest
float.
"""

import csv
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import cast

import pandas as pd

from scripts.shared.job import StrPath

Row = dict[str, str]  # one row of a CSV file

COLUMNS = (
    "item", "quantity", "n", "k", "eps0", "eps", "count", "x0", "dataset", "mechanism",
    "printed", "source", "kind", "tolerance", "note",
)  # fmt: skip
# Dataset -> its eps0s in Figures 2, 6, 7 and in Tables V, VI.
PAPER: dict[str, tuple[float, ...]] = {
    "synthetic": (4,),
    "san_francisco": (4, 6),
    "paris": (4, 6),
}
OWN = "this paper"  # the mechanism of the paper's own delta
# The columns that tell printed deltas apart.
DELTA_KEY = ["item", "quantity", "mechanism", "n", "k", "eps0", "eps", "count"]
NUMBERS = ("n", "k", "count", "x0", "eps0", "eps")
_PRINTED = re.compile(r"(\d+|\d{1,3}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?")
_DIGITS = re.compile(r"digits or (\d+(?:\.\d+)?) %")
_CENTRAL = re.compile(r"central (\d+(?:\.\d+)?) %")


def read_values(path: StrPath) -> pd.DataFrame:
    """The printed values of ``path`` in the file's order, the columns `COLUMNS` as text.

    Errors as for `numbered_rows`.
    """
    return pd.DataFrame([row for _, row in numbered_rows(path, COLUMNS)], columns=list(COLUMNS))


def records(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame of texts as dicts."""
    return cast(list[Row], frame.to_dict("records"))


def numbered_rows(path: StrPath, columns: tuple[str, ...]) -> Iterator[tuple[int, Row]]:
    """The rows of a CSV file that has exactly these columns, each as (number of its line, column -> text).

    Raises ValueError that names the file and the line; OSError if it cannot be read.
    """
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames is None or tuple(reader.fieldnames) != columns:
            raise ValueError(
                f"{path}: the columns must be {','.join(columns)}; got {reader.fieldnames}"
            )
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
    """(rule, share) of a tolerance: ("digits", 0.05) of "digits or 5 %", ("central", 0.99) of "central 99 %".

    The rule "digits" allows a relative distance of up to the share, "central" means the central share of our
    draws. The share is a Decimal. Raises ValueError for another text.
    """
    for rule, pattern in (("digits", _DIGITS), ("central", _CENTRAL)):
        match = pattern.fullmatch(text)
        if match and 0 < Decimal(match[1]) < 100:
            return rule, Decimal(match[1]) / 100
    raise ValueError(
        f"tolerance must be 'digits or X %' or 'central X %' with 0 < X < 100; got {text!r}"
    )
