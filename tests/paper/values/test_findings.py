"""The numbers on printed values that texts state: counts of verdicts, and the gap of Theorem 1."""

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


def test_the_gap_of_table_iv_is_the_largest_even_below_floats():
    """The gap of a printed value is log10(exact / published), of two deltas that are both positive.

    ``row`` makes a printed value of Table IV; its column reproduced has the published delta. `theorem_gap`
    gives the largest gap (orders), in how many cells the published delta is too small (below), in how many
    there is a gap (of), and the gaps of other tables (elsewhere).
    """
    rows = [
        row(reproduced="1e-2", exact="3.1622776601683795e-2"),  # a gap of 0.5
        row(reproduced="2e-2", exact="1e-2"),  # not below the exact delta
        row(reproduced="0", exact="1e-9"),  # does not count: 0 has no logarithm
        row(reproduced="1e-400", exact="2e-350"),  # a gap of 50 + log10(2)
        row(reproduced="1e-90", exact=""),  # does not count: nothing to compare with
    ]
    # Three values count, and in two of them the published delta is too small. No other table is there.
    gap = theorem_gap(results(rows))
    assert gap.orders == pytest.approx(50.30103, abs=1e-5)
    assert (gap.below, gap.of, gap.elsewhere) == (2, 3, {})


def test_the_gap_of_another_table_is_over_the_values_that_the_formula_gives():
    """elsewhere is table -> its largest gap, log10(exact / published), for the tables beside Table IV.

    Two rows of Table 1 count, with the gaps 2 and 1. ``row`` makes a printed value, by default of Table IV
    and with the verdict "same digits". Its column reproduced has the published delta.
    """
    table_1 = {"item": "Table 1", "mechanism": "this paper"}
    rows = [
        row(reproduced="1e-2", exact="1e-1"),  # of Table IV
        row(item="Table II", reproduced="1e-90", exact="1"),  # of another mechanism
        row(**table_1, reproduced="1e-9", exact="1e-7"),
        row(**table_1, reproduced="1e-9", exact="1e-8"),
        row(**table_1, reproduced="1e-90", exact="1", verdict="differs"),  # not the formula's value
    ]
    assert theorem_gap(results(rows)).elsewhere == {"Table 1": pytest.approx(2)}
