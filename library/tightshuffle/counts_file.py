"""Read a histogram of your own: a CSV file with the columns cell and count, checked row by row."""

import csv
import math
import os
import stat
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from tightshuffle.arguments import Booleans, Integers, check_path

# Names of columns that are known, in upper or lower case; other columns may have any name.
KNOWN = ("cell", "count", "label", "row", "column", "south", "north", "west", "east")
MOST_CELLS = 1_000_000
MOST_BYTES = 200_000_000  # a million rows with names take far less
MOST_USERS = 2**53  # a float holds every whole number below it
_MOST_SHOWN = 80  # characters of a bad value in an error's text

StrPath = str | os.PathLike[str]


def read_counts(path: StrPath) -> dict[str, Any]:
    """The columns of a histogram in a CSV file, {name: k values}, in the file's order.

    The file has a header and then one row for each of k cells. The column ``cell`` numbers the cells
    1, 2, ... k, and ``count`` has the users of each. Both are returned as integer arrays. Other columns are
    returned as lists of text; one of them, ``label``, names the cells in figures. Known names may be in
    upper or lower case. The file is UTF-8, with or without a byte order mark, with LF or CRLF line ends.
    Spaces around values are ignored.

    A ValueError is one line that names the file, the row (the header is row 1) and the fault. OSError if
    there is no such file.
    """
    path = check_path("path", path)
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):  # a pipe or a device may never end
        raise ValueError(
            f"{path}: not a regular file; expected a CSV file with the columns cell,count"
        )
    if status.st_size > MOST_BYTES:
        raise ValueError(f"{path}: {status.st_size:,} bytes; expected at most {MOST_BYTES:,}")

    try:
        # "utf-8-sig" also reads UTF-8 without a byte order mark.
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, rows = _header_and_rows(file, path)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start:,})"
        ) from None
    return _columns_with_numbers(header, rows, path)


def _header_and_rows(file: Iterator[str], path: StrPath) -> tuple[list[str], list[list[str]]]:
    """The names of the columns and the rows below the header, every value as text without spaces around it.

    Every row has as many values as the header. Empty rows at the end of the file are left out. ValueError
    names the file at ``path``, the row and the fault, such as an empty row elsewhere.
    """
    lines = csv.reader(file, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    first_empty_row = None
    try:
        for line in lines:
            fields = [field.strip() for field in line]
            is_empty = fields in ([], [""])
            if is_empty:
                if first_empty_row is None:
                    first_empty_row = lines.line_num
                continue
            # An empty row is a fault only if another row follows.
            if first_empty_row is not None:
                raise ValueError(
                    f"{path}: row {first_empty_row}: empty row; expected a header, then one cell per row"
                )

            if not header:
                header = _names_of_columns(fields, path)  # the first row
                continue
            if len(fields) != len(header):
                raise ValueError(
                    f"{path}: row {lines.line_num}: {len(fields)} values; expected {len(header)}, "
                    "as in the header, separated by commas"
                )
            rows.append(fields)
            if len(rows) > MOST_CELLS:
                raise ValueError(
                    f"{path}: more than {MOST_CELLS:,} cells; expected at most that many"
                )
    except csv.Error as error:
        raise ValueError(
            f"{path}: row {lines.line_num}: not a readable CSV file: {error}"
        ) from None

    if not header:
        raise ValueError(
            f"{path}: empty file; expected a header with cell,count, then one cell per row"
        )
    return header, rows


def _names_of_columns(fields: list[str], path: StrPath) -> list[str]:
    """The ``fields`` of the header, with all `KNOWN` names in lower case. ValueError if one occurs twice."""
    header = [name.lower() if name.lower() in KNOWN else name for name in fields]
    for name in header:
        if header.count(name) > 1:
            raise ValueError(f"{path}: row 1: the column {name!r} occurs twice")
    return header


def _columns_with_numbers(
    header: list[str], rows: list[list[str]], path: StrPath
) -> dict[str, Any]:
    """The columns of a table of text, {name: a value per row}: integer arrays for "cell" and "count".

    Other columns are lists of text. ``header`` has the names, and each of the ``rows`` a value for each name.
    ValueError, which names the file at ``path``, unless both columns are there, cell is 1, 2, 3, ..., and
    count has whole numbers >= 0 whose sum is from 1 to below 2^53.
    """
    missing = [name for name in ("cell", "count") if name not in header]
    if missing:
        raise ValueError(
            f"{path}: row 1: the column {missing[0]!r} is missing; expected a header with cell,count "
            f"(comma separated); got {','.join(header)[:_MOST_SHOWN]!r}"
        )
    if len(rows) < 2:
        raise ValueError(
            f"{path}: expected at least 2 cells (rows below the header); got {len(rows)}"
        )

    columns: dict[str, Any] = {}
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        columns[name] = list(texts)
    for name in ("cell", "count"):
        columns[name] = _whole_numbers(path, name, columns[name])

    wrong_order = columns["cell"] != np.arange(1, len(rows) + 1)
    if wrong_order.any():
        rule = "1, 2, 3, ... in this order"
        _raise_for_first(
            bad=wrong_order, values=columns["cell"].tolist(), name="cell", rule=rule, path=path
        )
    # A sum of Python's integers is exact, however large.
    users = sum(columns["count"].tolist())
    if not users:
        raise ValueError(f"{path}: every count is 0; expected at least one user")
    if users >= MOST_USERS:
        raise ValueError(f"{path}: {users:,} users; expected fewer than 2^53 users in all")
    return columns


def _whole_numbers(path: StrPath, name: str, texts: Sequence[str]) -> Integers:
    """The numbers in the ``texts`` of a column; (rows,). They are whole, from 0 to below 2^53.

    ValueError for the first text that is none, or that is too large, with the column's ``name``.
    """
    numbers = np.array([_number_or_nan(text) for text in texts])
    with np.errstate(invalid="ignore"):
        whole = (numbers == np.floor(numbers)) & (numbers >= 0)
    for bad, rule in ((~whole, "a whole number >= 0"), (numbers >= MOST_USERS, "below 2^53")):
        if bad.any():
            _raise_for_first(bad=bad, values=texts, name=name, rule=rule, path=path)
    return numbers.astype(np.int64)


def _number_or_nan(text: str) -> float:
    """The number that ``text`` says, nan if it says none."""
    if "_" in text:  # Python alone reads 1_000 as a number
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _raise_for_first(
    *, bad: Booleans, values: Sequence[Any], name: str, rule: str, path: StrPath
) -> NoReturn:
    """Raise ValueError for the first of the ``values`` of the column ``name`` that is ``bad``; both (rows,).

    The text says that the column must be as the ``rule`` says, and where in the file the value is.
    """
    index = int(np.flatnonzero(bad)[0])
    row = index + 2  # the header is row 1
    shown = str(values[index])[:_MOST_SHOWN]
    raise ValueError(f"{path}: row {row}: {name} must be {rule}; got {shown!r}")
