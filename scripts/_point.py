"""What the scripts of one point (dataset, eps0, eps, n) share: its parameters, read from the job."""

import pandas as pd

from tightshuffle.experiments import Protocol


def point_of(snakemake):
    """Keyword arguments of the experiments' functions, and the dataset's counts, shape (k,)."""
    wildcards = snakemake.wildcards
    counts = pd.read_csv(snakemake.input.histogram)["count"].to_numpy()
    point = {
        "dataset": wildcards.dataset,
        "eps0": float(wildcards.eps0),
        "eps": float(wildcards.eps),
        "n": wildcards.n,
        "protocol": Protocol(**snakemake.params.protocol),
        "seed": snakemake.params.seed,
    }
    return counts, point
