"""The numbers on printed values that texts state: counts of verdicts, and the gap of Theorem 1."""

import pytest

from scripts.paper.values.findings import printed_values, theorem_gap
from tests.report.world import real_verdicts, results, row


def test_verdicts_are_counted_in_all_and_by_item():
    counts = printed_values(results(real_verdicts()))
    # 60 draws, 27 zeros, 14 repeats, 6 of them zeros
    assert (counts.of, counts.random, counts.fixed.of) == (185, 60, 90)
    assert sum(item.of for item in counts.by_item) == counts.of
    assert sum(item.missed for item in counts.by_item) == counts.missed
    assert sum(item.by_digits for item in counts.by_item) == counts.by_digits
    assert (counts.close, counts.central) == ([5], [99])


def test_a_draw_that_is_not_contradicted_does_not_match_by_digits():
    verdicts = (
        "same digits",
        "close",
        "close",
        "consistent",
        "consistent",
        "consistent",
        "inconsistent",
    )
    counts = printed_values(results([row(verdict=verdict, printed="1") for verdict in verdicts]))
    assert (counts.by_digits, counts.missed, counts.of) == (3, 1, 7)


def test_the_gap_of_table_iv_is_the_largest_even_below_floats():
    pairs = [
        ("1e-2", "3.1622776601683795e-2"),
        ("2e-2", "1e-2"),
        ("0", "1e-9"),
        ("1e-400", "2e-350"),
    ]
    rows = [row(reproduced=published, exact=exact) for published, exact in pairs]
    rows.append(row(reproduced="1e-90", exact=""))
    gap = theorem_gap(results(rows))
    assert gap.orders == pytest.approx(50.30103, abs=1e-5)
    assert (gap.below, gap.of, gap.elsewhere) == (2, 3, {})


def test_the_gap_of_another_table_is_over_the_values_that_the_formula_gives():
    table_1 = {"item": "Table 1", "mechanism": "this paper"}
    rows = [
        row(reproduced="1e-2", exact="1e-1"),
        row(item="Table II", reproduced="1e-90", exact="1"),  # of another mechanism
        row(**table_1, reproduced="1e-9", exact="1e-7"),
        row(**table_1, reproduced="1e-9", exact="1e-8"),
        row(**table_1, reproduced="1e-90", exact="1", verdict="differs"),  # not the formula's value
    ]
    assert theorem_gap(results(rows)).elsewhere == {"Table 1": pytest.approx(2)}
