"""The bundled counts: their totals, and that they are what the check-ins give."""

import io

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tightshuffle.data import bundled, checkins, grid

BUNDLED = ROOT / "data" / "gowalla"
ROWS = ROOT.parent / "shared" / "gowalla" / "loc-gowalla_sf_paris.txt.gz"
DATASETS = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["datasets"]
CITIES = ["paris", "san_francisco"]
TOTALS = """\
dataset,grid,columns,rows,non_empty,largest,checkins
paris,published,16,12,182,540,11190
paris,stepped,15,11,158,542,10260
san_francisco,published,24,17,348,9984,123026
san_francisco,stepped,24,16,334,8427,123026
"""

both_grids = pytest.mark.parametrize("kind", grid.KINDS)
both_cities = pytest.mark.parametrize("city", CITIES)
needs_rows = pytest.mark.skipif(not ROWS.exists(), reason="the check-ins themselves are not in the project")


def read_bundled(city, kind, *, dataset=None, seed=1):
    paths = {kind: BUNDLED / f"{city}_{kind}.csv" for kind in grid.KINDS}
    return bundled.read_bundled(paths, dataset or DATASETS[city], kind, name=city, seed=seed)


def as_csv(table):
    return table.to_csv(index=False, lineterminator="\n")


def test_totals_of_the_bundled_counts():
    files = [(city, kind, BUNDLED / f"{city}_{kind}.csv") for city in CITIES for kind in grid.KINDS]
    assert as_csv(grid.totals((city, kind, pd.read_csv(path)) for city, kind, path in files)) == TOTALS
    readme = (BUNDLED / "README.md").read_text()
    for row in pd.read_csv(io.StringIO(TOTALS)).itertuples():
        numbers = f"{row.non_empty:,} | {row.largest:,} | {row.checkins:,}"
        assert f"| `{row.dataset}_{row.grid}.csv` | {row.columns} x {row.rows} | {numbers} |" in readme


@both_cities
@both_grids
def test_the_histogram_is_the_configured_bundled_file(city, kind):
    histogram, _ = read_bundled(city, kind)
    assert as_csv(histogram) == (BUNDLED / f"{city}_{kind}.csv").read_text()


@both_grids
def test_points_are_marked_as_spread_and_count_to_the_histogram(kind):
    histogram, points = read_bundled("paris", kind)
    types = {"latitude": "float64", "longitude": "float64", "spread": "bool"}
    assert points.dtypes.astype(str).to_dict() == types
    assert points["spread"].all()
    pd.testing.assert_frame_equal(grid.count_in_cells(points, DATASETS["paris"], kind), histogram)


def test_points_depend_on_the_seed_and_the_city_only():
    (_, one), (_, again) = (read_bundled("paris", "published") for _ in range(2))
    pd.testing.assert_frame_equal(one, again)
    assert not np.allclose(read_bundled("paris", "published", seed=2)[1]["latitude"], one["latitude"])


@pytest.mark.parametrize(
    "change",
    [
        {"published": {"columns": 12, "rows": 16}},
        {"box": DATASETS["san_francisco"]["box"]},
        {"stepped": {"latitude_step": 0.005, "longitude_step": 0.0066}},
    ],
    ids=["published", "box", "stepped"],
)
def test_bundled_counts_fit_no_other_grid(change):
    message = r"paris_\w+.csv: its cells are not the .* set gowalla.source to snap or"
    with pytest.raises(ValueError, match=message):
        read_bundled("paris", "stepped", dataset=DATASETS["paris"] | change)


@needs_rows
def test_bundled_counts_are_those_of_the_check_ins():
    boxes = {city: DATASETS[city]["box"] for city in CITIES}
    points, summary = checkins.crop_tables(ROWS, boxes, bad_rows_at_most=0)
    assert as_csv(summary) == f"file,rows,bad_rows,first_bad_lines\n{ROWS},134216,0,\n"
    for city in CITIES:
        assert not points[city]["spread"].any()
        for kind in grid.KINDS:
            cells = grid.count_in_cells(points[city], DATASETS[city], kind)
            assert as_csv(cells) == (BUNDLED / f"{city}_{kind}.csv").read_text()
