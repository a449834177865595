"""Counting verdicts, and the gaps between the readings."""

import pandas as pd
import pytest

from scripts.verdicts.verdicts import (
    count_claims,
    count_verdicts,
    counted_claims,
    cross_claims,
    fixed_values,
    orders,
)
from tests.report.report_page import real_verdicts, row


def test_orders_of_magnitude():
    assert orders("1e-400", "1e-390") == pytest.approx(10, abs=1e-12)
    assert orders("2e-8", "1e-8") == pytest.approx(-0.30103, abs=1e-5)
    assert orders("0", "1e-3") is orders("1e-3", "0") is orders("", "1e-3") is None


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
    assert (counts.by_digits, counts.not_contradicted, counts.total) == (3, 6, 7)


def test_claims_are_counted_each_family_once_with_its_best_row():
    columns = ["verdict_published", "verdict_exact", "verdict", "family"]
    rows = [
        ("fails", "fails", "fails", "twins"),
        ("holds", "holds", "holds", ""),
        ("holds", "fails", "holds only as published", "twins"),
        ("fails", "fails", "fails", ""),
        ("untestable", "fails", "fails", "open"),
        ("untestable", "untestable", "untestable", "open"),  # more favourable than "fails"
    ]
    rows = pd.DataFrame(rows, columns=columns)
    assert counted_claims(rows).index.tolist() == [2, 1, 3, 5]
    counts = {name: number for name, number in count_claims(rows).items() if number}
    assert counts == {"holds": 1, "holds only as published": 1, "untestable": 1, "fails": 1}
    crossed = cross_claims(rows)
    assert crossed["holds"] == {"holds": 1, "fails": 1, "untestable": 0}
    assert crossed["untestable"] == {"holds": 0, "fails": 0, "untestable": 1}
