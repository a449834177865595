"""config/scale.yaml: over a thousand points are planned; the largest one runs through the real rule."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml

from tightshuffle.mechanisms.krr import lie_probability, truth_probability

pytestmark = pytest.mark.pipeline

SCALE = ["--configfile", "config/scale.yaml"]


LISTING = """
import json, sys
from tests.pipeline.dag_of import planned
with planned(target="trials", configfiles=sys.argv[1:]) as workflow:
    jobs = [job for job in workflow.dag.jobs if job.rule.name == "run_trials"]
    print(json.dumps([[str(job.output[0]), job.wildcards.dataset, job.params.points] for job in jobs]))
"""


def trials(project, *overlays):
    """file -> (dataset, points) of every job of run_trials that a run would start."""
    command = [sys.executable, "-c", LISTING, "config/scale.yaml", *overlays]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {file: (dataset, points) for file, dataset, points in json.loads(done.stdout)}


def test_the_grid_has_a_thousand_points_each_once(fresh):
    jobs = {file: job for file, job in trials(fresh).items() if job[0].startswith("scale_k")}
    plans = yaml.safe_load((fresh.folder / "config/scale.yaml").read_text())["datasets"]
    planned = [
        (dataset, point["eps0"], point["eps"], point["n"])
        for dataset, points in jobs.values()
        for point in points
    ]
    assert len(planned) == len(set(planned)) == 1100
    assert max(plans[dataset]["cells"] for dataset, *_ in planned) == 10**5
    assert max(n for *_, n in planned) == 10**9
    assert all(eps <= eps0 for _, eps0, eps, _ in planned)
    points = [point for _, points in jobs.values() for point in points]
    assert {(point["experiment"], point["repetitions"]) for point in points} == {("grid", 1000)}


def test_a_job_holds_as_many_points_as_the_config_says(fresh):
    jobs = trials(fresh)
    for dataset, many, size in (("scale_k15", 2, 110), ("scale_k10000", 15, 15), ("scale_k100000", 110, 2)):
        files = [f"results/scale/trials/{dataset}_grid-{number}.parquet" for number in range(1, many + 1)]
        sizes = [len(jobs[file][1]) for file in files]
        assert sizes == [size] * (many - 1) + [220 - size * (many - 1)]
        assert f"results/scale/trials/{dataset}_grid-{many + 1}.parquet" not in jobs


def test_a_grid_without_a_split_has_one_job_per_budget(fresh):
    (fresh.folder / "own.csv").write_text("cell,count\n1,40\n2,60\n")
    (fresh.folder / "mine.yaml").write_text(
        "datasets: {mine: {kind: counts, title: Mine, file: own.csv,"
        " grid: {eps0: [4, 2], eps: [0.5, 2.0, 3], n: [10, all], repetitions: 5}}}\n"
    )
    jobs = trials(fresh, "mine.yaml")
    found = [jobs[f"results/scale_mine/trials/mine_grid-{number}.parquet"][1] for number in range(1, 6)]
    budgets = [[(point["eps0"], point["eps"]) for point in points] for points in found]
    assert budgets == [[budget] * 2 for budget in ((4, 0.5), (4, 2), (4, 3), (2, 0.5), (2, 2))]
    assert all([point["n"] for point in points] == [10, "all"] for points in found)
    assert "results/scale_mine/trials/mine_grid-6.parquet" not in jobs


def test_a_billion_users_in_a_hundred_thousand_cells(fresh):
    (fresh.folder / "one.yaml").write_text(
        "datasets: {scale_k100000: {grid: {eps0: [4], eps: [0.5], n: [1000000000], repetitions: 3}}}\n"
    )
    target = "results/scale_one/trials/scale_k100000_grid-1.parquet"
    done = fresh.snakemake(*SCALE, "one.yaml", "--cores", "1", "--", target)
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
