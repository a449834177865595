"""delta over eps in a few settings: the count of x0, the whole histogram, every bound of the literature."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from scripts.shared.job import job, write_csv
from tightshuffle import methods
from tightshuffle.literature import count
from tightshuffle.points import make_points

NAMES = (  # of the whole histogram; all but `lower` hold for every dataset
    *(
        "lower",
        "upper",
        "privacy-blanket",
        "balle-bennett",
        "clones",
        "stronger-clones",
        "koskela-strong",
        "girgis",
        "blanket",
    ),
)
METHODS = {methods.METHODS[name].column: methods.METHODS[name] for name in NAMES}


def delta_bounds(steps: int, settings: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """log10 delta by every bound, one row per setting (numbered from 1) and eps: the config's section."""
    tables = []
    for number, setting in enumerate(settings, start=1):
        eps = np.geomspace(setting["eps"]["start"], setting["eps"]["stop"], steps)
        whole = {name: setting[name] for name in ("n", "k", "eps0")}
        counted = {"count": setting["count"], **whole}
        table = pd.DataFrame({"setting": number, **counted, "eps": eps})
        table["published"] = theorem_1_as_printed(eps, **counted)
        table["exact"] = count.delta(eps, direction="both", **counted)
        points = make_points(eps, **whole)
        bounds = {column: method.log10_delta(points) for column, method in METHODS.items()}
        tables.append(table.assign(**bounds))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(delta_bounds(snakemake.params.steps, snakemake.params.settings), snakemake.output[0])
