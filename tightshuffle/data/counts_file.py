"""Read a user's own histogram: a CSV file with the columns cell and count, checked row by row."""

import csv
import os
import stat

import pandas as pd

from tightshuffle.data.histograms import check_counts

MOST_CELLS = 1_000_000
MOST_BYTES = 200_000_000  # a million rows with names are far smaller


def read_counts(path):
    """The histogram in a CSV file, as `check_counts` returns it.

    UTF-8 with or without a byte order mark, lines ended by LF or CRLF, spaces around values are all fine.
    ValueError: one line that names the file, the line (from 1) and what is wrong. OSError: no such file.
    """
    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):  # a pipe or a device may never end
        raise ValueError(f"{path}: not a regular file; expected a CSV file with the columns cell,count")
    if state.st_size > MOST_BYTES:
        raise ValueError(f"{path}: {state.st_size:,} bytes; expected at most {MOST_BYTES:,}")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            header, rows = _read(csv.reader(file, strict=True), path)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start:,})") from None
    return check_counts(pd.DataFrame(rows, columns=header, dtype=str), path)


def _read(lines, path):
    header, rows, blank = None, [], None
    try:
        for line in lines:
            fields = [field.strip() for field in line]
            if not any(fields) and len(fields) < 2:
                blank = blank or lines.line_num
                continue
            if blank:
                raise ValueError(f"{path}: row {blank}: empty; expected a header, then one cell per row")
            if header is None:
                header = fields
                if twice := [name for name in header if header.count(name) > 1]:
                    raise ValueError(f"{path}: row 1: the column {twice[0]!r} stands twice; expected it once")
                continue
            if len(fields) != len(header):
                raise ValueError(
                    f"{path}: row {lines.line_num}: {len(fields)} values; expected {len(header)}, "
                    "as in the header, separated by commas"
                )
            rows.append(fields)
            if len(rows) > MOST_CELLS:
                raise ValueError(f"{path}: more than {MOST_CELLS:,} cells; expected at most so many")
    except csv.Error as error:
        raise ValueError(f"{path}: row {lines.line_num}: not a readable CSV file: {error}") from None
    if header is None:
        raise ValueError(f"{path}: empty; expected a header with cell,count and one cell per row")
    return header, rows
