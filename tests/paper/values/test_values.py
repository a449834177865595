"""The printed values: the file is complete, and each value gets its verdict from the right numbers."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from scripts.paper.delta.compute_printed_deltas import printed_deltas
from scripts.paper.values.judge_values import (
    NO_GAUSSIAN,
    judge_values,
    read_deltas,
    read_individual_trials,
)
from scripts.shared.printed import (
    COLUMNS,
    parse_tolerance,
    printed_to_decimal,
    read_values,
    records,
)
from tests import ROOT

VALUES = read_values(ROOT / "data/published/values.csv")
ROWS = records(VALUES)
ITEMS = {
    "Table II": 40,
    "Table 1": 20,
    "Table IV": 63,
    "Table V": 28,
    "Table VI": 28,
    "text": 4,
    "data": 2,
}
NEEDED = {  # quantity -> number of rows, kind, rule, columns that are never empty
    "delta": (123, "deterministic", "digits", "n eps0 eps mechanism"),
    "individual_error": (56, "random", "central", "n k eps0 eps x0 dataset mechanism"),
    "tv": (4, "random", "central", "n k eps0 eps dataset mechanism"),
    "checkins": (2, "data", "digits", "dataset"),
}
SIZES = {("san_francisco", "uniform"): 123026, ("san_francisco", "stepped"): 123026}
TOTALS = SIZES | {("paris", "uniform"): 11190, ("paris", "stepped"): 10260}
USERS = {"synthetic": 1_000_000, "san_francisco": 123_026, "paris": 11_190}
POINTS = [
    ("synthetic", 15, 1000), ("synthetic", 15, 100_000),
    ("san_francisco", 408, 123_026), ("paris", 192, 11_190),
]  # fmt: skip
CELLS = [*range(1, 14, 2), *range(20, 300, 20)]  # every x0 of Tables V and VI


def test_every_printed_value_has_its_row():
    assert Counter(row["item"] for row in ROWS) == ITEMS
    settings = [
        tuple(text for name, text in row.items() if name not in ("printed", "note")) for row in ROWS
    ]
    assert len(set(settings)) == len(ROWS) == 185
    for quantity, (number, kind, rule, columns) in NEEDED.items():
        of = [row for row in ROWS if row["quantity"] == quantity]
        assert len(of) == number
        for row in of:
            assert (row["kind"], parse_tolerance(row["tolerance"])[0]) == (kind, rule)
            assert all(row[name] for name in ("source", *columns.split()))
            if row["mechanism"] == "this paper":
                assert 10 * int(row["count"]) == 8 * int(row["n"])
    parts = {}  # eps0 = 2, n = 100, k = 10 is in all three parts of Table IV
    for row in ROWS:
        if row["item"] == "Table IV" and (row["eps0"], row["n"], row["k"]) == ("2", "100", "10"):
            parts.setdefault(row["source"], []).append((row["eps"], row["printed"]))
    first, second, third = parts.values()
    assert first == second == third


def test_printed_deltas_fall_with_eps():
    """In every line of every table; a slip in copying an exponent would show here."""
    lines = {}
    for row in ROWS:
        if row["quantity"] == "delta":
            # The eps0 of a literature column changes within Table II: n = 1,000 (see the README).
            key = (
                row["source"],
                row["mechanism"],
                row["n"],
                row["k"],
                row["item"] == "Table IV" and row["eps0"],
            )
            lines.setdefault(key, []).append(
                (float(row["eps"]), printed_to_decimal(row["printed"]))
            )
    assert len(lines) == 4 * 2 + 5 + 9
    for line in lines.values():
        assert line == sorted(line)
        deltas = [delta for _, delta in line]
        assert all(after < before or after == before == 0 for before, after in pairwise(deltas))


@pytest.fixture(scope="module")
def deltas(tmp_path_factory):
    path = tmp_path_factory.mktemp("privacy") / "printed_deltas.csv"
    printed_deltas(VALUES).to_csv(path, index=False)
    return path


def make_trials(rng, dataset, k, n, cells=CELLS):
    """200 half-normal draws per cell and mechanism at one point, and rows that do not count."""
    setting = {
        "experiment": "individual",
        "dataset": dataset,
        "eps0": 4.0,
        "eps": 4.0,
        "n": n,
        "k": k,
    }
    frames = []
    for mechanism in ("shuffle", "shuffle+INV", "gaussian"):
        for metric, where in (
            ("tv", [0]),
            ("individual_error", [cell for cell in cells if cell <= k]),
        ):
            repeated = np.repeat(where, 200)
            draws = {"cell": repeated, "value": np.abs(rng.standard_normal(len(repeated))) / 1000}
            frames.append(
                pd.DataFrame(setting | {"mechanism": mechanism, "metric": metric} | draws)
            )
    trials = pd.concat(frames)
    return pd.concat(
        [trials.assign(experiment="tv", value=9.0), trials.assign(eps0=6.0, value=5.0), trials]
    )


@pytest.fixture
def judged(deltas, tmp_path):
    """Judges the values by frames of trials, all in one file; without frames by those of all points."""

    def judge(frames=None, totals=TOTALS):
        rng = np.random.default_rng(3)
        frames = [make_trials(rng, *point) for point in POINTS] if frames is None else frames
        pd.concat(frames).to_parquet(tmp_path / "trials.parquet", index=False)
        trials = read_individual_trials([tmp_path / "trials.parquet"])
        return judge_values(VALUES, read_deltas(deltas, VALUES), totals, trials, USERS).to_dict(
            "records"
        )

    return judge


def test_every_value_gets_its_verdict(judged):
    rows = judged()
    for row, given in zip(rows, ROWS, strict=True):
        assert {name: row[name] for name in COLUMNS[:-1]} == {
            name: given[name] for name in COLUMNS[:-1]
        }
        assert row["note"].startswith(given["note"])
        assert (row["verdict"] == "not comparable") == (row["mechanism"] == "koskela")
        assert all(
            bool(row[name]) == (row["kind"] == "random") for name in ("quantile", "low", "high")
        )
        assert row["note"].endswith(NO_GAUSSIAN) == (row["mechanism"] == "gaussian")
        assert not (row["mechanism"] == "gaussian" and row["exact"])
        assert not row["high"] or float(row["high"]) < 1  # none of the rows that do not count

    def of(**setting):
        (found,) = [
            row for row in rows if all(row[name] == value for name, value in setting.items())
        ]
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
    moved = (
        (frames[3]["cell"] == 60)
        & (frames[3]["mechanism"] == "gaussian")
        & (frames[3]["eps0"] == 4)
    )
    frames[3].loc[moved, "value"] = 1.0
    (changed,) = [row for row, other in zip(judged(frames), before, strict=True) if row != other]
    assert (changed["dataset"], changed["x0"], changed["mechanism"]) == ("paris", "60", "gaussian")
    assert (changed["verdict"], changed["reproduced"]) == ("inconsistent", "1.00000e+0")


def test_what_was_not_run_is_not_comparable(judged):
    rng = np.random.default_rng(4)
    frames = [
        make_trials(rng, "synthetic", 15, 1000, [1]),
        make_trials(rng, "synthetic", 20, 100_000),
    ]
    rows = [row for row in judged(frames, totals={}) if row["verdict"] == "not comparable"]
    assert all(not row["reproduced"] and not row["quantile"] for row in rows)
    for reason, number in (("has no individual_error of cell 3 for gaussian", 1),
                           ("our trials have k = 20, the paper's k = 15", 16),
                           ("of the config has no trials at", 28),
                           ("no gridded dataset", 2)):  # fmt: skip
        assert sum(reason in row["note"] for row in rows) == number
