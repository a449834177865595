"""Run every mechanism once at every budget of a dataset's heatmaps and keep each cell's estimate."""

from reproduction.data.histograms import read_histogram
from reproduction.jobs.job import job, write_csv
from reproduction.protocol.trials import Protocol, estimate_cells

with job(snakemake):
    estimates = estimate_cells(
        read_histogram(snakemake.input.histogram),
        dataset=snakemake.wildcards.dataset,
        protocol=Protocol(**snakemake.params.protocol),
        seed=snakemake.params.seed,
        **snakemake.params.settings,
    )
    write_csv(estimates, snakemake.output[0])
