"""Plans for several guarantees, as a table."""

import itertools
import math
from collections.abc import Iterable, Mapping

import pandas as pd

from tightshuffle.planning import make_plan


def plan_table(n: Iterable[int], k: Iterable[int], guarantees: Iterable[Mapping[str, float]]) -> pd.DataFrame:
    """`make_plan` for every n, k and guarantee (a dict of eps and delta): one row per plan.

    Returns a DataFrame: n, k, eps, delta, eps0, capped, sigma, tv_shuffle_inv, tv_gaussian, tv_local.
    """
    columns = ["n", "k", "eps", "delta", "eps0", "capped", "sigma"]
    errors = {"tv_shuffle_inv": "shuffle+INV", "tv_gaussian": "gaussian", "tv_local": "local"}
    rows = []
    for users, cells, wanted in itertools.product(n, k, guarantees):
        plan = make_plan(users, cells, wanted["eps"], log10_delta=math.log10(wanted["delta"]))
        guarantee = users, cells, wanted["eps"], wanted["delta"], plan.eps0, plan.capped, plan.sigma
        rows.append([*guarantee, *(plan.tv[name] for name in errors.values())])
    return pd.DataFrame(rows, columns=[*columns, *errors])
