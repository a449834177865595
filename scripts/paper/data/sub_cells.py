"""The bundled counts: a city's check-ins counted in small sub-cells, from which coarser grids are cut.

Sub-cells lie between lines: each cell of the uniform grid is cut `FINENESS` times in both directions, and
every edge of the stepped grid is a line too. So the counts of both grids are sums of sub-cells.
"""

import zlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.paper.data.grid import (
    Box,
    Grid,
    cell_table,
    count_points,
    equal_parts,
    point_table,
    random_places,
)
from scripts.shared.job import StrPath
from scripts.shared.table_files import read_table
from tightshuffle.arguments import Floats, Integers

FINENESS = 16  # parts of a uniform cell in each direction
LINES = ["direction", "number", "degrees"]  # of the bundled file with a city's lines
COUNTS = ["row", "column", "count"]  # of the bundled file with the sub-cells that are not empty
SAME_LINE = 1e-9  # degrees, a tenth of a millimetre: closer lines are one line
DIRECTIONS = ("latitude", "longitude")
LARGEST_MOVE = 0.05  # how far an edge may move to the nearest line, as a share of the smallest cell


def sub_grid(grids: Mapping[str, Grid]) -> Grid:
    """The sub-cells of a city, as a grid. ``grids`` are the city's grids by kind, the uniform one first."""
    uniform, *others = grids.values()
    return Grid(
        _lines(uniform.latitudes, *(grid.latitudes for grid in others)),
        _lines(uniform.longitudes, *(grid.longitudes for grid in others)),
    )


def _lines(edges: Floats, *others: Floats) -> Floats:
    """All lines of one direction in degrees, rising.

    They are ``edges`` (those of the uniform grid), ``others`` (those of other grids), and lines that cut each
    uniform cell into `FINENESS` equal parts. A line within `SAME_LINE` degrees of an earlier one is left out.
    """
    cells = len(edges) - 1
    kept = edges
    for more in (*others, equal_parts(edges[0], edges[-1], FINENESS * cells)):
        new = np.abs(more[:, None] - kept).min(axis=1) > SAME_LINE
        kept = np.concatenate([kept, more[new]])
    return np.sort(kept)


def count_in_sub_cells(
    points: pd.DataFrame, grids: Mapping[str, Grid]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables that the project bundles for a city: the lines around its sub-cells, and their counts.

    Sub-cells are small cells, from whose counts those of every grid of the city are sums. The first table has
    a row per line, with the columns direction ("latitude" or "longitude"), number (from 0 in the south or the
    west) and degrees. The second table has a row per sub-cell that is not empty, with the columns row and
    column (the numbers of the lines south and west of it) and count (of check-ins).

    ``points``: a row per check-in, with the columns latitude and longitude in degrees. ``grids``: the city's
    grids by kind, the uniform one first.
    """
    grid = sub_grid(grids)
    lines = [
        pd.DataFrame({"direction": name, "number": range(len(degrees)), "degrees": degrees})
        for name, degrees in zip(DIRECTIONS, (grid.latitudes, grid.longitudes), strict=True)
    ]
    counts = count_points(grid, points["latitude"], points["longitude"])  # (rows, columns)
    row, column = np.nonzero(counts)
    return pd.concat(lines)[LINES], pd.DataFrame(
        {"row": row, "column": column, "count": counts[row, column]}
    )


def read_sub_cells(lines: StrPath, counts: StrPath) -> tuple[Grid, Integers]:
    """The sub-cells of a city as a grid, and their numbers of check-ins, shape (rows, columns).

    ``lines`` and ``counts`` are the paths of the two bundled files, one for each table that
    `count_in_sub_cells` makes: the lines around the sub-cells by direction, number and degrees, and the
    sub-cells that are not empty by row, column and count. Raises ValueError that names the file, and what is
    wrong with it.
    """
    table = read_table(lines, LINES)
    grid = Grid(
        *(table.loc[table["direction"] == name, "degrees"].to_numpy() for name in DIRECTIONS)
    )
    for edges in (grid.latitudes, grid.longitudes):
        if len(edges) < 2 or not (np.diff(edges) > 0).all():
            raise ValueError(
                f"{lines}: the degrees of both directions must rise, at least 2 lines each"
            )

    sparse = read_table(counts, COUNTS)
    inside = sparse["row"].between(0, grid.rows - 1) & sparse["column"].between(0, grid.columns - 1)
    whole_numbers = all(pd.api.types.is_integer_dtype(sparse[name]) for name in COUNTS)
    positive = (sparse["count"] > 0).all()
    repeated = sparse.duplicated(["row", "column"]).any()
    if not whole_numbers or not positive or not inside.all() or repeated:
        raise ValueError(
            f"{counts}: each of the {grid.rows} x {grid.columns} sub-cells may occur once,"
            " with a whole number above 0"
        )

    # A sub-cell without a row is empty.
    dense = np.zeros((grid.rows, grid.columns), dtype=np.int64)
    dense[sparse["row"], sparse["column"]] = sparse["count"]
    return grid, dense


def sum_sub_cells(sub_cells: Grid, counts: npt.ArrayLike, grid: Grid) -> tuple[Grid, Integers]:
    """(grid, counts): a coarser grid, and its counts, each of which is the exact sum over its sub-cells.

    An edge of ``grid`` that is no line of ``sub_cells`` moves to the nearest line. So the returned grid has
    the edges that were counted. ``counts`` are those of the sub-cells. They and the returned counts have the
    shape (rows, columns) of their grids. Raises ValueError where an edge would have to move by more than the
    share `LARGEST_MOVE` of the smallest cell.
    """
    rows, latitudes = _nearest_lines("latitude", sub_cells.latitudes, grid.latitudes)
    columns, longitudes = _nearest_lines("longitude", sub_cells.longitudes, grid.longitudes)
    # south_west[r, c] is the sum of all sub-cells south of line r and west of line c. Its differences in both
    # directions are the sums inside of the cells.
    south_west = np.pad(np.cumsum(np.cumsum(counts, axis=0), axis=1), ((1, 0), (1, 0)))
    sums = np.diff(np.diff(south_west[np.ix_(rows, columns)], axis=0), axis=1)
    return Grid(latitudes, longitudes), sums


def _nearest_lines(direction: str, lines: Floats, edges: Floats) -> tuple[Integers, Floats]:
    """For each edge the number of the line nearest to it, from 0, and the degrees of this line.

    ``lines`` (m,) and ``edges`` (e,) are rising, in degrees, and both results have shape (e,). A line within
    `SAME_LINE`, 1e-9 degrees, of its edge is the same line, and has the degrees of the edge.

    Raises ValueError if an edge is farther from its line than the share `LARGEST_MOVE`, 0.05, of the smallest
    cell. ``direction``, latitude or longitude, is for this message.
    """
    numbers = np.abs(lines[:, None] - edges).argmin(axis=0)
    moves = np.abs(lines[numbers] - edges)
    share = moves.max() / np.diff(edges).min()  # the largest move over the smallest cell
    if share > LARGEST_MOVE:
        raise ValueError(
            f"the bundled counts do not fit these cells: an edge in {direction} is {share:.2g} of a cell"
            f" from the nearest line, more than {LARGEST_MOVE:g}: take larger cells between"
            f" {lines[0]:.7g} and {lines[-1]:.7g} degrees, or set gowalla.source to snap or file"
        )
    return numbers, np.where(moves > SAME_LINE, lines[numbers], edges)


def read_bundled(
    lines: StrPath, counts: StrPath, grids: Mapping[str, Grid], *, name: str, seed: int
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """A city's tables from the bundled counts: one of cells for each kind of grid, and one of points.

    A table of cells has a row per cell, with its number, count, row, column and edges in degrees. The table
    of points has a row per check-in, with a random place inside the sub-cell where it was counted: the
    columns latitude, longitude and spread (True, as these are not the true places).

    Parameters
    ----------
    lines: path of the bundled file with the lines around the city's sub-cells
    counts: path of the bundled file with the check-ins in each sub-cell
    grids: the city's grids by kind, among them "uniform", which covers the city's whole box
    name: the city's name in the configuration, on which the random places depend
    seed: the root seed, on which the random places depend too

    Raises
    ------
    ValueError: a file is wrong, or a grid cannot be cut from the sub-cells
    """
    sub_cells, sub_counts = read_sub_cells(lines, counts)
    tables = {}
    for kind, grid in grids.items():
        try:
            tables[kind] = cell_table(*sum_sub_cells(sub_cells, sub_counts, grid))
        except ValueError as error:
            raise ValueError(f"datasets.{name}.{kind}: {error}") from None

    # The sub-cells may reach beyond the city's box.
    cells = tables["uniform"]
    box = Box(cells["south"].min(), cells["north"].max(), cells["west"].min(), cells["east"].max())
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    latitude, longitude = random_places(sub_cells, sub_counts, rng)
    inside = box.contains(latitude, longitude)
    return tables, point_table(latitude[inside], longitude[inside], spread=True)
