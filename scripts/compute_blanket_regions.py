"""Compute what the "tight blanket" paper's theorems promise, and its eq. (3) beside the true delta."""

from reproduction.experiments.curves.blanket_regions import blanket_regions, blanket_tightness
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(blanket_regions(snakemake.params.settings), snakemake.output.regions)
    write_csv(blanket_tightness(snakemake.params.settings), snakemake.output.tightness)
