"""Means and ratios of all runs at equal privacy, with intervals, and the published protocol's ratios."""

import pandas as pd
from _figure import read_table
from _job import job, write_csv

from tightshuffle.parity import COLUMNS
from tightshuffle.parity_summary import published_ratios, summarise

PUBLISHED = ["dataset", "n", "k", "eps0", "eps", "delta", "mechanism", "repetition", "metric", "value"]

with job(snakemake):
    how = {name: snakemake.params[name] for name in ("resamples", "confidence", "seed")}
    counts = {name: pd.read_csv(path)["count"] for name, path in snakemake.params.histograms.items()}
    means, ratios = [], []
    for path in snakemake.input.trials:
        trials = read_table(path, COLUMNS)
        parts = summarise(trials, counts[trials["dataset"].iloc[0]], **how)
        for table, part in zip((means, ratios), parts, strict=True):
            table.append(part)
    for path in snakemake.input.published:
        ratios.append(published_ratios(read_table(path, PUBLISHED), **how))
    write_csv(pd.concat(means), snakemake.output.means)
    write_csv(pd.concat(ratios), snakemake.output.ratios)
