"""Compute, for given guarantees (eps, delta), the largest eps0 and the expected errors."""

from reproduction.experiments.plan_table import plan_table
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(plan_table(**snakemake.params.settings), snakemake.output[0])
