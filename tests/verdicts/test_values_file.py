"""The file of printed values itself: complete, and with its decisions as its README states them."""

from collections import Counter
from itertools import pairwise

import pytest

from scripts.shared.printed import (
    NUMBERS,
    parse_tolerance,
    printed_to_decimal,
    read_values,
    records,
)
from tests import ROOT

FOLDER = ROOT / "data/published"


ITEMS = {"Table II": 40, "Table 1": 20, "Table IV": 63, "Table V": 28, "Table VI": 28, "text": 4, "data": 2}
CITED = {"erlingsson", "balle", "feldman", "koskela"}
NEEDED = {  # quantity -> number of rows, kind, mechanisms, columns that are never empty
    "delta": (
        123,
        "deterministic",
        CITED | {"this paper"},
        "n eps0 eps",
    ),
    "individual_error": (56, "random", {"gaussian", "shuffle+INV"}, "n k eps0 eps x0 dataset"),
    "tv": (4, "random", {"gaussian", "shuffle+INV"}, "n k eps0 eps dataset"),
    "checkins": (2, "data", {""}, "dataset"),
}


@pytest.fixture(scope="module")
def rows():
    return records(read_values(FOLDER / "values.csv"))


def test_every_printed_value_has_its_row(rows):
    assert Counter(row["item"] for row in rows) == ITEMS
    settings = [tuple(text for name, text in row.items() if name not in ("printed", "note")) for row in rows]
    assert len(set(settings)) == len(rows) == 185
    for quantity, (count, kind, mechanisms, columns) in NEEDED.items():
        of = [row for row in rows if row["quantity"] == quantity]
        assert (len(of), {row["mechanism"] for row in of}) == (count, mechanisms)
        for row in of:
            assert row["kind"] == kind
            assert row["source"]
            assert all(row[name] for name in columns.split())
            rule, _ = parse_tolerance(row["tolerance"])
            assert rule == ("central" if kind == "random" else "digits")
            assert printed_to_decimal(row["printed"]) >= 0
            for name in NUMBERS:
                assert not row[name] or (name, row[name]) == ("n", "all") or float(row[name]) >= 0
    # eps0 = 2, n = 100, k = 10 is in all three parts of Table IV
    parts = {}
    for row in rows:
        if row["item"] == "Table IV" and (row["eps0"], row["n"], row["k"]) == ("2", "100", "10"):
            parts.setdefault(row["source"], []).append((row["eps"], row["printed"]))
    first, second, third = parts.values()
    assert first == second == third


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
