"""Read a histogram of your own: a CSV file with the columns cell and count, checked row by row."""

import csv
import math
import os
import stat
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from tightshuffle.arguments import Booleans, Integers, check_path

KNOWN = ("cell", "count", "label", "row", "column", "south", "north", "west", "east")  # in any case
MOST_CELLS = 1_000_000
MOST_BYTES = 200_000_000  # a million rows with names take far less
MOST_USERS = 2**53  # a float holds every whole number below it


StrPath = str | os.PathLike[str]


def read_counts(path: StrPath) -> dict[str, Any]:
    """The histogram in a CSV file: whole numbers in ``cell`` (1, 2, ... k) and ``count``.

    Column names may be in upper or lower case. Other columns are kept as lists of text, and ``label`` names
    cells in figures. The file is UTF-8, with or without a byte order mark, with LF or CRLF line ends. Spaces
    around values are ignored. Returns column -> k values, in the file's order, with integer arrays for cell
    and count. A ValueError is one line that names the file, the row (the header is row 1) and the fault.
    OSError if there is no such file.
    """
    path = check_path("path", path)
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):  # a pipe or a device may never end
        raise ValueError(
            f"{path}: not a regular file; expected a CSV file with the columns cell,count"
        )
    if state.st_size > MOST_BYTES:
        raise ValueError(f"{path}: {state.st_size:,} bytes; expected at most {MOST_BYTES:,}")

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, rows = _read_rows(file, path)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start:,})"
        ) from None
    return _make_histogram(header, rows, path)


def _read_rows(file: Iterator[str], path: StrPath) -> tuple[list[str], list[list[str]]]:
    """The header and the rows below it, every value as text."""
    lines = csv.reader(file, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    first_empty_row = None
    try:
        for line in lines:
            fields = [field.strip() for field in line]
            if fields in ([], [""]):
                if first_empty_row is None:
                    first_empty_row = lines.line_num
                continue
            if first_empty_row is not None:
                raise ValueError(
                    f"{path}: row {first_empty_row}: empty row; expected a header, then one cell per row"
                )

            if not header:
                header = _check_header(fields, path)
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


def _check_header(fields: list[str], path: StrPath) -> list[str]:
    """The columns' names, those that are `KNOWN` in lower case. ValueError if one occurs twice."""
    header = [name.lower() if name.lower() in KNOWN else name for name in fields]
    for name in header:
        if header.count(name) > 1:
            raise ValueError(f"{path}: row 1: the column {name!r} occurs twice")
    return header


def _make_histogram(header: list[str], rows: list[list[str]], path: StrPath) -> dict[str, Any]:
    """The columns of the ``rows`` of text, with numbers for cell and count. Errors as for `read_counts`."""
    missing = [name for name in ("cell", "count") if name not in header]
    if missing:
        raise ValueError(
            f"{path}: row 1: the column {missing[0]!r} is missing; expected a header with cell,count "
            f"(comma separated); got {','.join(header)[:80]!r}"
        )
    if len(rows) < 2:
        raise ValueError(
            f"{path}: expected at least 2 cells (rows below the header); got {len(rows)}"
        )

    columns: dict[str, Any] = {}
    for name, texts in zip(header, zip(*rows, strict=True), strict=True):
        columns[name] = list(texts)
    for name in ("cell", "count"):
        columns[name] = _parse_whole_numbers(path, name, columns[name])

    wrong_order = columns["cell"] != np.arange(1, len(rows) + 1)
    if wrong_order.any():
        rule = "1, 2, 3, ... in this order"
        _refuse_first(
            bad=wrong_order, values=columns["cell"].tolist(), name="cell", rule=rule, path=path
        )
    users = sum(columns["count"].tolist())  # exact, however large
    if not users:
        raise ValueError(f"{path}: every count is 0; expected at least one user")
    if users >= MOST_USERS:
        raise ValueError(f"{path}: {users:,} users; expected fewer than 2^53 users in all")
    return columns


def _parse_whole_numbers(path: StrPath, name: str, texts: Sequence[str]) -> Integers:
    """The numbers of a column. ValueError names the first text that is no whole number."""
    numbers = np.array([_parse_number(text) for text in texts])
    with np.errstate(invalid="ignore"):
        bad = ~((numbers == np.floor(numbers)) & (numbers >= 0) & (numbers < MOST_USERS))
    if bad.any():
        _refuse_first(bad=bad, values=texts, name=name, rule="a whole number >= 0", path=path)
    return numbers.astype(np.int64)


def _parse_number(text: str) -> float:
    """The number that ``text`` is, nan for none."""
    if "_" in text:  # Python alone reads 1_000 as a number
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _refuse_first(
    *, bad: Booleans, values: Sequence[Any], name: str, rule: str, path: StrPath
) -> NoReturn:
    """Raise ValueError for the first ``bad`` one of the ``values`` of the column ``name``."""
    index = int(np.flatnonzero(bad)[0])
    row = index + 2  # the header is row 1
    raise ValueError(f"{path}: row {row}: {name} must be {rule}; got {str(values[index])[:80]!r}")
