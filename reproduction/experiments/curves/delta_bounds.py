"""delta over eps in a few settings: the count of x0, the whole histogram, every bound of the literature."""

import pandas as pd

from reproduction.experiments.curves.axes import Section, log_axis
from reproduction.protocol.theorem_1 import published_delta
from tightshuffle.bounds import composition, histogram
from tightshuffle.literature import amplification, blanket, clones, count, renyi

BOUNDS = {  # of the whole histogram; all but `lower` hold for every dataset
    "lower": histogram.lower,
    "upper": histogram.upper,
    "balle_bennett": amplification.balle_bennett,
    "stronger_clones": clones.stronger_clones,
    "clones": clones.clones,
    "koskela_strong": composition.koskela_strong,
    "blanket": blanket.blanket,
    "girgis": renyi.girgis,
}


def delta_bounds(settings: Section) -> pd.DataFrame:
    """log10 delta by every accountant, one row per setting (numbered from 1) and eps.

    ``settings``: the config's ``delta_bounds``. ValueError names the setting whose eps do not rise or
    reach eps0.
    """
    tables = []
    for number, setting in enumerate(settings["settings"], start=1):
        start, stop, eps0 = setting["eps"]["start"], setting["eps"]["stop"], setting["eps0"]
        if not start < stop < eps0:
            raise ValueError(
                f"delta_bounds.settings, number {number}: eps.start < eps.stop < eps0 must hold, since delta"
                f" is 0 from eps0 on; got {start}, {stop} and {eps0}"
            )
        eps = log_axis(setting["eps"] | {"steps": settings["steps"]})
        whole = {name: setting[name] for name in ("n", "k", "eps0")}
        counted = {"count": setting["count"], **whole}
        table = pd.DataFrame({"setting": number, **counted, "eps": eps})
        table["published"] = published_delta(eps, **counted)
        table["exact"] = count.delta(eps, direction="both", **counted)
        tables.append(table.assign(**{name: bound(eps, **whole) for name, bound in BOUNDS.items()}))
    return pd.concat(tables, ignore_index=True)
