"""log10 delta behind every printed delta, by the formula that gives the printed digits.

For the paper's own column also the exact delta of the same count. What the bounds of the literature really
are, whose names the other columns carry, is in scripts/beyond/bounds/compute_cited_bounds.py.
"""

import math

import pandas as pd

from scripts.paper.delta import printed_formulas
from scripts.shared.job import job, write_csv
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tightshuffle.arguments import Floats

VERSIONS = {"Table II": "long", "Table 1": "short"}  # table -> the paper's version that prints it
PRINTED = {  # mechanism -> log10 delta by the formula that the paper prints for it
    "balle": printed_formulas.balle_as_printed,
    "feldman": printed_formulas.feldman_as_printed,
}


def printed_deltas(values: pd.DataFrame) -> pd.DataFrame:
    """log10 of the deltas that the paper prints, computed anew, with a row for each of them.

    ``values`` are the rows of values.csv as text. The first columns are `DELTA_KEY`, the text that tells the
    printed deltas apart. The column published is log10 delta by the formula that gives the printed digits,
    exact is log10 of the true delta. NaN stands where there is no formula.
    """
    frame = values[values["quantity"] == "delta"].copy()
    for reading in printed_formulas.FORMS:
        frame[reading] = math.nan
    for _, group in frame.groupby(["mechanism", "item"]):
        for reading, log10_deltas in _log10_deltas(group).items():
            frame.loc[group.index, reading] = log10_deltas
    return frame[[*DELTA_KEY, "published", "exact"]]


def _log10_deltas(group: pd.DataFrame) -> dict[str, Floats]:
    """log10 delta of each row, in the readings of the mechanism: reading -> an array with one per row.

    The reading "published" is by the formula that the paper prints, "exact" is the true delta. Mechanisms of
    earlier work have the first alone, and a mechanism without a formula has none. All rows of ``group`` have
    one mechanism and one table, which is named in the column item.
    """
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
