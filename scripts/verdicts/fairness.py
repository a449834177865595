"""What speaks for the paper: where its conclusion holds, and in whose disfavour its comparison is.

In the paper's own settings, at equal privacy, the two errors are close. Its comparison at unequal privacy
handicaps the shuffled reports, its own method.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

from scripts.verdicts.claims_evidence import PAPER
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, log10_delta_of_scale


def own_settings(rows: pd.DataFrame) -> pd.DataFrame:
    """Of ``rows`` with the columns dataset and eps0, those of the paper's own datasets and budgets."""
    points = {(name, float(value)) for name, eps0 in PAPER.items() for value in eps0 or ()}
    own = [point in points for point in zip(rows["dataset"], rows["eps0"], strict=True)]
    return rows[np.array(own, dtype=bool)]


def own_ratios(parity_ratio: pd.DataFrame) -> dict[str, Any]:
    """The ratios of TV errors, shuffle+INV over Gaussian, at equal privacy in the paper's own settings.

    ``parity_ratio``: rows of parity_ratio.csv. Returns how many settings there are (``of``), the ``low`` and
    ``high`` ratio with both estimates projected, the same of the paper's pairing (``paired``, with how often
    shuffling is ``better``), and of the settings that the paper did not run (``elsewhere``; None: none).
    Raises LookupError if there is no such setting.
    """
    upper = parity_ratio[(parity_ratio["metric"] == "tv") & (parity_ratio["bound"] == "upper")]
    projected, paired = (upper[upper["comparison"] == name] for name in ("projected", "the paper's pairing"))
    own, own_paired = own_settings(projected)["ratio"], own_settings(paired)["ratio"]
    if own.empty or own_paired.empty:
        raise LookupError("parity_ratio.csv has none of the paper's own settings")
    elsewhere = projected["ratio"].drop(own.index)
    return {
        "of": len(own),
        **_ends(own),
        "paired": {**_ends(own_paired), "better": int((own_paired < 1).sum())},
        "elsewhere": {"of": len(elsewhere), **_ends(elsewhere)} if len(elsewhere) else None,
    }


def _ends(values: "pd.Series[float]") -> dict[str, float]:
    return {"low": float(values.min()), "high": float(values.max())}


def unequal_privacy(parity_ratio: pd.DataFrame, scale: float, delta: float = 1e-6) -> dict[str, Any]:
    """The eps at ``delta`` of the two mechanisms that Figure 2 compares at eps = eps0 = 4, in our rerun.

    ``scale``: of its Gaussian's noise, in users. Returns ``delta``, ``gaussian`` (its eps for the histogram)
    and ``shuffled``: n and eps (`histogram.upper`) at the smallest and the largest n of ``parity_ratio``,
    rows of parity_ratio.csv. The smaller eps is the one that protects more, and has the larger error.
    Raises LookupError if there is no such setting.
    """
    own = own_settings(parity_ratio[parity_ratio["dataset"] == "synthetic"])
    own = own[(own["bound"] == "upper") & (own["delta"] == delta)].sort_values("n")
    if own.empty:
        raise LookupError(f"parity_ratio.csv has no setting of Figure 2 at delta = {delta:g}")
    ends = [{"n": int(row["n"]), "eps": float(row["eps"])} for _, row in own.iloc[[0, -1]].iterrows()]
    return {"delta": delta, "gaussian": gaussian_eps(scale, delta), "shuffled": ends}


def gaussian_eps(scale: float, delta: float, sensitivity: float = HISTOGRAM_SENSITIVITY) -> float:
    """The eps at which Gaussian noise of this ``scale`` (in users) has ``delta``; the least one, >= 0."""
    wanted = np.log10(delta)

    def excess(eps: float) -> float:
        return float(log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)) - wanted

    if excess(0.0) <= 0:
        return 0.0
    top = 1.0
    while excess(top) > 0:
        top *= 2
    return float(optimize.brentq(excess, 0.0, top, xtol=1e-10))
