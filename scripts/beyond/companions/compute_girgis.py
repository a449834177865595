"""Girgis et al.'s bound on Renyi divergences, beside exact divergences; and its delta after several rounds.

All axes are even in logarithms.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.companions.axes import Axis, rounded
from scripts.shared.job import job, write_csv
from tightshuffle.literature.renyi import rdp_to_delta, rdp_upper
from tightshuffle.literature.renyi_pairs import rdp_clones, rdp_two_counts
from tightshuffle.methods import delta

ORDERS: Axis = (1.1, 2000, 30)


def girgis_rdp(
    *, n: int = 10_000, k: int = 10, eps0: Sequence[float] = (0.5, 2, 4), orders: Axis = ORDERS
) -> pd.DataFrame:
    """eps(lambda) of the bound and of the exact pairs, one row per (eps0, order)."""
    grid = np.meshgrid(eps0, rounded(np.geomspace(*orders)), indexing="ij")
    budgets, order = (values.ravel() for values in grid)
    table = pd.DataFrame({"eps0": budgets.astype(float), "order": order, "n": n, "k": k})
    table["girgis"] = rdp_upper(order, n=n, eps0=budgets)
    table["clones"] = rdp_clones(order, n=n, eps0=budgets)
    table["two_counts"] = rdp_two_counts(order, n=n, k=k, eps0=budgets)
    return table


def girgis_composed(
    *,
    n: int = 10_000,
    k: int = 10,
    eps0: float = 2,
    rounds: Sequence[int] = (1, 10, 100),
    axis: Axis = (0.02, 20, 49),
    orders: Axis = ORDERS,
    deepest: float = -12,
) -> pd.DataFrame:
    """log10 delta after several rounds, one row per (rounds, eps).

    ``girgis`` is from the bound; ``clones_rdp`` from the clones' exact Renyi divergence with the same lemma
    (at the best of the orders); ``clones_pld`` from their privacy loss distribution, and empty below what the
    figure shows, because its cost grows with the depth.
    """
    fixed = {"n": n, "k": k, "eps0": eps0}
    lambdas, eps = rounded(np.geomspace(*orders)), rounded(np.geomspace(*axis))
    exact = rdp_clones(lambdas, n=n, eps0=eps0)
    tables = []
    for number in rounds:
        table = pd.DataFrame({"rounds": number, "eps": eps, **fixed})
        setting: dict[str, Any] = {**fixed, "rounds": number}
        table["girgis"] = delta(eps, method="girgis", log10=True, **setting)
        by_order = rdp_to_delta(eps[:, None], lambdas, number * exact)
        table["clones_rdp"] = np.where(eps >= number * eps0, -np.inf, by_order.min(axis=1))
        drawn = (table["clones_rdp"] >= 1.3 * deepest).to_numpy()
        clones_pld = np.full(len(eps), np.nan)
        clones_pld[drawn] = delta(eps[drawn], method="clones", log10=True, **setting)
        table["clones_pld"] = clones_pld
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(girgis_rdp(), snakemake.output.divergences)
        write_csv(girgis_composed(), snakemake.output.composed)
