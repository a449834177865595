"""Sub-cells: what is bundled is what the check-ins give, and coarser grids are exact sums of it."""

import hashlib

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.paper.data.count_checkins import totals
from scripts.paper.data.crop_checkins import crop
from scripts.paper.data.grid import Grid, all_cells, count_in_cells, grids_of
from scripts.paper.data.sub_cells import (
    count_in_sub_cells,
    read_bundled,
    read_sub_cells,
    sub_grid,
    sum_sub_cells,
)
from tests import ROOT

ROWS = ROOT.parent / "shared" / "gowalla" / "loc-gowalla_sf_paris.txt.gz"
DATASETS = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["datasets"]
CITIES = ["paris", "san_francisco"]
GRIDS = {
    city: grids_of(*(DATASETS[city][part] for part in ("box", "uniform", "stepped")))
    for city in CITIES
}
TOTALS = """\
dataset,grid,columns,rows,non_empty,largest,checkins
paris,uniform,16,12,182,540,11190
paris,stepped,15,11,158,542,10260
san_francisco,uniform,24,17,348,9984,123026
san_francisco,stepped,24,16,334,8427,123026
"""
SHA256 = {  # of the cells counted from the check-ins themselves: all results rest on these bytes
    ("paris", "uniform"): "c70983a7cba2f49f",
    ("paris", "stepped"): "d7a62ab55723296b",
    ("san_francisco", "uniform"): "7d828c3053de5c8c",
    ("san_francisco", "stepped"): "92b407f8b7e81008",
}
# A box of 1 x 2 degrees with both kinds of grids.
SMALL = grids_of(
    box={"south": 0, "north": 1, "west": 10, "east": 12},
    uniform={"columns": 3, "rows": 2},
    stepped={"latitude_step": 0.3, "longitude_step": 0.7},
)


def files(city):
    return [ROOT / "data" / "gowalla" / f"{city}_{table}.csv" for table in ("lines", "counts")]


def bundled(city, grids=None):
    """The cells by kind of grid, and the points spread in them, of the config's grids or of ``grids``."""
    return read_bundled(*files(city), grids or GRIDS[city], name=city, seed=1)


def as_csv(table):
    return table.to_csv(index=False, lineterminator="\n")


def test_both_papers_grids_come_out_as_if_the_check_ins_were_counted():
    cells = {city: bundled(city)[0] for city in CITIES}
    for (city, kind), first_digits in SHA256.items():
        digest = hashlib.sha256(as_csv(cells[city][kind]).encode()).hexdigest()
        assert digest.startswith(first_digits)
    assert as_csv(totals({city: all_cells(cells[city]) for city in CITIES})) == TOTALS


@pytest.mark.skipif(not ROWS.exists(), reason="the check-ins themselves are not in the project")
def test_bundled_counts_are_those_of_the_check_ins():
    points = crop(ROWS, {city: DATASETS[city]["box"] for city in CITIES}, bad_rows_at_most=0)
    for city in CITIES:
        assert not points[city]["spread"].any()
        tables = count_in_sub_cells(points[city], GRIDS[city])
        assert list(map(as_csv, tables)) == [path.read_text() for path in files(city)]


@pytest.mark.parametrize(
    ("columns", "rows", "box", "message"),
    [
        (200, 12, DATASETS["paris"]["box"], "an edge in longitude is 0.38 of a cell"),
        (16, 1000, DATASETS["paris"]["box"], "an edge in latitude"),
        (16, 12, DATASETS["san_francisco"]["box"], "take larger cells between 48.8286 and 48.8798"),
    ],
)
def test_grids_that_the_bundled_counts_do_not_fit_are_refused(columns, rows, box, message):
    with pytest.raises(ValueError, match=rf"^datasets\.paris\.uniform: .*{message}"):
        bundled("paris", grids_of(box, {"columns": columns, "rows": rows}))


def test_points_are_marked_as_spread_and_count_to_every_cell():
    """From the counts that the project has of Paris, `bundled` makes a table of cells for each kind of grid.

    `bundled` makes a table of points, too: a random place for each check-in, in the small sub-cell where the
    check-in was counted. The column spread says that a place is no true one. Counted on the grids again,
    the points give the same tables of cells.
    """
    cells, points = bundled("paris")
    types = {"latitude": "float64", "longitude": "float64", "spread": "bool"}
    assert points.dtypes.astype(str).to_dict() == types
    assert points["spread"].all()
    for kind, counted in count_in_cells(points, GRIDS["paris"]).items():
        pd.testing.assert_frame_equal(counted, cells[kind])

    # For a smaller box there are its points alone. Its edges move to the nearest lines between sub-cells:
    # in latitude by at most half a sub-cell's height, 1.3e-4 degrees, and here by less than 1e-4.
    smaller = {"south": 48.84, "north": 48.86, "west": 2.3, "east": 2.35}
    _, fewer = bundled("paris", grids_of(smaller, {"columns": 2, "rows": 2}))
    assert 0 < len(fewer) < len(points)
    assert fewer["latitude"].between(48.8399, 48.8601).all()


def test_sub_cells_of_a_small_box_are_cut_as_by_hand():
    """2 x 16 and 3 x 16 even sub-cells of the uniform grid, cut again at the lines of the stepped grid."""
    latitudes = np.sort([*np.arange(33) / 32, 0.3, 0.6, 0.9])
    longitudes = np.sort([*10 + np.arange(49) / 24, 10.7, 11.4])
    grid = sub_grid(SMALL)
    np.testing.assert_allclose(grid.latitudes, latitudes, rtol=0, atol=1e-12)
    np.testing.assert_allclose(grid.longitudes, longitudes, rtol=0, atol=1e-12)
    assert {0.3, 0.6, 0.9} <= set(grid.latitudes)  # exactly, not to within rounding


def test_sub_cells_are_written_without_loss_and_summed_to_coarser_grids(tmp_path):
    """A file has the lines between the sub-cells, another one their counts: both are read without loss.

    Of four points two are in corners of the box, and two in one sub-cell. The box of `SMALL` is from 0 to 1
    degree north and 10 to 12 east. Its uniform grid has 2 x 3 cells, its stepped one steps of 0.3 degrees of
    latitude and 0.7 of longitude.
    """
    points = pd.DataFrame({"latitude": [0, 0.31, 0.31, 1], "longitude": [10, 11.39, 11.39, 12]})
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    for table, path in zip(count_in_sub_cells(points, SMALL), paths, strict=True):
        path.write_text(as_csv(table))
    assert pd.read_csv(paths[1])["count"].tolist() == [1, 2, 1]
    grid, counts = read_sub_cells(*paths)
    # No digit is lost in the file.
    np.testing.assert_array_equal(grid.latitudes, sub_grid(SMALL).latitudes)
    # Each uniform cell is cut 16 times in both directions. The stepped grid adds its lines between the edges,
    # three of latitude (0.3, 0.6, 0.9) and two of longitude (10.7, 11.4).
    assert counts.shape == (32 + 3, 48 + 2)

    _, uniform = sum_sub_cells(grid, counts, SMALL["uniform"])
    assert uniform.tolist() == [[1, 0, 2], [0, 0, 1]]  # the southern row first
    # An edge that is no line of the sub-cells moves to the nearest one.
    cells, moved = sum_sub_cells(grid, counts, Grid(np.array([0, 0.503, 1]), np.array([10, 12])))
    assert moved.tolist() == [[3], [1]]
    assert cells.latitudes.tolist() == [0, 0.5, 1]


LINES = "direction,number,degrees\nlatitude,0,1\nlatitude,1,2\nlongitude,0,1\nlongitude,1,2\nlongitude,2,3\n"
DAMAGED = [
    (
        "direction,number\nlatitude,0\n",
        "",
        r"lines.csv: no column 'degrees'; expected direction, number, degrees",
    ),
    (
        "direction,number,degrees\nlatitude,0,1\nlatitude,1,1\n",
        "",
        r"lines.csv: the degrees of both",
    ),
    (LINES, "row,column\n0,0\n", r"counts.csv: no column 'count'"),
    (LINES, "row,column,count\n0,2,1\n", r"counts.csv: each of the 1 x 2 sub-cells may occur once"),
    (LINES, "row,column,count\n0,0,1\n0,0,2\n", "counts.csv: each"),
    (LINES, "row,column,count\n0,0,1.5\n", "counts.csv: each"),
]


@pytest.mark.parametrize(("lines", "counts", "message"), DAMAGED)
def test_a_damaged_file_is_named(tmp_path, lines, counts, message):
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    for path, text in zip(paths, (lines, counts), strict=True):
        path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_sub_cells(*paths)
