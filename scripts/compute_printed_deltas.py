"""log10 delta for every printed delta: by the formula that gives the printed digits, and exactly."""

import math

import pandas as pd
from _job import job, write_csv

from tightshuffle.privacy import as_printed, count
from tightshuffle.published import read_values

COLUMNS = ["item", "quantity", "mechanism", "n", "k", "eps0", "eps", "count"]
VERSIONS = {"Table II": "long", "Table 1": "short"}


def compute(rows):
    """The rows of quantity delta as a data frame: `COLUMNS`, then published and exact (log10; NaN = none)."""
    frame = pd.DataFrame([row for row in rows if row["quantity"] == "delta"])
    for reading in count.FORMS:
        frame[reading] = math.nan
    for (mechanism, item), group in frame.groupby(["mechanism", "item"]):
        for reading, values in deltas(mechanism, item, group).items():
            frame.loc[group.index, reading] = values
    return frame[[*COLUMNS, "published", "exact"]]


def deltas(mechanism, item, group):
    """Reading -> log10 deltas of rows of one mechanism and table; nothing for a column without a formula."""
    eps, eps0 = group["eps"].astype(float).to_numpy(), group["eps0"].astype(float).to_numpy()
    n = group["n"].astype(int).to_numpy()
    if mechanism == "this paper":
        k, holders = group["k"].astype(int).to_numpy(), group["count"].astype(int).to_numpy()
        given = {"n": n, "k": k, "eps0": eps0, "count": holders, "direction": "forward"}
        return {form: count.delta(eps, form=form, **given) for form in count.FORMS}
    if mechanism == "erlingsson":
        return {"published": as_printed.erlingsson_as_printed(eps, n=n, eps0=eps0)}
    formula = {
        "balle": as_printed.balle_as_printed,
        "feldman": as_printed.feldman_as_printed,
    }.get(mechanism)
    return {"published": formula(eps, n=n, eps0=eps0, version=VERSIONS[item])} if formula else {}


def main(snakemake):
    """Read the printed values, write their deltas."""
    with job(snakemake):
        write_csv(compute(read_values(snakemake.input.values)), snakemake.output[0])


if __name__ == "__main__":
    main(snakemake)
