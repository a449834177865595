"""The study as one table: all randomizers, at every n, k and guarantee."""

from collections.abc import Iterable

import pandas as pd

from scripts.shared.job import job, write_csv
from scripts.shared.table_files import read_parquet


def gather(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all ``tables`` as one, sorted by n, k, eps and delta_rule, the rule of delta.

    There is a table for each randomizer, from `compute_study.study`. Rows of the same setting keep the order
    of ``tables``.
    """
    order = ["n", "k", "eps", "delta_rule"]
    return pd.concat(tables).sort_values(order, kind="stable", ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(gather(map(read_parquet, snakemake.input)), snakemake.output[0])
