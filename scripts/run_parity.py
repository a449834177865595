"""Run both mechanisms at equal privacy: every number of users of one dataset, at every setting."""

from reproduction.data.histograms import read_histogram
from reproduction.experiments.parity import run_parity
from reproduction.jobs.job import job, write_parquet

with job(snakemake):
    points = run_parity(
        read_histogram(snakemake.input.histogram),
        snakemake.params.sizes,
        dataset=snakemake.wildcards.dataset,
        cells=snakemake.params.cells,
        seed=snakemake.params.seed,
        **snakemake.params.settings,
    )
    write_parquet(points, snakemake.output[0])
