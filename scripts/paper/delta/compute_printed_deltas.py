"""log10 delta behind every printed delta: by the formula that gives the printed digits, and the true one.

For the paper's own column, the true delta is the exact delta of the same count. For a column of the
literature it is the bound of the cited paper, for the k of the paper's own column.
"""

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scripts.beyond.bounds.corollary import corollary_table
from scripts.paper.delta import printed_formulas
from scripts.shared.job import job, write_csv
from scripts.shared.printed import read_values
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import histogram
from tightshuffle.literature import amplification, clones

COLUMNS = ["item", "quantity", "mechanism", "n", "k", "eps0", "eps", "count"]
VERSIONS = {"Table II": "long", "Table 1": "short"}
OWN = "this paper"
PRINTED = {"balle": printed_formulas.balle_as_printed, "feldman": printed_formulas.feldman_as_printed}
CITED = {
    "erlingsson": amplification.erlingsson,
    "balle": amplification.balle_bennett,
    "feldman": clones.clones,  # the cited paper's numerical bound; its closed form is weaker
    "koskela": histogram.upper,  # the weak adversary
}


def printed_deltas(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of values.csv of quantity delta: `COLUMNS`, then published and exact (log10; NaN: none)."""
    frame = values[values["quantity"] == "delta"].copy()
    own_k = frame[frame["mechanism"] == OWN].groupby("item")["k"].first()  # literature rows leave k open
    for reading in printed_formulas.FORMS:
        frame[reading] = math.nan
    for _, group in frame.groupby(["mechanism", "item"]):
        k = int(own_k[group["item"].iloc[0]])
        for reading, log10_deltas in _deltas(group, k).items():
            frame.loc[group.index, reading] = log10_deltas
    return frame[[*COLUMNS, "published", "exact"]]


def _deltas(group: pd.DataFrame, k: int) -> dict[str, NDArray[np.floating[Any]]]:
    """Reading -> log10 deltas of rows of one mechanism and table; no "published" without a formula.

    ``k`` is where a cited bound is taken. NaN where a theorem does not apply.
    """
    mechanism, item = group["mechanism"].iloc[0], group["item"].iloc[0]
    eps, eps0 = group["eps"].astype(float).to_numpy(), group["eps0"].astype(float).to_numpy()
    n = group["n"].astype(int).to_numpy()
    if mechanism == OWN:
        own_k, held = group["k"].astype(int).to_numpy(), group["count"].astype(int).to_numpy()
        setting: dict[str, Any] = {"n": n, "k": own_k, "eps0": eps0, "count": held, "direction": "forward"}
        return {
            form: printed_formulas.delta_of_count(eps, form=form, **setting)
            for form in printed_formulas.FORMS
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        deltas = {"exact": CITED[mechanism](eps, n=n, k=k, eps0=eps0)}
    if mechanism == "erlingsson":
        deltas["published"] = printed_formulas.erlingsson_as_printed(eps, n=n, eps0=eps0)
    elif mechanism in PRINTED:
        deltas["published"] = PRINTED[mechanism](eps, n=n, eps0=eps0, version=VERSIONS[item])
    return deltas


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output.deltas)
        write_csv(corollary_table(), snakemake.output.corollary)
