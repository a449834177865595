"""Say where counted check-ins differ from the bundled counts and from the numbers that the paper prints."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.paper.data.grid import Grid, cell_table
from scripts.paper.data.sub_cells import cut, read_sub_cells
from scripts.shared.job import StrPath, job, write_csv

COLUMNS = ["dataset", "grid", "printed", "bundled", "counted", "cells", "cells_that_differ"]


def compare(
    dataset: str, cells: pd.DataFrame, bundled: tuple[StrPath, StrPath], printed: Mapping[str, int]
) -> pd.DataFrame:
    """One city's check-ins: one row per grid with the columns `COLUMNS`.

    ``cells`` as `all_cells` makes them, with the counts of this run; ``bundled`` the files of
    `read_sub_cells`; ``printed`` the paper's number of check-ins by dataset. What cannot be compared is
    missing: a city of your own has no printed number, and another grid no bundled counts.
    """
    sub_cells, sums = read_sub_cells(*bundled)
    rows = []
    for kind, counted in cells.groupby("grid", sort=False):
        row = {"dataset": dataset, "grid": kind, "printed": printed.get(dataset)}
        row |= {"counted": counted["count"].sum(), "cells": len(counted)}
        rows.append(row)
        try:
            grid, counts = cut(sub_cells, sums, _grid_of(counted))
        except ValueError:  # the bundled counts do not fit these cells
            continue

        there = cell_table(grid, counts)
        edges = ["south", "north", "west", "east"]
        if np.array_equal(there[edges], counted[edges]):
            differing = there["count"].to_numpy() != counted["count"].to_numpy()
            row |= {"bundled": counts.sum(), "cells_that_differ": differing.sum()}
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[2:], "Int64"))


def _grid_of(cells: pd.DataFrame) -> Grid:
    """The grid of a table of all its cells."""
    latitudes = np.unique(cells[["south", "north"]])
    longitudes = np.unique(cells[["west", "east"]])
    return Grid(latitudes, longitudes)


def printed_checkins(values: StrPath) -> dict[str, int]:
    """The numbers of check-ins that the paper prints, by dataset, from data/published/values.csv."""
    table = pd.read_csv(values, dtype=str)
    rows = table[table["quantity"] == "checkins"]
    numbers = rows["printed"].str.replace(",", "").astype(int)
    return dict(zip(rows["dataset"], numbers, strict=True))


if __name__ == "__main__":
    with job() as snakemake:
        files = snakemake.input
        printed = printed_checkins(files.values)
        cities = zip(snakemake.params.datasets, files.cells, files.lines, files.counts, strict=True)
        tables = [
            compare(dataset, pd.read_csv(cells), (lines, counts), printed)
            for dataset, cells, lines, counts in cities
        ]
        write_csv(pd.concat(tables), snakemake.output[0])
