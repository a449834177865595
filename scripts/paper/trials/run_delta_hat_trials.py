"""The paper's protocol where it is defined: shuffle+INV against the analytic Gaussian at (eps, delta-hat).

In the paper's figures and tables eps = eps0, where delta-hat is 0. Here, in an experiment of our own,
eps < eps0. One sample of n users has the delta-hat of results/delta; every repetition draws new reports and
new noise. The Gaussian has the exact scale for (eps, delta-hat): diffprivlib refuses a delta below the
smallest float, as most printed ones are here.
"""

from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_hat import sample_of
from scripts.paper.delta.delta_hat_table import SETTING
from scripts.paper.trials.delta_hat_ratios import FORMS
from scripts.paper.trials.run_trials import error_table
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_parquet
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Integers
from tightshuffle.gaussian import exact_scale
from tightshuffle.krr import invert, project_to_simplex, sample_histogram

COLUMNS = [
    *SETTING,
    "eps",
    "form",
    "log10_delta",
    "scale",
    "mechanism",
    "repetition",
    "value",
    "uniform",
]


def run_delta_hat_trials(
    counts: Integers, delta_hats: pd.DataFrame, *, repetitions: int, sensitivity: float, seed: int
) -> pd.DataFrame:
    """The total variation (TV) errors of three mechanisms on one sample of users per n, a row per repetition.

    Every value that users of the sample hold has a delta at eps: that of releasing only the number of its
    reports. delta-hat is the largest of them. The Gaussian's noise is chosen for eps and delta-hat. The
    columns are

    - dataset, n (users of the sample), k (values), eps0 (the local budget);
    - mechanism, "shuffle" (k-randomized response), "shuffle+INV" (inverted and projected) or "gaussian";
    - repetition, from 1;
    - value, the TV error, and uniform, that of the uniform histogram;
    - eps, log10_delta and form, for which the Gaussian's noise is chosen. log10_delta is log10 of delta-hat,
      in the form "published" (by the formula that the paper's Theorem 1 prints) or "exact" (the true one);
    - scale, the standard deviation of this noise, in users.

    For the other two mechanisms form is "", and eps, log10_delta and scale are missing.

    Parameters
    ----------
    counts: how many users of the dataset hold each value, a histogram (k,)
    delta_hats: the dataset's table of results/delta, with a row for every n, eps0 and eps. Its columns
        published and exact are log10 of both forms of delta-hat
    repetitions: how many there are for every mechanism, n, eps0, eps and form
    sensitivity: the L2 sensitivity of the histogram, in users
    seed: the root seed
    """
    tables = []
    for _, rows in delta_hats.groupby(SETTING, sort=False):
        # dataset, n, k and eps0, which are the same in all rows of the group
        setting: dict[str, Any] = {name: rows[name].tolist()[0] for name in SETTING}
        # The users whose delta-hat is in the rows.
        sample = sample_of(counts, dataset=setting["dataset"], n=setting["n"], seed=seed)
        samples = np.broadcast_to(sample, (repetitions, len(sample)))
        truth = samples / setting["n"]
        rng = np.random.default_rng(seed_of(seed, stage="delta-hat trials", **setting))

        # The shuffled mechanisms depend on eps0 alone.
        shuffled = sample_histogram(samples, setting["eps0"], rng, repetitions=repetitions)
        frequencies = shuffled / setting["n"]
        inverted = project_to_simplex(invert(frequencies, setting["eps0"]))
        estimates = {"shuffle": frequencies, "shuffle+INV": inverted}
        errors = error_table("mechanism", estimates, truth, cells=[])
        tables.append(errors.assign(**setting, form=""))

        # The noise at every eps is a multiple of the same numbers, so the curves differ by their scale alone.
        noise = rng.standard_normal((repetitions, len(sample)))
        for row in rows.to_dict("records"):
            for form in FORMS:
                scale = exact_scale(row["eps"], log10_delta=row[form], sensitivity=sensitivity)
                estimates = {"gaussian": (sample + scale * noise) / setting["n"]}
                errors = error_table("mechanism", estimates, truth, cells=[])
                parameters = {"eps": row["eps"], "log10_delta": row[form], "scale": scale}
                tables.append(errors.assign(**setting, form=form, **parameters))

    return pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)


if __name__ == "__main__":
    with job() as snakemake:
        settings = snakemake.params.settings
        trials = run_delta_hat_trials(
            read_histogram(snakemake.input.histogram),
            pd.read_csv(snakemake.input.delta_hats),
            repetitions=settings["repetitions"],
            sensitivity=settings["sensitivity"],
            seed=settings["seed"],
        )
        write_parquet([trials], snakemake.output[0])
