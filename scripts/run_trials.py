"""Run every mechanism at the points of one budget, or of one part of a grid, all repetitions."""

from tightshuffle.data.histograms import read_histogram
from tightshuffle.experiments.published import Protocol, run_points
from tightshuffle.pipeline.job import job, write_parquet

with job(snakemake):
    trials = run_points(
        read_histogram(snakemake.input.histogram),
        snakemake.params.points,
        dataset=snakemake.wildcards.dataset,
        cells=snakemake.params.cells,
        protocol=Protocol(**snakemake.params.protocol),
        seed=snakemake.params.seed,
    )
    write_parquet([trials], snakemake.output[0])
