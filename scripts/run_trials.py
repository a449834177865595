"""Run every mechanism at the points of one budget, or of one part of a grid, with all repetitions."""

from reproduction.data.histograms import read_histogram
from reproduction.jobs.job import job, write_parquet
from reproduction.protocol.trials import Protocol, run_points

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
