"""Summary of the runs at equal privacy: mean errors and ratios, with bootstrap intervals and closed forms.

Individual errors are summarised for each of the dataset's cells, and for their mean within each repetition
(cell 0). The bootstrap draws
repetitions, the same ones for every setting and mechanism of one dataset and number of users, so that ratios
keep the pairing of the runs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
from tightshuffle.randomizers.expected_errors import gaussian_errors, krr_errors, noise_ratios, plain_errors

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
NEARLY = 0.05  # errors that differ by at most this share of the smaller one count as nearly the same
PUBLISHED = "published"  # the comparison of the published protocol's own trials


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
    return math.ceil(1000 * (both["upper"] / both["lower"] - 1).abs().max()) / 10


def bootstrap(
    values: npt.ArrayLike,
    functions: Sequence[Callable[[Floats], Floats]],
    *,
    resamples: int,
    confidence: float,
    seed: int,
) -> list[tuple[Floats, Floats, Floats]]:
    """Percentile intervals of functions of column means, rows drawn with replacement.

    ``values``: shape (repetitions, series); ``functions``: of means, shape (..., series), to shape (..., m);
    ``confidence``: of the two-sided intervals. All functions take the same draws. Returns (estimate, low,
    high) of each function, all of shape (m,).
    """
    values = np.asarray(values, dtype=float)
    rows = len(values)
    chosen = np.random.default_rng(seed).multinomial(rows, np.full(rows, 1 / rows), size=resamples)
    # Not `@`: the last digits of BLAS depend on the number of threads.
    drawn_means = np.einsum("br,rs->bs", chosen / rows, values)
    tail = (1 - confidence) / 2

    intervals = []
    for function in functions:
        low, high = np.quantile(function(drawn_means), [tail, 1 - tail], axis=0)
        intervals.append((function(values.mean(axis=0)), low, high))
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
    """(means, ratios) of all points: frames with the columns `MEANS` and `RATIOS`.

    ``points``: the runs of one dataset and number of users each, read one by one, as they are large;
    ``published``: trials of the published protocol, of one dataset each, whose ratios come last; ``counts``:
    dataset -> its histogram (k,); ``seed``: the root seed.

    Two columns of the ratios say whether a ratio is informative. ``uniform`` is the mean error of the uniform
    histogram, which ignores the data, against the same users. ``informative`` is whether at least one
    mechanism has a smaller error, both projected onto the simplex (published: as the paper measured them).
    """
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    summaries = [summarise_point(trials, counts[trials["dataset"].iloc[0]], **how) for trials in points]
    means, ratios = ([summary[i] for summary in summaries] for i in range(2))
    for trials in published:
        ratios += [published_ratios(point, **how) for _, point in trials.groupby("n", sort=False)]
    return pd.concat(means), pd.concat(ratios)


def summarise_point(
    trials: pd.DataFrame, counts: Integers, *, resamples: int, confidence: float, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(means, ratios) of one dataset and number of users; the closed forms take the shares of ``counts``.

    ``trials`` as `run_parity_point` gives them; columns may be categories.
    """
    settings, errors = _errors_of_series(trials)
    first = settings.iloc[0]
    seed = seed_of(seed, stage="parity bootstrap", dataset=first["dataset"], n=int(first["n"]))
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    top, bottom, ratios = _pairs(settings)
    of_means, of_ratios = bootstrap(
        errors, [lambda means: means, lambda means: means[..., top] / means[..., bottom]], **how
    )

    mean, low, high = of_means
    means = settings.assign(mean=mean, low=low, high=high, repetitions=len(errors))
    shares = np.asarray(counts) / np.sum(counts)
    cells = sorted(set(trials["cell"]) - {0})
    places = [_places(row["metric"], row["cell"], counts, cells) for row in settings.to_dict("records")]
    means["predicted"] = _predicted(settings, shares, places)

    ratio, low, high = of_ratios
    ratios = ratios.assign(ratio=ratio, low=low, high=high, repetitions=len(errors))
    ratios["predicted"] = means["predicted"].to_numpy()[top] / means["predicted"].to_numpy()[bottom]
    limits = {eps0: noise_ratios(shares, eps0) for eps0 in settings["eps0"].unique()}
    limit = np.array([limits[ratios["eps0"].iloc[i]][places[top[i]]].mean() for i in range(len(ratios))])
    ratios["limit"] = np.where(ratios["comparison"] == "unprojected", limit, np.nan)
    uniform = _uniform_errors(trials)
    ratios["uniform"] = ratios.join(uniform, on=ERROR)["uniform"]
    projected = means[means["estimator"] == "projection"].groupby([*SETTING, *ERROR])["mean"]
    best = ratios.join(projected.min(), on=[*SETTING, *ERROR])["mean"]
    ratios["informative"] = best < ratios["uniform"]
    return means[MEANS], ratios[RATIOS]


def published_ratios(trials: pd.DataFrame, *, resamples: int, confidence: float, seed: int) -> pd.DataFrame:
    """shuffle+INV over Gaussian by the published protocol: rows of `RATIOS` from one point's trials."""
    rows = trials[trials["metric"] == "tv"]
    wide = rows.pivot(index="repetition", columns="mechanism", values="value")[["shuffle+INV", "gaussian"]]
    first = rows.iloc[0]
    seed = seed_of(seed, stage="published bootstrap", dataset=first["dataset"], n=int(first["n"]))
    how: dict[str, Any] = {"resamples": resamples, "confidence": confidence, "seed": seed}
    [(ratio, low, high)] = bootstrap(wide.to_numpy(), [lambda means: means[..., :1] / means[..., 1:]], **how)
    row = {name: first[name] for name in ("dataset", "n", "k", "eps0", "eps")}
    row |= {"delta": rows["delta"].median(), "comparison": PUBLISHED, "metric": "tv", "cell": 0}
    row |= {"ratio": ratio[0], "low": low[0], "high": high[0], "repetitions": len(wide)}
    uniform = rows["uniform"].mean()
    row |= {"uniform": uniform, "informative": wide.mean().min() < uniform}
    return pd.DataFrame([row]).reindex(columns=RATIOS)


def _errors_of_series(trials: pd.DataFrame) -> tuple[pd.DataFrame, Floats]:
    """Every combination of `SERIES`, sorted, and its errors (repetitions, series).

    ``trials`` as for `summarise_point`.
    """
    tables = []
    for rows in trials.groupby(["eps0", "delta_rule", "bound"], observed=True).indices.values():
        setting = trials.iloc[rows]  # one at a time: groups take much memory
        together = setting[setting["metric"] == "individual_error"].assign(cell=0)
        errors = pd.concat([setting, together], ignore_index=True)
        values = errors.groupby([*SERIES, "repetition"], observed=True)["value"].mean()
        tables.append(values.unstack("repetition"))
    wide = pd.concat(tables)

    settings = wide.index.to_frame(index=False)
    categories = settings.select_dtypes("category")
    settings = settings.astype({name: categories[name].cat.categories.dtype for name in categories})
    settings = settings.sort_values(SERIES)
    return settings.reset_index(drop=True), wide.to_numpy()[settings.index].T


def _uniform_errors(trials: pd.DataFrame) -> "pd.Series[float]":
    """(metric, cell) -> the mean error of the uniform histogram, over all cells if the cell is 0."""
    errors = trials[[*ERROR, "uniform"]]
    over_cells = errors.assign(cell=0).groupby(ERROR, observed=True)["uniform"].mean()
    by_cell = errors.groupby(ERROR, observed=True)["uniform"].mean()
    return pd.concat([over_cells, by_cell.drop(0, level="cell")])


def _pairs(settings: pd.DataFrame) -> tuple[Integers, Integers, pd.DataFrame]:
    """Positions of numerators and denominators in ``settings``, and their settings and comparisons."""
    key = [*SETTING, *ERROR]
    indexed = settings.reset_index(names="position").set_index(["mechanism", "estimator"])[["position", *key]]
    pairs = []
    for name, (shuffle, gaussian) in COMPARISONS.items():
        both = indexed.loc[[("shuffle", shuffle)]].merge(
            indexed.loc[[("gaussian", gaussian)]], on=key, validate="one_to_one", suffixes=("", "_below")
        )
        pairs.append(both.assign(comparison=name))
    table = pd.concat(pairs, ignore_index=True)
    top, bottom = (table[name].to_numpy() for name in ("position", "position_below"))
    return top, bottom, table[[*SETTING, "comparison", *ERROR]]


def _places(metric: str, cell: int, counts: Integers, cells: Sequence[int]) -> Integers:
    """The places (from 0) of the values over which an error is taken; ``cells``, from 1: the dataset's."""
    if metric in POPULAR:
        return most_popular(counts, POPULAR[metric])
    if metric == "individual_error":
        return np.array([cell] if cell else cells) - 1
    return np.arange(len(counts))


def _predicted(settings: pd.DataFrame, shares: Floats, places: Sequence[Integers]) -> Floats:
    """The closed form of every series' mean; nan where there is none: projections, maximum likelihood.

    ``places``: for every series those over which its error is taken, as `_places` gives them.
    """
    values = []
    for row, over in zip(settings.to_dict("records"), places, strict=True):
        n, k = row["n"], row["k"]
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
        values.append(errors.sum() / 2 if row["metric"] == "tv" else errors[over].mean())
    return np.array(values)


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
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
