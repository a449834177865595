"""Run every mechanism once at every budget of a dataset's heatmaps and keep each cell's estimate."""

from tightshuffle.data.histograms import read_histogram
from tightshuffle.experiments.published import Protocol, estimate_cells
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    estimates = estimate_cells(
        read_histogram(snakemake.input.histogram),
        dataset=snakemake.wildcards.dataset,
        protocol=Protocol(**snakemake.params.protocol),
        seed=snakemake.params.seed,
        **snakemake.params.plan,
    )
    write_csv(estimates, snakemake.output[0])
