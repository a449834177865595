"""From printed values to their deltas and verdicts, on small files of our own making."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from reproduction.verification.printed import COLUMNS, read_values, records
from reproduction.verification.printed_deltas import COLUMNS as DELTA_COLUMNS
from reproduction.verification.printed_deltas import printed_deltas
from reproduction.verification.values import (
    NO_GAUSSIAN,
    NO_THEOREM,
    judge_values,
    read_deltas,
    read_individual_trials,
    read_users,
)
from tests import ROOT
from tightshuffle.literature.count import delta

TOTALS = {
    ("san_francisco", "uniform"): 123026,
    ("san_francisco", "stepped"): 123026,
    ("paris", "uniform"): 11190,
    ("paris", "stepped"): 10260,
}
USERS = {"synthetic": 1_000_000, "san_francisco": 123_026, "paris": 11_190}
POINTS = [
    ("synthetic", 15, 1000),
    ("synthetic", 15, 100_000),
    ("san_francisco", 408, 123_026),
    ("paris", 192, 11_190),
]
CELLS = [*range(1, 14, 2), *range(20, 300, 20)]  # every x0 of Tables V and VI


@pytest.fixture(scope="module")
def values():
    return read_values(ROOT / "data/published/values.csv")


@pytest.fixture(scope="module")
def deltas(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("privacy") / "printed_deltas.csv"
    printed_deltas(values).to_csv(path, index=False)
    return path


@pytest.fixture
def trial_files(tmp_path):
    """Trials of all four points, 200 half-normal draws per cell and mechanism; others that do not count."""
    rng = np.random.default_rng(3)
    return [make_trials(tmp_path, rng, *point) for point in POINTS]


def make_trials(folder, rng, dataset, k, n, cells=CELLS):
    setting = {"experiment": "individual", "dataset": dataset, "eps0": 4.0, "eps": 4.0, "n": n, "k": k}
    cells = [cell for cell in cells if cell <= k]
    frames = []
    for mechanism in ("shuffle", "shuffle+INV", "gaussian"):
        for metric, where in (("tv", [0]), ("individual_error", cells)):
            repeated = np.repeat(where, 200)
            draws = {"cell": repeated, "value": np.abs(rng.standard_normal(len(repeated))) / 1000}
            frames.append(pd.DataFrame(setting | {"mechanism": mechanism, "metric": metric} | draws))
    trials = pd.concat(frames)
    boxes = trials.assign(experiment="tv", value=9.0)
    path = folder / f"{dataset}_{n}.parquet"
    pd.concat([boxes, trials]).to_parquet(path, index=False)
    return path


def judge(values, deltas, trial_files, totals=TOTALS):
    trials = read_individual_trials(trial_files)
    return judge_values(values, read_deltas(deltas, values), totals, trials, USERS).to_dict("records")


def test_printed_deltas_follow_the_contract(values, deltas):
    frame = pd.read_csv(deltas, dtype=str, keep_default_na=False)
    assert list(frame) == [*DELTA_COLUMNS, "published", "exact"]
    assert len(frame) == 123
    assert (frame["published"] == "").sum() == 4  # Koskela
    open_ = frame[frame["exact"] == ""]
    assert (len(open_), set(open_["mechanism"])) == (14, {"erlingsson"})  # out of its theorem's range
    row = next(
        line
        for line in frame.to_dict("records")
        if (line["item"], line["eps0"], line["n"], line["eps"]) == ("Table IV", "2", "100", "1.0")
    )
    given = {"n": 100, "k": 10, "eps0": 2, "count": 80, "direction": "forward"}
    for form in ("published", "exact"):
        assert float(row[form]) == pytest.approx(delta(1.0, form=form, **given), rel=1e-12)
    assert set(frame[frame["eps"] == "3.0"]["published"]) == {"-inf"}


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [  # at n = 100, k = 10, eps0 = 0.5, eps = 0.1; by another computation, four digits
        ("balle", 1.073e-4),
        ("feldman", 1.574e-3),
        ("koskela", 1.312e-6),
    ],
)
def test_literature_columns_get_the_cited_bound(deltas, mechanism, expected):
    frame = pd.read_csv(deltas).set_index(["item", "mechanism", "eps"]).sort_index()
    assert 10 ** frame.loc[("Table 1", mechanism, 0.1), "exact"].item() == pytest.approx(expected, rel=1e-3)


def test_erlingssons_theorem_is_used_where_it_applies(values):
    """At n = 10^5, eps0 = 0.4, eps = 0.1 its conditions hold: delta = exp(-n (eps / (12 eps0))^2)."""
    changed = values.copy()
    changed.loc[changed["mechanism"] == "erlingsson", ["n", "eps0"]] = "100000", "0.4"
    frame = printed_deltas(changed)
    rows = frame[(frame["mechanism"] == "erlingsson") & (frame["eps"] == "0.1")]
    assert len(rows) == 3
    assert np.allclose(rows["exact"], -(10**5) * (0.1 / 4.8) ** 2 / np.log(10), rtol=1e-12)


def test_every_value_gets_a_verdict(values, deltas, trial_files):
    judged = judge(values, deltas, trial_files)
    assert [{name: row[name] for name in COLUMNS if name != "note"} for row in judged] == [
        {name: row[name] for name in COLUMNS if name != "note"} for row in records(values)
    ]
    open_ = [row for row in judged if row["verdict"] == "not comparable"]
    assert {row["mechanism"] for row in open_} == {"koskela"}
    for row, given in zip(judged, records(values), strict=True):
        assert row["note"].startswith(given["note"])
        random = row["kind"] == "random"
        assert all(bool(row[name]) == random for name in ("quantile", "low", "high"))
        assert not random or row["verdict"] in ("consistent", "inconsistent")
        outside = row["note"].endswith(NO_THEOREM)
        assert outside == (row["mechanism"] == "erlingsson")
        gaussian = row["mechanism"] == "gaussian"
        assert row["note"].endswith(NO_GAUSSIAN) == gaussian
        assert not (gaussian and row["exact"])


def test_known_verdicts(values, deltas, trial_files):
    judged = judge(values, deltas, trial_files)

    def of(**setting):
        (found,) = [row for row in judged if all(row[name] == value for name, value in setting.items())]
        return found["verdict"], found["reproduced"], found["exact"]

    assert of(item="data", dataset="paris") == ("same digits", "10260", "11190")
    assert of(item="data", dataset="san_francisco") == ("close", "123026", "123026")
    assert of(item="Table 1", mechanism="this paper", eps="0.4")[0] == "same digits"
    deep = of(item="Table II", mechanism="this paper", n="1000", eps="0.4")
    assert deep[0] == "differs"
    assert 0 < Decimal(deep[1]) < Decimal("1e-308")  # below the smallest float


def test_verdicts_use_the_right_draws(values, deltas, trial_files):
    """One cell's Gaussian errors are moved to 1: only that value of Table VI becomes inconsistent by it."""
    before = judge(values, deltas, trial_files)
    frame = pd.read_parquet(trial_files[3])
    moved = (frame["cell"] == 60) & (frame["mechanism"] == "gaussian")
    frame.loc[moved, "value"] = 1.0
    frame.to_parquet(trial_files[3], index=False)
    after = judge(values, deltas, trial_files)
    changed = [row for row, other in zip(after, before, strict=True) if row != other]
    assert len(changed) == 1
    assert (changed[0]["dataset"], changed[0]["x0"], changed[0]["mechanism"]) == ("paris", "60", "gaussian")
    assert (changed[0]["verdict"], changed[0]["reproduced"]) == ("inconsistent", "1.00000e+0")


@pytest.mark.parametrize(
    ("replace", "reason", "rows"),
    [
        (None, "synthetic.individual of the config has no trials at eps0 = 4, eps = 4, n = 1000", 16),
        ({"k": 20}, "our trials have k = 20, the paper's k = 15", 16),
        ({"cells": [1]}, "has no individual_error of cell 3 for gaussian", 1),
    ],
)  # fmt: skip
def test_trials_that_do_not_fit_are_not_comparable(
    values, deltas, trial_files, tmp_path, replace, reason, rows
):
    trial_files[0].unlink()
    files = trial_files[1:]
    if replace is not None:
        given = {"dataset": "synthetic", "k": 15, "n": 1000, **replace}
        files.append(make_trials(tmp_path, np.random.default_rng(4), **given))
    judged = judge(values, deltas, files)
    found = [row for row in judged if row["verdict"] == "not comparable" and reason in row["note"]]
    assert len(found) == rows
    assert all(not row["reproduced"] and not row["quantile"] for row in found)


def test_absent_city_is_not_comparable(values, deltas, trial_files):
    judged = judge(values, deltas, trial_files, {})
    found = [row for row in judged if row["item"] == "data"]
    assert [row["verdict"] for row in found] == ["not comparable"] * 2
    assert "no gridded dataset paris" in found[1]["note"]


def test_stale_deltas_are_an_error(values, deltas, tmp_path):
    frame = pd.read_csv(deltas, dtype=str, keep_default_na=False)
    path = tmp_path / "printed_deltas.csv"
    frame[::-1].to_csv(path, index=False)
    with pytest.raises(ValueError, match="make the file again"):
        read_deltas(path, values)


def test_points_of_one_file_are_told_apart_by_their_columns(values, deltas, trial_files, tmp_path):
    """Both n of the synthetic data in one file, as in the pipeline, and rows at another budget."""
    apart = judge(values, deltas, trial_files)
    frames = [pd.read_parquet(path) for path in trial_files[:2]]
    other = pd.concat(frames).assign(eps0=6.0, value=5.0)
    path = tmp_path / "together.parquet"
    pd.concat([other, *frames]).to_parquet(path, index=False)
    assert judge(values, deltas, [path, *trial_files[2:]]) == apart


def test_all_users_of_a_dataset_are_its_histograms(tmp_path):
    path = tmp_path / "paris.csv"
    path.write_text("cell,count\n1,11000\n2,190\n")
    assert read_users({"paris": path}) == {"paris": 11_190}
