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
from scripts.paper.trials.metrics import total_variation, uniform_histogram
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.gaussian import exact_scale
from tightshuffle.krr import invert, project_to_simplex, sample_histogram
from tightshuffle.numerics.seeds import seed_of

FORMS = ("published", "exact")  # of delta-hat
SETTING = ["dataset", "n", "k", "eps0"]
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
    """The TV errors of every mechanism, a row per setting, eps, form of delta-hat, mechanism and repetition.

    ``counts`` is the dataset's histogram (k,), ``delta_hats`` its rows of results/delta, as
    `compute_delta_hat` gives them, and ``sensitivity`` that of the Gaussian. The columns are `SETTING`, eps,
    mechanism, repetition, and

    - form, of the Gaussian's delta-hat ("" for the shuffled mechanisms, which have no delta-hat and no eps);
    - log10_delta, of this form;
    - scale, the standard deviation of the Gaussian's noise, in users;
    - value, the TV error, and uniform, that of the uniform histogram.
    """
    tables = []
    for _, rows in delta_hats.groupby(SETTING, sort=False):
        setting: dict[str, Any] = {name: rows[name].tolist()[0] for name in SETTING}
        sample = sample_of(counts, dataset=setting["dataset"], n=setting["n"], seed=seed)
        rng = np.random.default_rng(seed_of(seed, stage="delta-hat trials", **setting))

        for errors in _errors_of_shuffled(sample, setting["eps0"], repetitions, rng):
            tables.append(errors.assign(**setting))

        # The same noise at every eps, in other units: the curves differ by their scale alone.
        noise = rng.standard_normal((repetitions, len(sample)))
        for row in rows.to_dict("records"):
            for form in FORMS:
                scale = exact_scale(row["eps"], log10_delta=row[form], sensitivity=sensitivity)
                estimates = (sample + scale * noise) / setting["n"]
                errors = _errors("gaussian", estimates, sample)
                errors = errors.assign(
                    eps=row["eps"], form=form, log10_delta=row[form], scale=scale
                )
                tables.append(errors.assign(**setting))

    return pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)


def _errors_of_shuffled(
    sample: Integers, eps0: float, repetitions: int, rng: np.random.Generator
) -> list[pd.DataFrame]:
    """The errors of the shuffled histogram, as it is and inverted: they depend on eps0 alone."""
    samples = np.broadcast_to(sample, (repetitions, len(sample)))
    shuffled = sample_histogram(samples, eps0, rng, repetitions=repetitions) / sample.sum()
    inverted = project_to_simplex(invert(shuffled, eps0))
    tables = [_errors("shuffle", shuffled, sample), _errors("shuffle+INV", inverted, sample)]
    return [table.assign(form="") for table in tables]


def _errors(mechanism: str, estimates: Floats, sample: Integers) -> pd.DataFrame:
    """The TV error of each estimate (repetitions, k) of a sample (k,), and that of the uniform histogram."""
    truth = sample / sample.sum()
    return pd.DataFrame(
        {
            "mechanism": mechanism,
            "repetition": np.arange(1, len(estimates) + 1),
            "value": total_variation(estimates, truth),
            "uniform": float(total_variation(uniform_histogram(len(sample)), truth)),
        }
    )


def gaussian_ratios(trials: pd.DataFrame) -> pd.DataFrame:
    """The Gaussian's mean TV error over that of shuffle+INV: `SETTING`, form, eps and ratio."""
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
