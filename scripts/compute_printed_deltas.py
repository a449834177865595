"""log10 delta behind every printed delta, by the published formula and exactly."""

from tightshuffle.judgement.printed import read_values
from tightshuffle.judgement.printed_deltas import printed_deltas
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output[0])
