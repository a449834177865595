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
    """Renyi divergences of one round for n users, with a row for every eps0 and order.

    The columns are eps0, order, n, k and three divergences, in natural logs: girgis (the upper bound of
    Girgis et al., Theorem 3.1), clones (the exact one of the clones' pair, also an upper bound), and
    two_counts (the exact one of the counts of x0 and x1 if all other users hold a third value, a lower
    bound).
    """
    eps0_grid, order_grid = np.meshgrid(eps0, rounded(np.geomspace(*orders)), indexing="ij")
    budgets = eps0_grid.ravel().astype(float)
    order = order_grid.ravel()
    table = pd.DataFrame({"eps0": budgets, "order": order, "n": n, "k": k})
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
    """Upper bounds on delta after several rounds, with a row for every number of rounds and eps.

    The columns are rounds, eps, n, k, eps0 and log10 of three deltas:

    - girgis: from the bound of Girgis et al. on the Renyi divergence of a round
    - clones_rdp: in the same way, from the exact Renyi divergence of the clones' pair, at the best of the
      ``orders``
    - clones_pld: from the privacy loss distribution of the clones' pair

    The cost of clones_pld grows with its depth. So it is empty far below ``deepest``, the lowest log10 delta
    that the figure shows.
    """
    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0}
    eps = rounded(np.geomspace(*axis))
    order = rounded(np.geomspace(*orders))
    rdp_of_round = rdp_clones(order, n=n, eps0=eps0)

    tables = []
    for number in rounds:
        girgis = delta(eps, method="girgis", log10=True, rounds=number, **setting)

        # Renyi divergences add up over rounds. From eps = rounds * eps0 on, delta is 0.
        by_order = rdp_to_delta(eps[:, None], order, number * rdp_of_round)  # (eps, orders)
        clones_rdp = np.where(eps >= number * eps0, -np.inf, by_order.min(axis=1))

        # 1.3: the line is to leave the figure at its lower edge.
        is_drawn = clones_rdp >= 1.3 * deepest
        clones_pld = np.full(len(eps), np.nan)
        clones_pld[is_drawn] = delta(
            eps[is_drawn], method="clones", log10=True, rounds=number, **setting
        )

        table = pd.DataFrame({"rounds": number, "eps": eps, **setting})
        tables.append(table.assign(girgis=girgis, clones_rdp=clones_rdp, clones_pld=clones_pld))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(girgis_rdp(), snakemake.output.divergences)
        write_csv(girgis_composed(), snakemake.output.composed)
