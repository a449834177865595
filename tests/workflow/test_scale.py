"""config/scale.yaml: its largest point runs through the real rule."""

import numpy as np
import pandas as pd
import pytest

from tightshuffle.randomizers.krr import lie_probability, truth_probability

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]


def test_a_billion_users_in_a_hundred_thousand_cells(fresh):
    (fresh.folder / "one.yaml").write_text(
        "datasets: {scale_k100000: {grid: {eps0: [4], eps: [0.5], n: [1000000000], repetitions: 3}}}\n"
    )
    target = "results/scale_one/trials/scale_k100000_grid-1.parquet"
    done = fresh.snakemake("--configfile", "config/scale.yaml", "one.yaml", "--cores", "1", "--", target)
    assert done.returncode == 0, done.stdout
    histogram = pd.read_csv(fresh.folder / "results/scale_one/histograms/scale_k100000.csv")
    assert histogram["count"].sum() == 2 * 10**9
    frame = pd.read_parquet(fresh.folder / target)
    assert len(frame) == 3 * 3
    assert set(frame["experiment"]) == {"grid"}
    assert set(frame["eps0"]) == {4.0}
    assert set(frame["eps"]) == {0.5}
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
