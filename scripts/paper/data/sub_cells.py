"""The bundled counts: a city's check-ins counted in small sub-cells, from which coarser grids are cut.

Sub-cells lie between lines: each cell of the uniform grid is cut `FINENESS` times in both directions, and
every edge of the stepped grid is a line too. So the counts of both grids are sums of sub-cells.
"""

import zlib
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.paper.data.grid import Box, Grid, cell_table, count_points, point_table, spread
from scripts.shared.job import StrPath
from scripts.shared.table_files import read_table
from tightshuffle.arguments import Floats, Integers

FINENESS = 16
LINES = ["direction", "number", "degrees"]
COUNTS = ["row", "column", "count"]
SAME = 1e-9  # degrees, a tenth of a millimetre: closer lines are one line
DIRECTIONS = ("latitude", "longitude")
NEAR = 0.05  # of a cell: how far an edge may move to the nearest line


def sub_grid(grids: Mapping[str, Grid]) -> Grid:
    """The lines around the sub-cells of a city with these grids, the uniform one first."""
    uniform, *others = grids.values()
    return Grid(
        _lines(uniform.latitudes, *(grid.latitudes for grid in others)),
        _lines(uniform.longitudes, *(grid.longitudes for grid in others)),
    )


def _lines(edges: Floats, *others: Floats) -> Floats:
    """Rising lines: ``edges``, ``others``, and further lines that cut each cell between edges evenly."""
    between = [np.linspace(low, high, FINENESS + 1)[1:-1] for low, high in pairwise(edges)]
    kept = edges
    for more in (*others, np.concatenate(between)):
        new = np.abs(more[:, None] - kept).min(axis=1) > SAME
        kept = np.concatenate([kept, more[new]])
    return np.sort(kept)


def count_in_sub_cells(
    points: pd.DataFrame, grids: Mapping[str, Grid]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables that the project bundles for a city, from its ``points`` (latitude and longitude).

    Returns (lines, counts): the degrees of all lines (columns `LINES`), numbered from 0 in the south and the
    west; and the sub-cells that are not empty (columns `COUNTS`), by the lines south and west of them.
    """
    grid = sub_grid(grids)
    lines = [
        pd.DataFrame({"direction": name, "number": range(len(degrees)), "degrees": degrees})
        for name, degrees in zip(DIRECTIONS, (grid.latitudes, grid.longitudes), strict=True)
    ]
    counts = count_points(grid, points["latitude"], points["longitude"])
    row, column = np.nonzero(counts)
    return pd.concat(lines)[LINES], pd.DataFrame(
        {"row": row, "column": column, "count": counts[row, column]}
    )


def read_sub_cells(lines: StrPath, counts: StrPath) -> tuple[Grid, Integers]:
    """The sub-cells of both files, as `count_in_sub_cells` makes them, and their counts (rows, columns).

    Raises ValueError naming the file and what is wrong with it.
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
    dense = np.zeros((grid.rows, grid.columns), dtype=np.int64)
    dense[sparse["row"], sparse["column"]] = sparse["count"]
    return grid, dense


def cut(sub_cells: Grid, counts: npt.ArrayLike, grid: Grid) -> tuple[Grid, Integers]:
    """A coarser grid and its counts (rows, columns), as exact sums of sub-cells.

    An edge of ``grid`` that is no line of ``sub_cells`` moves to the nearest one; the grid that is returned
    has the edges that were counted. ValueError where one would have to move by more than `NEAR` of a cell.
    """
    rows, latitudes = _nearest("latitude", sub_cells.latitudes, grid.latitudes)
    columns, longitudes = _nearest("longitude", sub_cells.longitudes, grid.longitudes)
    south_west = np.pad(np.cumsum(np.cumsum(counts, axis=0), axis=1), ((1, 0), (1, 0)))
    sums = np.diff(np.diff(south_west[np.ix_(rows, columns)], axis=0), axis=1)
    return Grid(latitudes, longitudes), sums


def _nearest(direction: str, lines: Floats, edges: Floats) -> tuple[Integers, Floats]:
    """Numbers of the lines nearest to ``edges``, and their degrees: the edge itself where it is a line."""
    numbers = np.abs(lines[:, None] - edges).argmin(axis=0)
    moves = np.abs(lines[numbers] - edges)
    share = moves.max() / np.diff(edges).min()
    if share > NEAR:
        raise ValueError(
            f"the bundled counts do not fit these cells: an edge in {direction} is {share:.2g} of a cell"
            f" from the nearest line, more than {NEAR:g}: take larger cells between {lines[0]:.7g} and"
            f" {lines[-1]:.7g} degrees, or set gowalla.source to snap or file"
        )
    return numbers, np.where(moves > SAME, lines[numbers], edges)


def read_bundled(
    lines: StrPath, counts: StrPath, grids: Mapping[str, Grid], *, name: str, seed: int
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """A city's cells in each of its grids, and one point per check-in, spread inside the sub-cells.

    Parameters: the files of `read_sub_cells`; ``name`` of the city and the root ``seed``, on which the points
    depend. Returns (kind of grid -> `cell_table`, `point_table`). Raises ValueError like `read_sub_cells`;
    and like `cut`, with the city and the kind of grid.
    """
    sub_cells, sums = read_sub_cells(lines, counts)
    tables = {}
    for kind, grid in grids.items():
        try:
            tables[kind] = cell_table(*cut(sub_cells, sums, grid))
        except ValueError as error:
            raise ValueError(f"datasets.{name}.{kind}: {error}") from None
    cells = tables["uniform"]
    box = Box(cells["south"].min(), cells["north"].max(), cells["west"].min(), cells["east"].max())
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    latitude, longitude = spread(sub_cells, sums, rng)
    inside = box.contains(latitude, longitude)
    return tables, point_table(latitude[inside], longitude[inside], spread=True)
