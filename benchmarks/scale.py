"""What the points of config/scale.yaml cost: core-seconds and memory over n and k, and the start of a job.

    python -m benchmarks.scale results/bench          writes scale.csv and scale.md

Times are core-seconds (user + system), which other work on the machine disturbs least. Every point runs in a
process of its own; its memory is the peak of that process, libraries included.
"""

import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchmarks.measure import fresh_processes, machine
from reproduction.data.synthetic import sample_normal
from reproduction.jobs.job import write_bytes, write_csv
from reproduction.protocol.trials import Protocol, run_point
from reproduction.report.markdown import markdown_page, markdown_table
from tightshuffle.numerics.seeds import seed_of

CONFIG = Path("config/scale.yaml")
SIZES = (10**3, 10**5, 10**7, 10**9)
BUDGETS = ((1.0, 0.1), (4.0, 0.5))
ALL_UP_TO = 1000  # cells up to which every budget of the grid is measured, not a sample
FEWER = {10_000: 100, 100_000: 100}  # repetitions that are measured instead of the grid's, by cells
COLUMNS = ["k", "n", "eps0", "eps", "repetitions", "core_seconds", "peak_mb"]
CORES = (2, 32, 300, 3000)
LIBRARIES = ("numpy", "pandas", "scipy.special", "diffprivlib.mechanisms")


def points(plan):
    """(eps0, eps, n) of a dataset's grid: every eps up to eps0."""
    wanted = plan["grid"]
    budgets = [(float(a), float(b)) for a in wanted["eps0"] for b in wanted["eps"] if b <= a]
    return [(eps0, eps, n) for eps0, eps in budgets for n in wanted["n"]]


def jobs(plan):
    """How many jobs a dataset's grid is split into (``grid.points_per_job``)."""
    return math.ceil(len(points(plan)) / plan["grid"]["points_per_job"])


def sample(plan):
    """The points of a dataset that are measured: every budget where cells are few, else two, at some n."""
    few = plan["cells"] <= ALL_UP_TO
    return [(eps0, eps, n) for eps0, eps, n in points(plan) if n in SIZES and (few or (eps0, eps) in BUDGETS)]


def measure(name, plan, protocol, eps0, eps, n):
    """One point as the rule run_trials computes it: a row of `COLUMNS`."""
    before = time.process_time()
    keys = ("mean", "spread", "spread_is", "range", "cells", "population")
    rng = np.random.default_rng(seed_of(0, stage="synthetic", dataset=name))
    counts = sample_normal(rng=rng, **{key: plan[key] for key in keys})["count"].to_numpy()
    repetitions = FEWER.get(plan["cells"], plan["grid"]["repetitions"])
    budget = {"eps0": eps0, "eps": eps, "n": n, "protocol": Protocol(**protocol), "seed": 0}
    run_point(counts, dataset=name, repetitions=repetitions, cells=[], **budget)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    values = [plan["cells"], n, eps0, eps, repetitions, time.process_time() - before, peak]
    return dict(zip(COLUMNS, values, strict=True))


def snakemake_seconds(*arguments):
    """Core-seconds of a Snakemake run with all its jobs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "snakemake", "--quiet", "all", "--nolock", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": ""})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def overheads():
    """Core-seconds of Snakemake: of planning the grid and ten thousand points; of a job's start.

    On a cluster a node starts Snakemake twice for each job, beside its script.
    """
    dense = {"grid": {"n": [round(10 ** (3 + i / 15)) for i in range(91)]}}  # 22 * 91 points of each dataset
    tiny = {
        "eps0": [1],
        "eps": [1],
        "n": [1000 + i for i in range(12)],
        "repetitions": 1,
        "points_per_job": 1,
    }
    overlays = {
        "dense": dict.fromkeys(yaml.safe_load(CONFIG.read_text())["datasets"], dense),
        "tiny": {"scale_k15": {"grid": tiny}},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, datasets in overlays.items():
            Path(folder, f"{name}.yaml").write_text(yaml.safe_dump({"datasets": datasets}))
        config = ["--directory", folder, "--configfile", str(CONFIG.resolve())]
        some = [*config, f"{folder}/tiny.yaml", "--cores", "1", "--"]
        files = [f"results/scale_tiny/trials/scale_k15_grid-{i + 1}.parquet" for i in range(12)]
        _, few, many = (
            snakemake_seconds(*some, *files[part]) for part in (slice(1), slice(1, 3), slice(3, 12))
        )
        return {
            "plan": snakemake_seconds("--dry-run", *config, "--", "trials"),
            "dense": snakemake_seconds("--dry-run", *config, f"{folder}/dense.yaml", "--", "trials"),
            "here": (job := (many - few) / 7),
            "cluster": job + 2 * snakemake_seconds("--dry-run", "--force", *some, files[0]),
        }


def totals(table, plans, start):
    """One row per dataset: its points' mean cost, its jobs, what one takes, and core-seconds in all.

    ``start``: core-seconds of a job's start.
    """
    rows = []
    for plan in plans.values():
        costs = table[table["k"] == plan["cells"]]
        number, many, mean = len(points(plan)), jobs(plan), costs["core_seconds"].mean()
        job = number * mean / many + start
        row = {
            "k": plan["cells"],
            "points": number,
            "core_seconds": mean,
            "enough": math.ceil(9 * start / mean),
        }
        rows.append(row | {"jobs": many, "of_a_job": job, "start": start / job, "in_all": many * job})
    return pd.DataFrame(rows)


def on_cores(sums, cores):
    """The least seconds that the grid takes on so many cores, and the share of them that is at work."""
    work, longest = sums["in_all"].sum(), sums["of_a_job"].max()
    seconds = max(work / cores, longest)
    return seconds, work / cores / seconds


def pivoted(table, column, form):
    """Markdown: ``column`` over n (columns) and k (rows), the largest over the budgets measured."""
    wide = table[table["n"].isin(SIZES)].pivot_table(index="k", columns="n", values=column, aggfunc="max")
    header = ["k", *(f"n = 10^{round(np.log10(n))}" for n in wide.columns)]
    lines = [[f"{k:,}", *(form.format(value) for value in row)] for k, *row in wide.itertuples()]
    return markdown_table(header, lines)


def summary(table, plans, spent):
    """The Markdown page of all of it. ``spent``: see `overheads`."""
    table = table.assign(core_seconds=table["core_seconds"] * 1000 / table["repetitions"])
    sums, computer = totals(table, plans, spent["cluster"]), machine()
    forms = ("{:,}", "{}", "{:.2f}", "{}", "{}", "{:.0f}", "{:.0%}", "{:,.0f}")
    header = ["k", "points", "one point (s)", "points needed", "jobs", "one job (s)", "start", "all (s)"]
    spread = [(f"{cores:,}", *on_cores(sums, cores)) for cores in CORES]
    parts = [
        f"{computer['cpu']}, Python {computer['python']}, numpy {computer['numpy']}; {len(table)} of"
        f" {sums['points'].sum():,} points measured,"
        " one thread. Times are core-seconds for 1,000 repetitions; from"
        f" {min(FEWER):,} cells on 100 were run, which fill a block, and their time multiplied by 10.",
        "Core-seconds per point, the largest over the measured pairs of eps0 and eps:",
        pivoted(table, "core_seconds", "{:.2f}"),
        "Peak memory of a point's process, MB:",
        pivoted(table, "peak_mb", "{:.0f}"),
        f"Snakemake plans the grid in {spent['plan']:.1f} core-seconds, and 10,010 points in"
        f" {spent['dense']:.1f}. A job's start takes {spent['here']:.1f} on one machine and"
        f" {spent['cluster']:.1f} on a cluster. With the latter, and the mean of the points:",
        markdown_table(
            header,
            [
                [form.format(value) for form, value in zip(forms, row, strict=True)]
                for row in sums.to_numpy(object)
            ],
        ),
        f"{sums['jobs'].sum()} jobs, {sums['in_all'].sum():,.0f} core-seconds,"
        f" {spent['cluster'] * sums['jobs'].sum() / sums['in_all'].sum():.0%} of them starts. So the"
        " grid takes at least:",
        markdown_table(
            ["cores", "minutes", "share of cores at work"],
            [[cores, f"{seconds / 60:.1f}", f"{busy:.0%}"] for cores, seconds, busy in spread],
        ),
    ]
    return markdown_page("What the points of config/scale.yaml cost", parts)


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    config = yaml.safe_load(CONFIG.read_text())
    protocol = yaml.safe_load(Path("config/config.yaml").read_text())["protocol"] | config["protocol"]
    spent = overheads()
    rows = []
    with fresh_processes(LIBRARIES) as executor:
        for name, dataset in config["datasets"].items():
            for point in sample(dataset):
                rows.append(executor.submit(measure, name, dataset, protocol, *point).result())
                print(*(f"{key}={value:.4g}" for key, value in rows[-1].items()), flush=True)
    table = pd.DataFrame(rows)
    write_csv(table, folder / "scale.csv")
    write_bytes(summary(table, config["datasets"], spent).encode(), folder / "scale.md")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.scale FOLDER")
    main(sys.argv[1])
