"""delta over eps in a few settings: the count of x0, the whole histogram, every bound of the literature."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from scripts.shared.job import job, write_csv
from tightshuffle.literature import count
from tightshuffle.methods import METHODS, delta

BOUNDS = (  # methods, which bound delta of the whole histogram, for every dataset but for `lower`
    "lower",
    "upper",
    "privacy-blanket",
    "balle-bennett",
    "clones",
    "stronger-clones",
    "koskela-strong",
    "girgis",
    "blanket",
)


def delta_bounds(steps: int, settings: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """log10 delta by every bound, with a row for every setting (numbered from 1) and eps.

    The parameters are the config's section delta_bounds. A setting has n, k, eps0, count (of the other users,
    who hold x0) and the ends of its ``steps`` eps, which are even in logarithms. The columns are these, then
    log10 of these deltas:

    - published and exact: of the count of x0, as Theorem 1 prints it, and the true one
    - one for each of the `BOUNDS`, with the method's name in letters, digits and underscores: of the whole
      histogram
    """
    tables = []
    for number, setting in enumerate(settings, start=1):
        eps = np.geomspace(setting["eps"]["start"], setting["eps"]["stop"], steps)
        of_histogram: dict[str, Any] = {name: setting[name] for name in ("n", "k", "eps0")}
        of_count = {"count": setting["count"], **of_histogram}
        table = pd.DataFrame({"setting": number, **of_count, "eps": eps})
        table["published"] = theorem_1_as_printed(eps, **of_count)
        table["exact"] = count.delta(eps, direction="both", **of_count)
        for name in BOUNDS:
            table[METHODS[name].column] = delta(eps, method=name, log10=True, **of_histogram)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(
            delta_bounds(snakemake.params.steps, snakemake.params.settings), snakemake.output[0]
        )
