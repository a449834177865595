"""A proven bound on delta of the whole histogram beside delta-hat, for eps < eps0.

delta-hat is the delta that the paper gives the Gaussian mechanism (scripts/paper/delta/compute_delta_hat.py).
"""

import pandas as pd

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_table
from tightshuffle.doors import delta

COLUMNS = [*SETTING, "eps", "published", "exact"]  # of the table of delta-hat


def delta_hat_bound(delta_hats: pd.DataFrame) -> pd.DataFrame:
    """Both forms of delta-hat and a proven bound, with a row for every n, eps0 and eps of ``delta_hats``.

    The `COLUMNS` are those of ``delta_hats``, the dataset's table of results/delta. The column upper is log10
    of a proven bound on the delta of the whole histogram of reports, for every dataset of n users and k
    values.
    """
    table = delta_hats[COLUMNS].copy()
    table["upper"] = delta(
        table["eps"].to_numpy(),
        n=table["n"].to_numpy(),
        k=table["k"].to_numpy(),
        eps0=table["eps0"].to_numpy(),
        log10=True,
    )
    return table


if __name__ == "__main__":
    with job() as snakemake:
        delta_hats = read_table(snakemake.input[0], COLUMNS)
        write_csv(delta_hat_bound(delta_hats), snakemake.output[0])
