"""Say where counted check-ins differ from the bundled counts and from the numbers that the paper prints."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from scripts.paper.data.grid import Grid, cell_table
from scripts.paper.data.sub_cells import read_sub_cells, sum_sub_cells
from scripts.shared.job import StrPath, job, write_csv

COLUMNS = ["dataset", "grid", "printed", "bundled", "counted", "cells", "cells_that_differ"]


def compare(
    dataset: str, cells: pd.DataFrame, bundled: tuple[StrPath, StrPath], printed: Mapping[str, int]
) -> pd.DataFrame:
    """How many check-ins a city has by the paper, by the bundled counts and by this run: a row per grid.

    The columns are dataset, grid (its kind, "uniform" or "stepped"), and

    - printed, the number that the paper prints for the dataset;
    - bundled, the number by the counts that the project bundles, on the same grid;
    - counted, the number that this run has counted;
    - cells, how many cells the grid has;
    - cells_that_differ, how many of them have another count in this run than in the bundled counts.

    A number is missing (NA) where there is nothing to compare: the paper prints none for a city of your own,
    and the bundled counts do not fit every grid.

    Parameters
    ----------
    dataset: the city's name in the configuration
    cells: what this run has counted, a row for each cell of each grid. The columns that are used are grid,
        count, south, north, west and east (the cell's edges in degrees)
    bundled: paths of the city's two bundled files: the lines around small sub-cells, and their counts
    printed: dataset -> the paper's number of check-ins
    """
    lines, counts = bundled
    sub_cells, sub_counts = read_sub_cells(lines, counts)
    rows = []
    for kind, counted in cells.groupby("grid", sort=False):
        row = {"dataset": dataset, "grid": kind, "printed": printed.get(dataset)}
        row |= {"counted": counted["count"].sum(), "cells": len(counted)}
        rows.append(row)
        # The bundled count of a cell is the sum over its sub-cells. A grid whose edges are too far from the
        # lines between sub-cells has no such counts: bundled and cells_that_differ are missing.
        try:
            grid, counts_of_cells = sum_sub_cells(sub_cells, sub_counts, _grid_of(counted))
        except ValueError:
            continue

        # An edge may have moved a little, to the nearest line. Then the cells are not the same, and are not
        # compared.
        from_bundle = cell_table(grid, counts_of_cells)
        edges = ["south", "north", "west", "east"]
        if np.array_equal(from_bundle[edges], counted[edges]):
            differing = from_bundle["count"].to_numpy() != counted["count"].to_numpy()
            row |= {"bundled": counts_of_cells.sum(), "cells_that_differ": differing.sum()}
    # Int64 is pandas' type for whole numbers of which some are missing.
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[2:], "Int64"))


def _grid_of(cells: pd.DataFrame) -> Grid:
    """The grid whose cells are the rows of ``cells``, from their edges in degrees."""
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
