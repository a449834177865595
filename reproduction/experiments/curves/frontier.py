"""k-RR with dummies at equal privacy: error and messages per user, from k-RR alone to dummies alone."""

import pandas as pd

from reproduction.experiments.curves.axes import Section
from tightshuffle import designs

COLUMNS = ["n", "k", "eps", "delta", "eps0", "dummies", "messages", "tv", "ratio"]


def frontier(settings: Section) -> pd.DataFrame:
    """One row per setting and eps0, which is inf for dummies alone.

    ``messages`` per user; ``tv``: expected total variation error, ``ratio``: over the central Gaussian's.
    ``settings``: the config's ``frontier``.
    """
    delta = settings["delta"]
    rows = []
    for setting in settings["settings"]:
        n, k, eps = setting["n"], setting["k"], setting["eps"]
        for found in designs.frontier(n, k, eps, delta):
            cost = found.dummies, found.messages_per_user, found.error, found.ratio
            rows.append((n, k, eps, delta, found.eps0, *cost))
    return pd.DataFrame(rows, columns=COLUMNS)
