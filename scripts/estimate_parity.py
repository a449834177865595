"""Run both mechanisms once at equal privacy, at every eps0 of a dataset's heatmaps, cell by cell."""

from reproduction.data.histograms import read_histogram
from reproduction.experiments.parity import estimate_parity
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    estimates = estimate_parity(
        read_histogram(snakemake.input.histogram),
        dataset=snakemake.wildcards.dataset,
        seed=snakemake.params.seed,
        **snakemake.params.settings,
    )
    write_csv(estimates, snakemake.output[0])
