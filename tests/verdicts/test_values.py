"""From printed values to their deltas and verdicts, on small files of our own making."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from scripts.privacy.compute_printed_deltas import printed_deltas
from scripts.shared.printed import COLUMNS, read_values, records
from scripts.verdicts.judge_values import (
    NO_GAUSSIAN,
    NO_THEOREM,
    judge_values,
    read_deltas,
    read_individual_trials,
)
from tests import ROOT

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


def make_trials(rng, dataset, k, n, cells=CELLS):
    """200 half-normal draws per cell and mechanism at one point, and rows that do not count."""
    setting = {"experiment": "individual", "dataset": dataset, "eps0": 4.0, "eps": 4.0, "n": n, "k": k}
    frames = []
    for mechanism in ("shuffle", "shuffle+INV", "gaussian"):
        for metric, where in (("tv", [0]), ("individual_error", [cell for cell in cells if cell <= k])):
            repeated = np.repeat(where, 200)
            draws = {"cell": repeated, "value": np.abs(rng.standard_normal(len(repeated))) / 1000}
            frames.append(pd.DataFrame(setting | {"mechanism": mechanism, "metric": metric} | draws))
    trials = pd.concat(frames)
    return pd.concat([trials.assign(experiment="tv", value=9.0), trials.assign(eps0=6.0, value=5.0), trials])


@pytest.fixture
def judged(values, deltas, tmp_path):
    """Judges the values by frames of trials, all in one file; without frames by those of all points."""

    def judge(frames=None, totals=TOTALS):
        rng = np.random.default_rng(3)
        frames = [make_trials(rng, *point) for point in POINTS] if frames is None else frames
        pd.concat(frames).to_parquet(tmp_path / "trials.parquet", index=False)
        trials = read_individual_trials([tmp_path / "trials.parquet"])
        return judge_values(values, read_deltas(deltas, values), totals, trials, USERS).to_dict("records")

    return judge


def test_literature_columns_get_the_cited_bound(deltas):
    """At n = 100, k = 10, eps0 = 0.5, eps = 0.1; by another computation, four digits."""
    frame = pd.read_csv(deltas).set_index(["item", "mechanism", "eps"]).sort_index()
    for mechanism, expected in (("balle", 1.073e-4), ("feldman", 1.574e-3), ("koskela", 1.312e-6)):
        found = frame.loc[("Table 1", mechanism, 0.1), "exact"].item()
        assert 10**found == pytest.approx(expected, rel=1e-3)


def test_every_value_gets_its_verdict(values, judged):
    rows = judged()
    for row, given in zip(rows, records(values), strict=True):
        assert {name: row[name] for name in COLUMNS[:-1]} == {name: given[name] for name in COLUMNS[:-1]}
        assert row["note"].startswith(given["note"])
        assert (row["verdict"] == "not comparable") == (row["mechanism"] == "koskela")
        assert all(bool(row[name]) == (row["kind"] == "random") for name in ("quantile", "low", "high"))
        assert row["note"].endswith(NO_THEOREM) == (row["mechanism"] == "erlingsson")
        assert row["note"].endswith(NO_GAUSSIAN) == (row["mechanism"] == "gaussian")
        assert not (row["mechanism"] == "gaussian" and row["exact"])

    assert all(float(row["high"]) < 1 for row in rows if row["high"])  # none of the rows that do not count

    def of(**setting):
        (found,) = [row for row in rows if all(row[name] == value for name, value in setting.items())]
        return found["verdict"], found["reproduced"], found["exact"]

    assert of(item="data", dataset="paris") == ("same digits", "10260", "11190")
    assert of(item="data", dataset="san_francisco") == ("close", "123026", "123026")
    assert of(item="Table 1", mechanism="this paper", eps="0.4")[0] == "same digits"
    deep = of(item="Table II", mechanism="this paper", n="1000", eps="0.4")
    assert deep[0] == "differs"
    assert 0 < Decimal(deep[1]) < Decimal("1e-308")  # below the smallest float


def test_verdicts_use_the_right_draws(judged):
    """One cell's Gaussian errors are moved to 1: only that value of Table VI becomes inconsistent by it."""
    rng = np.random.default_rng(3)
    frames = [make_trials(rng, *point) for point in POINTS]
    before = judged(frames)
    moved = (frames[3]["cell"] == 60) & (frames[3]["mechanism"] == "gaussian") & (frames[3]["eps0"] == 4)
    frames[3].loc[moved, "value"] = 1.0
    (changed,) = [row for row, other in zip(judged(frames), before, strict=True) if row != other]
    assert (changed["dataset"], changed["x0"], changed["mechanism"]) == ("paris", "60", "gaussian")
    assert (changed["verdict"], changed["reproduced"]) == ("inconsistent", "1.00000e+0")


def test_what_was_not_run_is_not_comparable(judged):
    rng = np.random.default_rng(4)
    frames = [make_trials(rng, *point) for point in POINTS[2:]]
    frames += [make_trials(rng, "synthetic", 15, 1000, [1]), make_trials(rng, "synthetic", 20, 100_000)]
    rows = [row for row in judged(frames, totals={}) if row["verdict"] == "not comparable"]
    assert all(not row["reproduced"] and not row["quantile"] for row in rows)
    for reason, count in (("has no individual_error of cell 3 for gaussian", 1),
                          ("our trials have k = 20, the paper's k = 15", 16),
                          ("no gridded dataset", 2)):  # fmt: skip
        assert sum(reason in row["note"] for row in rows) == count
    rows = [row for row in judged(frames[:2]) if "of the config has no trials at" in row["note"]]
    assert len(rows) == 32
