"""Compute log10 delta for every printed delta, by the published formula and exactly."""

from reproduction.jobs.job import job, write_csv
from reproduction.verification.printed import read_values
from reproduction.verification.printed_deltas import printed_deltas

with job(snakemake):
    write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output[0])
