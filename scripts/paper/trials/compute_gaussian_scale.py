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
    """Standard deviations of the noise at sensitivity 1, exact and published, a row per eps and log10 delta.

    ``log10_delta`` has the first value, the last one and how many there are. The column
    published_log10_delta is the true log10 delta of the published scale.
    """
    eps_grid, depth_grid = np.meshgrid(eps, np.linspace(*log10_delta), indexing="ij")
    budgets = eps_grid.ravel()
    depths = depth_grid.ravel()
    published = [
        published_scale(budget, 10.0**depth, 1)
        for budget, depth in zip(budgets, depths, strict=True)
    ]

    table = pd.DataFrame({"eps": budgets, "log10_delta": depths})
    table["exact"] = exact_scale(budgets, log10_delta=depths)
    table["published"] = published
    table["published_log10_delta"] = log10_delta_of_scale(budgets, scale=np.array(published))
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(gaussian_scale(), snakemake.output[0])
