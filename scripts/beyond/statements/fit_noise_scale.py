"""The scales of the Gaussian's noise that fit the printed errors, if these are rounded or cut off."""

from collections.abc import Mapping

import pandas as pd

from scripts.beyond.statements.noise_scale import gaussian_errors, likely_scales
from scripts.shared.job import job, write_csv
from scripts.shared.printed import read_values

COLUMNS = ["digits", "errors", "low", "high"]


def fitting_scales(values: pd.DataFrame, users: Mapping[str, int]) -> pd.DataFrame:
    """The scales of the Gaussian's noise that fit the printed errors: a row for each reading of their digits.

    A scale is a standard deviation in users. The columns are digits ("rounded" or "cut off"), errors (how
    many are printed), and low and high, the ends of a 95 % interval by the likelihood ratio.

    ``values`` and ``users`` are those of `gaussian_errors`. The table has no row if a dataset of the printed
    errors has no users here, or if no scale fits them.
    """
    try:
        errors = gaussian_errors(values, users)
        rounded = likely_scales(errors)
        cut_off = likely_scales(errors, cut_off=True)
    except LookupError:
        return pd.DataFrame(columns=COLUMNS)
    rows = [("rounded", len(errors), *rounded), ("cut off", len(errors), *cut_off)]
    return pd.DataFrame(rows, columns=COLUMNS)


if __name__ == "__main__":
    with job() as snakemake:
        totals = pd.read_csv(snakemake.input.totals)
        uniform = totals[totals["grid"] == "uniform"]
        users = dict(zip(uniform["dataset"], uniform["checkins"].tolist(), strict=True))
        write_csv(fitting_scales(read_values(snakemake.input.values), users), snakemake.output[0])
