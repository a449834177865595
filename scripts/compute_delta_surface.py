"""Compute delta of the count of x0 over a grid of eps and eps0, published and exact."""

from reproduction.experiments.curves.delta_surface import delta_surface
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(delta_surface(snakemake.params.settings), snakemake.output[0])
