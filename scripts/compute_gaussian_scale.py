"""Compute the analytic Gaussian's scale over delta: exact, and diffprivlib's."""

from reproduction.experiments.curves.gaussian_scale import gaussian_scales
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    write_csv(gaussian_scales(snakemake.params.settings), snakemake.output[0])
