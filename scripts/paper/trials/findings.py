"""The numbers that texts state about the paper's own experiments: delta-hat, and what our constants do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.paper.delta.delta_hat_gap import orders_below_exact, points_below_floats
from scripts.paper.trials.delta_hat_ratios import points_above_1, ranges_of_ratios
from scripts.shared.findings import Range, Results, chosen_rows, gaussian_scales_at


@dataclass(frozen=True)
class GaussianScales:
    """Scales of the Gaussian's noise, in users, at eps = 4, delta = 1e-30 and sensitivity 1."""

    library: float  # the scale of diffprivlib, which our rerun has
    needed: float  # the scale of the exact analytic Gaussian
    log10_reached: float  # log10 of the delta that diffprivlib's scale really has


@dataclass(frozen=True)
class DeltaHat:
    """delta-hat where it is not 0, eps < eps0, and the Gaussian's errors with each of its noises.

    A point is a dataset, n, eps0 and eps. The ranges are over all points, and those of ratios also over all
    sensitivities.
    """

    of: int  # how many points there are
    smallest_eps: float
    orders: Range  # orders of magnitude by which the printed delta-hat lies below the exact one
    beyond_floats: int  # points at which the printed one lies below the smallest float
    above_1: int  # `points_above_1`
    ratios: dict[str, Range]  # `ranges_of_ratios`, the Gaussian projected or not
    projected: dict[str, Range]  # the same of the projected Gaussian alone


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
    """`DeltaHat` of the paper's datasets.

    ``results`` has two tables: delta_hat, that of `compute_delta_hat`, and delta_hat_trials, that of
    `run_delta_hat_trials`.
    """
    table = results["delta_hat"]
    trials = results["delta_hat_trials"]
    return DeltaHat(
        of=len(table),
        smallest_eps=table["eps"].min(),
        orders=orders_below_exact(table),
        beyond_floats=points_below_floats(table),
        above_1=points_above_1(trials),
        ratios=ranges_of_ratios(trials),
        projected=ranges_of_ratios(trials[trials["projected"]]),
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
