"""Compute lower, tight and upper for the whole histogram over k, n and eps / eps0."""

from reproduction.experiments.curves.band import band
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(band(snakemake.params.settings), snakemake.output[0])
