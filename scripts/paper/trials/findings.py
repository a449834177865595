"""The numbers that texts state about the paper's own experiments: delta-hat, and what our constants do."""

from dataclasses import dataclass

from scripts.paper.delta.delta_hat_table import DEPTH_OF_SMALLEST_FLOAT
from scripts.paper.trials.delta_hat_ratios import FORMS, gaussian_ratios
from scripts.shared.findings import Range, Results, gaussian_scales_at, range_of


@dataclass(frozen=True)
class GaussianScales:
    """Scales of the Gaussian's noise, in users, at eps = 4, delta = 1e-30 and sensitivity 1."""

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

    low: float  # the smallest ratio of the TV error of shuffle+INV to the Gaussian's
    high: float  # the largest one


def gaussian_scales(results: Results) -> GaussianScales:
    """Two standard deviations of the Gaussian's noise at eps = 4, delta = 1e-30 and sensitivity 1.

    library is diffprivlib's, which our rerun of the paper's trials has. needed is the exact one. The table
    "gaussian_scale" in ``results`` has both. Raises LookupError if it lacks this delta.
    """
    scales = gaussian_scales_at(results, 4, 1e-30)
    return GaussianScales(library=scales["published"], needed=scales["exact"])


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


def constants(results: Results) -> Constants:
    """The range of the TV error of shuffle+INV divided by the Gaussian's, under our two choices of constants.

    ``results`` has the table constants, with a row for every dataset, budget, floor and sensitivity. A floor
    is a delta, the one that the Gaussian has where the paper's delta-hat is 0. The paper prints neither this
    delta nor the Gaussian's sensitivity.
    """
    ratios = range_of(results["constants"]["ratio"])
    return Constants(low=ratios.low, high=ratios.high)
