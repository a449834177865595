"""How the page lays out the verdicts: numbers as printed, rows and notes in their place."""

import pandas as pd
import pytest

from reproduction.report import verdict_layout as layout
from reproduction.verification.printed import read_values, records
from reproduction.verification.verdicts import count_verdicts
from tests import ROOT
from tests.reproduction.report.report_page import row

VALUES = [
    {**value, "verdict": "same digits"} for value in records(read_values(ROOT / "data/published/values.csv"))
]


def test_small_tables_follow_the_printed_ones():
    shapes = {
        name: [len(table.rows) for table in layout.small_tables(rows, layout.APART.get(name, ()))]
        for name, rows in layout.rows_by_item(VALUES).items()
    }
    assert shapes == {
        "Table II": [5] * 8, "Table 1": [4] * 5, "Table IV": [7] * 9, "Table V": [7] * 4, "Table VI": [7] * 4,
        "text": [4], "data": [2],
    }  # fmt: skip


def test_small_tables_name_what_tells_them_apart():
    rows = [
        row(source=f"Table (varying {part})", n="100", eps0=eps0, k="10", eps=eps, printed="0")
        for part, eps0 in (("eps0", "1"), ("eps0", "2"), ("n", "2"))
        for eps in ("0.1", "0.5")
    ]
    tables = layout.small_tables(rows, layout.APART["Table IV"])
    parts = [("varying eps0", "1"), ("varying eps0", "2"), ("varying n", "2")]
    assert [(table.part, table.heading) for table in tables] == [(part, {"eps0": x}) for part, x in parts]
    assert all(table.columns == ["eps"] for table in tables)
    assert layout.common(rows) == {"n": "100", "k": "10"}
    assert layout.count_sources(rows) == {"Table": 6}


def test_every_remark_of_a_row_is_said_exactly_once():
    for name, rows in layout.rows_by_item(VALUES).items():
        before = layout.small_tables(rows, layout.APART.get(name, ()))
        everywhere, tables, marked = layout.place_notes(before)
        for old, new in zip(before, tables, strict=True):
            for was, found in zip(old.rows, new.rows, strict=True):
                own = new.note or marked.get(found["mark"], "")
                assert not (new.note and found["mark"])
                said = [*everywhere, *layout.split_note(own)]
                assert sorted(said) == sorted(layout.split_note(was["note"]))
        assert len(set(marked.values())) == len(marked)


def test_split_note_keeps_parentheses_whole():
    assert layout.split_note("taken (k = 10; m = 80); one run") == ["taken (k = 10; m = 80)", "one run"]
    assert layout.split_note("") == []


@pytest.mark.parametrize(
    ("printed", "value", "shown"),
    [
        ("3.25E-22", "3.2451234e-22", "3.245E-22"),
        ("0.97", "9.72603e-01", "0.9726"),
        ("0.0001", "9.1e-05", "9.100E-5"),
        ("0.9", "0.99996", "1.000"),
        ("7E-400", "7.00012e-400", "7.000E-400"),
        ("123,108", "123026", "123,026"),
        ("10260", "10260", "10260"),
        ("0", "0.000", "0"),
        ("0", "2.7e-18", "2.700E-18"),
        ("1E-3", "", ""),
    ],
)
def test_like_writes_ours_as_the_printed_value(printed, value, shown):
    assert layout.like(printed, value) == shown


def test_positions_and_shares():
    assert layout.position("0.25") == "25.00"
    assert layout.position("") is None
    counts = count_verdicts(pd.DataFrame([row(), row(), row(verdict="differs")])).by_verdict
    assert layout.shares(counts) == [("same digits", "66.667"), ("differs", "33.333")]
