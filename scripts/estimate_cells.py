"""Run every mechanism once at one point and keep each cell's estimate."""

from _job import job, write_csv
from _point import point_of

from tightshuffle.experiments import estimate_cells

with job(snakemake):
    counts, point = point_of(snakemake)
    write_csv(estimate_cells(counts, **point), snakemake.output[0])
