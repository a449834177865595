"""Run every mechanism once at every budget of a dataset's heatmaps and keep each cell's estimate."""

import pandas as pd

from tightshuffle.experiments.published import Protocol, estimate_cells
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    counts = pd.read_csv(snakemake.input.histogram)["count"].to_numpy()
    plan = snakemake.params.plan
    runs = [
        estimate_cells(
            counts,
            dataset=snakemake.wildcards.dataset,
            eps0=float(budget["eps0"]),
            eps=float(budget["eps"]),
            n=plan["n"],
            protocol=Protocol(**snakemake.params.protocol),
            seed=snakemake.params.seed,
        )
        for budget in plan["budgets"]
    ]
    write_csv(pd.concat(runs), snakemake.output[0])
