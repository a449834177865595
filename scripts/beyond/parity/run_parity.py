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
    """Histograms estimated from shuffled k-RR reports in four ways: estimator -> (repetitions, k).

    Every row of ``samples`` (repetitions, k) is a histogram of n users, who all report once. An estimate is
    in fractions of n. "none" is the histogram of the reports, "inversion" the estimate by matrix inversion.
    """
    n = samples[0].sum()
    noisy = sample_histogram(samples, eps0, rng, repetitions=len(samples)) / n
    inverted = invert(noisy, eps0)
    return {
        "none": noisy,
        "inversion": inverted,
        "projection": project_to_simplex(inverted),
        "maximum_likelihood": maximum_likelihood(noisy, eps0),
    }


def gaussian_estimates(samples: Integers, noise: Floats) -> dict[str, Floats]:
    """Histograms estimated from noised counts in two ways: estimator -> fractions of n (repetitions, k).

    Every row of ``samples`` (repetitions, k) is a histogram of n users, and ``noise`` is in counts, of the
    same shape. With equal variances and a known n, the projection is the maximum-likelihood estimate.
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
    """The errors of every estimate by several metrics: a row for each estimator, metric, cell and repetition.

    The metrics are "tv" (total variation error), "individual_error" (of each of ``cells``, numbered from 1),
    and those of `POPULAR`: the mean absolute error of the values that most users of ``counts`` hold. All are
    in fractions of n.

    ``estimates`` is estimator -> fractions (repetitions, k), and ``truth`` are the fractions of the users
    drawn, in the same shape. ``counts`` (k,) is the whole dataset's histogram. The columns are estimator,
    metric, cell (0 unless the metric is "individual_error"), repetition (from 1), value (the error), and
    uniform (the same error of the uniform histogram).
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
    """Number of users -> the bounds that give eps there, and the number of repetitions.

    ``n`` are the sizes of a dataset's boxplots: numbers, or "all" for all users of ``counts`` (k,). The slow
    bound "lower" is computed at the first and the last of them only, "upper" at all.

    ``individual`` has the sizes (n) and the repetitions of the dataset's table of individual errors. Where
    the table has a size, there are at least as many repetitions as in the table, because the error of one
    cell varies more than the sum over all cells. Elsewhere there are ``repetitions``.
    """
    of_users: dict[int, tuple[list[str], int]] = {}
    for size in n:
        users = users_of(counts, size)
        # A number and "all" may be the same size.
        bounds, runs = of_users.get(users, (["upper"], repetitions))
        if size in (n[0], n[-1]):
            bounds = BOUNDS
        if individual and size in individual["n"]:
            runs = max(runs, individual["repetitions"])
        of_users[users] = bounds, runs
    return of_users


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
    """The errors of both mechanisms at equal privacy: tables of `run_parity_point`, for each number of users.

    The tables are made one by one, as they are large. ``points`` is n -> the bounds that give eps and the
    number of repetitions (`bounds_and_repetitions`). delta is each of the numbers ``delta``, and n^-a for
    each a of ``delta_exponents``. The other arguments are those of `run_parity_point`.
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
    setting is an eps0, one of the ``rules`` for delta, and one of the ``bounds`` ("upper", "lower"), which
    gives eps. The Gaussian has the smallest noise that is (eps, delta)-private. ``seed`` is the root seed.

    The frame has the columns `COLUMNS` and a row for every setting, mechanism, estimator, repetition and
    error:

    - metric and cell: "tv", one of `POPULAR`, or "individual_error" of each of ``cells``, numbered from 1.
      The cell is 0 for the other metrics
    - value: this error, in fractions of n
    - uniform: the same error of the uniform histogram, which ignores the data
    - seed: that of the mechanism's noise

    The shuffle model's rows do not depend on delta and bound. They are repeated beside each of the
    Gaussian's.
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
