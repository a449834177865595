"""Count the check-ins of each city and grid, and the cells that they fill."""

from collections.abc import Mapping

import pandas as pd

from scripts.shared.job import job, write_csv

COLUMNS = ["dataset", "grid", "columns", "rows", "non_empty", "largest", "checkins"]


def totals(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The size of each grid of each dataset, and its check-ins: one row per dataset and kind of grid.

    The columns are dataset, grid (its kind), columns and rows (of cells), non_empty (cells that hold a
    check-in), largest (the count of the fullest cell), and checkins (in all cells).

    ``tables``: dataset -> a row for every cell of each of its grids, with the columns grid, row and column
    (from 0), and count.
    """
    rows = []
    for dataset, table in tables.items():
        for kind, cells in table.groupby("grid", sort=False):
            columns = cells["column"].max() + 1
            grid_rows = cells["row"].max() + 1
            count = cells["count"]
            rows.append(
                [dataset, kind, columns, grid_rows, (count > 0).sum(), count.max(), count.sum()]
            )
    return pd.DataFrame(rows, columns=COLUMNS)


if __name__ == "__main__":
    with job() as snakemake:
        cities = zip(snakemake.params.datasets, snakemake.input.cells, strict=True)
        write_csv(
            totals({dataset: pd.read_csv(path) for dataset, path in cities}), snakemake.output[0]
        )
