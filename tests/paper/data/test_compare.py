"""Counts of a run beside the bundled and the printed ones, on check-ins that are made up."""

import numpy as np
import pandas as pd
import pytest

from scripts.paper.data.compare_checkins import COLUMNS, compare, printed_checkins
from scripts.paper.data.grid import all_cells, count_in_cells, grids_of, point_table
from scripts.paper.data.sub_cells import count_in_sub_cells
from tests import ROOT

BOX = {"south": 48.0, "north": 48.4, "west": 2.0, "east": 2.6}
STEPPED = {"latitude_step": 0.15, "longitude_step": 0.25}
GRIDS = grids_of(BOX, {"columns": 6, "rows": 4}, STEPPED)
PLACES = np.random.default_rng(3).random((2, 500))  # as shares of the box's height and width
POINTS = point_table(48.0 + 0.4 * PLACES[0], 2.0 + 0.6 * PLACES[1])


@pytest.fixture
def bundled(tmp_path):
    """The two files of a bundled city: the lines between its sub-cells, and the counts of `POINTS`."""
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    for table, path in zip(count_in_sub_cells(POINTS, GRIDS), paths, strict=True):
        table.to_csv(path, index=False)
    return paths


def counted_cells(points, grids=GRIDS):
    """The cells of both grids with the number of ``points`` in each."""
    return all_cells(count_in_cells(points, grids))


def points_in_stepped_cells():
    """How many of the 500 points the stepped grid has: its steps end before the box's north and east."""
    cells = counted_cells(POINTS)
    return cells.query("grid == 'stepped'")["count"].sum()


def test_equal_counts_have_no_cells_that_differ(bundled):
    """The box has 4 x 6 uniform cells, and 2 x 2 larger stepped ones. The printed number is made up."""
    table = compare("town", counted_cells(POINTS), bundled, printed={"town": 510})
    stepped = points_in_stepped_cells()
    assert stepped < 500
    assert table.to_csv(index=False).splitlines() == [
        "dataset,grid,printed,bundled,counted,cells,cells_that_differ",
        "town,uniform,510,500,500,24,0",
        f"town,stepped,510,{stepped},{stepped},4,0",
    ]


def test_cells_with_other_counts_than_the_bundled_ones_are_counted(bundled):
    """Two more check-ins are in the south-west corner, and one in the north-east corner.

    There the stepped grid has no cell.
    """
    more = point_table(np.array([48.01, 48.01, 48.39]), np.array([2.01, 2.02, 2.59]))
    cells = counted_cells(pd.concat([POINTS, more]))
    uniform, stepped = compare("town", cells, bundled, printed={}).to_dict("records")
    assert (uniform["counted"], uniform["cells_that_differ"]) == (500 + 3, 2)
    assert (stepped["counted"], stepped["cells_that_differ"]) == (points_in_stepped_cells() + 2, 1)


@pytest.mark.parametrize(
    "grids",
    [
        grids_of(BOX, {"columns": 7, "rows": 4}),
        grids_of({**BOX, "north": 48.404}, {"columns": 6, "rows": 4}),  # its edges would move
    ],
)
def test_another_grid_has_no_bundled_counts_and_a_city_of_your_own_no_printed_number(
    bundled, grids
):
    table = compare("mine", counted_cells(POINTS, grids), bundled, {"paris": 10_260})
    assert list(table.columns) == COLUMNS
    assert table[["printed", "bundled", "cells_that_differ"]].isna().all(axis=None)
    assert (table["counted"] > 0).all()


def test_the_printed_numbers_of_check_ins_are_those_of_the_paper():
    printed = printed_checkins(ROOT / "data/published/values.csv")
    assert printed == {"san_francisco": 123_108, "paris": 10_260}
