"""Run every mechanism once at every budget of a dataset's heatmaps and keep each cell's estimate."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.trials.run_trials import Protocol, run_mechanisms
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Integers


def estimate_cells(
    counts: Integers,
    *,
    budgets: Iterable[Mapping[str, float]],
    n: Users,
    dataset: str,
    protocol: Protocol,
    seed: int,
) -> pd.DataFrame:
    """How many users each cell holds, in truth and by one run of two mechanisms: a row per budget and cell.

    The mechanisms are shuffle+INV (k-randomized response with the local budget eps0, shuffled, inverted and
    projected) and the Gaussian. In every run n users of the dataset are drawn anew. The columns are

    - dataset, eps0, eps, n (users), cell (from 1);
    - original, the fraction of the n users that the cell holds;
    - gaussian and shuffle+INV, what the mechanisms estimate for this fraction;
    - delta, for which the Gaussian's noise is chosen at eps, the same for all cells.

    Parameters
    ----------
    counts: how many users of the dataset each cell holds, a histogram (k,)
    budgets: dicts of eps0, the local budget, and eps, the Gaussian's
    n: how many users are drawn, or "all"
    dataset: its name, on which the random numbers depend
    protocol: how the Gaussian's noise is chosen
    seed: the root seed, on which the random numbers depend too
    """
    users = users_of(counts, n)
    tables = []
    for budget in budgets:
        eps0 = float(budget["eps0"])
        eps = float(budget["eps"])
        rng = np.random.default_rng(
            seed_of(seed, stage="estimates", dataset=dataset, n=users, eps0=eps0, eps=eps)
        )
        samples = sample_users(counts, users, rng, repetitions=1)  # (1, k)
        estimates, deltas = run_mechanisms(samples, eps0=eps0, eps=eps, protocol=protocol, rng=rng)
        columns = {
            "dataset": dataset,
            "eps0": eps0,
            "eps": eps,
            "n": users,
            "cell": np.arange(1, len(counts) + 1),
            "original": samples[0] / users,
            "gaussian": estimates["gaussian"][0],
            "shuffle+INV": estimates["shuffle+INV"][0],
            "delta": deltas[0],
        }
        tables.append(pd.DataFrame(columns))
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
