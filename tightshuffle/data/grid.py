"""Cells over a box of latitudes and longitudes, and how many check-ins fall into each.

Cells are numbered from 1, row by row from the south-west corner (row 0 is the southernmost, column 0 the
westernmost). A point on an edge between two cells belongs to the northern or eastern one; the outer edges
of the grid belong to its first and last cells.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

KINDS = ("published", "stepped")
DECIMALS = 7  # of edges in files: about a centimetre
COLUMNS = ["cell", "count", "row", "column", "south", "north", "west", "east"]


@dataclass(frozen=True)
class Box:
    """A closed box in degrees. ValueError when an edge is out of range or two are in the wrong order."""

    south: float
    north: float
    west: float
    east: float

    def __post_init__(self):
        if not -90 <= self.south < self.north <= 90:
            raise ValueError(f"box: south {self.south} must lie below north {self.north}, both in [-90, 90]")
        if not -180 <= self.west < self.east <= 180:
            raise ValueError(f"box: west {self.west} must lie left of east {self.east}, both in [-180, 180]")

    def contains(self, latitude, longitude):
        """Boolean array: which of the points lie in the box, its edges included."""
        return (
            (latitude >= self.south)
            & (latitude <= self.north)
            & (longitude >= self.west)
            & (longitude <= self.east)
        )


@dataclass(frozen=True)
class Grid:
    """Cells between ``latitudes`` (rows + 1 rising edges, degrees) and ``longitudes`` (columns + 1)."""

    latitudes: np.ndarray
    longitudes: np.ndarray

    @property
    def rows(self):
        return len(self.latitudes) - 1

    @property
    def columns(self):
        return len(self.longitudes) - 1


def published(box, columns, rows):
    """The uniform grid of ``columns`` x ``rows`` equal cells over the whole box."""
    if columns < 1 or rows < 1:
        raise ValueError(f"published grid: columns {columns} and rows {rows} must be at least 1")
    return Grid(np.linspace(box.south, box.north, rows + 1), np.linspace(box.west, box.east, columns + 1))


def stepped(box, latitude_step, longitude_step):
    """The grid whose edges are ``np.arange(low, high, step)`` in both directions, steps in degrees.

    This is how the paper's check-in count for Paris (10,260) comes about: arange leaves out its end, so
    that whatever lies north or east of the last full step is lost.
    """
    return Grid(
        _steps("latitude_step", box.south, box.north, latitude_step),
        _steps("longitude_step", box.west, box.east, longitude_step),
    )


def _steps(name, low, high, step):
    if not 0 < step < high - low:
        raise ValueError(
            f"stepped grid: {name} {step} must be above 0 and below the box's {high - low:.7g} degrees"
        )
    # arange's own edges are off by some 1e-13 degrees. A check-in exactly on an edge (there are 21 in San
    # Francisco) would change its cell by that noise; rounding makes the edges the decimals that are meant.
    return np.round(np.arange(low, high, step), 10)


def of_dataset(dataset, kind):
    """The grid of one gridded dataset of the config (keys box, published, stepped); kind is one of KINDS."""
    if kind not in KINDS:
        raise ValueError(f"grid {kind!r} must be one of {', '.join(KINDS)}")
    build = published if kind == "published" else stepped
    return build(Box(**dataset["box"]), **dataset[kind])


def count(grid, latitude, longitude):
    """Number of points in each cell: integers (rows, columns). Points outside of the grid do not count."""
    counts, _, _ = np.histogram2d(latitude, longitude, bins=(grid.latitudes, grid.longitudes))
    return counts.astype(np.int64)


def table(grid, counts):
    """One row per cell: its number, count, row, column and edges (degrees, rounded to DECIMALS).

    counts: integers (rows, columns), or their rows x columns values in the order of the cells.
    """
    counts = np.asarray(counts).reshape(grid.rows, grid.columns)
    row, column = (index.ravel() for index in np.indices(counts.shape))
    latitudes, longitudes = grid.latitudes.round(DECIMALS), grid.longitudes.round(DECIMALS)
    return pd.DataFrame(
        {
            "cell": np.arange(1, counts.size + 1),
            "count": counts.ravel(),
            "row": row,
            "column": column,
            "south": latitudes[row],
            "north": latitudes[row + 1],
            "west": longitudes[column],
            "east": longitudes[column + 1],
        },
        columns=COLUMNS,
    )


def check_fits(cells, grid, name):
    """ValueError unless the table ``cells`` (a file called ``name``) has exactly the cells of ``grid``."""
    missing = [column for column in COLUMNS if column not in cells]
    if missing:
        raise ValueError(f"{name}: no column {', '.join(missing)}; expected {','.join(COLUMNS)}")
    expected = table(grid, np.zeros((grid.rows, grid.columns), dtype=np.int64))
    edges = [column for column in COLUMNS if column != "count"]
    if len(cells) != len(expected) or not np.allclose(cells[edges], expected[edges], rtol=0, atol=1e-9):
        raise ValueError(
            f"{name}: its cells are not the {grid.columns} x {grid.rows} cells that the config asks for; "
            "bundled counts fit the papers' boxes and grids only: set gowalla.source to snap or file"
        )
    counts = cells["count"]
    if not (pd.api.types.is_integer_dtype(counts) and (counts >= 0).all()):
        raise ValueError(f"{name}: column count must hold whole numbers of at least 0")


def spread(grid, counts, rng):
    """Points spread uniformly inside their cells: (latitude, longitude), each as long as counts' sum.

    For a picture of the points where only counts are known. Counting them again gives ``counts``.
    """
    counts = np.asarray(counts).reshape(grid.rows, grid.columns)
    row, column = (np.repeat(index.ravel(), counts.ravel()) for index in np.indices(counts.shape))
    latitude = rng.uniform(grid.latitudes[row], grid.latitudes[row + 1])
    longitude = rng.uniform(grid.longitudes[column], grid.longitudes[column + 1])
    return latitude, longitude


def totals(cells):
    """Columns, rows, non-empty cells, largest cell and sum of a table of cells, as a dict of ints."""
    return {
        "columns": int(cells["column"].max()) + 1,
        "rows": int(cells["row"].max()) + 1,
        "non_empty": int((cells["count"] > 0).sum()),
        "largest": int(cells["count"].max()),
        "checkins": int(cells["count"].sum()),
    }
