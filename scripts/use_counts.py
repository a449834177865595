"""Check the user's own counts and write them as a dataset's histogram."""

import pandas as pd
from _job import job, write_csv

from tightshuffle.histograms import check_counts

with job(snakemake):
    path = snakemake.input.counts
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a readable CSV file: {error}") from None
    write_csv(check_counts(frame, path), snakemake.output[0])
