"""The numbers that texts state about the paper's own experiments: delta-hat, and what our constants do."""

from dataclasses import dataclass

from scripts.paper.delta.delta_hat_gap import orders_below_exact, points_below_floats
from scripts.paper.trials.delta_hat_ratios import points_above_1, ranges_of_ratios
from scripts.shared.findings import Range, Results, gaussian_scales_at, range_of


@dataclass(frozen=True)
class GaussianScales:
    """Scales of the Gaussian's noise, in users, at eps = 4 and sensitivity 1."""

    delta: float
    library: float  # the scale of diffprivlib, which our rerun has
    needed: float  # the scale of the exact analytic Gaussian


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
class Constants:
    """The ratio of errors in Figures 2, 6 and 7 under other values of our two constants."""

    floors: list[float]  # deltas of the Gaussian where delta-hat is smaller, falling
    low: float  # the smallest ratio of the TV error of shuffle+INV to the Gaussian's
    high: float  # the largest one


def gaussian_scales(results: Results) -> GaussianScales:
    """Two standard deviations of the Gaussian's noise at eps = 4, delta = 1e-30 and sensitivity 1.

    library is diffprivlib's, which our rerun of the paper's trials has. needed is the exact one. The table
    "gaussian_scale" in ``results`` has both. Raises LookupError if it lacks this delta.
    """
    delta = 1e-30
    scales = gaussian_scales_at(results, 4, delta)
    return GaussianScales(delta=delta, library=scales["published"], needed=scales["exact"])


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


def constants(results: Results) -> Constants:
    """The range of the TV error of shuffle+INV divided by the Gaussian's, under our two choices of constants.

    ``results`` has the table constants, with a row for every dataset, budget, floor and sensitivity. A floor
    is a delta, the one that the Gaussian has where the paper's delta-hat is 0. The paper prints neither this
    delta nor the Gaussian's sensitivity. The floors are returned too, from the largest to the smallest.
    """
    table = results["constants"]
    ratios = range_of(table["ratio"])
    floors = sorted(table["floor"].unique(), reverse=True)
    return Constants(floors=floors, low=ratios.low, high=ratios.high)
