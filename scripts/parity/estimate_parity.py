"""Run both mechanisms once at equal privacy, at every eps0 of a dataset's heatmaps, cell by cell."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from scripts.parity.run_parity import gaussian_estimates, guaranteed_eps, shuffle_estimates
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.trials.run_trials import Users, sample_users, users_of
from tightshuffle.arguments import Integers
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.numerics.seeds import seed_of


def estimate_parity(
    counts: Integers, *, dataset: str, n: Users, eps0: Iterable[float], delta: float, seed: int
) -> pd.DataFrame:
    """One run per budget, both estimates projected; eps from ``upper``. Parameters as for `run_parity_point`.

    Returns a DataFrame: eps0, eps, delta, n, cell, original, gaussian, shuffle+INV (fractions of n).
    """
    n, k = users_of(counts, n), len(counts)
    rng = np.random.default_rng(seed_of(seed, stage="parity estimates", dataset=dataset, n=n))
    samples = sample_users(counts, n, rng, 1)
    delta, parts = float(delta), []
    for budget in map(float, eps0):
        eps = guaranteed_eps("upper", delta, n=n, k=k, eps0=budget)
        sigma = exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY)
        noise = sigma * rng.standard_normal(samples.shape)
        estimates = {
            "original": samples[0] / n,
            "gaussian": gaussian_estimates(samples, noise)["projection"][0],
            "shuffle+INV": shuffle_estimates(samples, eps0=budget, rng=rng)["projection"][0],
        }
        frame = {"eps0": budget, "eps": eps, "delta": delta, "n": n, "cell": np.arange(1, k + 1)}
        parts.append(pd.DataFrame(frame | estimates))
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        estimates = estimate_parity(
            read_histogram(snakemake.input.histogram),
            eps0=sorted({pair["eps0"] for pair in params.budgets}),
            n=params.n,
            delta=params.delta,
            dataset=snakemake.wildcards.dataset,
            seed=params.seed,
        )
        write_csv(estimates, snakemake.output[0])
