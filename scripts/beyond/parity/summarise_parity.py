"""Summary of the runs at equal privacy: mean errors and ratios, with bootstrap intervals and closed forms.

Individual errors are summarised for each of the dataset's cells, and for their mean within each repetition
(cell 0). The bootstrap draws repetitions, the same ones for every setting and mechanism of one dataset and
number of users, so that ratios keep the pairing of the runs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.beyond.parity.run_parity import POPULAR, most_popular
from scripts.shared.histograms import read_histogram
from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_frames, read_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.numerics.seeds import seed_of
from tightshuffle.randomizers.expected_errors import (
    gaussian_errors,
    krr_errors,
    noise_ratios,
    plain_errors,
)

SETTING = ["dataset", "n", "k", "eps0", "delta_rule", "delta", "bound", "eps"]
ERROR = ["metric", "cell"]  # what is measured: an error, and of which cell; 0: of several or all
SERIES = [*SETTING, "mechanism", "estimator", *ERROR]
MEANS = [
    "dataset", "n", "k", "eps0", "delta", "eps", "bound", "mechanism", "estimator", "metric", "cell",
    "mean", "low", "high", "repetitions", "delta_rule", "predicted",
]  # fmt: skip
RATIOS = [
    *SETTING, "comparison", "metric", "cell", "ratio", "low", "high", "repetitions", "predicted", "limit",
    "uniform", "informative",
]  # fmt: skip
COMPARISONS = {  # name: the estimators of shuffle and of the Gaussian, whose error is the denominator
    "unprojected": ("inversion", "none"),
    "projected": ("projection", "projection"),
    "maximum likelihood": ("maximum_likelihood", "projection"),
    "the paper's pairing": ("projection", "none"),
}
NEARLY = (
    0.05  # errors that differ by at most this share of the smaller one count as nearly the same
)
PUBLISHED = "published"  # the comparison of the published protocol's own trials


class Interval(NamedTuple):
    """Statistics of the runs and the ends of their percentile intervals, all of shape (statistics,)."""

    estimate: Floats
    low: Floats
    high: Floats


def nearly_equal(ratios: "pd.Series[float]") -> "pd.Series[bool]":
    """Where the smaller error is at most `NEARLY` of itself below the larger one: a ratio and its inverse."""
    return ratios.between(1 / (1 + NEARLY), 1 + NEARLY)


def largest_change_percent(ratios: pd.DataFrame) -> float | None:
    """By how many percent a ratio changes at most if eps comes from ``lower`` instead of ``upper``.

    Rounded up to one decimal. ``ratios``: rows of one metric. None if there is only one bound.
    """
    keys = ["dataset", "n", "eps0", "delta_rule", "comparison"]
    both = ratios.dropna(subset="bound").pivot(index=keys, columns="bound", values="ratio")
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
    """The percentile bootstrap interval of each of ``functions`` of the means of ``values``.

    ``values`` has the shape (repetitions, series). A resample draws as many repetitions with replacement, the
    same ones for all series and functions, and takes the mean of each series. A function takes means of shape
    (..., series) to statistics of shape (..., statistics). ``confidence`` is that of one two-sided interval.
    """
    values = np.asarray(values, dtype=float)
    repetitions = len(values)
    # How often each repetition is in each resample: (resamples, repetitions).
    times_drawn = np.random.default_rng(seed).multinomial(
        repetitions, np.full(repetitions, 1 / repetitions), size=resamples
    )
    # Not `@`: the last digits of BLAS depend on the number of threads.
    drawn_means = np.einsum("br,rs->bs", times_drawn / repetitions, values)
    tail = (1 - confidence) / 2

    intervals = []
    for function in functions:
        low, high = np.quantile(function(drawn_means), [tail, 1 - tail], axis=0)
        intervals.append(Interval(function(values.mean(axis=0)), low, high))
    return intervals


def summarise_parity(
    points: Iterable[pd.DataFrame],
    published: Iterable[pd.DataFrame],
    counts: Mapping[str, Integers],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean errors, and ratios of mean errors, of all runs: frames with the columns `MEANS` and `RATIOS`.

    ``points`` are the runs at equal privacy, a table of `run_parity_point` for each dataset and number of
    users. They are read one after the other, as they are large. ``published`` are trials of the published
    protocol, a table for each dataset. Their ratios come last. ``counts`` is dataset -> its histogram (k,).

    The intervals of means and ratios are bootstrap intervals with this ``confidence`` from so many
    ``resamples``. ``seed`` is the root seed.

    A row of the ratios also has ``uniform``, the mean error of the uniform histogram, which ignores the data,
    for the same users. ``informative`` is whether at least one of the two mechanisms has a smaller mean error
    than this. For it both are projected onto the simplex, but in the published protocol as the paper has
    them.
    """
    resampling: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    means = []
    ratios = []
    for trials in points:
        histogram = counts[trials["dataset"].iloc[0]]
        point_means, point_ratios = summarise_point(trials, histogram, **resampling)
        means.append(point_means)
        ratios.append(point_ratios)
    for trials in published:
        for _, point in trials.groupby("n", sort=False):
            ratios.append(published_ratio(point, **resampling))
    return pd.concat(means), pd.concat(ratios)


def summarise_point(
    trials: pd.DataFrame, counts: Integers, *, resamples: int, confidence: float, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Mean errors, and ratios of mean errors, of one dataset and number of users: `MEANS` and `RATIOS`.

    ``trials`` has the columns that `run_parity_point` gives, which may be categories. A series is a
    combination of `SERIES`: a setting, mechanism, estimator, metric and cell. Every series has a row of the
    means. Every pair of series with the same setting, metric and cell that `COMPARISONS` names has a row of
    the ratios: shuffling's mean error over the Gaussian's.

    The closed forms take the shares of the values in the dataset's histogram ``counts`` (k,). ``predicted``
    is that of a mean or of a ratio, ``limit`` that of a ratio for many users. A ratio is ``informative`` if
    at least one mechanism, projected, has a smaller mean error than the uniform histogram.
    """
    settings, errors = _errors_of_series(trials)
    ratios = _compared_series(settings)
    numerators = ratios["position_of_numerator"].to_numpy()
    denominators = ratios["position_of_denominator"].to_numpy()

    def same(means: Floats) -> Floats:
        return means

    def quotients(means: Floats) -> Floats:
        return means[..., numerators] / means[..., denominators]

    first = settings.iloc[0]
    mean, ratio = bootstrap(
        errors,
        [same, quotients],
        resamples=resamples,
        confidence=confidence,
        seed=seed_of(seed, stage="parity bootstrap", dataset=first["dataset"], n=int(first["n"])),
    )
    repetitions = len(errors)
    means = settings.assign(
        mean=mean.estimate, low=mean.low, high=mean.high, repetitions=repetitions
    )
    ratios = ratios.assign(
        ratio=ratio.estimate, low=ratio.low, high=ratio.high, repetitions=repetitions
    )

    # What the closed forms say.
    shares = np.asarray(counts) / np.sum(counts)
    cells = sorted(set(trials["cell"]) - {0})  # 0: of several cells or all
    measured_values = [
        _measured_values(metric, cell, counts, cells)
        for metric, cell in zip(settings["metric"], settings["cell"], strict=True)
    ]
    predicted = _predicted_means(settings, shares, measured_values)
    means["predicted"] = predicted
    ratios["predicted"] = predicted[numerators] / predicted[denominators]
    ratios["limit"] = _limits(ratios, shares, measured_values)

    # Whether a mechanism is better than the uniform histogram.
    ratios["uniform"] = ratios.join(_uniform_errors(trials), on=ERROR)["uniform"]
    projected = means[means["estimator"] == "projection"].groupby([*SETTING, *ERROR])["mean"]
    smaller = ratios.join(projected.min(), on=[*SETTING, *ERROR])["mean"]
    ratios["informative"] = smaller < ratios["uniform"]
    return means[MEANS], ratios[RATIOS]


def published_ratio(
    trials: pd.DataFrame, *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """The TV error of shuffle+INV over that of the Gaussian by the published protocol: one row of `RATIOS`.

    ``trials`` are those of one dataset and number of users. Columns that say nothing about the published
    protocol are empty. A dataset's delta varies with the users drawn, and the row has its median.
    """
    rows = trials[trials["metric"] == "tv"]
    errors = rows.pivot(index="repetition", columns="mechanism", values="value")
    errors = errors[["shuffle+INV", "gaussian"]]

    def quotient(means: Floats) -> Floats:
        return means[..., :1] / means[..., 1:]

    first = rows.iloc[0]
    bootstrap_seed = seed_of(
        seed, stage="published bootstrap", dataset=first["dataset"], n=int(first["n"])
    )
    [ratio] = bootstrap(
        errors.to_numpy(),
        [quotient],
        resamples=resamples,
        confidence=confidence,
        seed=bootstrap_seed,
    )
    uniform = rows["uniform"].mean()
    row = pd.DataFrame([first[["dataset", "n", "k", "eps0", "eps"]].to_dict()])
    row = row.assign(
        delta=rows["delta"].median(),
        comparison=PUBLISHED,
        metric="tv",
        cell=0,
        ratio=ratio.estimate,
        low=ratio.low,
        high=ratio.high,
        repetitions=len(errors),
        uniform=uniform,
        informative=errors.mean().min() < uniform,
    )
    return row.reindex(columns=RATIOS)


def _errors_of_series(trials: pd.DataFrame) -> tuple[pd.DataFrame, Floats]:
    """Every combination of `SERIES` (setting, mechanism, estimator, metric, cell), sorted, and its errors.

    The errors have the shape (repetitions, series). The individual errors of a dataset's cells are series,
    and so is their mean over the cells, as cell 0. ``trials`` has the columns of `SERIES`, repetition and
    value.
    """
    tables = []
    # One setting after the other: groups take much memory.
    for rows in trials.groupby(["eps0", "delta_rule", "bound"], observed=True).indices.values():
        setting = trials.iloc[rows]
        over_cells = setting[setting["metric"] == "individual_error"].assign(cell=0)
        errors = pd.concat([setting, over_cells], ignore_index=True)
        values = errors.groupby([*SERIES, "repetition"], observed=True)["value"].mean()
        tables.append(values.unstack("repetition"))
    errors_of_series = pd.concat(tables)  # (series, repetitions)

    # Columns that are categories become texts again, so that they are sorted as such.
    settings = errors_of_series.index.to_frame(index=False)
    categories = settings.select_dtypes("category")
    settings = settings.astype({name: categories[name].cat.categories.dtype for name in categories})
    settings = settings.sort_values(SERIES)
    sorted_errors = errors_of_series.to_numpy()[settings.index]
    return settings.reset_index(drop=True), sorted_errors.T


def _uniform_errors(trials: pd.DataFrame) -> "pd.Series[float]":
    """The mean error of the uniform histogram by metric and cell; with cell 0 the mean over all cells."""
    errors = trials[[*ERROR, "uniform"]]
    over_cells = errors.assign(cell=0).groupby(ERROR, observed=True)["uniform"].mean()
    by_cell = errors.groupby(ERROR, observed=True)["uniform"].mean()
    return pd.concat([over_cells, by_cell.drop(0, level="cell")])


def _compared_series(settings: pd.DataFrame) -> pd.DataFrame:
    """A row for every ratio of two series: its `SETTING`, metric and cell, and which series it compares.

    The column ``comparison`` is a name of `COMPARISONS`, which says whose estimator is compared with whose.
    ``position_of_numerator`` and ``position_of_denominator`` are the two rows in ``settings``, which has a
    row for every series: shuffling's error and the Gaussian's.
    """
    key = [*SETTING, *ERROR]
    series = settings.reset_index(names="position").set_index(["mechanism", "estimator"])
    series = series[["position", *key]]
    tables = []
    for comparison, (shuffle_estimator, gaussian_estimator) in COMPARISONS.items():
        table = series.loc[[("shuffle", shuffle_estimator)]].merge(
            series.loc[[("gaussian", gaussian_estimator)]],
            on=key,
            validate="one_to_one",
            suffixes=("_of_numerator", "_of_denominator"),
        )
        tables.append(table.assign(comparison=comparison))
    return pd.concat(tables, ignore_index=True)


def _measured_values(metric: str, cell: int, counts: Integers, cells: Sequence[int]) -> Integers:
    """The values, as positions from 0, over which an error is taken.

    ``counts`` (k,) is the dataset's histogram. ``cells``, numbered from 1, are those with individual errors,
    over all of which an individual error is taken whose ``cell`` is 0.
    """
    if metric in POPULAR:
        return most_popular(counts, POPULAR[metric])
    if metric == "individual_error":
        return np.array([cell] if cell else cells) - 1
    return np.arange(len(counts))


def _limits(ratios: pd.DataFrame, shares: Floats, measured_values: Sequence[Integers]) -> Floats:
    """The limit of every ratio for many users; nan for other estimates than unprojected ones.

    ``shares`` (k,) are those of the values. ``measured_values`` has for every series the values over which
    its error is taken, as positions from 0.
    """
    ratios_of_values = {eps0: noise_ratios(shares, eps0) for eps0 in ratios["eps0"].unique()}
    limits = [
        ratios_of_values[eps0][measured_values[numerator]].mean()
        for eps0, numerator in zip(ratios["eps0"], ratios["position_of_numerator"], strict=True)
    ]
    return np.where(ratios["comparison"] == "unprojected", limits, np.nan)


def _predicted_means(
    settings: pd.DataFrame, shares: Floats, measured_values: Sequence[Integers]
) -> Floats:
    """The closed form of every series' mean error; nan where there is none: projections, maximum likelihood.

    ``settings`` has a row for every series. ``shares`` (k,) are those of the values. ``measured_values`` has
    for every series the values over which its error is taken, as positions from 0.
    """
    means = []
    for row, measured in zip(settings.to_dict("records"), measured_values, strict=True):
        n = row["n"]
        k = row["k"]
        match row["mechanism"], row["estimator"]:
            case "shuffle", "none":
                errors = plain_errors(shares, n=n, eps0=row["eps0"])
            case "shuffle", "inversion":
                errors = krr_errors(shares, n=n, eps0=row["eps0"])
            case "gaussian", "none":
                sigma = exact_scale(row["eps"], row["delta"], sensitivity=HISTOGRAM_SENSITIVITY)
                errors = gaussian_errors(k, n=n, sigma=float(sigma))
            case _:
                errors = np.full(k, np.nan)
        # ``errors`` (k,) are those of the single values. TV is half of their sum.
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
            (read_parquet(path, filters=[("experiment", "==", "tv")]) for path in files.published),
            dict(zip(params.datasets, map(read_histogram, files.histograms), strict=True)),
            resamples=params.resamples,
            confidence=params.confidence,
            seed=params.seed,
        )
        write_csv(means, snakemake.output.means)
        write_csv(ratios, snakemake.output.ratios)
