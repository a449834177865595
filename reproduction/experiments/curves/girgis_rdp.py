"""Girgis et al.'s bound on Renyi divergences, beside exact divergences; and its delta after compositions."""

import numpy as np
import pandas as pd

from reproduction.experiments.curves.axes import Section, log_axis, rounded
from tightshuffle import methods
from tightshuffle.literature.renyi import girgis, rdp_to_delta, rdp_upper
from tightshuffle.literature.renyi_pairs import rdp_clones, rdp_two_counts


def girgis_rdp(settings: Section) -> pd.DataFrame:
    """eps(lambda) of the bound and of the exact pairs, one row per (eps0, order).

    ``settings``: the config's ``girgis_rdp``.
    """
    axes = settings["eps0"], rounded(log_axis(settings["orders"]))
    eps0, order = (values.ravel() for values in np.meshgrid(*axes, indexing="ij"))
    table = pd.DataFrame({"eps0": eps0.astype(float), "order": order, "n": settings["n"], "k": settings["k"]})
    table["girgis"] = rdp_upper(order, n=settings["n"], eps0=eps0)
    table["clones"] = rdp_clones(order, n=settings["n"], eps0=eps0)
    table["two_counts"] = rdp_two_counts(order, n=settings["n"], k=settings["k"], eps0=eps0)
    return table


def girgis_composed(settings: Section) -> pd.DataFrame:
    """log10 delta after compositions, one row per (compositions, eps).

    ``girgis`` is from the bound; ``clones_rdp`` from the clones' exact Renyi divergence with the same lemma
    (at the best of the orders); ``clones_pld`` from their privacy loss distribution, and empty below what the
    figure shows, because its cost grows with the depth. ``settings``: the config's ``girgis_rdp``.
    """
    curve = settings["composed"]
    fixed = {"n": settings["n"], "k": settings["k"], "eps0": curve["eps0"]}
    orders, eps = rounded(log_axis(settings["orders"])), rounded(log_axis(curve["eps"]))
    exact = rdp_clones(orders, n=settings["n"], eps0=curve["eps0"])
    tables = []
    for compositions in curve["compositions"]:
        table = pd.DataFrame({"compositions": compositions, "eps": eps, **fixed})
        table["girgis"] = girgis(eps, compositions=compositions, **fixed)
        by_order = rdp_to_delta(eps[:, None], orders, compositions * exact)
        table["clones_rdp"] = np.where(eps >= compositions * curve["eps0"], -np.inf, by_order.min(axis=1))
        drawn = (table["clones_rdp"] >= 1.3 * curve["deepest"]).to_numpy()
        table["clones_pld"] = np.nan
        table.loc[drawn, "clones_pld"] = methods.delta(
            "clones", eps[drawn], compositions=compositions, **fixed
        )
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
