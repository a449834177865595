"""Check the user's own counts and write them as a dataset's histogram."""

from _job import job, write_csv

from tightshuffle.counts_file import read_counts

with job(snakemake):
    write_csv(read_counts(snakemake.input.counts), snakemake.output[0])
