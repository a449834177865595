"""log10 of the bounds that the columns of Tables II and 1 name, at every setting that the tables print.

The paper prints other expressions under these names (scripts/paper/delta/literature_as_printed.py). Each
bound is taken at the k of the paper's own column of the same table, since the rows of the literature state
none.
"""

import math
import warnings

import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tightshuffle.arguments import OutsideRange
from tightshuffle.doors import delta

METHODS = {  # the mechanism of a printed value -> the method that is the cited bound
    "erlingsson": "erlingsson",
    "balle": "balle-bennett",
    "feldman": "clones",  # the cited paper's numerical bound; its closed form is weaker
    "koskela": "privacy-blanket",  # the weak adversary
}


def cited_bounds(values: pd.DataFrame) -> pd.DataFrame:
    """The true values of the literature's bounds for which the paper prints a delta: one row for each delta.

    ``values`` are the rows of data/published/values.csv, one for each number that the paper prints, as texts.
    Taken are the printed deltas that the paper attributes to earlier work ("erlingsson", "balle", "feldman",
    "koskela"), not those of its own mechanism.

    The result has the columns that tell printed deltas apart (item, quantity, mechanism, n, k, eps0, eps,
    count), and ``cited``: log10 delta by the cited work's own bound, or nan where its theorem does not apply.
    """
    deltas = values[values["quantity"] == "delta"]
    is_papers_own = deltas["mechanism"] == OWN
    table = deltas[~is_papers_own].assign(cited=math.nan)
    # An item is a table of the paper. The rows of the literature state no k: it is that of the paper's own
    # rows of the same table.
    k_of_item = deltas[is_papers_own].groupby("item")["k"].first()

    for _, rows in table.groupby(["mechanism", "item"]):
        first = rows.iloc[0]
        with warnings.catch_warnings():
            # Outside of a theorem's conditions, `delta` warns and gives nan.
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
