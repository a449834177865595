"""The numbers that texts state about the paper's own experiments: delta-hat, and what our constants do."""

from dataclasses import dataclass

from scripts.paper.delta.compute_delta_hat import DEPTH_OF_SMALLEST_FLOAT
from scripts.paper.trials.run_delta_hat_trials import FORMS, gaussian_ratios
from scripts.shared.findings import Range, Results, range_of
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import exact_scale


@dataclass(frozen=True)
class GaussianScales:
    """Scales of the Gaussian's noise, in users, at eps = 4 and sensitivity 1."""

    delta: float
    library: float  # the scale of diffprivlib, which our rerun has
    needed: float  # the scale of the exact analytic Gaussian


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
class Constants:
    """The ratio of errors in Figures 2, 6 and 7 under other values of our two constants."""

    floors: list[float]  # of the Gaussian's delta, falling
    low: float  # the smallest ratio of the TV error of shuffle+INV to the Gaussian's
    high: float  # the largest one


def gaussian_scales(_: Results) -> GaussianScales:
    """The scale of our rerun, and the one that its (eps, delta) needs."""
    delta = 1e-30
    needed = float(exact_scale(4.0, delta))
    return GaussianScales(delta=delta, library=published_scale(4.0, delta, 1.0), needed=needed)


def delta_hat(results: Results) -> DeltaHat:
    """How far the printed delta-hat lies below the exact one, and what this does to the Gaussian's errors.

    delta-hat is the largest delta of a count that occurs, and the delta that the paper gives the Gaussian.
    ``results`` has two tables. delta_hat has a row per point (a dataset, n, eps0 and eps) with log10 of both
    forms of delta-hat in the columns published and exact. delta_hat_trials has a row per repetition of a
    mechanism there. ``ratios`` are, by the form, the Gaussian's mean TV error over that of shuffle+INV.
    """
    table = results["delta_hat"]
    ratios = gaussian_ratios(results["delta_hat_trials"]).groupby("form")["ratio"]
    return DeltaHat(
        of=len(table),
        orders=range_of(table["exact"] - table["published"]),
        beyond_floats=(table["published"] < -DEPTH_OF_SMALLEST_FLOAT).sum(),
        ratios={form: range_of(ratios.get_group(form)) for form in FORMS},
    )


def constants(results: Results) -> Constants:
    """The ratios of errors over all floors and sensitivities."""
    table = results["constants"]
    ratios = range_of(table["ratio"])
    floors = sorted(table["floor"].unique(), reverse=True)
    return Constants(floors=floors, low=ratios.low, high=ratios.high)
