"""The gap between lower and upper, around delta of the conjectured worst datasets."""

from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis, rounded
from tightshuffle.bounds import histogram
from tightshuffle.bounds.worst_known import tight


def band(settings: Section) -> pd.DataFrame:
    """log10 delta of the whole histogram by lower, tight and upper, one row per (k, n, share of eps0).

    ``settings``: the config's ``band``.
    """
    axes = settings["k"], settings["n"], rounded(linear_axis(settings["shares"]))
    k, n, share = (values.ravel() for values in np.meshgrid(*axes, indexing="ij"))
    eps0 = float(settings["eps0"])
    table = pd.DataFrame({"eps0": eps0, "k": k, "n": n, "share": share, "eps": share * eps0})
    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0}
    bounds = {"lower": histogram.lower, "tight": tight, "upper": histogram.upper}
    return table.assign(**{name: bound(share * eps0, **setting) for name, bound in bounds.items()})
