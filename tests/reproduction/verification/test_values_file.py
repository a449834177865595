"""The file of printed values itself: complete, readable, with its decisions as its README states them."""

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


def test_the_repeated_line_of_table_iv_is_the_same_each_time(rows):
    """eps0 = 2, n = 100, k = 10 is in all three parts of Table IV."""
    parts = {}
    for row in rows:
        if row["item"] == "Table IV" and (row["eps0"], row["n"], row["k"]) == ("2", "100", "10"):
            parts.setdefault(row["source"], []).append((row["eps"], row["printed"]))
    assert len(parts) == 3
    first, *others = parts.values()
    assert len(first) == 7
    assert all(other == first for other in others)


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
        if row["item"] != "Table IV" or row["n"] != "100":
            assert row["note"]


def test_literature_budget_differs_from_the_caption_only_where_noted(rows):
    for row in rows:
        if row["item"] == "Table II" and row["eps0"] != "0.49":
            assert row["eps0"] == "0.5"
            assert row["n"] == "1000"
            assert row["note"].startswith("the caption says eps0 = 0.49")


def test_values_without_a_formula_say_why(rows):
    koskela = [row for row in rows if row["mechanism"] == "koskela"]
    assert len(koskela) == 4
    assert all("no formula was found" in row["note"] for row in koskela)


def test_file_is_plain(rows):
    data = (FOLDER / "values.csv").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert all(value == value.strip() and value.isprintable() for row in rows for value in row.values())


def test_parameters_file():
    with open(FOLDER / "parameters.csv", newline="", encoding="utf-8") as file:
        parameters = list(csv.DictReader(file))
    assert [row["parameter"] for row in parameters] == ["eps", "eps0", "n", "x0", "k"]
    assert all(row["printed"] and row["source"] for row in parameters)
