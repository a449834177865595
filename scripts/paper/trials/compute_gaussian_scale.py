"""The analytic Gaussian's scale over delta: exact, and diffprivlib's, with the true delta of the latter."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.published_gaussian import published_scale
from tightshuffle.mechanisms.gaussian import exact_scale, log10_delta_of_scale


def gaussian_scale(
    *, eps: Sequence[float] = (1, 4, 6), log10_delta: tuple[float, float, int] = (-2, -100, 197)
) -> pd.DataFrame:
    """The standard deviation of the analytic Gaussian's noise, its scale, with a row per eps and log10 delta.

    The sensitivity is 1, the unit of the scales. The columns are

    - eps and log10_delta, the guarantee for which the noise is chosen;
    - exact, the smallest scale that has this guarantee;
    - published, the scale of diffprivlib, the paper's library;
    - published_log10_delta, log10 of the delta at eps that the published scale really has.

    ``log10_delta``: its first value, its last one, and how many evenly spaced ones there are.
    """
    eps_grid, log10_delta_grid = np.meshgrid(eps, np.linspace(*log10_delta), indexing="ij")
    table = pd.DataFrame({"eps": eps_grid.ravel(), "log10_delta": log10_delta_grid.ravel()})
    table["exact"] = exact_scale(table["eps"], log10_delta=table["log10_delta"])
    table["published"] = [
        published_scale(budget, 10.0**log10, sensitivity=1)
        for budget, log10 in zip(table["eps"], table["log10_delta"], strict=True)
    ]
    table["published_log10_delta"] = log10_delta_of_scale(table["eps"], scale=table["published"])
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(gaussian_scale(), snakemake.output[0])
