"""delta over eps in a few settings: the count of x0, the whole histogram, every bound of the literature."""

import pandas as pd

from reproduction.experiments.curves.axes import Section, log_axis
from reproduction.protocol.printed_formulas import theorem_1_as_printed
from tightshuffle import methods
from tightshuffle.literature import count

NAMES = (  # of the whole histogram; all but `lower` hold for every dataset
    *("lower", "upper", "balle-bennett", "clones", "stronger-clones", "koskela-strong", "girgis", "blanket"),
)
METHODS = {methods.METHODS[name].column: methods.METHODS[name] for name in NAMES}


def delta_bounds(settings: Section) -> pd.DataFrame:
    """log10 delta by every bound, one row per setting (numbered from 1) and eps.

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
        table["published"] = theorem_1_as_printed(eps, **counted)
        table["exact"] = count.delta(eps, direction="both", **counted)
        tables.append(
            table.assign(**{name: method.function(eps, **whole) for name, method in METHODS.items()})
        )
    return pd.concat(tables, ignore_index=True)
