"""Compute lower confidence bounds on delta from the audit's counts: one row per tally, eps and observer."""

import pandas as pd

from reproduction.attack.assessment import assess
from reproduction.attack.game import Tally
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    tallies = [Tally.of(pd.read_parquet(path)) for path in snakemake.input.tallies]
    rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
    write_csv(pd.DataFrame(rows), snakemake.output[0])
