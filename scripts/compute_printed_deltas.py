"""log10 delta for every printed delta: by the formula that gives the printed digits, and what is true.

For the paper's own column the latter is the tight delta of the same count; for a column of the literature
it is what the cited paper really guarantees, for the k of the paper's own column beside it.
"""

import math
import warnings

import pandas as pd

from tightshuffle.arguments import OutsideRange
from tightshuffle.judgement.printed import read_values
from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy import amplification, as_printed, clones, composition, count

COLUMNS = ["item", "quantity", "mechanism", "n", "k", "eps0", "eps", "count"]
VERSIONS = {"Table II": "long", "Table 1": "short"}
OWN = "this paper"
PRINTED = {"balle": as_printed.balle_as_printed, "feldman": as_printed.feldman_as_printed}
CITED = {
    "erlingsson": amplification.erlingsson,
    "balle": amplification.balle_bennett,
    "feldman": clones.clones,  # the cited paper's numerical bound; its closed form is weaker
    "koskela": composition.koskela_weak,
}


def compute(rows):
    """The rows of quantity delta as a data frame: `COLUMNS`, then published and exact (log10; NaN = none)."""
    frame = pd.DataFrame([row for row in rows if row["quantity"] == "delta"])
    own = frame[frame["mechanism"] == OWN].groupby("item")["k"].first()  # literature rows leave k open
    for reading in count.FORMS:
        frame[reading] = math.nan
    for (mechanism, item), group in frame.groupby(["mechanism", "item"]):
        for reading, values in deltas(mechanism, item, group, own[item]).items():
            frame.loc[group.index, reading] = values
    return frame[[*COLUMNS, "published", "exact"]]


def deltas(mechanism, item, group, cells):
    """Reading -> log10 deltas of rows of one mechanism and table; no "published" without a formula.

    ``cells`` is the k at which a cited bound is taken. NaN where a theorem does not apply.
    """
    eps, eps0 = group["eps"].astype(float).to_numpy(), group["eps0"].astype(float).to_numpy()
    n = group["n"].astype(int).to_numpy()
    if mechanism == OWN:
        k, holders = group["k"].astype(int).to_numpy(), group["count"].astype(int).to_numpy()
        given = {"n": n, "k": k, "eps0": eps0, "count": holders, "direction": "forward"}
        return {form: count.delta(eps, form=form, **given) for form in count.FORMS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        found = {"exact": CITED[mechanism](eps, n=n, k=int(cells), eps0=eps0)}
    if mechanism == "erlingsson":
        found["published"] = as_printed.erlingsson_as_printed(eps, n=n, eps0=eps0)
    elif mechanism in PRINTED:
        found["published"] = PRINTED[mechanism](eps, n=n, eps0=eps0, version=VERSIONS[item])
    return found


def main(snakemake):
    """Read the printed values, write their deltas."""
    with job(snakemake):
        write_csv(compute(read_values(snakemake.input.values)), snakemake.output[0])


if __name__ == "__main__":
    main(snakemake)
