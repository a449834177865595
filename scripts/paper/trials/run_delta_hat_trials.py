"""The paper's protocol where it is defined: shuffle+INV against the Gaussian at (eps, delta-hat).

In the paper's figures and tables eps = eps0, where delta-hat is 0. Here, in an experiment of our own,
eps < eps0. One sample of n users has the delta-hat of results/delta; every repetition draws new reports and
new noise.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_hat import sample_of
from scripts.paper.delta.delta_hat_table import SETTING
from scripts.paper.trials.delta_hat_noises import NOISES
from scripts.paper.trials.metrics import total_variation, uniform_histogram
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.mechanisms.gaussian import exact_scale
from tightshuffle.mechanisms.krr import invert, project_to_simplex, sample_histogram


def run_delta_hat_trials(
    counts: Integers,
    delta_hats: pd.DataFrame,
    *,
    repetitions: int,
    sensitivities: Sequence[float],
    floor: float,
    seed: int,
) -> pd.DataFrame:
    """Mean total variation (TV) errors of the Gaussian and of shuffle+INV, on one sample of users per n.

    There is a row for every n, eps0, eps, noise and sensitivity, and for the Gaussian with and without
    projection to the simplex. shuffle+INV is always projected, so its errors depend on n and eps0 alone. The
    columns are

    - dataset, n (users of the sample), k (values), eps0 (the local budget), eps;
    - noise (scripts/paper/trials/delta_hat_noises.py), sensitivity (L2, of the histogram, in users) and
      scale, the standard deviation of the noise, in users;
    - projected, whether the Gaussian is;
    - gaussian and shuffle+INV, the mean TV errors;
    - ratio, gaussian divided by shuffle+INV;
    - standard_error, that of the ratio over the repetitions;
    - uniform, the TV error of the uniform histogram;
    - repetitions, how many are behind each mean.

    Parameters
    ----------
    counts: how many users of the dataset hold each value, a histogram (k,)
    delta_hats: the dataset's table of results/delta, with a row for every n, eps0 and eps
    repetitions: how many there are of every mechanism, at least 2
    sensitivities: those for which the noise is chosen
    floor: the delta of diffprivlib's Gaussian where delta-hat is smaller
    seed: the root seed
    """
    rows = []
    for _, points in delta_hats.groupby(SETTING, sort=False):
        # dataset, n, k and eps0, which are the same in all rows of the group
        setting: dict[str, Any] = {name: points[name].tolist()[0] for name in SETTING}
        n = setting["n"]
        # The users whose delta-hat is in the rows.
        sample = sample_of(counts, dataset=setting["dataset"], n=n, seed=seed)
        truth = sample / n
        uniform = float(total_variation(uniform_histogram(len(sample)), truth))

        rng = np.random.default_rng(seed_of(seed, stage="delta-hat trials", **setting))
        samples = np.broadcast_to(sample, (repetitions, len(sample)))
        reports = sample_histogram(samples, setting["eps0"], rng, repetitions=repetitions)
        inverted = project_to_simplex(invert(reports / n, setting["eps0"]))
        errors_of_inverted = total_variation(inverted, truth)

        # The noise of every Gaussian is a multiple of the same numbers.
        normal = rng.standard_normal(samples.shape)
        for point, sensitivity in product(points.to_dict("records"), sensitivities):
            for noise, scale in _scales(point, sensitivity, floor).items():
                noisy = (sample + scale * normal) / n
                for projected in (False, True):
                    estimate = project_to_simplex(noisy) if projected else noisy
                    row = {**setting, "eps": point["eps"], "noise": noise}
                    row |= {"sensitivity": sensitivity, "scale": scale, "projected": projected}
                    row |= _comparison(total_variation(estimate, truth), errors_of_inverted)
                    rows.append({**row, "uniform": uniform, "repetitions": repetitions})
    return pd.DataFrame(rows)


def _scales(point: Mapping[str, Any], sensitivity: float, floor: float) -> dict[str, float]:
    """Noise -> its standard deviation, in users, for each of `NOISES`.

    ``point`` is a row of the table of delta-hat; the other arguments are those of `run_delta_hat_trials`.
    """
    eps = point["eps"]
    # Most printed delta-hats are 0 as floats.
    delta_of_library = max(10.0 ** point["published"], floor)
    scales: dict[str, Any] = {
        "published": exact_scale(eps, log10_delta=point["published"], sensitivity=sensitivity),
        "diffprivlib": published_scale(eps, delta_of_library, sensitivity),
        "exact": exact_scale(eps, log10_delta=point["exact"], sensitivity=sensitivity),
    }
    return {noise: float(scales[noise]) for noise in NOISES}


def _comparison(gaussian: Floats, inverted: Floats) -> dict[str, float]:
    """The columns from gaussian to standard_error: the mean errors, their ratio and its standard error.

    The arguments are the errors in each repetition, both (repetitions,) and independent of each other.
    """
    ratio = gaussian.mean() / inverted.mean()
    # Of a mean, relative to it. The variance of a ratio, relative to its square, is the sum of the two.
    relative = [
        errors.std(ddof=1) / errors.mean() / math.sqrt(len(errors))
        for errors in (gaussian, inverted)
    ]
    return {
        "gaussian": gaussian.mean(),
        "shuffle+INV": inverted.mean(),
        "ratio": ratio,
        "standard_error": ratio * math.hypot(*relative),
    }


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        trials = run_delta_hat_trials(
            read_histogram(snakemake.input.histogram),
            pd.read_csv(snakemake.input.delta_hats),
            repetitions=params.repetitions,
            sensitivities=params.sensitivities,
            floor=params.floor,
            seed=params.seed,
        )
        write_csv(trials, snakemake.output[0])
