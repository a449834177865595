"""The paper's protocol where it is defined: shuffle+INV against the analytic Gaussian at (eps, delta-hat).

In the paper's figures and tables eps = eps0, where delta-hat is 0. Here, in an experiment of our own,
eps < eps0. One sample of n users has the delta-hat of results/delta; every repetition draws new reports and
new noise. The Gaussian has the exact scale for (eps, delta-hat): diffprivlib refuses a delta below the
smallest float, as most printed ones are here.
"""

from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_hat import SETTING, sample_of
from scripts.paper.trials.run_trials import error_table
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Integers
from tightshuffle.gaussian import exact_scale
from tightshuffle.krr import invert, project_to_simplex, sample_histogram
from tightshuffle.numerics.seeds import seed_of

FORMS = ("published", "exact")  # of delta-hat
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
    """The total variation (TV) errors of the mechanisms on one sample of users per n, a row per repetition.

    The Gaussian mechanism has delta-hat for its delta, the largest delta of a count that occurs in the
    sample. The columns are dataset, n, k, eps0, mechanism ("shuffle", "shuffle+INV" or "gaussian"),
    repetition (from 1), value (the TV error), uniform (that of the uniform histogram), and of the Gaussian
    alone

    - eps, for which its noise is chosen;
    - form, "published" or "exact", of the delta-hat for which its noise is chosen ("" for the others);
    - log10_delta, log10 of this delta-hat;
    - scale, the standard deviation of its noise, in users.

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

        # The same noise at every eps, in other units: the curves differ by their scale alone.
        noise = rng.standard_normal((repetitions, len(sample)))
        for row in rows.to_dict("records"):
            for form in FORMS:
                scale = exact_scale(row["eps"], log10_delta=row[form], sensitivity=sensitivity)
                estimates = {"gaussian": (sample + scale * noise) / setting["n"]}
                errors = error_table("mechanism", estimates, truth, cells=[])
                parameters = {"eps": row["eps"], "log10_delta": row[form], "scale": scale}
                tables.append(errors.assign(**setting, form=form, **parameters))

    return pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)


def gaussian_ratios(trials: pd.DataFrame) -> pd.DataFrame:
    """The Gaussian's mean TV error over that of shuffle+INV, with a row for every setting, form and eps.

    The columns are dataset, n, k, eps0, form (of delta-hat), eps and ratio. ``trials`` has a row for every
    repetition of a mechanism.
    """
    inverted = trials[trials["mechanism"] == "shuffle+INV"].groupby(SETTING)["value"].mean()
    gaussian = trials[trials["mechanism"] == "gaussian"]
    means = gaussian.groupby([*SETTING, "form", "eps"])["value"].mean().reset_index()
    means = means.join(inverted.rename("inverted"), on=SETTING)
    means["ratio"] = means["value"] / means["inverted"]
    return means.drop(columns=["value", "inverted"])


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
