"""Check your own counts and write them as a dataset's histogram."""

from reproduction.data.counts_file import read_counts
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(read_counts(snakemake.input.counts), snakemake.output[0])
