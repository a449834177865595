"""The bundled counts: their totals, and how the scripts make and use them."""

import importlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tightshuffle.data import grid

BUNDLED = ROOT / "data" / "gowalla"
ROWS = ROOT.parent / "shared" / "gowalla" / "loc-gowalla_sf_paris.txt.gz"
CONFIG = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
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


class Files(dict):
    """A job's files: by name, by attribute, by number."""

    def __getattr__(self, name):
        return self[name]

    def __missing__(self, number):
        return list(self.values())[number]


@pytest.fixture
def run():
    """Call the main function of one of the scripts with a job's files and parameters."""

    def call(script, inputs, outputs, params, **wildcards):
        job = {"input": Files(inputs), "output": Files(outputs), "wildcards": SimpleNamespace(**wildcards)}
        importlib.import_module(f"scripts.{script}").main(
            SimpleNamespace(**job, params=SimpleNamespace(**params))
        )

    return call


@pytest.fixture
def use_bundled(run, tmp_path):
    """Paths of the histogram and of the points that come from one city's bundled counts."""

    def call(city, kind, *, bundled=BUNDLED, dataset=None, seed=1, folder="."):
        (tmp_path / folder).mkdir(exist_ok=True)
        outputs = {
            "histogram": tmp_path / folder / f"{city}.csv",
            "points": tmp_path / folder / f"{city}.parquet",
        }
        inputs = {name: bundled / f"{city}_{name}.csv" for name in grid.KINDS}
        params = {"dataset": dataset or CONFIG["datasets"][city], "grid": kind, "seed": seed}
        run("use_bundled_counts", inputs, outputs, params, dataset=city)
        return outputs["histogram"], outputs["points"]

    return call


def count_totals(run, folder, output):
    files = {"counts": [folder / f"{city}_{kind}.csv" for city in CITIES for kind in grid.KINDS]}
    run("count_checkins", files, {"totals": output}, {"datasets": CITIES, "grids": grid.KINDS})
    return output.read_text()


def test_totals_of_the_bundled_counts(run, tmp_path):
    assert count_totals(run, BUNDLED, tmp_path / "totals.csv") == TOTALS


def test_totals_stand_in_the_readme_too():
    readme = (BUNDLED / "README.md").read_text()
    for line in TOTALS.splitlines()[1:]:
        city, kind, columns, rows, *numbers = line.split(",")
        numbers = " | ".join(f"{int(number):,}" for number in numbers)
        assert f"| `{city}_{kind}.csv` | {columns} x {rows} | {numbers} |" in readme


@both_cities
@both_grids
def test_bundled_counts_fit_the_config(city, kind):
    cells = pd.read_csv(BUNDLED / f"{city}_{kind}.csv")
    grid.check_fits(cells, grid.of_dataset(CONFIG["datasets"][city], kind), city)


@both_cities
@both_grids
def test_histogram_is_the_configured_bundled_file(use_bundled, city, kind):
    histogram, _ = use_bundled(city, kind)
    assert histogram.read_bytes() == (BUNDLED / f"{city}_{kind}.csv").read_bytes()


@both_grids
def test_points_are_marked_as_spread_and_count_to_the_histogram(use_bundled, kind):
    paths = use_bundled("paris", kind)
    histogram, points = pd.read_csv(paths[0]), pd.read_parquet(paths[1])
    assert points.dtypes.astype(str).to_dict() == {
        "latitude": "float64",
        "longitude": "float64",
        "spread": "bool",
    }
    assert points["spread"].all()
    cells = grid.of_dataset(CONFIG["datasets"]["paris"], kind)
    counted = grid.count(cells, points["latitude"], points["longitude"])
    np.testing.assert_array_equal(counted.ravel(), histogram["count"])


def test_points_depend_on_the_seed_and_the_city_only(use_bundled):
    one = use_bundled("paris", "published")[1].read_bytes()
    assert use_bundled("paris", "published", folder="again")[1].read_bytes() == one
    assert use_bundled("paris", "published", seed=2)[1].read_bytes() != one


@pytest.mark.parametrize(
    "change",
    [
        {"published": {"columns": 12, "rows": 16}},
        {"box": CONFIG["datasets"]["san_francisco"]["box"]},
        {"stepped": {"latitude_step": 0.005, "longitude_step": 0.0066}},
    ],
    ids=["published", "box", "stepped"],
)
def test_bundled_counts_serve_no_other_grid(use_bundled, tmp_path, change):
    dataset = CONFIG["datasets"]["paris"] | change
    with pytest.raises(
        ValueError, match=r"paris_\w+.csv: its cells are not the .* set gowalla.source to snap or"
    ):
        use_bundled("paris", "stepped", dataset=dataset)
    assert not list(tmp_path.glob("*.csv"))


@needs_rows
def test_bundled_counts_are_what_the_scripts_make(run, tmp_path):
    datasets = {city: CONFIG["datasets"][city] for city in CITIES}
    points = {city: tmp_path / f"{city}.parquet" for city in CITIES}
    run(
        "crop_checkins",
        {"checkins": ROWS},
        {"points": list(points.values()), "reading": tmp_path / "reading.csv"},
        {"boxes": {city: datasets[city]["box"] for city in CITIES}, "bad_rows_at_most": 0},
    )
    assert (tmp_path / "reading.csv").read_text() == (
        f"file,rows,bad_rows,first_bad_lines\n{ROWS},134216,0,\n"
    )
    for city, path in points.items():
        assert not pd.read_parquet(path)["spread"].any()
        for kind in grid.KINDS:  # the kind that is configured changes the histogram alone
            outputs = {name: tmp_path / f"{city}_{name}.csv" for name in [*grid.KINDS, "histogram"]}
            run("grid_checkins", {"points": path}, outputs, {"dataset": datasets[city], "grid": kind})
            for name in grid.KINDS:
                assert outputs[name].read_bytes() == (BUNDLED / f"{city}_{name}.csv").read_bytes()
            assert outputs["histogram"].read_bytes() == outputs[kind].read_bytes()
    assert count_totals(run, tmp_path, tmp_path / "totals.csv") == TOTALS
