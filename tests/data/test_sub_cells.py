"""Sub-cells: what is bundled is what the check-ins give, and coarser grids are exact sums of it."""

import hashlib

import numpy as np
import pandas as pd
import pytest
import yaml

from scripts.data import crop_checkins as checkins
from scripts.data import grid, sub_cells
from scripts.data.count_checkins import totals
from scripts.data.grid import Box, Grid
from tests import ROOT

BUNDLED = ROOT / "data" / "gowalla"
ROWS = ROOT.parent / "shared" / "gowalla" / "loc-gowalla_sf_paris.txt.gz"
DATASETS = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["datasets"]
CITIES = ["paris", "san_francisco"]
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
SMALL = {
    "box": {"south": 0, "north": 1, "west": 10, "east": 12},
    "uniform": {"columns": 3, "rows": 2},
    "stepped": {"latitude_step": 0.3, "longitude_step": 0.7},
}

needs_rows = pytest.mark.skipif(not ROWS.exists(), reason="the check-ins themselves are not in the project")


def files(city):
    return BUNDLED / f"{city}_lines.csv", BUNDLED / f"{city}_counts.csv"


def read_bundled(city, seed=1, **changes):
    return sub_cells.read_bundled(*files(city), DATASETS[city] | changes, name=city, seed=seed)


def as_csv(table):
    return table.to_csv(index=False, lineterminator="\n")


def test_both_papers_grids_come_out_as_if_the_check_ins_were_counted():
    cells = {city: read_bundled(city)[0] for city in CITIES}
    for city, kind in SHA256:
        assert hashlib.sha256(as_csv(cells[city][kind]).encode()).hexdigest().startswith(SHA256[city, kind])
    assert as_csv(totals({city: grid.all_cells(cells[city]) for city in CITIES})) == TOTALS


@needs_rows
def test_bundled_counts_are_those_of_the_check_ins():
    boxes = {city: DATASETS[city]["box"] for city in CITIES}
    points, summary = checkins.crop_tables(ROWS, boxes, bad_rows_at_most=0)
    assert as_csv(summary) == f"file,rows,bad_rows,first_bad_lines\n{ROWS},134216,0,\n"
    for city in CITIES:
        assert not points[city]["spread"].any()
        for table, path in zip(
            sub_cells.count_in_sub_cells(points[city], DATASETS[city]), files(city), strict=True
        ):
            assert as_csv(table) == path.read_text()
        counted = grid.count_in_cells(points[city], DATASETS[city])
        for kind, cells in read_bundled(city)[0].items():
            pd.testing.assert_frame_equal(cells, counted[kind])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"uniform": {"columns": 200, "rows": 12}}, "uniform: .* an edge in longitude is 0.38 of a cell"),
        ({"uniform": {"columns": 16, "rows": 1000}}, "uniform: .* an edge in latitude"),
        ({"box": DATASETS["san_francisco"]["box"]}, "take larger cells between 48.8286 and 48.8798"),
    ],
    ids=["columns", "rows", "box"],
)
def test_grids_that_the_bundled_counts_do_not_fit(change, message):
    with pytest.raises(ValueError, match=rf"^datasets\.paris\..*{message}"):
        read_bundled("paris", **change)


def test_points_are_marked_as_spread_and_count_to_every_cell():
    cells, points = read_bundled("paris")
    types = {"latitude": "float64", "longitude": "float64", "spread": "bool"}
    assert points.dtypes.astype(str).to_dict() == types
    assert points["spread"].all()
    for kind, counted in grid.count_in_cells(points, DATASETS["paris"]).items():
        pd.testing.assert_frame_equal(counted, cells[kind])
    inside = Box(48.84, 48.86, 2.3, 2.35)
    _, fewer = read_bundled("paris", box=vars(inside), uniform={"columns": 2, "rows": 2})
    assert 0 < len(fewer) < len(points)
    assert fewer["latitude"].between(48.8399, 48.8601).all()


def test_sub_cells_of_a_small_box(tmp_path):
    """Lines by hand: 2 x 16 and 3 x 16 even sub-cells, cut again at 0.3, 0.6, 0.9 and at 10.7, 11.4."""
    even = np.arange(33) / 32, 10 + np.arange(49) / 24
    steps = [0.3, 0.6, 0.9], [10.7, 11.4]
    lines = [np.sort(np.concatenate(pair)) for pair in zip(even, steps, strict=True)]
    made = sub_cells.sub_grid(SMALL)
    np.testing.assert_allclose(made.latitudes, lines[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(made.longitudes, lines[1], rtol=0, atol=1e-12)
    assert {0.3, 0.6, 0.9} <= set(made.latitudes)  # exactly, not to within rounding

    points = pd.DataFrame({"latitude": [0, 0.31, 0.31, 1], "longitude": [10, 11.39, 11.39, 12]})
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    for table, path in zip(sub_cells.count_in_sub_cells(points, SMALL), paths, strict=True):
        path.write_text(as_csv(table))
    assert pd.read_csv(paths[1])["count"].tolist() == [1, 2, 1]
    read, counts = sub_cells.read_sub_cells(*paths)
    np.testing.assert_array_equal(read.latitudes, made.latitudes)  # no digit is lost in the file
    assert counts.shape == (35, 50)
    _, uniform = sub_cells.cut(read, counts, grid.grids_of(SMALL)["uniform"])
    assert uniform.tolist() == [[1, 0, 2], [0, 0, 1]]
    cells, moved = sub_cells.cut(read, counts, Grid(np.array([0, 0.503, 1]), np.array([10, 12])))
    assert (moved.tolist(), cells.latitudes.tolist()) == ([[3], [1]], [0, 0.5, 1])


@pytest.mark.parametrize(
    ("lines", "counts", "message"),
    [
        (
            "direction,number\nlatitude,0\n",
            "",
            r"lines.csv: no column degrees; expected direction,number,degrees",
        ),
        (
            "direction,number,degrees\nlatitude,0,1\nlatitude,1,1\n",
            "",
            r"lines.csv: the degrees of both directions",
        ),
        ("", "row,column\n0,0\n", r"counts.csv: no column count"),
        ("", "row,column,count\n0,2,1\n", r"counts.csv: each of the 1 x 2 sub-cells may occur once"),
        ("", "row,column,count\n0,0,1\n0,0,2\n", "counts.csv: each"),
        ("", "row,column,count\n0,0,1.5\n", "counts.csv: each"),
    ],
)
def test_damaged_files(tmp_path, lines, counts, message):
    paths = tmp_path / "lines.csv", tmp_path / "counts.csv"
    good = (
        "direction,number,degrees\nlatitude,0,1\nlatitude,1,2\nlongitude,0,1\nlongitude,1,2\nlongitude,2,3\n"
    )
    paths[0].write_text(lines or good)
    paths[1].write_text(counts or "row,column,count\n0,1,5\n")
    with pytest.raises(ValueError, match=message):
        sub_cells.read_sub_cells(*paths)
