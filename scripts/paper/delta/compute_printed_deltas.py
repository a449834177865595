"""log10 delta behind every printed delta, by the formula that gives the printed digits.

For the paper's own column also the exact delta of the same count. What the bounds of the literature really
are, whose names the other columns carry, is in scripts/beyond/bounds/compute_cited_bounds.py.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.paper.delta import printed_formulas
from scripts.shared.job import job, write_csv
from scripts.shared.printed import DELTA_KEY, OWN, read_values

VERSIONS = {"Table II": "long", "Table 1": "short"}
PRINTED = {
    "balle": printed_formulas.balle_as_printed,
    "feldman": printed_formulas.feldman_as_printed,
}


def printed_deltas(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of values.csv of quantity delta: `DELTA_KEY`, then log10 delta, published and exact.

    NaN stands where there is no formula.
    """
    frame = values[values["quantity"] == "delta"].copy()
    for reading in printed_formulas.FORMS:
        frame[reading] = math.nan
    for _, group in frame.groupby(["mechanism", "item"]):
        for reading, log10_deltas in _deltas(group).items():
            frame.loc[group.index, reading] = log10_deltas
    return frame[[*DELTA_KEY, "published", "exact"]]


def _deltas(group: pd.DataFrame) -> dict[str, NDArray[np.floating[Any]]]:
    """log10 deltas of the rows of one mechanism and table, by reading, where there is a formula."""
    mechanism = group["mechanism"].iloc[0]
    eps = group["eps"].astype(float).to_numpy()
    eps0 = group["eps0"].astype(float).to_numpy()
    n = group["n"].astype(int).to_numpy()

    if mechanism == OWN:
        k = group["k"].astype(int).to_numpy()
        count = group["count"].astype(int).to_numpy()
        deltas = {}
        for form in printed_formulas.FORMS:
            deltas[form] = printed_formulas.delta_of_count(
                eps, form=form, n=n, k=k, eps0=eps0, count=count
            )
        return deltas

    if mechanism == "erlingsson":
        return {"published": printed_formulas.erlingsson_as_printed(eps, n=n, eps0=eps0)}

    if mechanism in PRINTED:
        version = VERSIONS[group["item"].iloc[0]]
        return {"published": PRINTED[mechanism](eps, n=n, eps0=eps0, version=version)}

    return {}


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output.deltas)
