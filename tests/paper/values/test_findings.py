"""The numbers on printed values that texts state: counts of verdicts, and the gap of Theorem 1."""

import math

import pytest

from scripts.paper.values.findings import printed_values, theorem_gap
from tests.report.world import real_verdicts, results, row


def test_verdicts_are_counted_in_all_and_by_item():
    counts = printed_values(results(real_verdicts()))
    # Fixed: without 60 random values, 27 zeros, and 14 values that are printed twice, of which 6 are zeros.
    assert (counts.of, counts.random, counts.fixed.of) == (185, 60, 185 - 60 - 27 - (14 - 6))
    assert sum(item.of for item in counts.by_item) == counts.of
    assert sum(item.missed for item in counts.by_item) == counts.missed
    assert sum(item.by_digits for item in counts.by_item) == counts.by_digits
    assert (counts.close, counts.central) == ([5], [99])


def test_a_draw_that_is_not_contradicted_does_not_match_by_digits():
    """By digits are "same digits" and "close". "consistent" is the verdict on a draw."""
    verdicts = ["same digits", *["close"] * 2, *["consistent"] * 3, "inconsistent"]
    counts = printed_values(results([row(verdict=verdict, printed="1") for verdict in verdicts]))
    assert (counts.by_digits, counts.missed, counts.of) == (1 + 2, 1, 7)


def theorem_1_rows(item, exact_by_published, **others):
    """Rows of verdicts.csv for deltas of Theorem 1 in the table ``item``, with our two deltas of each.

    They are texts: the delta by the published formula -> the exact delta.
    """
    own = {"item": item, "mechanism": "this paper", **others}
    return [
        row(**own, reproduced=published, exact=exact)
        for published, exact in exact_by_published.items()
    ]


def test_gap_of_theorem_1_is_the_largest_ratio_of_exact_to_published_in_orders_of_magnitude():
    below_floats = {"1e-400": "2e-350"}
    rows = theorem_1_rows("Table IV", {"1e-2": "3.1622776601683795e-2"} | below_floats)
    gap = theorem_gap(results(rows))
    assert gap.orders == pytest.approx(400 - 350 + math.log10(2), abs=1e-5)


def test_cells_without_two_positive_deltas_have_no_gap():
    rows = theorem_1_rows("Table IV", {"1e-2": "1e-1", "0": "1e-9", "1e-90": ""})
    assert theorem_gap(results(rows)).orders == pytest.approx(1)


def test_gap_of_another_table_is_its_largest():
    rows = theorem_1_rows("Table IV", {"1e-2": "1e-1"})
    rows += theorem_1_rows("Table 1", {"1e-9": "1e-7", "1e-8": "1e-7"})
    assert theorem_gap(results(rows)).elsewhere == {"Table 1": pytest.approx(2)}


def test_gap_of_another_table_leaves_out_values_that_the_formula_does_not_give():
    rows = theorem_1_rows("Table IV", {"1e-2": "1e-1"})
    rows += theorem_1_rows("Table 1", {"1e-90": "1"}, verdict="differs")
    rows.append(row(item="Table II", mechanism="balle", reproduced="1e-90", exact="1"))
    assert theorem_gap(results(rows)).elsewhere == {}
