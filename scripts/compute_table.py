"""Compute a table from settings only, by the function that its rule names."""

from importlib import import_module

from reproduction.jobs.job import job, write_csv

with job(snakemake):
    module = import_module(f"reproduction.experiments.{snakemake.params.module}")
    compute = getattr(module, snakemake.params.function)
    write_csv(compute(**snakemake.params.settings), snakemake.output[0])
