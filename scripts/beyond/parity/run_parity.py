"""The comparison at equal privacy: shuffled k-RR and the Gaussian mechanism with the same (eps, delta).

delta is fixed. For n users, k cells and a budget eps0, eps is what `tightshuffle.upper` guarantees for every
dataset. The Gaussian mechanism has the smallest noise that is (eps, delta)-private for a histogram, if one
user's value changes (L2 sensitivity sqrt(2)). Everything is paired: one repetition is one sample of users for
all mechanisms and settings. One setting's Gaussian noise is the same standard normal draw for both bounds
that give eps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.paper.data.users import Users, sample_users, users_of
from scripts.paper.trials.metrics import uniform_histogram
from scripts.paper.trials.run_trials import error_table
from scripts.shared.delta_rules import DeltaRule, delta_rules
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.krr import invert, maximum_likelihood, project_to_simplex, sample_histogram
from tightshuffle.methods import epsilon
from tightshuffle.numerics.seeds import seed_of

# Metric -> the mean error of this many values.
POPULAR = {"most_popular": 1, "ten_most_popular": 10}
BOUNDS = ["upper", "lower"]  # methods, which give eps
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps", "mechanism", "estimator",
    "metric", "cell", "repetition", "value", "uniform", "seed",
]  # fmt: skip


def shuffle_estimates(
    samples: Integers, *, eps0: float, rng: np.random.Generator
) -> dict[str, Floats]:
    """The shuffled k-RR histogram of every sample, estimated in four ways: estimator -> (repetitions, k).

    "none" is the noisy histogram itself, as fractions of n.
    """
    noisy = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / samples[0].sum()
    inverted = invert(noisy, eps0)
    return {
        "none": noisy,
        "inversion": inverted,
        "projection": project_to_simplex(inverted),
        "maximum_likelihood": maximum_likelihood(noisy, eps0),
    }


def gaussian_estimates(samples: Integers, noise: Floats) -> dict[str, Floats]:
    """The noised histogram of every sample, estimated in two ways: estimator -> (repetitions, k).

    ``noise`` is in counts, shape (repetitions, k). With equal variances and a known n, the projection is the
    maximum-likelihood estimate.
    """
    noisy = (samples + noise) / samples[0].sum()
    return {"none": noisy, "projection": project_to_simplex(noisy)}


def most_popular(counts: npt.ArrayLike, number: int) -> Integers:
    """The positions (from 0) of the ``number`` values that most users hold, or of all if there are fewer.

    Of values that equally many users hold, the first ones.
    """
    return np.argsort(-np.asarray(counts), kind="stable")[:number]


def error_rows(
    estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int], counts: Integers
) -> pd.DataFrame:
    """`error_table` of the estimators, and the metrics `POPULAR`: mean errors of the most popular values.

    ``counts`` (k,) is the dataset's histogram. It says what is popular, and the users drawn do not.
    """
    tables = [error_table("estimator", estimates, truth, cells)]
    uniform_distances = np.abs(uniform_histogram(truth.shape[-1]) - truth)
    for name, estimate in estimates.items():
        distances = np.abs(estimate - truth)
        for metric, number in POPULAR.items():
            popular = most_popular(counts, number)
            errors = {
                "estimator": name,
                "metric": metric,
                "cell": 0,
                "repetition": 1 + np.arange(len(truth)),
                "value": distances[:, popular].mean(axis=1),
                "uniform": uniform_distances[:, popular].mean(axis=1),
            }
            tables.append(pd.DataFrame(errors))
    return pd.concat(tables, ignore_index=True)


def bounds_and_repetitions(
    counts: Integers, n: Sequence[Users], individual: Mapping[str, Any] | None, repetitions: int
) -> dict[int, tuple[list[str], int]]:
    """Each number of users of a dataset's boxplots -> the bounds that give eps there, and the repetitions.

    The slow bound ``lower`` is computed at the first and the last n only. ``individual`` has the settings of
    the dataset's table of individual errors. Where the table has this n, there are at least as many
    repetitions as in the table, because the error of one cell varies more than the sum over all cells.
    """
    bounds_and_repetitions: dict[int, tuple[list[str], int]] = {}
    for size in n:
        users = users_of(counts, size)
        bounds, runs = bounds_and_repetitions.get(users, (["upper"], repetitions))
        if size in (n[0], n[-1]):
            bounds = BOUNDS
        if individual and size in individual["n"]:
            runs = max(runs, individual["repetitions"])
        bounds_and_repetitions[users] = bounds, runs
    return bounds_and_repetitions


def run_parity(
    counts: Integers,
    points: Mapping[int, tuple[Sequence[str], int]],
    *,
    dataset: str,
    eps0: Sequence[float],
    delta: Iterable[float],
    delta_exponents: Iterable[float],
    cells: Sequence[int],
    seed: int,
) -> Iterator[pd.DataFrame]:
    """The errors of both mechanisms at equal privacy: one table per number of users, made one by one.

    ``points``: n -> (the bounds that give eps, the number of repetitions), as `bounds_and_repetitions` gives
    them. ``delta`` and ``delta_exponents`` are as for `delta_rules`, the rest and the tables as for
    `run_parity_point`.
    """
    rules = delta_rules(delta, delta_exponents)
    for n, (bounds, repetitions) in points.items():
        yield run_parity_point(
            counts,
            dataset=dataset,
            n=n,
            eps0=eps0,
            rules=rules,
            bounds=bounds,
            repetitions=repetitions,
            cells=cells,
            seed=seed,
        )


def run_parity_point(
    counts: Integers,
    *,
    dataset: str,
    n: int,
    eps0: Iterable[float],
    rules: Sequence[DeltaRule],
    bounds: Sequence[str],
    repetitions: int,
    cells: Sequence[int],
    seed: int,
) -> pd.DataFrame:
    """Every setting of one dataset and number of users: a tidy frame with `COLUMNS`.

    ``counts`` is the dataset's histogram (k,), ``bounds`` are those of `BOUNDS` that give eps, ``cells`` are
    those whose individual error is computed, numbered from 1, and ``seed`` is the root seed.

    In the frame, bound is what gave eps. The metric is "tv", "individual_error" or one of `POPULAR`, and the
    cell is 0 unless it is "individual_error". The value is in fractions of n. The column uniform has the same
    error of the uniform histogram, which ignores the data. The seed is that of the mechanism's noise. The
    shuffle model's rows do not depend on delta and bound, and are repeated for each of the Gaussian's.
    """
    k = len(counts)
    point_seed = partial(seed_of, seed, dataset=dataset, n=n)
    rng = np.random.default_rng(point_seed(stage="parity users"))
    samples = sample_users(counts, n, rng, repetitions)
    truth = samples / n

    tables = []
    for budget in map(float, eps0):
        shuffle_seed = point_seed(stage="parity shuffle", eps0=budget)
        estimates = shuffle_estimates(samples, eps0=budget, rng=np.random.default_rng(shuffle_seed))
        shuffle = error_rows(estimates, truth, cells, counts)
        shuffle = shuffle.assign(mechanism="shuffle", seed=shuffle_seed)

        for rule in rules:
            gaussian_seed = point_seed(stage="parity gaussian", eps0=budget, delta_rule=rule.name)
            noise = np.random.default_rng(gaussian_seed).standard_normal(samples.shape)
            delta = rule.delta(n)
            log10_delta = float(np.log10(delta))

            for bound in bounds:
                eps = epsilon(log10_delta=log10_delta, method=bound, n=n, k=k, eps0=budget)
                sigma = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
                gaussian = error_rows(
                    gaussian_estimates(samples, sigma * noise), truth, cells, counts
                )
                gaussian = gaussian.assign(mechanism="gaussian", seed=gaussian_seed)
                rows = pd.concat([shuffle, gaussian], ignore_index=True)
                rows = rows.assign(
                    eps0=budget, delta_rule=rule.name, delta=delta, bound=bound, eps=eps
                )
                tables.append(rows)
    table = pd.concat(tables, ignore_index=True)
    return table.assign(dataset=dataset, n=n, k=k)[COLUMNS]


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        counts = read_histogram(snakemake.input.histogram)
        individual = params.individual
        points = run_parity(
            counts,
            bounds_and_repetitions(counts, params.n, individual, params.repetitions),
            dataset=snakemake.wildcards.dataset,
            cells=individual["cells"] if individual else [],
            eps0=params.eps0,
            delta=params.delta,
            delta_exponents=params.delta_exponents,
            seed=params.seed,
        )
        write_parquet(points, snakemake.output[0])
