"""Compare all randomizers at equal privacy: the whole grid of n, k and guarantees."""

from reproduction.experiments.study import study
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(study(snakemake.params.settings), snakemake.output[0])
