"""Counting verdicts, checking their rows, and the gaps between the readings."""

import re

import pandas as pd
import pytest

from reproduction.verification.verdicts import (
    check_verdicts,
    count_claims,
    count_verdicts,
    counted_claims,
    cross_claims,
    fixed_values,
    orders,
)
from tests.reproduction.report.report_page import real_verdicts, row


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
    ],
)
def test_check_names_row_and_column(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_verdicts(pd.DataFrame([row(**change)]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (pd.DataFrame(), "verdicts.csv: no rows"),
        (pd.DataFrame([row()]).drop(columns="source"), "verdicts.csv: column source is missing"),
    ],
)
def test_check_names_what_is_missing(rows, message):
    with pytest.raises(ValueError, match=message):
        check_verdicts(rows)


def test_draws_zeros_and_repeats_say_nothing_of_their_own():
    rows = [row(printed="1E-4"), row(printed="0"), row(printed="1E-4", source="again"), row(printed="2E-4")]
    rows += [row(printed="1E-4", eps="77"), row(printed="3E-4", kind="random")]
    assert fixed_values(pd.DataFrame(rows)).index.tolist() == [0, 3, 4]
    real = pd.DataFrame(real_verdicts())
    # 60 draws, 27 zeros, 14 repeats, 6 of them zeros
    assert (len(real), len(fixed_values(real))) == (185, 90)


def test_a_draw_that_is_not_contradicted_does_not_come_out_by_its_digits():
    verdicts = ("same digits", "close", "close", "consistent", "consistent", "consistent", "inconsistent")
    counts = count_verdicts(pd.DataFrame([row(verdict=verdict) for verdict in verdicts]))
    assert (counts.by_digits, counts.reproduced, counts.total) == (3, 6, 7)


def claim(published, exact, verdict, family=""):
    readings = {"verdict_published": published, "verdict_exact": exact}
    return readings | {"verdict": verdict, "family": family}


def test_claims_are_counted_each_family_once_with_its_best_row():
    rows = [
        claim("fails", "fails", "fails", "twins"),
        claim("holds", "holds", "holds"),
        claim("holds", "fails", "holds only as published", "twins"),
        claim("fails", "fails", "fails"),
        claim("untestable", "fails", "fails", "open"),
        claim("untestable", "untestable", "untestable", "open"),  # more favourable than "fails"
    ]
    rows = pd.DataFrame(rows)
    assert counted_claims(rows).index.tolist() == [2, 1, 3, 5]
    counts = {name: number for name, number in count_claims(rows).items() if number}
    assert counts == {"holds": 1, "holds only as published": 1, "untestable": 1, "fails": 1}
    crossed = cross_claims(rows)
    assert crossed["holds"] == {"holds": 1, "fails": 1, "untestable": 0}
    assert crossed["untestable"] == {"holds": 0, "fails": 0, "untestable": 1}


def test_an_unknown_verdict_is_named():
    with pytest.raises(ValueError, match=r"claim_verdicts.csv, row 2: verdict is 'maybe'"):
        count_claims(pd.DataFrame([claim("", "", "holds"), claim("", "", "maybe")]))
