"""The functions behind the report page: counts, gaps, numbers as printed, rows and notes in their place."""

import re

import pytest

from tests.conftest import ROOT
from tightshuffle.judgement import printed as published
from tightshuffle.report import verdicts as report

PUBLISHED = ROOT / "data/published/values.csv"
VALUES = [{**value, "verdict": "exact"} for value in published.read_values(PUBLISHED)]


def row(**fields):
    """One verdict: blank but for ``fields``."""
    given = {"item": "Table IV", "kind": "deterministic", "tolerance": "digits or 5 %", "verdict": "exact"}
    return {**dict.fromkeys(report.COLUMNS, ""), "source": "Somewhere", **given, **fields}


def test_small_tables_follow_the_printed_ones():
    shapes = {
        name: [len(table["rows"]) for table in report.small_tables(rows, report.APART.get(name, ()))]
        for name, rows in report.items(VALUES).items()
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
    tables = report.small_tables(rows, report.APART["Table IV"])
    assert [(table["part"], table["heading"]) for table in tables] == [
        ("varying eps0", {"eps0": "1"}),
        ("varying eps0", {"eps0": "2"}),
        ("varying n", {"eps0": "2"}),
    ]
    assert all(table["columns"] == ["eps"] for table in tables)
    assert report.common(rows) == {"n": "100", "k": "10"}
    assert report.sources(rows) == {"Table": 6}


def test_every_remark_of_a_row_is_said_exactly_once():
    for name, rows in report.items(VALUES).items():
        before = report.small_tables(rows, report.APART.get(name, ()))
        everywhere, tables, marked = report.place_notes(before)
        for old, new in zip(before, tables, strict=True):
            for was, found in zip(old["rows"], new["rows"], strict=True):
                own = new["note"] or marked.get(found["mark"], "")
                assert not (new["note"] and found["mark"])
                said = [*everywhere, *report.split_note(own)]
                assert sorted(said) == sorted(report.split_note(was["note"]))
        assert len(set(marked.values())) == len(marked)


def test_split_note_keeps_parentheses_whole():
    assert report.split_note("taken (k = 10; m = 80); one run") == ["taken (k = 10; m = 80)", "one run"]
    assert report.split_note("") == []


@pytest.mark.parametrize(
    ("printed", "value", "shown"),
    [
        ("3.25E-22", "3.2451234e-22", "3.245E-22"),
        ("0.97", "9.72603e-01", "0.9726"),
        ("0.01", "1.174e-2", "0.01174"),
        ("0.0001", "9.1e-05", "9.100E-5"),
        ("0.9", "0.99996", "1.000"),
        ("12E-4", "0.0013", "1.300E-3"),
        ("7E-400", "7.00012e-400", "7.000E-400"),
        ("123,108", "123026", "123,026"),
        ("10260", "10260", "10260"),
        ("0", "0.000", "0"),
        ("0", "2.7e-18", "2.700E-18"),
        ("1E-3", "", ""),
    ],
)
def test_like_writes_ours_as_the_printed_value(printed, value, shown):
    assert report.like(printed, value) == shown


def test_orders_of_magnitude():
    assert report.orders("1e-400", "1e-390") == pytest.approx(10, abs=1e-12)
    assert report.orders("2e-8", "1e-8") == pytest.approx(-0.30103, abs=1e-5)
    assert report.orders("0", "1e-3") is None
    assert report.orders("1e-3", "0") is None
    assert report.orders("", "1e-3") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "good"}, "row 1: verdict is 'good'"),
        ({"exact": "nan"}, "row 1: exact is 'nan'"),
        ({"low": "much"}, "row 1: low is 'much'"),
        ({"source": None}, "row 1: column source is missing"),
    ],
)
def test_check_names_row_and_column(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        report.check([row(**change)])


def test_check_refuses_an_empty_table():
    with pytest.raises(ValueError, match="no rows"):
        report.check([])


def test_positions_and_shares():
    assert report.position("0.25") == "25.00"
    assert report.position("") is None
    counts = report.tally([row(), row(), row(verdict="differs")]).counts
    assert report.shares(counts) == [("exact", "66.667"), ("differs", "33.333")]
