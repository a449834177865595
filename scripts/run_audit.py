"""Play the audit's game at one setting and write what the observer counted."""

import pandas as pd

from tightshuffle.experiments.game import play
from tightshuffle.pipeline.job import job, write_parquet

with job(snakemake):
    tally = play(**snakemake.params.setting, cores=snakemake.threads, seed=snakemake.params.seed)
    write_parquet([pd.DataFrame(tally.columns())], snakemake.output[0])
