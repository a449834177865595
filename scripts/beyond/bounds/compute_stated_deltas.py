"""log10 of the deltas that texts state and no other table has: by a few readings and bounds, at a few eps."""

import inspect
from typing import Any

import numpy as np
import pandas as pd

from scripts.shared.job import job, write_csv
from tightshuffle.literature import count
from tightshuffle.methods import delta
from tightshuffle.numerics.positive_part import log_positive_part

SETTINGS: dict[str, dict[str, Any]] = {
    "Table IV": {"n": 100, "k": 10, "eps0": 2.0},  # its default setting
    "Table 1": {"n": 100, "k": 10, "eps0": 0.5},  # it does not state k
    "example": {"n": 1000, "k": 15, "eps0": 4.0},
}
COLUMNS = ["setting", "n", "k", "eps0", "eps", "delta", "log10_delta", "bracket"]


def stated_deltas() -> pd.DataFrame:
    """log10 of deltas in three settings: a row for each setting, eps and delta. The columns are

    - setting, its name in `SETTINGS`, and n, k, eps0 and eps;
    - delta, which one it is:

      - "worst count": the largest of a single value's count, over every number of other users who hold the
        value, and over both directions;
      - "no holder: x0 against x1" and "no holder: x1 against x0": of the count of x0 if no other user holds
        x0, in either direction;
      - "lower" and "upper": our bounds on delta of all counts, in the worst dataset;
      - "stronger-clones": the bound of Feldman et al., 2023, summed;

    - log10_delta;
    - bracket, of our bounds: the default relative width of the bracket to which the sum in them is computed.
    """
    rows = []
    for eps in (0.1, 0.5, 1.0):
        rows.append(_row("Table IV", eps, "worst count", _log10_delta_of_worst_count(eps)))
    for direction, name in (("forward", "x0 against x1"), ("reverse", "x1 against x0")):
        # `count.delta` returns log10 delta.
        of_count = count.delta(0.5, **SETTINGS["Table IV"], count=0, direction=direction)
        rows.append(_row("Table IV", 0.5, f"no holder: {name}", of_count))

    rows.append(_row_of_bound("Table 1", 0.1, "lower"))
    rows.append(_row_of_bound("Table 1", 0.1, "stronger-clones"))
    for eps in (1.0, 2.0):
        rows.append(_row_of_bound("example", eps, "lower"))
        rows.append(_row_of_bound("example", eps, "upper"))

    table = pd.DataFrame(rows)
    width = inspect.signature(log_positive_part).parameters["width"].default
    table["bracket"] = np.where(table["delta"].isin(["lower", "upper"]), width, np.nan)
    return table[COLUMNS]


def _log10_delta_of_worst_count(eps: float) -> float:
    """log10 of the largest delta of a count at eps, in Table IV's default setting."""
    setting = SETTINGS["Table IV"]
    every_number = np.arange(setting["n"])  # of other users who hold the value: 0 to n - 1
    return float(count.delta(eps, **setting, count=every_number, direction="both").max())


def _row_of_bound(setting: str, eps: float, method: str) -> dict[str, Any]:
    """The row of a bound on delta of all counts, which has the name of its method."""
    bound = delta(eps, method=method, log10=True, **SETTINGS[setting])
    return _row(setting, eps, method, bound)


def _row(setting: str, eps: float, name: str, log10_delta: Any) -> dict[str, Any]:
    """A row of `stated_deltas` without the column bracket. ``name`` says which delta it is."""
    names = {"setting": setting, "eps": eps, "delta": name, "log10_delta": float(log10_delta)}
    return names | SETTINGS[setting]


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(stated_deltas(), snakemake.output[0])
