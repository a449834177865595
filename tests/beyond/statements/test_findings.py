"""The numbers on statements, grids and noise that texts state."""

import pandas as pd

from scripts.beyond.statements.findings import (
    Noise,
    NumberedFit,
    grids,
    noise_scales,
    statements,
)
from tests.report.world import claim_rows, grid_row, results


def test_statements_are_counted_by_verdict():
    counts = statements(results([], claim_verdicts=claim_rows()))
    assert (counts.of, counts.hold, counts.fail, counts.undecided) == (9, 3, 1, 2)
    assert (counts.only_with_exact_delta, counts.only_at_equal_privacy) == (1, 1)
    assert counts.only_published == 1


def counts_of_statements(*rows):
    """`statements` of made-up rows: the verdicts as published, exactly and of both, and the family."""
    columns = ["verdict_published", "verdict_exact", "verdict", "family"]
    return statements(results([], claim_verdicts=pd.DataFrame(rows, columns=columns)))


def test_a_family_of_statements_counts_once_with_its_best_verdict():
    """A row has the verdict as published, the one on the exact reading, that of both, and the family."""
    counts = counts_of_statements(
        ("fails", "fails", "fails", "twins"),
        ("holds", "fails", "holds only as published", "twins"),
        ("untestable", "fails", "fails", "open"),
        ("untestable", "untestable", "untestable", "open"),  # more favourable than "fails"
    )
    assert (counts.of, counts.only_published, counts.undecided, counts.fail) == (2, 1, 1, 0)
    # Verdict as published -> verdict on the exact reading -> how many of both.
    assert counts.cross["holds"] == {"holds": 0, "fails": 1, "untestable": 0}
    assert counts.cross["untestable"] == {"holds": 0, "fails": 0, "untestable": 1}


def test_statements_without_a_family_count_each():
    counts = counts_of_statements(("holds", "holds", "holds", ""), ("fails", "fails", "fails", ""))
    assert (counts.of, counts.hold, counts.fail) == (2, 1, 1)


# Both grids of Paris, with our noise, delta = 1e-30, and our numbering of the cells.
BY_OUR_NOISE = [
    grid_row("uniform", p=0.0058, corrected=0.0175),
    grid_row("stepped", p=3e-4, corrected=0.0011),
]


def fits_of_paris(*more):
    """How the errors printed for Paris fit its grids: `grids` of `BY_OUR_NOISE` and ``more`` rows."""
    return grids(results([], grids=[*BY_OUR_NOISE, *more])).by_city["paris"]


def test_both_grids_are_contradicted_if_their_p_values_are_at_most_1_percent():
    fits = grids(results([], grids=BY_OUR_NOISE))
    [paris] = fits.contradicted
    assert paris == fits.by_city["paris"]
    assert paris.p == {"uniform": 0.0058, "stepped": 3e-4}
    assert paris.corrected == {"uniform": 0.0175, "stepped": 0.0011}
    assert paris.every_numbering


def test_another_numbering_that_fits_is_told_apart_from_ours():
    paris = fits_of_paris(grid_row("stepped", p=0.5, corrected=0.5, numbering="another"))
    assert (paris.contradicts_both, paris.every_numbering) == (True, False)


def test_another_noise_fits_by_the_numbering_with_the_largest_p_value():
    paris = fits_of_paris(
        grid_row("stepped", p=0.002, corrected=0.1, delta=1e-10),
        grid_row("stepped", p=0.014, corrected=0.1, delta=1e-10, numbering="another"),
    )
    assert paris.other == {"stepped": NumberedFit(0.014, "another")}
    assert paris.other_fits


def test_another_noise_fits_only_if_it_does_on_every_grid():
    paris = fits_of_paris(
        grid_row("stepped", p=0.5, corrected=0.5, delta=1e-10),
        grid_row("uniform", p=0.002, corrected=0.1, delta=1e-10),
    )
    assert not paris.other_fits


def test_the_other_noise_has_the_scale_of_its_delta():
    """Of the published Gaussian for delta = 1e-10, sensitivity 1 and eps = 4: 1.6 in the made-up table."""
    found = grids(results([], grids=BY_OUR_NOISE)).other_noise
    assert found == Noise(delta=1e-10, sensitivity=1.0, scale=1.6)


def test_the_scales_that_fit_are_those_of_rounded_errors():
    intervals = [
        {"digits": "cut off", "errors": 30, "low": 1.0, "high": 9.0},
        {"digits": "rounded", "errors": 30, "low": 1.8, "high": 2.3},
    ]
    scales = noise_scales(results([], noise_scale=intervals))
    assert (scales.low, scales.high) == (1.8, 2.3)
