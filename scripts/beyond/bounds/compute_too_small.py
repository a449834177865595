"""delta over eps at one eps0: of one value's count, by the paper's formula and exact; of all counts."""

import math
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.compute_delta_surface import Section, points
from scripts.paper.delta.theorem_1 import log10_delta_of_count
from scripts.shared.job import job, write_csv
from tightshuffle.doors import delta

EPS0_OF_TABLE_IV = 2.0  # of most of its rows


def deltas_at_one_eps0(n: int, k: int, count: int, eps: Section, eps0: Section) -> pd.DataFrame:
    """log10 of four deltas at one eps0, with a row for every eps: how much too small the paper's delta is.

    ``n`` users hold ``k`` values, and ``count`` of the n - 1 users beside the target user hold x0. ``eps``
    and ``eps0`` are axes (start, stop and steps) of the config's section delta_surface. Of the axis of eps0
    the table has the point nearest to 2, the eps0 of most of Table IV. Of eps it has the smaller half of the
    points below this eps0.

    The columns are eps, n, k, eps0, count, and log10 of these deltas:

    - published: of the count of x0, as Theorem 1 prints it
    - exact: the true delta of this count
    - lower and upper: our bounds on delta of the whole histogram in the worst dataset

    Raises ValueError if no eps is below an eps0.
    """
    all_eps = points(eps)
    all_eps0 = points(eps0)
    # From eps = eps0 on delta is 0, so the eps0 must be above the smallest eps.
    possible = all_eps0[all_eps0 > all_eps[0]]
    if not possible.size:
        raise ValueError("delta_surface: every delta is 0; expected an eps below an eps0")
    chosen_eps0 = float(possible[np.abs(possible - EPS0_OF_TABLE_IV).argmin()])
    below = all_eps[all_eps < chosen_eps0]
    smaller_half = below[: math.ceil(len(below) / 2)]

    setting: dict[str, Any] = {"n": n, "k": k, "eps0": chosen_eps0}
    table = pd.DataFrame({"eps": smaller_half, **setting, "count": count})
    for form in ("published", "exact"):
        table[form] = log10_delta_of_count(smaller_half, form=form, count=count, **setting)
    table["lower"] = delta(smaller_half, method="lower", log10=True, **setting)
    table["upper"] = delta(smaller_half, log10=True, **setting)
    return table


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(deltas_at_one_eps0(**snakemake.params.surface), snakemake.output[0])
