"""Means and ratios of all runs at equal privacy, with intervals, and the published protocol's ratios."""

import pandas as pd

from tightshuffle.experiments.parity_summary import published_ratios, summarise
from tightshuffle.pipeline.job import job, write_csv

with job(snakemake):
    how = {name: snakemake.params[name] for name in ("resamples", "confidence", "seed")}
    named = zip(snakemake.params.datasets, snakemake.input.histograms, strict=True)
    counts = {name: pd.read_csv(path)["count"] for name, path in named}
    means, ratios = [], []
    for path in snakemake.input.trials:
        for n in pd.read_parquet(path, columns=["n"])["n"].unique():  # one at a time: they are large
            trials = pd.read_parquet(path, filters=[("n", "==", n)])
            parts = summarise(trials, counts[trials["dataset"].iloc[0]], **how)
            for table, part in zip((means, ratios), parts, strict=True):
                table.append(part)
    for path in snakemake.input.published:
        trials = pd.read_parquet(path, filters=[("experiment", "==", "tv")])
        ratios += [published_ratios(point, **how) for _, point in trials.groupby("n", sort=False)]
    write_csv(pd.concat(means), snakemake.output.means)
    write_csv(pd.concat(ratios), snakemake.output.ratios)
