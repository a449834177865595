"""Run every mechanism at one point, all repetitions."""

from _job import job, whole_file
from _point import point_of

from tightshuffle.experiments import run_point

with job(snakemake):
    counts, point = point_of(snakemake)
    repetitions = int(snakemake.wildcards.repetitions)
    trials = run_point(counts, repetitions=repetitions, cells=snakemake.params.cells, **point)
    with whole_file(snakemake.output[0]) as path:
        trials.to_parquet(path, index=False)
