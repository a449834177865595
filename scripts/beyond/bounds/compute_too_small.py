"""delta over eps at one eps0: of one value's count, by the paper's formula and exact; of all counts."""

import math
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_surface import Section, points
from scripts.paper.delta.printed_formulas import FORMS, delta_of_count
from scripts.shared.job import job, write_csv
from tightshuffle.guarantee import lower, upper

EPS0 = 2.0  # of most of Table IV


def too_small(n: int, k: int, count: int, eps: Section, eps0: Section) -> pd.DataFrame:
    """log10 delta, one row per eps: ``published`` and ``exact`` of the count of x0, ``lower`` and ``upper``.

    ``lower`` and ``upper`` bound the delta of the whole histogram, for the worst dataset. Of the axes of
    `delta_surface` it takes the eps0 next to 2, and the smaller half of the eps below it.
    """
    all_eps0 = points(eps0)
    all_eps = points(eps)
    possible = all_eps0[all_eps0 > all_eps[0]]
    if not possible.size:
        raise ValueError("delta_surface: every delta is 0; expected an eps below an eps0")
    nearest = float(possible[np.abs(possible - EPS0).argmin()])
    eps_below = all_eps[all_eps < nearest]
    smaller_half = eps_below[: math.ceil(len(eps_below) / 2)]

    whole: dict[str, Any] = {"n": n, "k": k, "eps0": nearest}
    counted = {**whole, "count": count}
    table = pd.DataFrame({"eps": smaller_half, **counted})
    for form in FORMS[::-1]:
        table[form] = delta_of_count(smaller_half, form=form, **counted)
    table["lower"] = lower(smaller_half, log10=True, **whole)
    table["upper"] = upper(smaller_half, log10=True, **whole)
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(too_small(**snakemake.params.surface), snakemake.output[0])
