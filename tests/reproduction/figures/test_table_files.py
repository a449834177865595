"""Figures read the files of the results folder; a file that does not fit gives one clear line."""

import numpy as np
import pandas as pd
import pytest

from reproduction.figures import checkins, delta_surface, estimates, girgis_rdp, koskela, parity_tv, tv
from reproduction.figures.grids import grid_edges
from reproduction.figures.table_files import read_table
from tests.reproduction.figures.examples import (
    city,
    estimate_table,
    girgis_tables,
    histogram_table,
    surface_table,
    trial_table,
    tv_rows,
)

BOX = {"south": 48.8, "north": 48.85, "west": 2.2, "east": 2.26}


def test_trials_of_the_boxplots(tmp_path):
    path = tmp_path / "paris_eps0-4_eps-4.parquet"
    table = trial_table()
    whole = pd.concat([table.assign(experiment=name) for name in ("tv", "individual")])
    whole.to_parquet(path)
    trials = tv.read([path])
    assert set(trials["metric"]) == set(trials["experiment"]) == {"tv"}
    assert len(trials) == 120
    for column in ("delta", "experiment"):
        whole.drop(columns=column).to_parquet(path)
        with pytest.raises(ValueError, match=rf"paris_eps0-4.*no column '{column}'"):
            tv.read([path])
    for unfit in (whole.query("metric != 'tv'"), whole.query("experiment != 'tv'")):
        unfit.to_parquet(path)
        with pytest.raises(ValueError, match=r"paris_eps0-4.*no rows with experiment 'tv', metric 'tv'"):
            tv.read([path])
    with pytest.raises(ValueError, match="no trials to draw"):
        tv.read([])


def test_trials_at_equal_privacy_are_the_papers_estimators_by_the_upper_bound(tmp_path):
    path = tmp_path / "own.parquet"
    pairs = pd.DataFrame(list(parity_tv.NAMES), columns=["mechanism", "estimator"])
    drawn = tv_rows(trial_table()).assign(name=lambda rows: rows["mechanism"]).drop(columns="mechanism")
    table = drawn.merge(pairs.assign(name=parity_tv.NAMES.values())).assign(delta_rule="1e-06", bound="upper")
    others = [
        table.assign(value=7.0, **unfit)
        for unfit in ({"bound": "lower"}, {"delta_rule": "n^-1.1"}, {"estimator": "maximum likelihood"})
    ]
    pd.concat([table, *others]).to_parquet(path)
    rows = parity_tv.read(path, 1e-6)
    assert rows["value"].max() < 7
    key = ["eps0", "n", "mechanism", "repetition", "value"]
    expected = table.assign(mechanism=table["name"])[key].sort_values(key, ignore_index=True)
    assert rows[key].sort_values(key, ignore_index=True).equals(expected)
    with pytest.raises(ValueError, match=r"own.parquet: no rows with metric 'tv', .*delta_rule '0.5'"):
        parity_tv.read(path, 0.5)


def test_cities(tmp_path):
    histogram, points = tmp_path / "paris.csv", tmp_path / "paris.parquet"
    files = [histogram], [points], ["Paris"], [BOX]
    city().histogram.to_csv(histogram, index=False)
    city().points.to_parquet(points)
    [read] = checkins.read(*files)
    assert read.box == (2.2, 2.26, 48.8, 48.85)
    city().histogram.drop(columns="row").to_csv(histogram, index=False)
    with pytest.raises(ValueError, match=r"paris\.csv: no column 'row'"):
        checkins.read(*files)
    city().points.iloc[:0].to_parquet(points)
    city().histogram.to_csv(histogram, index=False)
    with pytest.raises(ValueError, match=r"paris\.parquet: no rows"):
        checkins.read(*files)
    with pytest.raises(ValueError, match="no city to draw"):
        checkins.read([], [], [], [])


def test_estimates_are_one_run_per_budget(tmp_path):
    histogram, path = tmp_path / "own.csv", tmp_path / "estimates.csv"
    histogram_table().to_csv(histogram, index=False)
    budgets = [(10, 1e1, 900, 1e-30), (6, 4, 500, 3e-9), (2, 2, 900, 1e-30)]
    parts = [
        estimate_table(histogram_table(), seed).assign(eps0=eps0, eps=eps, n=n, delta=delta)
        for seed, (eps0, eps, n, delta) in enumerate(budgets)
    ]
    pd.concat(parts).to_csv(path, index=False)
    cells, runs = estimates.read(histogram, path)
    assert cells.equals(pd.read_csv(histogram))
    assert [run[:4] for run in runs] == budgets[::-1]
    for run, part in zip(runs, reversed(parts), strict=True):
        np.testing.assert_allclose(run.table["gaussian"], part["gaussian"], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.iloc[:-1], r"estimates\.csv: its cells are not those of .*own\.csv"),
        (lambda t: t.drop(columns="delta"), r"estimates\.csv: no column 'delta'"),
        (lambda t: t.iloc[:0], r"estimates\.csv: no rows"),
    ],
)
def test_estimates_that_do_not_fit(tmp_path, change, message):
    histogram, path = tmp_path / "own.csv", tmp_path / "estimates.csv"
    histogram_table().to_csv(histogram, index=False)
    table = estimate_table(histogram_table()).assign(eps0=4, eps=4, n=900, delta=1e-30)
    change(table).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        estimates.read(histogram, path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.assign(row=h["row"] + 0.5), "row must hold whole numbers"),
        (lambda h: h.assign(column=0), "two cells have the same row and column"),
        (lambda h: h[h["row"] != 1], "row must run from 0 without a gap"),
        (lambda h: h.assign(south=-h["south"], north=-h["north"]), "south must rise with row"),
    ],
)
def test_rows_and_columns_that_are_no_grid(change, message):
    with pytest.raises(ValueError, match=message):
        grid_edges(change(histogram_table()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t.iloc[:1]]), "is in the table twice"),
        (lambda t: t.iloc[1:], "is missing"),
        (lambda t: t.assign(published=-np.inf, exact=-np.inf), "delta is 0 everywhere"),
    ],
)
def test_a_surface_that_has_no_shape(change, message):
    with pytest.raises(ValueError, match=message):
        delta_surface.draw(change(surface_table()))


def test_a_mechanism_or_curve_without_a_colour():
    with pytest.raises(ValueError, match="'laplace'"):
        tv.draw(tv_rows(trial_table()).replace("gaussian", "laplace"), "Paris")
    curve = {"curve": "laplace", "compositions": 1, "n": 9, "k": 2, "eps0": 1, "eps": [1, 2]}
    with pytest.raises(ValueError, match="'laplace'"):
        koskela.draw(pd.DataFrame(curve | {"lower": -2.0, "upper": -1.0}), -6)


def test_theorem_31_is_read_as_its_monotone_envelope(tmp_path):
    """By definition: at each order the least bound at this order or a larger one."""
    order = [1.5, 2, 4, 8, 16]
    divergences = pd.DataFrame(
        {"eps0": 4.0, "order": order, "n": 100, "k": 5, "girgis": [0.5, 3.0, 2.6, 2.8, 2.7]}
        | {"clones": 0.1, "two_counts": 0.05}
    )
    other = divergences.assign(eps0=2.0, girgis=[0.1, 0.2, 0.3, 0.25, 0.4])
    paths = tmp_path / "divergences.csv", tmp_path / "composed.csv"
    pd.concat([divergences, other]).to_csv(paths[0], index=False)
    girgis_tables().composed.to_csv(paths[1], index=False)
    read = girgis_rdp.read(*paths).divergences
    assert read.loc[read["eps0"] == 4, "girgis"].tolist() == [0.5, 2.6, 2.6, 2.7, 2.7]
    assert read.loc[read["eps0"] == 2, "girgis"].tolist() == [0.1, 0.2, 0.25, 0.25, 0.4]


def test_labels_are_read_as_they_are_and_empty_numbers_as_missing(tmp_path):
    path = tmp_path / "histogram.csv"
    path.write_text("cell,count,label,low\n1,5,NA,-inf\n2,6,007,\n3,7,,nan\n")
    table = read_table(path, ["cell", "count"])
    assert table["label"].tolist() == ["NA", "007", ""]
    assert table["low"].isna().tolist() == [False, True, True]
    assert table["count"].dtype == np.int64
