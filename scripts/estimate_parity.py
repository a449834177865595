"""One run at equal privacy for every eps0 of a dataset's heatmaps, cell by cell."""

import pandas as pd

from tightshuffle.experiments.parity import estimate_cells, rules
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    counts = pd.read_csv(snakemake.input.histogram)["count"].to_numpy()
    plan = snakemake.params.plan
    (rule,) = rules([plan["delta"]], [])
    estimates = estimate_cells(
        counts,
        dataset=snakemake.wildcards.dataset,
        n=plan["n"],
        eps0=plan["eps0"],
        delta_rule=rule,
        seed=snakemake.params.seed,
    )
    write_csv(estimates, snakemake.output[0])
