"""The delta below which diffprivlib's scale for the analytic Gaussian mechanism stops growing."""

from dataclasses import dataclass

import pandas as pd

SATURATED = 0.01  # a scale that is this share below the exact one has saturated


@dataclass(frozen=True)
class Saturation:
    """The published scale at one eps; scales are for sensitivity 1, deltas are log10."""

    eps: float
    stays: float  # the published scale at the smallest delta of the table
    gives: float  # the true log10 delta of that scale
    asked: float  # the smallest log10 delta of the table
    needed: float  # the exact scale for that smallest delta
    short_from: float  # largest log10 delta at which the published scale is too small by `SATURATED`, or nan


def saturation(scales: pd.DataFrame) -> list[Saturation]:
    """One `Saturation` per eps; ``scales`` are the rows of results/privacy/gaussian_scale.csv."""
    saturations = []
    for _, curve in scales.groupby("eps"):
        curve = curve.sort_values("log10_delta", ascending=False)
        short = curve["published"] < (1 - SATURATED) * curve["exact"]
        short_to_the_end = short[::-1].cummin()[::-1]
        last = curve.iloc[-1]
        saturations.append(
            Saturation(
                eps=float(last["eps"]),
                stays=float(last["published"]),
                gives=float(last["published_log10_delta"]),
                asked=float(last["log10_delta"]),
                needed=float(last["exact"]),
                short_from=float(curve["log10_delta"][short & short_to_the_end].max()),
            )
        )
    return saturations
