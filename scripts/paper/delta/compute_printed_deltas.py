"""log10 delta behind every printed delta, by the formula that gives the printed digits.

For the paper's own column also the exact delta of the same count. What the bounds of the literature really
are, whose names the other columns carry, is in scripts/beyond/bounds/compute_cited_bounds.py.
"""

import math

import pandas as pd

from scripts.paper.delta.literature_as_printed import (
    balle_as_printed,
    erlingsson_as_printed,
    feldman_as_printed,
)
from scripts.paper.delta.theorem_1 import FORMS, log10_delta_of_count
from scripts.shared.job import job, write_csv
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tightshuffle.arguments import Floats

# table -> the paper's version that prints it: arXiv 2205.08858v1 is the long one, FPS 2023 the short one
VERSION_OF_TABLE = {"Table II": "long", "Table 1": "short"}
LOG10_DELTA_OF_EARLIER_WORK = {  # mechanism -> log10 delta by the formula that the paper prints for it
    "balle": balle_as_printed,
    "feldman": feldman_as_printed,
}


def printed_deltas(values: pd.DataFrame) -> pd.DataFrame:
    """log10 of the deltas that the paper prints, computed anew, with a row for each of them.

    ``values`` are the rows of values.csv as text. The first columns are `DELTA_KEY`, the text that tells the
    printed deltas apart. The column published is log10 delta by the formula that gives the printed digits,
    exact is log10 of the true delta. NaN stands where there is no formula.
    """
    frame = values[values["quantity"] == "delta"].copy()
    for reading in FORMS:
        frame[reading] = math.nan
    for _, group in frame.groupby(["mechanism", "item"]):
        for reading, log10_deltas in _log10_deltas(group).items():
            frame.loc[group.index, reading] = log10_deltas
    return frame[[*DELTA_KEY, "published", "exact"]]


def _log10_deltas(group: pd.DataFrame) -> dict[str, Floats]:
    """log10 delta of each row in one or two readings: reading -> log10 deltas (rows,).

    The reading "published" is by the formula that the paper prints for the mechanism. The reading "exact" is
    the true delta, and only the paper's own mechanism has it: shuffled k-randomized response of which one
    count is released. For a mechanism without a printed formula, the dict is empty.

    ``group`` has a row of texts per printed delta, with the columns mechanism, item (the paper's table), eps,
    eps0, n (users), k (values) and count (how many other users hold the counted value). All rows have the
    same mechanism and item. For bounds of earlier work k and count are not used.
    """
    mechanism = group["mechanism"].iloc[0]
    eps = group["eps"].astype(float).to_numpy()
    eps0 = group["eps0"].astype(float).to_numpy()
    n = group["n"].astype(int).to_numpy()

    if mechanism == OWN:  # "this paper"
        k = group["k"].astype(int).to_numpy()
        count = group["count"].astype(int).to_numpy()
        deltas = {}
        for form in FORMS:
            deltas[form] = log10_delta_of_count(eps, form=form, n=n, k=k, eps0=eps0, count=count)
        return deltas

    if mechanism == "erlingsson":
        return {"published": erlingsson_as_printed(eps, n=n, eps0=eps0)}

    if mechanism in LOG10_DELTA_OF_EARLIER_WORK:
        # The long and the short version of the paper print different formulas.
        version = VERSION_OF_TABLE[group["item"].iloc[0]]
        log10_delta_of = LOG10_DELTA_OF_EARLIER_WORK[mechanism]
        return {"published": log10_delta_of(eps, n=n, eps0=eps0, version=version)}

    return {}


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(printed_deltas(read_values(snakemake.input.values)), snakemake.output.deltas)
