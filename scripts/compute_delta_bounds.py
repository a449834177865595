"""delta over eps at a few settings: the count of x0 (published and exact), the whole release, every bound."""

import numpy as np
import pandas as pd

from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy import amplification, blanket, clones, composition, count, histogram, renyi

BOUNDS = {  # of the whole release: valid for every dataset, but for lower
    "lower": histogram.lower,
    "upper": histogram.upper,
    "balle_bennett": amplification.balle_bennett,
    "stronger_clones": clones.stronger_clones,
    "clones": clones.clones,
    "koskela_strong": composition.koskela_strong,
    "blanket": blanket.blanket,
    "girgis": renyi.girgis,
}


def bounds(plan):
    """A row per setting and eps: the setting (numbered from 1), then log10 delta by every accountant."""
    tables = []
    for number, setting in enumerate(plan["settings"], start=1):
        budget = setting["eps"]
        if not budget["start"] < budget["stop"] < setting["eps0"]:
            raise ValueError(
                f"delta_bounds.settings, number {number}: eps.start < eps.stop < eps0 is needed, as delta is"
                f" 0 from eps0 on; got {budget['start']}, {budget['stop']} and {setting['eps0']}"
            )
        eps = np.geomspace(budget["start"], budget["stop"], plan["steps"])
        given = {name: setting[name] for name in ("n", "k", "eps0")}
        counted = {"count": setting["count"], **given}
        table = pd.DataFrame({"setting": number, **counted, "eps": eps})
        table["published"] = count.delta(eps, form="published", **counted)
        table["exact"] = count.delta(eps, direction="both", **counted)
        tables.append(table.assign(**{name: bound(eps, **given) for name, bound in BOUNDS.items()}))
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job(snakemake):
        write_csv(bounds(snakemake.params.plan), snakemake.output[0])
