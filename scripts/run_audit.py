"""Play the audit's game at one setting and save what the observer counted."""

import pandas as pd

from tightshuffle.experiments.game import play
from tightshuffle.pipeline.job import job, whole_file

with job(snakemake):
    tally = play(**snakemake.params.setting, cores=snakemake.threads, seed=snakemake.params.seed)
    with whole_file(snakemake.output[0]) as path:
        pd.DataFrame(tally.columns()).to_parquet(path, index=False)
