"""A small folder of results with what the figures are drawn from, made by the pipeline's own functions."""

from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd

from scripts.attack.collect_audit import assess
from scripts.attack.run_audit import play
from scripts.parity.run_parity import estimate_parity, run_parity
from scripts.parity.summarise_parity import summarise_parity
from scripts.privacy.tables import CURVES, settings_of
from scripts.shared.catalogue import catalogue
from scripts.shared.configuration import PAPERS, merge, merged
from scripts.study.compute_study import study
from scripts.trials.run_trials import Protocol, estimate_cells, run_points
from tests import ROOT

CONFIG = merged([PAPERS, ROOT / "config/quick.yaml"])
FORMULA = "$x_$"  # a title that matplotlib would take for a formula, and a broken one
MINE = {"kind": "counts", "title": FORMULA, "file": "own.csv", "tv": {}, "estimates": {}}
STUDY = {name: value for name, value in CONFIG["study"].items() if name != "which"}
PAIRS = [{"eps0": 4, "eps": 4}, {"eps0": 6, "eps": 6}]


def rows():
    """The catalogue's rows for these results."""
    datasets = merge(CONFIG, {"datasets": {"mine": MINE}})["datasets"]
    files = {name: [f"<results>/trials/{name}.parquet"] for name in datasets}
    return catalogue(CONFIG, datasets, CONFIG["datasets"], files.__getitem__)


@cache
def curve(name):
    """A table of results/privacy, from the settings of config/quick.yaml."""
    module = import_module(f"reproduction.experiments.curves.{CURVES[name][0]}")
    return getattr(module, name)(**settings_of(name, CONFIG))


def histogram(on_a_map, rows=5, columns=6):
    index = np.arange(rows * columns)
    row, column = np.divmod(index, columns)
    counts = np.random.default_rng(2).poisson(3, rows * columns) ** 3
    south, west = 48.8 + 0.01 * row, 2.2 + 0.01 * column
    table = pd.DataFrame({"cell": index + 1, "count": counts})
    edges = {"south": south, "north": south + 0.01, "west": west, "east": west + 0.01}
    return table.assign(row=row, column=column, **edges) if on_a_map else table


def write(folder):
    """Write every table that a figure reads."""
    for name in CURVES:
        save(curve(name), folder / f"privacy/{name}.csv")
    save(study(**STUDY), folder / "study/study.csv")
    tallies = [
        play(n=n, k=k, eps0=eps0, count=count, runs=20_000)
        for n, k, eps0, count in ((60, 5, 2.0, 40), (20, 10, 1.0, 3), (5, 2, 0.5, 0))
    ]
    save(pd.DataFrame(assess(tallies, [0.1, 0.3, 1.0, 1.5], confidence=0.999)), folder / "audit.csv")
    points, published, all_counts = [], [], {}
    for name in (*CONFIG["datasets"], "mine"):
        cells = histogram(name in ("paris", "san_francisco"))
        save(cells, folder / f"histograms/{name}.csv")
        counts = all_counts[name] = cells["count"].to_numpy() * 3
        shared = {"dataset": name, "cells": [3], "seed": 1}
        protocol = Protocol(**CONFIG["protocol"])
        pairs = PAIRS[: 1 if name == "mine" else 2]  # one budget has the two panels of Figure 2
        tv = [{"experiment": "tv", "n": n, "repetitions": 10, **pair} for pair in pairs for n in (300, 3000)]
        trials = run_points(counts, tv, protocol=protocol, **shared)
        published += [part for _, part in trials.groupby("eps0")]
        save(trials, folder / f"trials/{name}.parquet")
        sizes = [{"n": n, "bounds": ["upper", "lower"]} for n in (100, 300, 3000)]
        deltas = {"delta": [1e-6], "delta_exponents": [1.1]}
        runs = list(run_parity(counts, sizes, eps0=[1, 6], repetitions=10, **deltas, **shared))
        points += runs
        save(pd.concat(runs), folder / f"parity/{name}.parquet")
        once = {"dataset": name, "n": 3000, "seed": 1}
        equal = estimate_parity(counts, eps0=[2, 6], delta=1e-6, **once)
        save(equal, folder / f"parity/{name}_estimates.csv")
        save(
            estimate_cells(counts, budgets=PAIRS, protocol=protocol, **once), folder / f"estimates/{name}.csv"
        )
        rng = np.random.default_rng(6)
        places = {"latitude": 48.8 + 0.05 * rng.random(400), "longitude": 2.2 + 0.06 * rng.random(400)}
        save(pd.DataFrame(places).assign(spread=name == "paris"), folder / f"checkins/{name}.parquet")
    how = {"resamples": 50, "confidence": 0.95, "seed": 1}
    save(summarise_parity(points, published, all_counts, **how)[1], folder / "parity_ratio.csv")


def save(table, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
