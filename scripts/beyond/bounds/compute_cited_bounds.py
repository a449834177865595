"""log10 of the bounds that the columns of Tables II and 1 name, at every setting that the tables print.

The paper prints other expressions under these names (scripts/paper/delta/printed_formulas.py). Each bound is
taken at the k of the paper's own column of the same table, since the rows of the literature state none.
"""

import math
import warnings

import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tightshuffle.arguments import OutsideRange
from tightshuffle.methods import delta

METHODS = {  # the mechanism of a printed value -> the method that is the cited bound
    "erlingsson": "erlingsson",
    "balle": "balle-bennett",
    "feldman": "clones",  # the cited paper's numerical bound; its closed form is weaker
    "koskela": "privacy-blanket",  # the weak adversary
}


def cited_bounds(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of values.csv whose mechanism is a bound of the literature: `DELTA_KEY`, then cited.

    ``cited`` is log10 of the bound, or NaN where its theorem does not apply.
    """
    deltas = values[values["quantity"] == "delta"]
    is_paper = deltas["mechanism"] == OWN
    k_of_item = deltas[is_paper].groupby("item")["k"].first()

    table = deltas[~is_paper].assign(cited=math.nan)
    for _, group in table.groupby(["mechanism", "item"]):
        row = group.iloc[0]
        method = METHODS[row["mechanism"]]
        k = int(k_of_item[row["item"]])
        n = group["n"].astype(int).to_numpy()
        eps0 = group["eps0"].astype(float).to_numpy()
        eps = group["eps"].astype(float).to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideRange)
            bound = delta(eps, n=n, k=k, eps0=eps0, method=method, log10=True)
        table.loc[group.index, "cited"] = bound
    return table[[*DELTA_KEY, "cited"]]


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(cited_bounds(read_values(snakemake.input.values)), snakemake.output[0])
