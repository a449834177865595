"""Check your own counts and write them as a dataset's histogram."""

import pandas as pd

from scripts.shared.job import job, write_csv
from tightshuffle.counts_file import read_counts

if __name__ == "__main__":
    with job() as snakemake:
        write_csv(pd.DataFrame(read_counts(snakemake.input.counts)), snakemake.output[0])
