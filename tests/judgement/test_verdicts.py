"""Counting verdicts, checking their rows, and the gaps between the readings."""

import re

import pytest

from tests.report.report_page import row
from tightshuffle.judgement.verdicts import check_verdicts, count_claims, orders


def test_orders_of_magnitude():
    assert orders("1e-400", "1e-390") == pytest.approx(10, abs=1e-12)
    assert orders("2e-8", "1e-8") == pytest.approx(-0.30103, abs=1e-5)
    assert orders("0", "1e-3") is None
    assert orders("1e-3", "0") is None
    assert orders("", "1e-3") is None


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
        check_verdicts([row(**change)])


def test_claims_are_counted_and_an_unknown_verdict_is_named():
    rows = [{"verdict": "holds"}, {"verdict": "fails"}, {"verdict": "holds"}]
    assert list(count_claims(rows).items()) == [
        ("holds", 2), ("holds only as published", 0), ("fails", 1), ("untestable", 0),
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"claims.csv, row 2: verdict is 'maybe'"):
        count_claims([{"verdict": "holds"}, {"verdict": "maybe"}], "claims.csv")
