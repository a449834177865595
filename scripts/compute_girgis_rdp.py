"""Girgis' RDP bound over the order beside exact Renyi divergences, and what it gives after compositions."""

import numpy as np
import pandas as pd

from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy.composition import composed_clones
from tightshuffle.privacy.renyi import girgis, rdp_to_delta, rdp_upper
from tightshuffle.privacy.renyi_pairs import rdp_clones, rdp_two_counts


def axis(plan):
    """The points of an axis that is even in logarithms; rounded, so that its ends are what is asked."""
    return np.round(np.geomspace(plan["start"], plan["stop"], plan["steps"]), 10)


def divergences(plan):
    """eps(lambda) of the bound and of the exact pairs, a row per (eps0, order)."""
    eps0, order = (grid.ravel() for grid in np.meshgrid(plan["eps0"], axis(plan["orders"]), indexing="ij"))
    table = pd.DataFrame({"eps0": eps0.astype(float), "order": order, "n": plan["n"], "k": plan["k"]})
    table["girgis"] = rdp_upper(order, n=plan["n"], eps0=eps0)
    table["clones"] = rdp_clones(order, n=plan["n"], eps0=eps0)
    table["two_counts"] = rdp_two_counts(order, n=plan["n"], k=plan["k"], eps0=eps0)
    return table


def composed(plan):
    """log10 delta after compositions, a row per (compositions, eps).

    ``girgis`` from the bound, ``clones_rdp`` from the clones' exact Renyi divergence with the same lemma (at
    the best of the orders of the plan), ``clones_pld`` from their privacy loss distribution; that one only
    as far down as the figure shows it, else empty, because its cost grows with the depth.
    """
    curve = plan["composed"]
    setting = {"n": plan["n"], "k": plan["k"], "eps0": curve["eps0"]}
    orders = axis(plan["orders"])
    exact = rdp_clones(orders, n=plan["n"], eps0=curve["eps0"])
    tables = []
    for rounds in curve["compositions"]:
        eps = axis(curve["eps"])
        table = pd.DataFrame({"compositions": rounds, "eps": eps, **setting})
        table["girgis"] = girgis(eps, compositions=rounds, **setting)
        by_order = rdp_to_delta(eps[:, None], orders, rounds * exact)
        table["clones_rdp"] = np.where(eps >= rounds * curve["eps0"], -np.inf, by_order.min(axis=1))
        drawn = (table["clones_rdp"] >= 1.3 * curve["deepest"]).to_numpy()
        table["clones_pld"] = np.nan
        table.loc[drawn, "clones_pld"] = composed_clones(eps[drawn], compositions=rounds, **setting)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job(snakemake):
        write_csv(divergences(snakemake.params.plan), snakemake.output.divergences)
        write_csv(composed(snakemake.params.plan), snakemake.output.composed)
