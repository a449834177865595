"""The comparison at equal privacy: shuffled k-RR and the Gaussian mechanism with the same (eps, delta).

delta is fixed. For n users, k cells and a budget eps0, eps is what `tightshuffle.upper` guarantees for every
dataset. The Gaussian mechanism has the smallest noise that is (eps, delta)-private for a histogram, if one
user's value changes (L2 sensitivity sqrt(2)). Everything is paired: one repetition is one sample of users for
all mechanisms and settings. One setting's Gaussian noise is the same standard normal draw for both bounds
that give eps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

POPULAR = {"most_popular": 1, "ten_most_popular": 10}  # metric -> the mean error of this many values
BOUNDS = ["upper", "lower"]  # methods, which give eps
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps", "mechanism", "estimator",
    "metric", "cell", "repetition", "value", "uniform", "seed",
]  # fmt: skip


def shuffle_estimates(samples: Integers, *, eps0: float, rng: np.random.Generator) -> dict[str, Floats]:
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
    """The noised histogram of every sample, estimated in two ways; ``noise`` (repetitions, k) in counts.

    With equal variances and a known n, the projection is the maximum-likelihood estimate.
    """
    plain = (samples + noise) / samples[0].sum()
    return {"none": plain, "projection": project_to_simplex(plain)}


def most_popular(counts: npt.ArrayLike, number: int) -> Integers:
    """The places (from 0) of the ``number`` values that most users hold, or of all if there are fewer.

    Of values that equally many users hold, the first ones.
    """
    return np.argsort(-np.asarray(counts), kind="stable")[:number]


def errors_of(
    estimates: Mapping[str, Floats], truth: Floats, cells: Sequence[int], counts: Integers
) -> pd.DataFrame:
    """`error_table` of the estimators, and the metrics `POPULAR`: mean errors of the most popular values.

    ``counts`` (k,): the dataset's histogram, which says what is popular; the users drawn do not.
    """
    uniform = uniform_histogram(truth.shape[-1])
    parts = [error_table("estimator", estimates, truth, cells)]
    for name, estimate in estimates.items():
        for metric, number in POPULAR.items():
            places = most_popular(counts, number)
            values, others = (np.abs(one - truth)[:, places].mean(axis=1) for one in (estimate, uniform))
            row = {"estimator": name, "metric": metric, "cell": 0, "repetition": 1 + np.arange(len(truth))}
            parts.append(pd.DataFrame(row | {"value": values, "uniform": others}))
    return pd.concat(parts, ignore_index=True)


def sizes(
    counts: Integers, n: Sequence[Users], individual: Mapping[str, Any] | None, repetitions: int
) -> dict[int, tuple[list[str], int]]:
    """Each number of users of a dataset's boxplots -> the bounds that give eps there, and the repetitions.

    The slow bound ``lower`` is computed at the first and the last n only. ``individual``: the settings of the
    dataset's table of individual errors. Where it has this n, there are at least as many repetitions as in
    the table, because the error of one cell varies more than the sum over all cells.
    """
    found: dict[int, tuple[list[str], int]] = {}
    for size in n:
        users = users_of(counts, size)
        bounds, runs = found.get(users, (["upper"], repetitions))
        if size in (n[0], n[-1]):
            bounds = BOUNDS
        if individual and size in individual["n"]:
            runs = max(runs, individual["repetitions"])
        found[users] = bounds, runs
    return found


def run_parity(
    counts: Integers,
    sizes: Mapping[int, tuple[Sequence[str], int]],
    *,
    dataset: str,
    eps0: Sequence[float],
    delta: Iterable[float],
    delta_exponents: Iterable[float],
    cells: Sequence[int],
    seed: int,
) -> Iterator[pd.DataFrame]:
    """`run_parity_point` at each of `sizes`; ``delta`` and ``delta_exponents`` as for `delta_rules`."""
    rules = delta_rules(delta, delta_exponents)
    how: dict[str, Any] = {"dataset": dataset, "eps0": eps0, "rules": rules, "cells": cells, "seed": seed}
    for n, (bounds, repetitions) in sizes.items():
        yield run_parity_point(counts, n=n, bounds=bounds, repetitions=repetitions, **how)


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
    """Every setting of one dataset and number of users, as a tidy frame.

    ``counts``: the dataset's histogram (k,); ``bounds``: those of `BOUNDS` that give eps; ``cells``: those
    whose individual error is computed, numbered from 1; ``seed``: the root seed. Returns a DataFrame with
    `COLUMNS`: bound gave eps; metric is "tv", "individual_error" or of `POPULAR`; cell is 0 but for
    "individual_error"; value is in fractions of n; uniform is the same error of the uniform histogram, which
    ignores the data; seed is that of the mechanism's noise. The shuffle model's rows do not depend on delta
    and bound; they are repeated for each of the Gaussian's.
    """
    k = len(counts)
    root: dict[str, Any] = {"dataset": dataset, "n": n}
    users = np.random.default_rng(seed_of(seed, stage="parity users", **root))
    samples = sample_users(counts, n, users, repetitions)

    parts = []
    for budget in map(float, eps0):
        noise_seed = seed_of(seed, stage="parity shuffle", eps0=budget, **root)
        estimates = shuffle_estimates(samples, eps0=budget, rng=np.random.default_rng(noise_seed))
        shuffle = errors_of(estimates, samples / n, cells, counts)
        shuffle = shuffle.assign(mechanism="shuffle", seed=noise_seed)
        for rule in rules:
            setting: dict[str, Any] = {**root, "eps0": budget, "delta_rule": rule.name}
            noise_seed = seed_of(seed, stage="parity gaussian", **setting)
            noise = np.random.default_rng(noise_seed).standard_normal(samples.shape)
            setting["delta"] = rule.delta(n)
            log10_delta = float(np.log10(rule.delta(n)))
            for bound in bounds:
                eps = epsilon(log10_delta=log10_delta, method=bound, n=n, k=k, eps0=budget)
                sigma = float(exact_scale(eps, rule.delta(n), sensitivity=HISTOGRAM_SENSITIVITY))
                estimates = gaussian_estimates(samples, sigma * noise)
                gaussian = errors_of(estimates, samples / n, cells, counts)
                gaussian = gaussian.assign(mechanism="gaussian", seed=noise_seed)
                both = pd.concat([shuffle, gaussian], ignore_index=True)
                parts.append(both.assign(k=k, **setting, bound=bound, eps=eps))
    return pd.concat(parts, ignore_index=True)[COLUMNS]


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        counts = read_histogram(snakemake.input.histogram)
        points = run_parity(
            counts,
            sizes(counts, params.n, params.individual, params.repetitions),
            dataset=snakemake.wildcards.dataset,
            cells=(params.individual or {}).get("cells", []),
            eps0=params.eps0,
            delta=params.delta,
            delta_exponents=params.delta_exponents,
            seed=params.seed,
        )
        write_parquet(points, snakemake.output[0])
