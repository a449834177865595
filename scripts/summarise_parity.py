"""Means and ratios of all runs at equal privacy, with intervals, and the published protocol's ratios."""

import pandas as pd
from _job import job, write_csv

from tightshuffle.parity_summary import published_ratios, summarise

with job(snakemake):
    how = {name: snakemake.params[name] for name in ("resamples", "confidence", "seed")}
    counts = {name: pd.read_csv(path)["count"] for name, path in snakemake.params.histograms.items()}
    means, ratios = [], []
    for path in snakemake.input.trials:
        trials = pd.read_parquet(path)
        parts = summarise(trials, counts[trials["dataset"].iloc[0]], **how)
        for table, part in zip((means, ratios), parts, strict=True):
            table.append(part)
    for path in snakemake.input.published:
        ratios.append(published_ratios(pd.read_parquet(path), **how))
    write_csv(pd.concat(means), snakemake.output.means)
    write_csv(pd.concat(ratios), snakemake.output.ratios)
