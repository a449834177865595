"""Histograms of the results folder: one count per cell; where the cells form a grid, its edges and values."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.shared.job import StrPath
from tightshuffle.arguments import Floats, Integers

NUMPYS_LIMIT = 10**9  # users from which numpy draws no hypergeometric numbers
Edges = tuple[Floats, Floats]  # x (columns + 1,), y (rows + 1,)


def read_histogram(path: StrPath) -> Integers:
    """How many users each cell holds, shape (k,)."""
    return pd.read_csv(path)["count"].to_numpy(dtype=np.int64)


def on_a_map(histogram: pd.DataFrame) -> bool:
    """Whether the histogram's cells have edges in degrees."""
    return {"row", "column", "south", "north", "west", "east"} <= set(histogram.columns)


def on_a_grid(histogram: pd.DataFrame) -> bool:
    """Whether the histogram's cells have rows and columns, with or without edges in degrees."""
    return {"row", "column"} <= set(histogram.columns)


def grid_shape(histogram: pd.DataFrame) -> tuple[int, int]:
    """(rows, columns) of the grid that the histogram's cells are in."""
    return int(histogram["row"].max()) + 1, int(histogram["column"].max()) + 1


def grid_edges(histogram: pd.DataFrame) -> Edges:
    """The edges of a grid's cells: x (columns + 1,) from west to east, y (rows + 1,) from south to north.

    ``histogram`` has one line per cell. Its columns row and column have the cell's place in the grid, from 0.
    If it also has the columns west, east, south and north, the edges are in degrees. Otherwise, column 0 of
    the grid reaches from -0.5 to 0.5, column 1 from 0.5 to 1.5, and so on, and rows likewise. Raises
    ValueError if the cells do not form a grid.
    """
    for index in ("row", "column"):
        if not pd.api.types.is_integer_dtype(histogram[index]) or histogram[index].min() < 0:
            raise ValueError(f"histogram: {index} must hold whole numbers from 0")
    if histogram.duplicated(["row", "column"]).any():
        raise ValueError(
            "histogram: two cells have the same row and column; expected one cell each"
        )
    if not on_a_map(histogram):
        rows, columns = grid_shape(histogram)
        return np.arange(columns + 1.0) - 0.5, np.arange(rows + 1.0) - 0.5
    x = _edges_in_degrees(histogram, "column", "west", "east")
    return x, _edges_in_degrees(histogram, "row", "south", "north")


def _edges_in_degrees(histogram: pd.DataFrame, index: str, low: str, high: str) -> Floats:
    """The edges of a grid's rows (rows + 1,), or of its columns (columns + 1,), rising, in degrees.

    ``index`` is "row" or "column". ``low`` and ``high`` are the histogram's columns with the two edges of a
    cell in this direction: "south" and "north", or "west" and "east". Raises ValueError if a row or column of
    the grid has no cell, or if the edges do not rise.
    """
    # One line per row of the grid, or per column: the two edges of its first cell.
    strips = histogram.groupby(index)[[low, high]].first()
    if list(strips.index) != list(range(len(strips))):
        raise ValueError(
            f"histogram: {index} must run from 0 without a gap, got {list(strips.index)[:5]}..."
        )
    edges = np.append(strips[low].to_numpy(float), strips[high].iloc[-1])
    if not (np.diff(edges) > 0).all():
        raise ValueError(
            f"histogram: {low} must rise with {index}; expected row 0 = south, column 0 = west"
        )
    return edges


def on_grid(histogram: pd.DataFrame, values: npt.ArrayLike) -> Floats:
    """``values`` (k,), one per cell of the histogram, as a matrix (rows, columns) of its grid.

    NaN stands where the grid has no cell.
    """
    matrix = np.full(grid_shape(histogram), np.nan)
    matrix[histogram["row"].to_numpy(), histogram["column"].to_numpy()] = values
    return matrix
