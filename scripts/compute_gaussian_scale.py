"""The analytic Gaussian's scale over delta: exact, diffprivlib's, and the delta that the latter gives."""

import numpy as np
import pandas as pd

from tightshuffle.mechanisms.gaussian import exact_scale, log_delta, published_scale
from tightshuffle.pipeline.job import job, write_csv


def scales(plan):
    """Scales for sensitivity 1 and the log10 delta that the published one gives, a row per (eps, delta)."""
    axis = plan["log10_delta"]
    depths = np.linspace(axis["start"], axis["stop"], axis["steps"])
    eps, depths = (grid.ravel() for grid in np.meshgrid(plan["eps"], depths, indexing="ij"))
    table = pd.DataFrame({"eps": eps, "log10_delta": depths})
    table["exact"] = exact_scale(eps, log10_delta=depths)
    table["published"] = [published_scale(e, 10.0**depth, 1) for e, depth in zip(eps, depths, strict=True)]
    table["published_log10_delta"] = log_delta(eps, scale=table["published"].to_numpy())
    return table


if __name__ == "__main__":
    with job(snakemake):
        write_csv(scales(snakemake.params.plan), snakemake.output[0])
