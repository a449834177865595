"""Summarise all runs at equal privacy and the published protocol's: means and ratios with intervals."""

import pandas as pd

from reproduction.data.histograms import read_histogram
from reproduction.experiments.parity_summary import summarise_parity
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    sizes = ((path, n) for path in files.trials for n in pd.read_parquet(path, columns=["n"])["n"].unique())
    means, ratios = summarise_parity(
        (pd.read_parquet(path, filters=[("n", "==", n)]) for path, n in sizes),
        (pd.read_parquet(path, filters=[("experiment", "==", "tv")]) for path in files.published),
        dict(zip(params.datasets, map(read_histogram, files.histograms), strict=True)),
        resamples=params.resamples,
        confidence=params.confidence,
        seed=params.seed,
    )
    write_csv(means, snakemake.output.means)
    write_csv(ratios, snakemake.output.ratios)
