"""Summary of the runs at equal privacy: mean errors and ratios, with bootstrap intervals and closed forms.

Individual errors are summarised for each of the dataset's cells, and for their mean within each repetition
(cell 0). The bootstrap draws repetitions, the same ones for every setting and mechanism of one dataset and
number of users, so that ratios keep the pairing of the runs.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.beyond.parity.run_parity import POPULAR, most_popular
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.seeds import seed_of
from scripts.shared.table_files import read_frames
from tightshuffle.arguments import Floats, Integers
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.randomizers.expected_errors import (
    gaussian_errors,
    krr_errors,
    noise_ratios,
    plain_errors,
)

SETTING = ["dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps"]
ERROR = ["metric", "cell"]  # what is measured: an error, and of which cell; 0: of several or all
# A series is the errors of one estimate in one setting: one number for each repetition.
SERIES = [*SETTING, "mechanism", "estimator", *ERROR]
MEANS = [
    "dataset", "n", "k", "eps0", "delta", "eps", "bound", "mechanism", "estimator", "metric", "cell",
    "mean", "low", "high", "repetitions", "delta_rule", "predicted",
]  # fmt: skip
RATIOS = [
    *SETTING, "comparison", "metric", "cell", "ratio", "low", "high", "repetitions", "predicted", "limit",
    "uniform", "informative",
]  # fmt: skip
# Name -> the estimators of shuffled k-RR and of the Gaussian, whose errors are numerator and denominator.
COMPARISONS = {
    "unprojected": ("inversion", "none"),
    "projected": ("projection", "projection"),
    "maximum likelihood": ("maximum_likelihood", "projection"),
    "the paper's pairing": ("projection", "none"),
}


class Interval(NamedTuple):
    """Statistics of all repetitions and the ends of their bootstrap intervals, all of shape (statistics,)."""

    estimate: Floats
    low: Floats
    high: Floats


def largest_change_percent(ratios: pd.DataFrame) -> float | None:
    """By how many percent a ratio of errors changes at most if our lower bound on delta gives eps, not upper.

    The number is rounded up to one decimal. ``ratios`` has the rows of one metric, with the columns dataset,
    n, eps0, delta_rule, comparison, bound and ratio. None if only one of both bounds is in them.
    """
    keys = ["dataset", "n", "eps0", "delta_rule", "comparison"]
    both = ratios.pivot(index=keys, columns="bound", values="ratio")
    if not {"lower", "upper"} <= set(both):
        return None
    change = (both["upper"] / both["lower"] - 1).abs().max()
    return math.ceil(1000 * change) / 10


def bootstrap(
    values: npt.ArrayLike,
    functions: Sequence[Callable[[Floats], Floats]],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> list[Interval]:
    """Statistics of the means of several series with their percentile bootstrap intervals.

    ``values`` (repetitions, series) has one number of each series for each repetition. Each of ``functions``
    takes means of the series (..., series) to statistics (..., statistics). A resample draws as many
    repetitions with replacement as there are, the same ones for all series, and takes the mean of each
    series. There are ``resamples`` of them, from the random seed ``seed``.

    The result has, for each function, its statistics of the means of all repetitions, and the two ends of the
    interval of each statistic, all (statistics,). ``confidence`` is that of one two-sided interval.
    """
    values = np.asarray(values, dtype=float)
    repetitions = len(values)
    # How often each repetition is in each resample, (resamples, repetitions): all are equally likely.
    times_drawn = np.random.default_rng(seed).multinomial(
        repetitions, np.full(repetitions, 1 / repetitions), size=resamples
    )
    # The mean of each series s over the repetitions r in each resample b. This is a product of matrices, but
    # the last digits of `@` depend on the number of threads (BLAS).
    drawn_means = np.einsum("br,rs->bs", times_drawn / repetitions, values)
    tail = (1 - confidence) / 2  # the share of the resamples beyond either end of an interval

    intervals = []
    for function in functions:
        low, high = np.quantile(function(drawn_means), [tail, 1 - tail], axis=0)
        intervals.append(Interval(function(values.mean(axis=0)), low, high))
    return intervals


def summarise_parity(
    points: Iterable[pd.DataFrame],
    counts: Mapping[str, Integers],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean errors, and ratios of mean errors, of all runs: two tables with the columns `MEANS` and `RATIOS`.

    ``points`` are the runs at equal privacy: a table for each dataset and number of users, which
    `summarise_point` summarises. They are read one after the other, as they are large. ``counts`` is
    dataset -> its histogram (k,). ``resamples`` and ``confidence`` are those of `bootstrap`. ``seed`` is the
    root seed.
    """
    resampling: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    means = []
    ratios = []
    for trials in points:
        histogram = counts[trials["dataset"].iloc[0]]
        point_means, point_ratios = summarise_point(trials, histogram, **resampling)
        means.append(point_means)
        ratios.append(point_ratios)
    return pd.concat(means), pd.concat(ratios)


def summarise_point(
    trials: pd.DataFrame, counts: Integers, *, resamples: int, confidence: float, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean errors, and ratios of mean errors, of one dataset and number of users, as two tables.

    ``trials`` has the columns of `run_parity_point`. Its texts may be categories. A series is all rows that
    differ in the repetition only.

    The first table (`MEANS`) has a row for each series: its mean error with the ends of a bootstrap interval
    (low, high). The second table (`RATIOS`) has a row for each setting, error and comparison of two
    estimators that `COMPARISONS` names: the mean error of shuffled k-RR over that of the Gaussian, with its
    interval. Further columns are:

    - predicted: the closed form of the mean or the ratio, nan where there is none. It takes the shares of the
      values in the dataset's histogram ``counts`` (k,)
    - limit: the closed form of the ratio for many users, nan unless both estimates are unprojected
    - uniform: the mean error of the uniform histogram, which ignores the data
    - informative: whether at least one mechanism, projected onto the simplex, has a smaller mean error than
      the uniform histogram

    ``resamples`` and ``confidence`` are those of `bootstrap`. ``seed`` is the root seed.
    """
    series, errors = _sorted_series_and_errors(trials)
    ratios = _compared_series(series)
    numerators = ratios["position_of_numerator"].to_numpy()
    denominators = ratios["position_of_denominator"].to_numpy()

    def same(means: Floats) -> Floats:
        return means

    def quotients(means: Floats) -> Floats:
        return means[..., numerators] / means[..., denominators]

    first = series.iloc[0]
    mean, ratio = bootstrap(
        errors,
        [same, quotients],
        resamples=resamples,
        confidence=confidence,
        seed=seed_of(seed, stage="parity bootstrap", dataset=first["dataset"], n=int(first["n"])),
    )
    repetitions = len(errors)
    means = series.assign(mean=mean.estimate, low=mean.low, high=mean.high, repetitions=repetitions)
    ratios = ratios.assign(
        ratio=ratio.estimate, low=ratio.low, high=ratio.high, repetitions=repetitions
    )

    # The closed forms.
    shares = np.asarray(counts) / np.sum(counts)
    # The cells with individual errors. An error of several cells, or of all, has the cell 0.
    cells = sorted(set(trials["cell"]) - {0})
    # For each series, the positions of the values over which its error is taken.
    measured_values = [
        _measured_values(metric, cell, counts, cells)
        for metric, cell in zip(series["metric"], series["cell"], strict=True)
    ]
    predicted = _predicted_means(series, shares, measured_values)
    means["predicted"] = predicted
    ratios["predicted"] = predicted[numerators] / predicted[denominators]
    ratios["limit"] = _limits_of_ratios(ratios, shares, measured_values)

    # Whether a mechanism is better than the uniform histogram: the smaller one of both projected errors.
    ratios["uniform"] = ratios.join(_uniform_errors(trials), on=ERROR)["uniform"]
    projected = means[means["estimator"] == "projection"].groupby([*SETTING, *ERROR])["mean"]
    smaller = ratios.join(projected.min(), on=[*SETTING, *ERROR])["mean"]
    ratios["informative"] = smaller < ratios["uniform"]
    return means[MEANS], ratios[RATIOS]


def _sorted_series_and_errors(trials: pd.DataFrame) -> tuple[pd.DataFrame, Floats]:
    """All series of ``trials``, one row each, and their errors (repetitions, series) in the same order.

    A series is a setting, mechanism, estimator, metric and cell: one row of the first result, which has the
    columns `SERIES` and is sorted by them. Each cell with individual errors gives a series, and so does the
    mean of these errors over the cells, as cell 0. ``trials`` has a row for each series and repetition, with
    the error as value.
    """
    tables = []
    # One setting after the other: groups take much memory.
    for rows in trials.groupby(["eps0", "delta_rule", "bound"], observed=True).indices.values():
        setting = trials.iloc[rows]
        # As rows of the cell 0, the individual errors of a repetition are averaged below.
        over_cells = setting[setting["metric"] == "individual_error"].assign(cell=0)
        errors = pd.concat([setting, over_cells], ignore_index=True)
        values = errors.groupby([*SERIES, "repetition"], observed=True)["value"].mean()
        tables.append(values.unstack("repetition"))
    errors_of_series = pd.concat(tables)  # (series, repetitions)

    # Columns that are categories become texts again, so that they are sorted as such.
    series = errors_of_series.index.to_frame(index=False)
    categories = series.select_dtypes("category")
    series = series.astype({name: categories[name].cat.categories.dtype for name in categories})
    series = series.sort_values(SERIES)
    # The index of ``series`` still has the positions before sorting.
    sorted_errors = errors_of_series.to_numpy()[series.index]
    return series.reset_index(drop=True), sorted_errors.T


def _uniform_errors(trials: pd.DataFrame) -> "pd.Series[float]":
    """The mean error of the uniform histogram by (metric, cell). That of the cell 0 is over all cells."""
    errors = trials[[*ERROR, "uniform"]]
    over_cells = errors.assign(cell=0).groupby(ERROR, observed=True)["uniform"].mean()
    by_cell = errors.groupby(ERROR, observed=True)["uniform"].mean()
    return pd.concat([over_cells, by_cell.drop(0, level="cell")])


def _compared_series(series: pd.DataFrame) -> pd.DataFrame:
    """Which series is divided by which: a row for each ratio of errors, shuffled k-RR over the Gaussian.

    ``series`` has a row for each series of errors: its setting, mechanism, estimator, metric and cell. The
    series of shuffled k-RR and of the Gaussian with the same setting, metric and cell are compared, for every
    pair of estimators in `COMPARISONS`.

    The columns are comparison (the pair's name), the setting, metric, cell, and two row numbers in
    ``series``, from 0: position_of_numerator (shuffled k-RR) and position_of_denominator (the Gaussian).
    """
    key = [*SETTING, *ERROR]
    by_estimator = series.reset_index(names="position").set_index(["mechanism", "estimator"])
    by_estimator = by_estimator[["position", *key]]
    tables = []
    for comparison, (shuffle_estimator, gaussian_estimator) in COMPARISONS.items():
        table = by_estimator.loc[[("shuffle", shuffle_estimator)]].merge(
            by_estimator.loc[[("gaussian", gaussian_estimator)]],
            on=key,
            validate="one_to_one",
            suffixes=("_of_numerator", "_of_denominator"),
        )
        tables.append(table.assign(comparison=comparison))
    return pd.concat(tables, ignore_index=True)


def _measured_values(metric: str, cell: int, counts: Integers, cells: Sequence[int]) -> Integers:
    """The positions, from 0, of the values over which an error is taken: one cell, several values or all.

    The error is that of ``metric`` and ``cell``. ``counts`` (k,) is the dataset's histogram. An individual
    error of the cell 0 is over all ``cells``, which are numbered from 1.
    """
    if metric in POPULAR:
        return most_popular(counts, POPULAR[metric])
    if metric == "individual_error":
        return np.array([cell] if cell else cells) - 1
    return np.arange(len(counts))


def _limits_of_ratios(
    ratios: pd.DataFrame, shares: Floats, measured_values: Sequence[Integers]
) -> Floats:
    """The closed form of every ratio of errors for many users, (ratios,); nan unless both are unprojected.

    ``ratios`` has the columns eps0, comparison, and position_of_numerator, the number of a series.
    ``shares`` (k,) are the shares of the users who hold each value. ``measured_values`` has, for every
    series, the positions of the values over which its error is taken.
    """
    # The Gaussian has the same error for every value. So the limit for an error of several values, also for
    # the total variation error, is the mean of the limits of the values.
    ratios_of_values = {eps0: noise_ratios(shares, eps0) for eps0 in ratios["eps0"].unique()}
    limits = [
        ratios_of_values[eps0][measured_values[numerator]].mean()
        for eps0, numerator in zip(ratios["eps0"], ratios["position_of_numerator"], strict=True)
    ]
    return np.where(ratios["comparison"] == "unprojected", limits, np.nan)


def _predicted_means(
    series: pd.DataFrame, shares: Floats, measured_values: Sequence[Integers]
) -> Floats:
    """The closed form of the mean error of every series, in fractions of n, (series,).

    It is nan where there is no closed form: for projected and maximum-likelihood estimates. ``series`` has a
    row for each series: its setting, mechanism, estimator and metric. ``shares`` and ``measured_values`` are
    those of `_limits_of_ratios`.
    """

    @functools.cache  # for all errors of a setting
    def errors_of_values(
        mechanism: str, estimator: str, n: int, k: int, eps0: float, eps: float, delta: float
    ) -> Floats:
        """The expected absolute error of each value's share, (k,)."""
        match mechanism, estimator:
            case "shuffle", "none":
                return plain_errors(shares, n=n, eps0=eps0)
            case "shuffle", "inversion":
                return krr_errors(shares, n=n, eps0=eps0)
            case "gaussian", "none":
                sigma = exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY)
                return gaussian_errors(k, n=n, sigma=float(sigma))
        return np.full(k, np.nan)

    means = []
    for row, measured in zip(series.to_dict("records"), measured_values, strict=True):
        names = ("mechanism", "estimator", "n", "k", "eps0", "eps", "delta")
        errors = errors_of_values(*(row[name] for name in names))
        # The total variation error is half of the sum. Any other metric is a mean over some of the values.
        if row["metric"] == "tv":
            means.append(errors.sum() / 2)
        else:
            means.append(errors[measured].mean())
    return np.array(means)


if __name__ == "__main__":
    with job() as snakemake:
        files = snakemake.input
        params = snakemake.params
        columns = [*SERIES, "repetition", "value", "uniform"]
        categories = [name for name in columns if name not in ("cell", "value", "uniform")]
        means, ratios = summarise_parity(
            (point for path in files.trials for point in read_frames(path, columns, categories)),
            dict(zip(params.datasets, map(read_histogram, files.histograms), strict=True)),
            resamples=params.resamples,
            confidence=params.confidence,
            seed=params.seed,
        )
        write_csv(means, snakemake.output.means)
        write_csv(ratios, snakemake.output.ratios)
