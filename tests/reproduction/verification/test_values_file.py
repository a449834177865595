"""The file of printed values itself: complete, and with its decisions as its README states them."""

import csv
from collections import Counter
from itertools import pairwise

import pytest

from reproduction.verification.printed import printed_to_decimal, read_values, records
from tests import ROOT

FOLDER = ROOT / "data/published"


@pytest.fixture(scope="module")
def rows():
    return records(read_values(FOLDER / "values.csv"))


def test_every_printed_value_has_its_row(rows):
    quantities = {"delta": 123, "individual_error": 56, "tv": 4, "checkins": 2}  # 185
    assert Counter(row["quantity"] for row in rows) == quantities
    # eps0 = 2, n = 100, k = 10 is in all three parts of Table IV
    parts = {}
    for row in rows:
        if row["item"] == "Table IV" and (row["eps0"], row["n"], row["k"]) == ("2", "100", "10"):
            parts.setdefault(row["source"], []).append((row["eps"], row["printed"]))
    first, second, third = parts.values()
    assert first == second == third
    with open(FOLDER / "parameters.csv", newline="", encoding="utf-8") as file:
        assert [row["parameter"] for row in csv.DictReader(file)] == ["eps", "eps0", "n", "x0", "k"]


def test_printed_deltas_fall_with_eps(rows):
    """In every line of every table; a slip in copying an exponent would show here."""
    lines = {}
    for row in rows:
        if row["quantity"] == "delta":
            # The eps0 of a literature column changes within Table II: n = 1,000 (see the README).
            key = (row["source"], row["mechanism"], row["n"], row["k"])
            key += (row["eps0"],) if row["item"] == "Table IV" else ()
            lines.setdefault(key, []).append((float(row["eps"]), printed_to_decimal(row["printed"])))
    assert len(lines) == 4 * 2 + 5 + 9
    for line in lines.values():
        assert line == sorted(line)
        deltas = [delta for _, delta in line]
        assert all(after < before or after == before == 0 for before, after in pairwise(deltas))


def test_count_is_eight_tenths_of_n_and_says_so(rows):
    proposed = [row for row in rows if row["mechanism"] == "this paper"]
    assert len(proposed) == 10 + 4 + 63
    for row in proposed:
        assert 10 * int(row["count"]) == 8 * int(row["n"])
        assert row["note"] or (row["item"], row["n"]) == ("Table IV", "100")
