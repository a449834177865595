"""Compute log10 delta for every printed delta, by the published formula and exactly; and Corollary 1."""

from reproduction.jobs.job import job, write_csv
from reproduction.protocol.corollary import corollary_table
from reproduction.verification.printed import read_values
from reproduction.verification.printed_deltas import printed_deltas

with job(snakemake):
    write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output.deltas)
    write_csv(corollary_table(), snakemake.output.corollary)
