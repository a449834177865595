"""Run every mechanism at the points of one budget, or of one part of a grid, all repetitions."""

import pandas as pd

from tightshuffle.experiments.published import Protocol, run_points
from tightshuffle.pipeline.job import job, whole_file

with job(snakemake):
    counts = pd.read_csv(snakemake.input.histogram)["count"].to_numpy()
    trials = run_points(
        counts,
        snakemake.params.points,
        dataset=snakemake.wildcards.dataset,
        cells=snakemake.params.cells,
        protocol=Protocol(**snakemake.params.protocol),
        seed=snakemake.params.seed,
    )
    with whole_file(snakemake.output[0]) as path:
        trials.to_parquet(path, index=False)
