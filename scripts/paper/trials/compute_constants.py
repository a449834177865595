"""What hangs on our two constants: the error of shuffle+INV over the Gaussian's, under other floors of delta.

The paper states neither the delta that the Gaussian has at eps = eps0, where delta-hat is 0, nor its
sensitivity. Figures 2 and 4 to 7 are judged here at both ends of their n.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from scripts.paper.data.users import sample_users, users_of
from scripts.paper.trials.metrics import total_variation
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.mechanisms.krr import invert, project_to_simplex, sample_histogram

POINT = ["dataset", "experiment", "end", "eps0", "eps", "n", "k"]
COLUMNS = [
    *POINT, "repetitions", "shuffle+INV", "standard_error", "floor", "sensitivity", "ours", "scale",
    "gaussian", "ratio", "low", "high", "confidence",
]  # fmt: skip


def compute_constants(
    histograms: Mapping[str, Integers],
    experiments: Mapping[str, Mapping[str, Any]],
    *,
    floors: Sequence[float],
    sensitivities: Sequence[float],
    ours: tuple[float, float],
    repetitions: int,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """The errors of shuffle+INV and of the Gaussian, under other deltas and sensitivities of the Gaussian.

    There is a row for every point, floor and sensitivity. A point is a dataset, an experiment, a budget (eps0
    and eps), and an n at either end of the experiment's. The columns are dataset, experiment, eps0, eps, n
    (users), k (cells), repetitions, and

    - end, "smallest" or "largest": which n of the experiment this is. A single n is the largest;
    - shuffle+INV, the mean total variation (TV) error of shuffle+INV, and standard_error, that of this mean;
    - floor and sensitivity, for which the Gaussian's noise is chosen, and ours, whether both are those of the
      protocol;
    - scale, the standard deviation of this noise as diffprivlib has it, in users;
    - gaussian, the expected TV error of the Gaussian;
    - ratio, shuffle+INV divided by gaussian, with the ends of its interval, low and high. The intervals of
      all rows together contain the true ratios with the probability confidence (Bonferroni, Student's t).

    Parameters
    ----------
    histograms: dataset -> how many of its users each cell holds, (k,)
    experiments: dataset -> experiment -> a dict of budgets (dicts of eps0 and eps) and n (a number of users
        or "all", or a list of them)
    floors: deltas of the Gaussian
    sensitivities: of the histogram, in users
    ours: the floor and the sensitivity of the protocol, which are tried beside the others
    repetitions: samples of n users behind each mean, at least 2
    confidence: of all intervals together, such as 0.95
    seed: the root seed, on which the random numbers depend
    """
    means = pd.DataFrame(_means(histograms, experiments, repetitions=repetitions, seed=seed))
    # Each mean may be outside of its interval with a probability of this share.
    share = (1 - confidence) / len(means)
    quantile = stats.t.ppf(1 - share / 2, repetitions - 1)

    choices = list(product(sorted({*floors, ours[0]}), sorted({*sensitivities, ours[1]})))
    rows = []
    for point in means.to_dict("records"):
        mean, reach = point["shuffle+INV"], quantile * point["standard_error"]
        for floor, sensitivity in choices:
            scale = published_scale(point["eps"], floor, sensitivity)  # of diffprivlib
            gaussian = expected_tv_of_noise(scale, n=point["n"], k=point["k"])
            row = {
                "floor": floor,
                "sensitivity": sensitivity,
                "ours": (floor, sensitivity) == ours,
                "scale": scale,
                "gaussian": gaussian,
                "ratio": mean / gaussian,
                "low": (mean - reach) / gaussian,
                "high": (mean + reach) / gaussian,
                "confidence": confidence,
            }
            rows.append(point | row)
    return pd.DataFrame(rows)[COLUMNS]


def _means(
    histograms: Mapping[str, Integers],
    experiments: Mapping[str, Mapping[str, Any]],
    *,
    repetitions: int,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """Each point of `compute_constants` with the columns repetitions, shuffle+INV and standard_error."""
    for dataset, of_dataset in experiments.items():
        counts = histograms[dataset]
        for experiment, settings in of_dataset.items():
            listed = settings["n"] if isinstance(settings["n"], list) else [settings["n"]]
            sizes = [users_of(counts, n) for n in listed]
            n_of_end = {"smallest": min(sizes), "largest": max(sizes)}
            if len(set(sizes)) == 1:
                del n_of_end["smallest"]
            for budget, (end, n) in product(settings["budgets"], n_of_end.items()):
                eps0 = float(budget["eps0"])
                errors = shuffle_inv_errors(
                    counts, dataset=dataset, eps0=eps0, n=n, repetitions=repetitions, seed=seed
                )
                yield {
                    "dataset": dataset,
                    "experiment": experiment,
                    "end": end,
                    "eps0": eps0,
                    "eps": float(budget["eps"]),
                    "n": n,
                    "k": len(counts),
                    "repetitions": repetitions,
                    "shuffle+INV": errors.mean(),
                    "standard_error": errors.std(ddof=1) / math.sqrt(repetitions),
                }


def shuffle_inv_errors(
    counts: Integers, *, dataset: str, eps0: float, n: int, repetitions: int, seed: int
) -> Floats:
    """The TV errors of shuffle+INV in samples of n users, shape (repetitions,).

    The random numbers depend on the root ``seed`` and on all other arguments but the histogram ``counts``
    (k,).
    """
    rng = np.random.default_rng(
        seed_of(seed, stage="constants", dataset=dataset, eps0=eps0, n=n, repetitions=repetitions)
    )
    samples = sample_users(counts, n, rng, repetitions)
    shuffled = sample_histogram(samples, eps0, rng, repetitions=repetitions) / n
    return total_variation(project_to_simplex(invert(shuffled, eps0)), samples / n)


def expected_tv_of_noise(scale: float, *, n: int, k: int) -> float:
    """The expected TV error of the Gaussian mechanism: a histogram of n users in k cells plus normal noise.

    The noise has the standard deviation ``scale``, in users, and the result is not projected. The TV error is
    half the sum of the k absolute values of the noise, as a fraction of n. Each has the mean
    scale sqrt(2 / pi), so the error is k scale sqrt(2 / pi) / (2 n).
    """
    return k * scale * math.sqrt(2 / math.pi) / (2 * n)


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = compute_constants(
            {name: read_histogram(path) for name, path in snakemake.input.items()},
            params.experiments,
            **params.constants,
            ours=(params.protocol["delta_floor"], params.protocol["sensitivity"]),
            seed=params.seed,
        )
        write_csv(table, snakemake.output[0])
