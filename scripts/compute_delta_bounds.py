"""Compute delta over eps in a few settings, by every accountant."""

from reproduction.experiments.curves.delta_bounds import delta_bounds
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(delta_bounds(snakemake.params.settings), snakemake.output[0])
