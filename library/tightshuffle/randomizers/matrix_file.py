"""Read a randomizer of your own, given as a matrix in a CSV file."""

import csv
import re

from tightshuffle.arguments import check_path, check_regular_file
from tightshuffle.randomizers.finite import Finite

_MOST_BYTES = 50_000_000
_MOST_SHOWN = 80  # characters of a bad field in an error's text


def read_matrix(path: str) -> Finite:
    """The randomizer in a CSV file without a header: a row per report, a column per value.

    The field in row y and column x is the probability to report y for x. Errors are those of `read_rows`.
    """
    rows = read_rows(path, "a probability")
    # `Finite` counts rows and columns from 0, a reader of the file from 1.
    try:
        return Finite(rows)
    except ValueError as error:
        message = re.sub(r"\b(row|column) (\d+)", _count_from_1, str(error))
        raise ValueError(f"{path}: {message}") from None


def read_rows(path: str, expected: str) -> list[list[float]]:
    """The numbers in a CSV file without a header, rows of one length; ``expected`` says what a field is.

    A ValueError is one line that names the file, the row (if the fault is in one row) and the fault.
    """
    path = check_path("path", path)
    try:
        check_regular_file(path, _MOST_BYTES)
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = [
                _parse_row(fields, path, row, expected)
                for row, fields in enumerate(csv.reader(file), 1)
            ]
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise ValueError(f"{path}: not a readable CSV file: {error}") from None

    for row, numbers in enumerate(rows, 1):
        if len(numbers) != len(rows[0]):
            raise ValueError(
                f"{path}: row {row}: {len(numbers)} values; expected {len(rows[0])}, as in row 1"
            )
    return rows


def _count_from_1(match: re.Match[str]) -> str:
    """The text of the match, such as "row 0", with its number counted from 1: "row 1"."""
    return f"{match[1]} {int(match[2]) + 1}"


def _parse_row(fields: list[str], path: str, row: int, expected: str) -> list[float]:
    """The ``fields`` of a row of the file, as numbers. ValueError names the first field that is none.

    ``row`` is the row's number in the file, from 1, and ``expected`` what a field should be.
    """
    numbers = []
    for field in fields:
        try:
            numbers.append(float(field))
        except ValueError:
            raise ValueError(
                f"{path}: row {row}: expected {expected}; got {field[:_MOST_SHOWN]!r}"
            ) from None
    return numbers
