"""Compute the analytic Gaussian's scale over delta: exact, and diffprivlib's."""

from tightshuffle.experiments.curves.gaussian_scale import gaussian_scales
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    write_csv(gaussian_scales(snakemake.params.plan), snakemake.output[0])
