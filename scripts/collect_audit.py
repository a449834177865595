"""Compute lower confidence bounds on delta from the audit's counts: one row per tally, eps and observer."""

import pandas as pd

from reproduction.jobs.job import job, write_csv
from tightshuffle.audit.assessment import assess
from tightshuffle.audit.game import Tally

with job(snakemake):
    tallies = [Tally.of(pd.read_parquet(path)) for path in snakemake.input.tallies]
    rows = assess(tallies, snakemake.params.eps, confidence=snakemake.params.confidence)
    write_csv(pd.DataFrame(rows), snakemake.output[0])
