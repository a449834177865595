"""Compute lower, tight and upper for the whole histogram over k, n and eps / eps0."""

from tightshuffle.experiments.curves.band import band
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    write_csv(band(snakemake.params.plan), snakemake.output[0])
