"""Simulate the audit's attack at one setting, and write the observer's counts."""

import pandas as pd

from reproduction.attack.game import play
from reproduction.jobs.job import job, write_parquet

with job(snakemake):
    tally = play(**snakemake.params.setting, cores=snakemake.threads, seed=snakemake.params.seed)
    write_parquet([pd.DataFrame(tally.columns())], snakemake.output[0])
