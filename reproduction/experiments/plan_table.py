"""What several wanted guarantees allow, as a table."""

import math
from collections.abc import Iterable, Mapping

import pandas as pd

from tightshuffle.planning import make_plan


def plan_table(n: Iterable[int], k: Iterable[int], guarantees: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """`make_plan` for every n, k and guarantee (a dict of eps and delta): one row per plan.

    Returns a DataFrame: n, k, eps, delta, eps0, capped, sigma, tv_shuffle_inv, tv_gaussian, tv_local.
    """
    rows = []
    for users in n:
        for cells in k:
            for wanted in guarantees:
                plan = make_plan(users, cells, wanted["eps"], log10_delta=math.log10(wanted["delta"]))
                rows.append(
                    {
                        "n": users,
                        "k": cells,
                        "eps": wanted["eps"],
                        "delta": wanted["delta"],
                        "eps0": plan.eps0,
                        "capped": plan.capped,
                        "sigma": plan.sigma,
                        "tv_shuffle_inv": plan.tv["shuffle+INV"],
                        "tv_gaussian": plan.tv["gaussian"],
                        "tv_local": plan.tv["local"],
                    }
                )
    return pd.DataFrame(rows)
