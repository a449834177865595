"""Compare all randomizers at equal privacy: the whole grid of n, k and guarantees."""

from tightshuffle.experiments.study import study
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    write_csv(study(snakemake.params.plan), snakemake.output[0])
