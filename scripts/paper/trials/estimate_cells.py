"""Run every mechanism once at every budget of a dataset's heatmaps and keep each cell's estimate."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.trials.run_trials import Protocol, run_mechanisms
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Integers
from tightshuffle.numerics.seeds import seed_of


def estimate_cells(
    counts: Integers,
    *,
    budgets: Iterable[Mapping[str, float]],
    n: Users,
    dataset: str,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """One run for each of ``budgets`` (dicts of eps0 and eps), cell by cell; for the rest see `run_point`.

    Returns a DataFrame: dataset, eps0, eps, n, cell, original, gaussian, shuffle+INV (fractions of n), delta.
    """
    n = users_of(counts, n)
    tables = []
    for budget in budgets:
        point: dict[str, Any] = {"eps0": float(budget["eps0"]), "eps": float(budget["eps"])}
        rng = np.random.default_rng(seed_of(seed, stage="estimates", dataset=dataset, n=n, **point))
        samples = sample_users(counts, n, rng, 1)
        estimates, deltas = run_mechanisms(samples, protocol=protocol, rng=rng, **point)
        columns = {
            "cell": np.arange(1, len(counts) + 1),
            "original": samples[0] / n,
            "gaussian": estimates["gaussian"][0],
            "shuffle+INV": estimates["shuffle+INV"][0],
            "delta": deltas[0],
        }
        tables.append(pd.DataFrame({"dataset": dataset, **point, "n": n, **columns}))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        estimates = estimate_cells(
            read_histogram(snakemake.input.histogram),
            budgets=snakemake.params.budgets,
            n=snakemake.params.n,
            dataset=snakemake.wildcards.dataset,
            protocol=Protocol(**snakemake.params.protocol),
            seed=snakemake.params.seed,
        )
        write_csv(estimates, snakemake.output[0])
