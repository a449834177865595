"""Read a histogram of your own: a CSV file with the columns cell and count, checked row by row."""

import csv
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

    Column names may be in upper or lower case. Other columns are kept as lists of text; ``label`` names cells
    in figures. The file is UTF-8, with or without a byte order mark, with LF or CRLF line ends; spaces around
    values are ignored. Returns column -> k values, in the file's order; cell and count are integer arrays.
    ValueError: one line that names the file, the row (the header is row 1) and the fault. OSError: no such
    file.
    """
    path = check_path("path", path)
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):  # a pipe or a device may never end
        raise ValueError(f"{path}: not a regular file; expected a CSV file with the columns cell,count")
    if state.st_size > MOST_BYTES:
        raise ValueError(f"{path}: {state.st_size:,} bytes; expected at most {MOST_BYTES:,}")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, rows = _read_rows(file, path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start:,})") from None
    return _checked(header, rows, path)


def _read_rows(file: Iterator[str], path: StrPath) -> tuple[list[str], list[list[str]]]:
    """The header and the rows below it, every value as text."""
    lines = csv.reader(file, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    blank = 0
    try:
        for line in lines:
            fields = [field.strip() for field in line]
            if not any(fields) and len(fields) < 2:
                blank = blank or lines.line_num
                continue
            if blank:
                raise ValueError(f"{path}: row {blank}: empty row; expected a header, then one cell per row")
            if not header:
                header = [name.lower() if name.lower() in KNOWN else name for name in fields]
                if twice := [name for name in header if header.count(name) > 1]:
                    raise ValueError(f"{path}: row 1: the column {twice[0]!r} occurs twice")
                continue
            if len(fields) != len(header):
                raise ValueError(
                    f"{path}: row {lines.line_num}: {len(fields)} values; expected {len(header)}, "
                    "as in the header, separated by commas"
                )
            rows.append(fields)
            if len(rows) > MOST_CELLS:
                raise ValueError(f"{path}: more than {MOST_CELLS:,} cells; expected at most that many")
    except csv.Error as error:
        raise ValueError(f"{path}: row {lines.line_num}: not a readable CSV file: {error}") from None
    if not header:
        raise ValueError(f"{path}: empty file; expected a header with cell,count, then one cell per row")
    return header, rows


def _checked(header: list[str], rows: list[list[str]], path: StrPath) -> dict[str, Any]:
    """The columns, with every value as text in ``rows``, as a histogram; errors as `read_counts`."""
    missing = [name for name in ("cell", "count") if name not in header]
    if missing:
        raise ValueError(
            f"{path}: row 1: the column {missing[0]!r} is missing; expected a header with cell,count "
            f"(comma separated); got {','.join(header)[:80]!r}"
        )
    if len(rows) < 2:
        raise ValueError(f"{path}: expected at least 2 cells (rows below the header); got {len(rows)}")
    columns: dict[str, Any] = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    for name in ("cell", "count"):
        columns[name] = _whole_numbers(path, name, columns[name])
    wrong = columns["cell"] != np.arange(1, len(rows) + 1)
    if wrong.any():
        _refuse(path, wrong, "cell", columns["cell"].tolist(), "1, 2, 3, ... in this order")
    users = sum(columns["count"].tolist())  # exact, however large
    if not users:
        raise ValueError(f"{path}: every count is 0; expected at least one user")
    if users >= MOST_USERS:
        raise ValueError(f"{path}: {users:,} users; expected fewer than 2^53 users in all")
    return columns


def _whole_numbers(path: StrPath, name: str, texts: Sequence[str]) -> Integers:
    numbers = np.array([_number(text) for text in texts])
    with np.errstate(invalid="ignore"):
        bad = ~((numbers == np.floor(numbers)) & (numbers >= 0) & (numbers < MOST_USERS))
    if bad.any():
        _refuse(path, bad, name, texts, "a whole number >= 0")
    return numbers.astype(np.int64)


def _number(text: str) -> float:
    """The number that ``text`` is, nan for none."""
    try:
        return float("nan" if "_" in text else text)  # Python alone reads 1_000 as a number
    except ValueError:
        return float("nan")


def _refuse(path: StrPath, bad: Booleans, name: str, values: Sequence[Any], wanted: str) -> NoReturn:
    """Raise ValueError for the first bad value of a column."""
    row = int(np.flatnonzero(bad)[0])
    raise ValueError(f"{path}: row {row + 2}: {name} must be {wanted}; got {str(values[row])[:80]!r}")
