"""The numbers on statements, grids and noise that texts state."""

import pandas as pd
import pytest

from scripts.beyond.statements.findings import NumberedFit, grids, noise_scales, statements
from tests.report.world import EVERYTHING, claim_rows, grid_row, real_verdicts, results


def test_statements_are_counted_by_verdict():
    counts = statements(results([], claim_verdicts=claim_rows()))
    assert (counts.of, counts.hold, counts.fail, counts.undecided) == (8, 3, 1, 2)
    assert (counts.only_exactly, counts.only_published) == (1, 1)


def test_a_family_of_statements_counts_once_with_its_best_row():
    """`statements` counts a family of statements once, by its row with the best verdict for the paper.

    The verdict is that of both readings together, the third in a row. There are two families, "twins" and
    "open", and two statements without a family (""). So there are four, counted by hand: one holds, one holds
    only as published, one is undecided ("untestable"), and one fails.
    """
    rows = [
        ("fails", "fails", "fails", "twins"),
        ("holds", "holds", "holds", ""),
        ("holds", "fails", "holds only as published", "twins"),
        ("fails", "fails", "fails", ""),
        ("untestable", "fails", "fails", "open"),
        ("untestable", "untestable", "untestable", "open"),  # more favourable than "fails"
    ]
    columns = ["verdict_published", "verdict_exact", "verdict", "family"]
    counts = statements(results([], claim_verdicts=pd.DataFrame(rows, columns=columns)))
    assert (counts.hold, counts.only_published, counts.only_exactly) == (1, 1, 0)
    assert (counts.undecided, counts.fail) == (1, 1)
    # Verdict as published -> verdict on the exact reading -> how many of the four statements.
    assert counts.cross["holds"] == {"holds": 1, "fails": 1, "untestable": 0}
    assert counts.cross["untestable"] == {"holds": 0, "fails": 0, "untestable": 1}


def test_a_grid_is_contradicted_by_our_noise_and_may_fit_another_by_one_numbering():
    """`grids` sums up how the errors that are printed for a city, here Paris, fit each of its two grids.

    `grid_row` makes up a row of the table: a grid, the p-value of the printed errors there, and this p-value
    after Holm's correction. p <= 0.01 contradicts a grid. A row is for our numbering of the cells and our
    noise, delta = 1e-30, if it does not say otherwise. The other noise has delta = 1e-10. With the other
    noise, the numbering counts whose p is the largest (``other``).
    """
    ours = "row by row from the south-west"
    another = "another"
    rows = [
        grid_row("uniform", 0.0058, 0.0175),
        grid_row("stepped", 3e-4, 0.0011),
        grid_row("uniform", 0.035, 0.1, delta=1e-10),
        grid_row("uniform", 0.02, 0.1, numbering=another, delta=1e-10),
        grid_row("stepped", 0.002, 0.01, delta=1e-10),
        grid_row("stepped", 0.014, 0.04, numbering=another, delta=1e-10),
    ]
    fits = grids(results([], grids=rows))
    (paris,) = fits.contradicted
    assert paris == fits.by_city["paris"]
    assert paris.p == {"uniform": 0.0058, "stepped": 3e-4}
    assert paris.corrected == {"uniform": 0.0175, "stepped": 0.0011}
    assert paris.other == {
        "uniform": NumberedFit(0.035, ours),
        "stepped": NumberedFit(0.014, another),
    }
    # With our noise the one numbering is contradicted for both grids. With the other, no grid's best one is.
    assert (paris.every_numbering, paris.other_fits) == (True, True)
    # The published Gaussian's scale in users for delta = 1e-10, sensitivity 1 and eps = 4, to four decimals.
    assert fits.other_noise.scale == pytest.approx(1.5753, abs=5e-5)


def test_another_numbering_that_fits_is_told_apart_from_ours():
    fitting = grid_row("stepped", 0.5, 0.5, "another")
    paris = grids(results([], grids=[*EVERYTHING["grids"][:5], fitting])).by_city["paris"]
    assert (paris.contradicts_both, paris.every_numbering, paris.other_fits) == (True, False, False)


def test_the_scales_that_fit_are_those_of_the_errata():
    scales = noise_scales(results(real_verdicts(), totals=EVERYTHING["totals"]))
    assert (round(scales.low, 2), round(scales.high, 2), scales.both_fit) == (1.56, 2.34, True)
