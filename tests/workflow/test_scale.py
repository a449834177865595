"""config/scale.yaml: over a thousand points are planned; the largest one runs through the real rule."""

import re

import numpy as np
import pandas as pd
import pytest

from tightshuffle.randomizer import lie_probability, truth_probability

pytestmark = pytest.mark.pipeline

SCALE = ["--configfile", "config/scale.yaml"]


def test_the_grid_has_a_thousand_points(fresh):
    done = fresh.snakemake(*SCALE, "--dry-run", "--", "trials")
    assert done.returncode == 0, done.stdout
    files = re.findall(r"output: results/trials/scale_k(\d+)/eps0~(\S+)_eps~(\S+)_n~(\d+)_rep", done.stdout)
    assert len(files) == len(set(files)) >= 1000
    cells, eps0, eps, n = (np.array(column, dtype=float) for column in zip(*files, strict=True))
    assert cells.max() == 10**5
    assert n.max() == 10**9
    assert np.all(eps <= eps0)
    assert set(re.findall(r"_repetitions~(\d+)", "".join(re.findall(r"trials/scale\S+", done.stdout)))) == {
        "1000"
    }


def test_a_billion_users_in_a_hundred_thousand_cells(fresh):
    target = "results/trials/scale_k100000/eps0~4_eps~0.5_n~1000000000_repetitions~3.parquet"
    done = fresh.snakemake(*SCALE, "--cores", "1", "--", target)
    assert done.returncode == 0, done.stdout
    histogram = pd.read_csv(fresh.folder / "results/histograms/scale_k100000.csv")
    assert histogram["count"].sum() == 2 * 10**9
    frame = pd.read_parquet(fresh.folder / target)
    assert len(frame) == 3 * 3
    assert set(frame["n"]) == {10**9}
    assert set(frame["k"]) == {10**5}
    assert set(frame["delta"]) == {1e-30}  # delta_hat is far below the floor
    # Plain shuffle is off by its bias, which all but swamps the noise: gamma / 2 sum |share - 1/k|.
    k, n = 10**5, 10**9
    truth = histogram["count"].to_numpy() / histogram["count"].sum()
    gamma = 1 - truth_probability(4.0, k) + lie_probability(4.0, k)
    bias = gamma * np.abs(truth - 1 / k).sum() / 2
    noise = np.sqrt(k / n) / 2  # at most: half of E|noise| of every cell, added up by Cauchy-Schwarz
    shuffle = frame.loc[frame["mechanism"] == "shuffle", "value"]
    assert np.all(np.abs(shuffle - bias) < 2 * noise)
