"""The numbers that texts state about the paper's own experiments: delta-hat, and what our constants do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.paper.delta.delta_hat_table import DEPTH_OF_SMALLEST_FLOAT
from scripts.paper.trials.delta_hat_ratios import FORMS, gaussian_ratios
from scripts.shared.findings import Range, Results, chosen_rows, gaussian_scales_at, range_of


@dataclass(frozen=True)
class GaussianScales:
    """Scales of the Gaussian's noise, in users, at eps = 4, delta = 1e-30 and sensitivity 1."""

    library: float  # the scale of diffprivlib, which our rerun has
    needed: float  # the scale of the exact analytic Gaussian
    log10_reached: float  # log10 of the delta that diffprivlib's scale really has


@dataclass(frozen=True)
class DeltaHat:
    """delta-hat where it is not 0, eps < eps0, and what its form does to the errors.

    A point is a dataset, n, eps0 and eps.
    """

    of: int  # how many points there are
    orders: Range  # orders of magnitude by which the printed delta-hat lies below the exact one
    beyond_floats: int  # points at which the printed one lies below the smallest float
    ratios: dict[str, Range]  # form -> the Gaussian's mean TV error over that of shuffle+INV


@dataclass(frozen=True)
class Ratio:
    """The TV error of shuffle+INV over the Gaussian's at one point, for one choice of the two constants."""

    title: str  # of the dataset
    n: int
    eps0: float
    sensitivity: float
    ratio: float
    low: float  # of its interval
    high: float


@dataclass(frozen=True)
class Rerun:
    """The TV error of shuffle+INV over the Gaussian's in our rerun of Figures 2 and 4 to 7.

    A range reaches over the intervals of its ratios, which hold for all ratios together.
    """

    low: float  # the range over all points, floors and sensitivities
    high: float
    largest_n: Range  # that of Figures 2, 6 and 7 at their largest n
    least: Ratio
    least_by_ours: Ratio  # at the same point, with our two constants
    most: Ratio
    synthetic: list[Ratio]  # of N(0, 2), with our two constants, by rising n
    points: int  # without the choice of the constants
    repetitions: int  # behind each mean
    standard_error_percent: float  # of a mean, at most
    confidence_percent: float  # of all intervals together


def gaussian_scales(results: Results) -> GaussianScales:
    """Two standard deviations of the Gaussian's noise at eps = 4, delta = 1e-30 and sensitivity 1.

    library is diffprivlib's, whose search has stopped before, so our rerun of the paper's trials has it too.
    needed is the exact one. The table "gaussian_scale" in ``results`` has both. Raises LookupError if it
    lacks this delta.
    """
    scales = gaussian_scales_at(results, 4, 1e-30)
    return GaussianScales(
        library=scales["published"],
        needed=scales["exact"],
        log10_reached=scales["published_log10_delta"],
    )


def delta_hat(results: Results) -> DeltaHat:
    """How far the printed delta-hat lies below the exact one, and the Gaussian's errors with either of them.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them, and the paper gives it to the Gaussian. Its form is "published", by the
    formula that Theorem 1 prints, or "exact", by the true deltas. The fields are

    - of: how many points there are. A point is a dataset, n, eps0 and eps;
    - orders: the range of log10 of the exact over the published delta-hat;
    - beyond_floats: at how many points the published delta-hat is below the smallest float;
    - ratios: form -> the range of the Gaussian's mean TV error divided by that of shuffle+INV.

    ``results`` has two tables. delta_hat has a row per point, with log10 of delta-hat in the columns
    published and exact. delta_hat_trials has a row per repetition of a mechanism, with its TV error.
    """
    table = results["delta_hat"]
    ratios = gaussian_ratios(results["delta_hat_trials"]).groupby("form")["ratio"]
    return DeltaHat(
        of=len(table),
        orders=range_of(table["exact"] - table["published"]),
        beyond_floats=(table["published"] < -DEPTH_OF_SMALLEST_FLOAT).sum(),
        ratios={form: range_of(ratios.get_group(form)) for form in FORMS},
    )


def rerun(results: Results) -> Rerun:
    """The range of the TV error of shuffle+INV over the Gaussian's, under all choices of our constants.

    ``results`` has the table constants (`compute_constants`), and "titles", dataset -> title. Raises
    LookupError if there is no row with our two constants.
    """
    table = results["constants"]
    titles = results["titles"]
    at_largest_n = chosen_rows(table, experiment="tv", end="largest")
    least = table.loc[table["low"].idxmin()]
    ours = chosen_rows(table, ours=True)
    least_by_ours = chosen_rows(ours, **least[["dataset", "experiment", "eps0", "n"]])
    synthetic = ours[ours["dataset"] == "synthetic"].sort_values("n")
    standard_errors = table["standard_error"] / table["shuffle+INV"]
    return Rerun(
        low=table["low"].min(),
        high=table["high"].max(),
        largest_n=Range(at_largest_n["low"].min(), at_largest_n["high"].max()),
        least=_ratio(least, titles),
        least_by_ours=_ratio(least_by_ours.iloc[0], titles),
        most=_ratio(table.loc[table["high"].idxmax()], titles),
        synthetic=[_ratio(row, titles) for _, row in synthetic.iterrows()],
        points=len(table.drop_duplicates(["dataset", "experiment", "end", "eps0", "eps"])),
        repetitions=table["repetitions"].min(),
        standard_error_percent=100 * standard_errors.max(),
        confidence_percent=100 * table["confidence"].iloc[0],
    )


def _ratio(row: "pd.Series[Any]", titles: Mapping[str, str]) -> Ratio:
    """The ratio in a row of the table constants. ``titles``: dataset -> title."""
    names = ["n", "eps0", "sensitivity", "ratio", "low", "high"]
    return Ratio(title=titles.get(row["dataset"], row["dataset"]), **row[names])
