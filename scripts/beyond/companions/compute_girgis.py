"""Girgis et al.'s bound on Renyi divergences, beside exact divergences; and its delta after several rounds.

Points are evenly spaced in the logarithm of the order and of eps.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.companions.axes import Axis, rounded_to_10_decimals
from scripts.shared.job import job, write_csv
from tightshuffle.doors import delta
from tightshuffle.literature.renyi import ln_delta_of_rdp, rdp_upper
from tightshuffle.literature.renyi_pairs import rdp_clones, rdp_two_counts

ORDERS: Axis = (1.1, 2000, 30)  # of Renyi divergences: the smallest, the largest, and how many


def girgis_rdp(
    *, n: int = 10_000, k: int = 10, eps0: Sequence[float] = (0.5, 2, 4), orders: Axis = ORDERS
) -> pd.DataFrame:
    """Bounds on the Renyi divergence of one round of shuffled k-RR, with a row for every eps0 and order.

    ``orders`` are the ends and the number of the orders, which are evenly spaced in their logarithms. The
    columns are eps0, order, n, k and three divergences, in natural logs:

    - girgis: an upper bound, Theorem 3.1 of Girgis et al.
    - clones: another upper bound, the exact divergence between the two distributions to which Feldman et al.
      reduce the shuffle model ("privacy amplification by clones")
    - two_counts: a lower bound, the exact divergence of the counts of x0 and x1 if all users other than the
      target user hold a third value
    """
    distinct_orders = rounded_to_10_decimals(np.geomspace(*orders))
    eps0_grid, order_grid = np.meshgrid(eps0, distinct_orders, indexing="ij")
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

    ``axis`` and ``orders`` are the ends and the number of the eps and of the Renyi orders, both evenly spaced
    in their logarithms. The clones' pair are the two distributions to which Feldman et al. reduce the shuffle
    model. The columns are rounds, eps (of all rounds together), n, k, eps0 and three bounds, as log10 delta:

    - girgis: from Girgis et al.'s bound on the Renyi divergence of a round
    - clones_rdp: from the exact Renyi divergence of the clones' pair, the smallest of those of all ``orders``
    - clones_pld: from the privacy loss distribution of the clones' pair

    ``deepest`` is the lowest log10 delta that the figure shows. The smaller delta is, the longer clones_pld
    takes. So clones_pld is nan where clones_rdp is far below ``deepest``.
    """
    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0}
    eps = rounded_to_10_decimals(np.geomspace(*axis))
    order = rounded_to_10_decimals(np.geomspace(*orders))
    rdp_of_round = rdp_clones(order, n=n, eps0=eps0)

    tables = []
    for number in rounds:
        girgis = delta(eps, method="girgis", log10=True, rounds=number, **setting)

        # Renyi divergences add up over rounds. Every order gives an upper bound on delta, so the smallest
        # one is taken. From eps = rounds * eps0 on, delta is 0. by_order is log10 delta, (eps, orders).
        by_order = ln_delta_of_rdp(eps[:, None], order, number * rdp_of_round) / np.log(10)
        clones_rdp = np.where(eps >= number * eps0, -np.inf, by_order.min(axis=1))

        # The line of clones_pld is to leave the figure at its lower edge, not to end above it. clones_rdp
        # is larger than clones_pld, and 1.3 times the lowest log10 delta is a little below the edge.
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
