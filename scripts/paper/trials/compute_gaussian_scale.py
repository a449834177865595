"""The analytic Gaussian's scale over delta: exact, and diffprivlib's, with the true delta of the latter."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from tightshuffle.gaussian import exact_scale, log10_delta_of_scale


def gaussian_scale(
    *, eps: Sequence[float] = (1, 4, 6), log10_delta: tuple[float, float, int] = (-2, -100, 197)
) -> pd.DataFrame:
    """Standard deviations for sensitivity 1, one row per (eps, log10 delta).

    The column published_log10_delta is the true log10 delta of the published scale.
    """
    grid = np.meshgrid(eps, np.linspace(*log10_delta), indexing="ij")
    table = pd.DataFrame(dict(zip(("eps", "log10_delta"), (values.ravel() for values in grid), strict=True)))
    budgets, depths = table["eps"].to_numpy(), table["log10_delta"].to_numpy()
    table["exact"] = exact_scale(budgets, log10_delta=depths)
    pairs = zip(budgets, depths, strict=True)
    table["published"] = [published_scale(budget, 10.0**depth, 1) for budget, depth in pairs]
    table["published_log10_delta"] = log10_delta_of_scale(budgets, scale=table["published"].to_numpy())
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(gaussian_scale(), snakemake.output[0])
