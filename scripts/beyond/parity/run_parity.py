"""The comparison at equal privacy: shuffled k-RR and the Gaussian mechanism with the same (eps, delta).

delta is fixed. For n users, k cells and a budget eps0, eps is what `tightshuffle.epsilon` guarantees for
every dataset. The Gaussian mechanism has the smallest noise that is (eps, delta)-private for a histogram, if
one user's value changes (L2 sensitivity sqrt(2)). Everything is paired: one repetition is one sample of users
for all mechanisms and settings. One setting's Gaussian noise is the same standard normal draw for both bounds
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
from scripts.shared.seeds import seed_of
from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.guarantee import epsilon_of_lower, epsilon_of_upper
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.mechanisms.krr import (
    invert,
    maximum_likelihood,
    project_to_simplex,
    sample_histogram,
)
from tightshuffle.points import make_point

# Metric -> the mean error of this many values.
POPULAR = {"most_popular": 1, "ten_most_popular": 10}
# Bounds on delta. A setting has one of them, and its eps is where this bound is the setting's delta.
EPSILONS = {"upper": epsilon_of_upper, "lower": epsilon_of_lower}
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps", "mechanism", "estimator",
    "metric", "cell", "repetition", "value", "uniform", "seed",
]  # fmt: skip


def shuffle_estimates(
    samples: Integers, *, eps0: float, rng: np.random.Generator
) -> dict[str, Floats]:
    """Histograms estimated from shuffled k-RR reports: estimator -> fractions of n (repetitions, k).

    Every row of ``samples`` (repetitions, k) is the histogram of n users, who all report once with the local
    budget ``eps0``. The estimators are:

    - "none": the histogram of the reports
    - "inversion": the unbiased estimate from it by matrix inversion, which may be negative
    - "projection": the nearest probability vector to the inverted estimate
    - "maximum_likelihood": the probability vector that makes the reports most likely
    """
    n = samples[0].sum()
    # One histogram of reports for each row of ``samples``.
    noisy = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n
    inverted = invert(noisy, eps0)
    return {
        "none": noisy,
        "inversion": inverted,
        "projection": project_to_simplex(inverted),
        "maximum_likelihood": maximum_likelihood(noisy, eps0),
    }


def gaussian_estimates(samples: Integers, noise: Floats) -> dict[str, Floats]:
    """Histograms estimated from counts with noise: estimator -> fractions of n (repetitions, k).

    ``samples`` are those of `shuffle_estimates`. ``noise`` has the same shape, in users. "none" is the noisy
    histogram, and "projection" the nearest probability vector to it. With noise of equal variances and a
    known n, this is the maximum-likelihood estimate.
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
    """The errors of every estimate by four metrics: a row for each estimator, metric, cell and repetition.

    ``estimates`` is estimator -> fractions of n (repetitions, k). ``truth``, in the same shape, are the
    fractions of the n users who were drawn from the dataset. ``counts`` (k,) is the whole dataset's
    histogram. The columns are:

    - estimator, and repetition (from 1)
    - metric: "tv" (total variation error), "individual_error" (absolute error of one cell), or
      "most_popular" and "ten_most_popular" (mean absolute error of the 1 or 10 values that most users of
      ``counts`` hold)
    - cell: each of ``cells`` (numbered from 1) for the metric "individual_error", and 0 for the others
    - value: the error, in fractions of n
    - uniform: the same error of the uniform histogram
    """
    # The metrics "tv" and "individual_error", in the same columns.
    tables = [error_table("estimator", estimates, truth, cells)]

    uniform_distances = np.abs(uniform_histogram(truth.shape[-1]) - truth)
    for name, estimate in estimates.items():
        distances = np.abs(estimate - truth)
        for metric, number_of_values in POPULAR.items():
            popular = most_popular(counts, number_of_values)
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
    """How a dataset is run: number of users -> (names of bounds on delta, number of repetitions).

    For each bound, "upper" or "lower", the experiment has a setting whose eps is where this bound meets the
    setting's delta. The bound "lower" is slow, and so has settings at the first and the last size only.
    "upper" has settings at all sizes.

    ``n`` are the sizes: numbers of users, or "all" for all users of the histogram ``counts`` (k,).
    ``individual`` (None if the dataset has no table of individual errors) has the sizes (key "n") and the
    repetitions of this table. A size in the table has at least as many repetitions, because the error of
    one cell varies more than the sum over all cells. The other sizes have ``repetitions``.
    """
    plan: dict[int, tuple[list[str], int]] = {}
    for size in n:
        users = users_of(counts, size)
        # If a number and "all" mean equally many users, the second one adds to the plan of the first one.
        bounds, runs = plan.get(users, (["upper"], repetitions))
        if size in (n[0], n[-1]):
            bounds = list(EPSILONS)
        if individual and size in individual["n"]:
            runs = max(runs, individual["repetitions"])
        plan[users] = bounds, runs
    return plan


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
    """The errors of shuffled k-RR and of the Gaussian at equal privacy: a table for each number of users n.

    The tables are made one by one, as they are large. Each is that of `run_parity_point`, which explains the
    other arguments. ``points`` is n -> (bounds, repetitions). The deltas are the numbers ``delta``, and n^-a
    for each a of ``delta_exponents``.
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
    """The errors of shuffled k-RR and of the Gaussian at equal privacy, for n users of one dataset.

    Every repetition draws n users from the dataset's histogram ``counts`` (k,), the same for all settings. A
    setting is a local budget of ``eps0``, one of the ``rules`` for delta as a function of n, and one of the
    ``bounds``. ``seed`` is the root seed.

    There is a row for every setting, mechanism, estimator, metric, cell and repetition. The columns are:

    - dataset, n, k, eps0, delta_rule (its name), delta, bound, eps: the setting
    - mechanism ("shuffle" or "gaussian") and estimator ("none", "projection", and for the shuffle model
      "inversion" and "maximum_likelihood")
    - metric and cell: which error. "tv" (total variation), "most_popular" and "ten_most_popular" (mean error
      of the values that most users hold) have the cell 0. "individual_error" has each of ``cells``, numbered
      from 1
    - repetition (from 1)
    - value: this error, in fractions of n
    - uniform: the same error of the uniform histogram, which ignores the data
    - seed: that of the mechanism's noise

    The shuffle model's errors do not depend on delta and bound. They are repeated in all settings of an eps0.
    """
    k = len(counts)
    # The seed of a stage depends on the root seed, the dataset, n, and what the stage is given.
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
            # Of standard deviation 1: the same draw for both bounds, so that they can be compared.
            noise = np.random.default_rng(gaussian_seed).standard_normal(samples.shape)
            delta = rule.delta(n)
            ln_delta = float(np.log(delta))

            for bound in bounds:
                eps = EPSILONS[bound](ln_delta, make_point(n=n, k=k, eps0=budget))
                sigma = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
                estimates = gaussian_estimates(samples, sigma * noise)
                gaussian = error_rows(estimates, truth, cells, counts)
                gaussian = gaussian.assign(mechanism="gaussian", seed=gaussian_seed)

                rows = pd.concat([shuffle, gaussian], ignore_index=True)
                rows = rows.assign(eps0=budget, delta_rule=rule.name, delta=delta)
                tables.append(rows.assign(bound=bound, eps=eps))
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
