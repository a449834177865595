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

    The parameters are the config's section delta_bounds. The columns published and exact are the delta of the
    count of x0.
    """
    tables = []
    for number, setting in enumerate(settings, start=1):
        eps = np.geomspace(setting["eps"]["start"], setting["eps"]["stop"], steps)
        counted = {name: setting[name] for name in ("count", "n", "k", "eps0")}
        table = pd.DataFrame({"setting": number, **counted, "eps": eps})
        table["published"] = theorem_1_as_printed(eps, **counted)
        table["exact"] = count.delta(eps, direction="both", **counted)

        n, k, eps0 = setting["n"], setting["k"], setting["eps0"]
        for name in BOUNDS:
            table[METHODS[name].column] = delta(eps, method=name, n=n, k=k, eps0=eps0, log10=True)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(
            delta_bounds(snakemake.params.steps, snakemake.params.settings), snakemake.output[0]
        )
