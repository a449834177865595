"""The analytic Gaussian's scale over delta: exact, and diffprivlib's, with the true delta of the latter."""

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis
from reproduction.protocol.gaussian import published_scale
from tightshuffle.gaussian import exact_scale, log10_delta_of_scale


def gaussian_scale(settings: Section) -> pd.DataFrame:
    """Standard deviations for sensitivity 1, one row per (eps, log10 delta).

    ``settings``: the config's ``gaussian_scale``. The column published_log10_delta is the true log10 delta of
    the published scale.
    """
    axes = settings["eps"], linear_axis(settings["log10_delta"])
    eps, depths = (values.ravel() for values in np.meshgrid(*axes, indexing="ij"))
    table = pd.DataFrame({"eps": eps, "log10_delta": depths})
    table["exact"] = exact_scale(eps, log10_delta=depths)
    table["published"] = [published_scale(e, 10.0**depth, 1) for e, depth in zip(eps, depths, strict=True)]
    table["published_log10_delta"] = log10_delta_of_scale(eps, scale=table["published"].to_numpy())
    return table
