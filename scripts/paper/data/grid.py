"""Cells of a box of latitudes and longitudes, and the number of check-ins in each.

Cells are numbered from 1, row by row from the south-west corner (row 0 is the southernmost, column 0 the
westernmost). A point on an edge between two cells belongs to the northern or eastern one; the outer edges
of the grid belong to its first and last cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tightshuffle.arguments import Booleans, Floats, Integers

DECIMALS = 7  # of edges in files: about a centimetre
COLUMNS = ["cell", "count", "row", "column", "south", "north", "west", "east"]


@dataclass(frozen=True)
class Box:
    """A closed box in degrees, as the configuration checks it."""

    south: float
    north: float
    west: float
    east: float

    def contains(self, latitude: Floats, longitude: Floats) -> Booleans:
        """Which of the points lie in the box, its edges included."""
        between = (self.south <= latitude) & (latitude <= self.north)
        return between & (self.west <= longitude) & (longitude <= self.east)


@dataclass(frozen=True)
class Grid:
    """Cells between ``latitudes`` (rows + 1 rising edges, degrees) and ``longitudes`` (columns + 1)."""

    latitudes: Floats
    longitudes: Floats

    @property
    def rows(self) -> int:
        """How many rows of cells there are."""
        return len(self.latitudes) - 1

    @property
    def columns(self) -> int:
        """How many columns of cells there are."""
        return len(self.longitudes) - 1


def uniform_grid(box: Box, columns: int, rows: int) -> Grid:
    """The uniform grid: ``columns`` x ``rows`` equal cells over the whole box."""
    return Grid(equal_parts(box.south, box.north, rows), equal_parts(box.west, box.east, columns))


def equal_parts(low: float, high: float, parts: int) -> Floats:
    """The edges of equal ``parts`` from ``low`` to ``high``, in degrees; (parts + 1,), both ends as given."""
    edges = _as_meant(np.linspace(low, high, parts + 1))
    edges[[0, -1]] = low, high
    return edges


def stepped_grid(box: Box, latitude_step: float, longitude_step: float) -> Grid:
    """The grid whose edges are ``np.arange(low, high, step)`` in both directions, steps in degrees.

    This grid gives the paper's number of check-ins for Paris, 10,260: arange leaves out its end, so check-ins
    north or east of the last full step are lost.
    """
    latitudes = np.arange(box.south, box.north, latitude_step)
    longitudes = np.arange(box.west, box.east, longitude_step)
    return Grid(_as_meant(latitudes), _as_meant(longitudes))


def _as_meant(edges: Floats) -> Floats:
    """Edges in the decimals that are meant: computed ones are wrong by up to 1e-13 degrees.

    This error would move a check-in exactly on an edge (21 in San Francisco) to another cell.
    """
    return np.round(edges, 10)


def grids_of(
    box: Mapping[str, float], uniform: Mapping[str, int], stepped: Mapping[str, float] | None = None
) -> dict[str, Grid]:
    """A city's grids by kind: "uniform", and "stepped" if the configuration has one for the city.

    ``box`` has the edges south, north, west and east, in degrees. ``uniform`` has the numbers columns and
    rows. ``stepped`` has latitude_step and longitude_step, in degrees.
    """
    grids = {"uniform": uniform_grid(Box(**box), **uniform)}
    if stepped:
        grids["stepped"] = stepped_grid(Box(**box), **stepped)
    return grids


def count_points(grid: Grid, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> Integers:
    """Number of points in each cell, shape (rows, columns). Points outside of the grid are not counted."""
    edges = [grid.latitudes, grid.longitudes]
    counts, _, _ = np.histogram2d(np.asarray(latitude), np.asarray(longitude), bins=edges)
    return np.asarray(counts, dtype=np.int64)


def cell_table(grid: Grid, counts: npt.ArrayLike) -> pd.DataFrame:
    """A table with a row per cell of the grid, row by row from the south-west corner.

    The columns are cell (its number, from 1), count, row and column (from 0), and south, north, west and east
    (its edges in degrees, rounded to 7 decimals).

    ``counts``: whole numbers of shape (rows, columns), or flat in the order of the cells.
    """
    counts = np.asarray(counts).reshape(grid.rows, grid.columns)
    row, column = (index.ravel() for index in np.indices(counts.shape))
    latitudes, longitudes = grid.latitudes.round(DECIMALS), grid.longitudes.round(DECIMALS)
    edges = latitudes[row], latitudes[row + 1], longitudes[column], longitudes[column + 1]
    columns = np.arange(1, counts.size + 1), counts.ravel(), row, column, *edges
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def count_in_cells(points: pd.DataFrame, grids: Mapping[str, Grid]) -> dict[str, pd.DataFrame]:
    """For each kind of grid a table of its cells, in which the ``points`` are counted (`cell_table`).

    ``points`` has the columns latitude and longitude, in degrees. ``grids`` are a city's grids by kind.
    """
    return {
        kind: cell_table(grid, count_points(grid, points["latitude"], points["longitude"]))
        for kind, grid in grids.items()
    }


def all_cells(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The cells of every kind of grid below each other, with their kind in a first column, grid.

    ``tables``: kind of grid -> its `cell_table`.
    """
    return pd.concat([cells.assign(grid=kind) for kind, cells in tables.items()])[
        ["grid", *COLUMNS]
    ]


def random_places(
    grid: Grid, counts: npt.ArrayLike, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """A random place for each of the counted points: (latitudes, longitudes) in degrees, one per point.

    Places are uniform inside the cell where a point was counted. They are for a map where only ``counts``,
    shape (rows, columns), are known. Counting them again gives ``counts``.
    """
    counts = np.asarray(counts).reshape(grid.rows, grid.columns)
    # A cell's row and column, as many times as it has points.
    row, column = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    latitude = rng.uniform(grid.latitudes[row], grid.latitudes[row + 1])
    longitude = rng.uniform(grid.longitudes[column], grid.longitudes[column + 1])
    return latitude, longitude


def point_table(latitude: Floats, longitude: Floats, *, spread: bool = False) -> pd.DataFrame:
    """A row per point, with the columns latitude and longitude, in degrees, and spread.

    ``spread`` says that these are not the places of the check-ins, but random ones inside their cells.
    """
    return pd.DataFrame({"latitude": latitude, "longitude": longitude, "spread": spread})
