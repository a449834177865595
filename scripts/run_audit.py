"""Play the audit's game at one setting and save what the observer counted."""

from tightshuffle.experiments.game import play
from tightshuffle.pipeline.job import job, whole_file

with job(snakemake):
    tally = play(**snakemake.params.setting, cores=snakemake.threads, seed=snakemake.params.seed)
    with whole_file(snakemake.output[0]) as path:
        tally.frame().to_parquet(path, index=False)
