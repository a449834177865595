"""Compute, for given guarantees (eps, delta), the largest eps0 and the expected errors."""

from reproduction.experiments.plan_table import plan_table
from reproduction.jobs.job import job, write_bytes, write_csv
from reproduction.report.plan_page import plan_page

with job(snakemake):
    plans = plan_table(**snakemake.params.settings)
    write_csv(plans, snakemake.output.csv)
    write_bytes(plan_page(plans).encode(), snakemake.output.md)
