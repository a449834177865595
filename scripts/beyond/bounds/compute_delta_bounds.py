"""delta over eps in a few settings: the count of x0, the whole histogram, every bound of the literature."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.theorem_1 import log10_delta_of_count, theorem_1_as_printed
from scripts.shared.job import job, write_csv
from tightshuffle.doors import delta
from tightshuffle.methods import METHODS

# Methods that bound delta of the whole histogram: "lower" in the worst dataset, the others in every dataset.
BOUNDS = (
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
    """log10 delta by our bounds and those of the literature: a row for every setting and eps.

    The parameters are the config's section delta_bounds. A setting has n (users), k (values), eps0 and count
    (of the n - 1 other users, who hold x0). Its ``eps`` has the keys start and stop: between them lie
    ``steps`` eps, at equal distances in their logarithms.

    The columns are setting (its number, from 1), count, n, k, eps0, eps, and log10 of these deltas:

    - published: of the count of x0, as Theorem 1 prints it, for x0 against another value
    - exact: the true delta of this count, for the worse one of both directions
    - lower, upper, privacy_blanket and so on: a bound on delta of the whole histogram, for each method of
      `BOUNDS`
    """
    tables = []
    for number, setting in enumerate(settings, start=1):
        eps = np.geomspace(setting["eps"]["start"], setting["eps"]["stop"], steps)
        of_histogram: dict[str, Any] = {name: setting[name] for name in ("n", "k", "eps0")}
        of_count = {"count": setting["count"], **of_histogram}
        table = pd.DataFrame({"setting": number, **of_count, "eps": eps})
        table["published"] = theorem_1_as_printed(eps, **of_count)
        table["exact"] = log10_delta_of_count(eps, form="exact", direction="both", **of_count)
        for name in BOUNDS:
            table[METHODS[name].column] = delta(eps, method=name, log10=True, **of_histogram)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(
            delta_bounds(snakemake.params.steps, snakemake.params.settings), snakemake.output[0]
        )
