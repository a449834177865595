"""The bundled counts of a city: checked against the config's grids, and points spread inside their cells."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tightshuffle.data import StrPath
from tightshuffle.data.grid import COLUMNS, KINDS, Grid, cell_table, grid_of, point_table, spread


def read_bundled(
    paths: Mapping[str, StrPath], dataset: Mapping[str, Any], kind: str, *, name: str, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A city's histogram in one kind of grid, and as many points spread inside of its cells.

    Parameters
    ----------
    paths : kind of grid -> the file with its counts. Both are checked, since the totals need both
    dataset : the config's section on the city: box, published and stepped
    name, seed : the city's name and the root seed, on which alone the points depend

    Returns
    -------
    (cells, points): as `grid.cell_table` and `grid.point_table`.

    Raises
    ------
    ValueError naming the file whose cells are not those of the config.
    """
    counts = {}
    for each in KINDS:
        table = pd.read_csv(paths[each])
        check_fits(table, grid_of(dataset, each), paths[each])
        counts[each] = table["count"]
    grid = grid_of(dataset, kind)
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    points = point_table(*spread(grid, counts[kind], rng), spread=True)
    return cell_table(grid, counts[kind]), points


def check_fits(cells: pd.DataFrame, grid: Grid, path: StrPath) -> None:
    """ValueError unless the table ``cells``, read from ``path``, has exactly the cells of ``grid``."""
    missing = [column for column in COLUMNS if column not in cells]
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}; expected {','.join(COLUMNS)}")
    expected = cell_table(grid, np.zeros((grid.rows, grid.columns), dtype=np.int64))
    edges = [column for column in COLUMNS if column != "count"]
    if len(cells) != len(expected) or not np.allclose(cells[edges], expected[edges], rtol=0, atol=1e-9):
        raise ValueError(
            f"{path}: its cells are not the {grid.columns} x {grid.rows} cells that the config asks for; "
            "bundled counts fit the papers' boxes and grids only: set gowalla.source to snap or file"
        )
    counts = cells["count"]
    if not (pd.api.types.is_integer_dtype(counts) and (counts >= 0).all()):
        raise ValueError(f"{path}: column count must hold whole numbers of at least 0")
