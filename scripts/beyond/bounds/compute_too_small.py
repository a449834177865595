"""delta over eps at one eps0: of one value's count, by the paper's formula and exact; of all counts."""

import math
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_surface import Section, points
from scripts.paper.delta.printed_formulas import log10_delta_of_count
from scripts.shared.job import job, write_csv
from tightshuffle.guarantee import lower, upper

EPS0 = 2.0  # that of most of Table IV


def too_small(n: int, k: int, count: int, eps: Section, eps0: Section) -> pd.DataFrame:
    """log10 delta at one eps0, with a row for every eps: of the count of x0, and of the whole histogram.

    ``count`` of the n - 1 other users hold x0. ``eps`` and ``eps0`` are axes of the config's section
    delta_surface. The table has the eps0 next to `EPS0`, and the smaller half of the eps below that.

    The columns are eps, n, k, eps0, count, and log10 of four deltas: published and exact (of the count of x0,
    as Theorem 1 prints it, and the true one), lower and upper (bounds of the histogram's delta, for the worst
    dataset).
    """
    all_eps = points(eps)
    all_eps0 = points(eps0)
    possible = all_eps0[all_eps0 > all_eps[0]]  # delta is 0 from eps = eps0 on
    if not possible.size:
        raise ValueError("delta_surface: every delta is 0; expected an eps below an eps0")
    nearest = float(possible[np.abs(possible - EPS0).argmin()])
    below = all_eps[all_eps < nearest]
    smaller_half = below[: math.ceil(len(below) / 2)]

    setting: dict[str, Any] = {"n": n, "k": k, "eps0": nearest}
    table = pd.DataFrame({"eps": smaller_half, **setting, "count": count})
    for form in ("published", "exact"):
        table[form] = log10_delta_of_count(smaller_half, form=form, count=count, **setting)
    table["lower"] = lower(smaller_half, log10=True, **setting)
    table["upper"] = upper(smaller_half, log10=True, **setting)
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(too_small(**snakemake.params.surface), snakemake.output[0])
