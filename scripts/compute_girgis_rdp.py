"""Compute Girgis et al.'s Renyi bound beside exact divergences, and delta after compositions."""

from reproduction.experiments.curves.girgis_rdp import renyi_composed, renyi_divergences
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(renyi_divergences(snakemake.params.settings), snakemake.output.divergences)
    write_csv(renyi_composed(snakemake.params.settings), snakemake.output.composed)
