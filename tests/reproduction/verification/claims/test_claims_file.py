"""The list of the paper's statements: its loader's errors, and the file itself."""

import csv

import pytest

from reproduction.verification.claims.claims_file import COLUMNS, read_claims
from tests import ROOT

CLAIMS = ROOT / "data/published/claims.csv"
ROW = {
    "id": "a-trend", "claim": "delta falls", "version": "both", "where": "SV 5.1",
    "quote": "delta falls", "family": "", "about": "Table IV",
    "test_published": "step by step", "test_exact": "none",
}  # fmt: skip


def write(path, rows, columns=COLUMNS):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_rows_come_back_in_order(tmp_path):
    rows = [ROW, {**ROW, "id": "b", "claim": "delta, and eps, fall", "version": "long", "family": "falls"}]
    assert read_claims(write(tmp_path / "claims.csv", rows)) == rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim": "  "}, "line 3: claim is empty; every row needs it"),
        ({"version": "000"}, "line 3: version must be one of long, short, both; got '000'"),
        ({"where": "p. 4"}, "line 3: where must begin with LV or SV and a section; got 'p. 4'"),
        ({"quote": ""}, "line 3: quote is empty; every row needs it"),
        ({"id": "a-trend"}, "line 3: the same id as line 2; every row needs its own"),
        ({"claim": "delta falls"}, "line 3: the same claim as line 2; every row needs its own"),
    ],
)
def test_a_bad_row_is_named_in_one_line(tmp_path, change, message):
    path = write(tmp_path / "claims.csv", [ROW, {**ROW, "id": "b", "claim": "delta rises", **change}])
    with pytest.raises(ValueError, match=r"claims\.csv") as error:
        read_claims(path)
    assert str(error.value) == f"{path}, {message}"


@pytest.mark.parametrize("line", ["one,field,too,few,,x,y\n", "a,b,both,SV 5,q,,Table,x, y,z\n"])
def test_a_row_needs_all_its_fields(tmp_path, line):
    path = write(tmp_path / "claims.csv", [])
    path.write_text(path.read_text() + line)
    with pytest.raises(ValueError, match="line 2: expected 9 fields; quote a field that has a comma"):
        read_claims(path)


def test_columns_must_be_the_known_ones(tmp_path):
    path = write(tmp_path / "claims.csv", [], columns=COLUMNS[:-1])
    with pytest.raises(ValueError, match=r"the columns must be id,claim,.*; got"):
        read_claims(path)


def test_the_project_s_list_is_complete_and_plain():
    rows = read_claims(CLAIMS)
    assert {row["version"] for row in rows} == {"long", "short", "both"}
    text = CLAIMS.read_text(encoding="utf-8")
    assert "\r" not in text
    assert max(len(row["claim"].split()) for row in rows) < 30  # in our words, short
    for item in ("Table IV", "Table II", "Table V", *(f"Figure {n}" for n in (1, 2, 6, 7)), "Figures 4, 5"):
        assert any(item in row["about"] for row in rows), item
