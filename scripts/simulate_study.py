"""Simulate all randomizers on uniform data and on the datasets, and compute the closed forms."""

import pandas as pd

from reproduction.data.histograms import read_histogram
from reproduction.experiments.study import FAMILIES
from reproduction.experiments.study_trials import simulate, simulate_uniform
from reproduction.jobs.job import job, write_csv

with job(snakemake):
    settings, seed = snakemake.params.settings, snakemake.params.seed
    parts = [simulate_uniform(settings, seed=seed)]
    for dataset, path in zip(snakemake.params.datasets, snakemake.input, strict=True):
        counts = read_histogram(path)
        parts.append(simulate(counts, settings, dataset=dataset, randomizers=list(FAMILIES), seed=seed))
    write_csv(pd.concat(parts, ignore_index=True), snakemake.output[0])
