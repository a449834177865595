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
    """The literature's bounds at the settings for which the paper prints a delta under their name.

    ``values`` are the rows of values.csv as texts. A row of the result is a printed delta whose mechanism is
    not the paper's own. The columns are `DELTA_KEY`, which says of which printed delta, and ``cited``: log10
    of the bound that the mechanism cites, or nan where its theorem does not apply.
    """
    deltas = values[values["quantity"] == "delta"]
    is_papers_own = deltas["mechanism"] == OWN
    table = deltas[~is_papers_own].assign(cited=math.nan)
    # The rows of the literature state no k: it is that of the paper's own rows of the same table.
    k_of_item = deltas[is_papers_own].groupby("item")["k"].first()

    for _, rows in table.groupby(["mechanism", "item"]):
        first = rows.iloc[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideRange)
            log10_bounds = delta(
                rows["eps"].astype(float).to_numpy(),
                n=rows["n"].astype(int).to_numpy(),
                k=int(k_of_item[first["item"]]),
                eps0=rows["eps0"].astype(float).to_numpy(),
                method=METHODS[first["mechanism"]],
                log10=True,
            )
        table.loc[rows.index, "cited"] = log10_bounds
    return table[[*DELTA_KEY, "cited"]]


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(cited_bounds(read_values(snakemake.input.values)), snakemake.output[0])
