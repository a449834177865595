"""delta over eps at one eps0: of one value's count, by the paper's formula and exact; of all counts."""

from typing import Any

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, linear_axis, rounded
from reproduction.protocol.printed_formulas import FORMS, delta_of_count
from tightshuffle.bounds import histogram

EPS0 = 2.0  # of most of Table IV


def too_small(settings: Section) -> pd.DataFrame:
    """log10 delta, one row per eps: ``published`` and ``exact`` of the count of x0, ``lower`` and ``upper``.

    ``lower`` and ``upper`` bound the delta of the whole histogram, for the worst dataset. ``settings``: the
    config's ``delta_surface``; of its axes the eps0 next to 2, and the smaller half of the eps below it.
    """
    axes = {name: rounded(linear_axis(settings[name])) for name in ("eps", "eps0")}
    possible = axes["eps0"][axes["eps0"] > axes["eps"][0]]
    if not possible.size:
        raise ValueError("delta_surface: every delta is 0; expected an eps below an eps0")
    eps0 = float(possible[np.abs(possible - EPS0).argmin()])
    eps = axes["eps"][axes["eps"] < eps0]
    eps = eps[: -(-len(eps) // 2)]
    whole: dict[str, Any] = {"n": settings["n"], "k": settings["k"], "eps0": eps0}
    counted = whole | {"count": settings["count"]}
    table = pd.DataFrame({"eps": eps, **counted})
    for form in FORMS[::-1]:
        table[form] = delta_of_count(eps, form=form, **counted)
    return table.assign(lower=histogram.lower(eps, **whole), upper=histogram.upper(eps, **whole))
