"""The audit's table: a lower bound on delta per tally, eps and observer, and what holds for all at once."""

import pandas as pd

from tightshuffle.experiments.audit import assess, jointly
from tightshuffle.experiments.game import Tally
from tightshuffle.pipeline.job import job, write_csv


def collect(tallies, eps, confidence):
    """The rows of `assess` of all tallies; what holds jointly is that of all rows together."""
    return pd.DataFrame(
        jointly([row for tally in tallies for row in assess(tally, eps, confidence=confidence)])
    )


if __name__ == "__main__":
    with job(snakemake):
        found = [Tally.of(pd.read_parquet(path)) for path in snakemake.input.tallies]
        write_csv(collect(found, snakemake.params.eps, snakemake.params.confidence), snakemake.output[0])
