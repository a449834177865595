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


def test_bundled_points_are_marked_as_spread_at_random():
    """They are places in the small sub-cells where check-ins were counted, not the check-ins' own places."""
    _cells, points = bundled("paris")
    types = {"latitude": "float64", "longitude": "float64", "spread": "bool"}
    assert points.dtypes.astype(str).to_dict() == types
    assert points["spread"].all()


def test_bundled_points_give_the_bundled_counts_of_every_cell():
    cells, points = bundled("paris")
    for kind, counted in count_in_cells(points, GRIDS["paris"]).items():
        pd.testing.assert_frame_equal(counted, cells[kind])


def test_bundled_points_of_a_smaller_box_are_those_in_it():
    _, all_points = bundled("paris")
    box = {"south": 48.84, "north": 48.86, "west": 2.3, "east": 2.35}
    _, points = bundled("paris", grids_of(box, {"columns": 2, "rows": 2}))
    assert 0 < len(points) < len(all_points)
    # An edge moves to the nearest line between sub-cells. Here this is by less than 1e-4 degrees.
    assert points["latitude"].between(48.84 - 1e-4, 48.86 + 1e-4).all()


# A uniform grid of 2 x 3 cells, and a stepped one with steps of 0.3 (latitude) and 0.7 degrees.
GRIDS_OF_1_X_2_DEGREES = grids_of(
    box={"south": 0, "north": 1, "west": 10, "east": 12},
    uniform={"columns": 3, "rows": 2},
    stepped={"latitude_step": 0.3, "longitude_step": 0.7},
)


def test_sub_cells_of_a_small_box_are_cut_as_by_hand():
    """2 x 16 and 3 x 16 even sub-cells of the uniform grid, cut again at the lines of the stepped grid."""
    latitudes = np.sort([*np.arange(33) / 32, 0.3, 0.6, 0.9])
    longitudes = np.sort([*10 + np.arange(49) / 24, 10.7, 11.4])
    grid = sub_grid(GRIDS_OF_1_X_2_DEGREES)
    assert grid.latitudes.tolist() == latitudes.round(10).tolist()
    assert grid.longitudes.tolist() == longitudes.round(10).tolist()


@pytest.fixture
def written_sub_cells(tmp_path):
    """Paths of two files: the lines between the sub-cells of 1 x 2 degrees, and the counts of four points.

    Two points are in corners of the box, from 0 to 1 degree north and 10 to 12 east. Two are in one sub-cell.
    """
    points = pd.DataFrame({"latitude": [0, 0.31, 0.31, 1], "longitude": [10, 11.39, 11.39, 12]})
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    tables = count_in_sub_cells(points, GRIDS_OF_1_X_2_DEGREES)
    for table, path in zip(tables, paths, strict=True):
        path.write_text(as_csv(table))
    return paths


def test_file_of_counts_has_the_sub_cells_that_are_not_empty(written_sub_cells):
    _lines, counts = written_sub_cells
    assert pd.read_csv(counts)["count"].tolist() == [1, 2, 1]


@pytest.fixture
def read_again(written_sub_cells):
    """The grid of sub-cells of 1 x 2 degrees and their counts, as they are read from files."""
    return read_sub_cells(*written_sub_cells)


def test_sub_cells_are_read_without_loss(read_again):
    sub_cells, counts = read_again
    expected = sub_grid(GRIDS_OF_1_X_2_DEGREES)
    np.testing.assert_array_equal(sub_cells.latitudes, expected.latitudes)
    # Each of the 2 x 3 uniform cells is cut 16 times in both directions. The stepped grid adds its lines
    # between the edges, three of latitude (0.3, 0.6, 0.9) and two of longitude (10.7, 11.4).
    assert counts.shape == (2 * 16 + 3, 3 * 16 + 2)


def test_sub_cells_are_summed_to_the_cells_of_a_coarser_grid(read_again):
    _, sums = sum_sub_cells(*read_again, GRIDS_OF_1_X_2_DEGREES["uniform"])
    assert sums.tolist() == [[1, 0, 2], [0, 0, 1]]  # the southern row first


def test_an_edge_of_a_coarser_grid_moves_to_the_nearest_line_of_the_sub_cells(read_again):
    wanted = Grid(latitudes=np.array([0, 0.503, 1]), longitudes=np.array([10, 12]))
    grid, sums = sum_sub_cells(*read_again, wanted)
    assert grid.latitudes.tolist() == [0, 0.5, 1]
    assert sums.tolist() == [[3], [1]]


@pytest.mark.parametrize(("move", "fits"), [(0.047, True), (0.049, False)])
def test_an_edge_moves_by_a_twentieth_of_the_smallest_cell_at_most(move, fits):
    """The smallest cell is 1 - move high, from the edge that moves to the next one."""
    lines = Grid(latitudes=np.arange(4.0), longitudes=np.arange(2.0))
    wanted = Grid(latitudes=np.array([0, 1 + move, 2, 3]), longitudes=np.arange(2.0))
    if fits:
        grid, _ = sum_sub_cells(lines, np.ones((3, 1), dtype=int), wanted)
        assert grid.latitudes.tolist() == [0, 1, 2, 3]
    else:
        with pytest.raises(ValueError, match=r"an edge in latitude is 0\.052 of a cell"):
            sum_sub_cells(lines, np.ones((3, 1), dtype=int), wanted)


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
    (LINES, "row,column,count\n1,0,1\n", "counts.csv: each"),
    (LINES, "row,column,count\n-1,0,1\n", "counts.csv: each"),
    (LINES, "row,column,count\n0,0,1\n0,0,2\n", "counts.csv: each"),
    (LINES, "row,column,count\n0,0,1.5\n", "counts.csv: each"),
    (LINES, "row,column,count\n0,0,0\n", "counts.csv: each"),
]


@pytest.mark.parametrize(("lines", "counts", "message"), DAMAGED)
def test_a_damaged_file_is_named(tmp_path, lines, counts, message):
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    for path, text in zip(paths, (lines, counts), strict=True):
        path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_sub_cells(*paths)
