"""What the scripts that draw share: tables in, three files per figure out, the words of the reading."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.pipeline.job import whole_file


def read_table(path, columns, filters=None):
    """Read a CSV or parquet table; of a parquet table only ``columns``, and the rows that pass ``filters``.

    ValueError names the file, and the first of ``columns`` that it lacks or the rows that are not there.
    """
    parquet = str(path).endswith(".parquet")
    present = pq.read_schema(path).names if parquet else pd.read_csv(path, nrows=0).columns
    for column in columns:
        if column not in present:
            raise ValueError(f"{path}: no column {column!r}; expected {', '.join(columns)}")
    table = pd.read_parquet(path, columns=columns, filters=filters) if parquet else pd.read_csv(path)
    if table.empty:
        wanted = ", ".join(f"{name} {value!r}" for name, _, value in filters or [])
        raise ValueError(f"{path}: no rows{' with ' if wanted else ''}{wanted}; expected at least one")
    return table


def write_figure(figure, caption, output):
    """Write a drawn figure to ``output.png`` and ``output.pdf`` and its caption to ``output.txt``."""
    for path, content in (
        (output.png, plotting.png(figure)),
        (output.pdf, plotting.pdf(figure)),
        (output.txt, (caption + "\n").encode()),
    ):
        with whole_file(path) as temporary:
            temporary.write_bytes(content)


def on_a_map(histogram):
    """Whether the histogram's cells have edges in degrees."""
    return {"row", "column", "south", "north", "west", "east"} <= set(histogram.columns)


def on_a_grid(histogram):
    """Whether the histogram's cells have rows and columns, with or without edges in degrees."""
    return {"row", "column"} <= set(histogram.columns)


def grid_shape(histogram):
    """(rows, columns) of the grid that the histogram's cells are in."""
    return histogram["row"].max() + 1, histogram["column"].max() + 1


def grid_edges(histogram):
    """Edges (x (columns+1,), y (rows+1,)) of the cells: degrees, or halves around the numbers without them.

    Raises ValueError where rows and columns are no grid.
    """
    for index in ("row", "column"):
        if not pd.api.types.is_integer_dtype(histogram[index]) or histogram[index].min() < 0:
            raise ValueError(f"histogram: {index} must hold whole numbers from 0")
    if histogram.duplicated(["row", "column"]).any():
        raise ValueError("histogram: two cells have the same row and column; expected one cell each")
    if not on_a_map(histogram):
        rows, columns = grid_shape(histogram)
        return np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
    return _edges(histogram, "column", "west", "east"), _edges(histogram, "row", "south", "north")


def _edges(histogram, index, low, high):
    """Edges along one direction; ValueError where a row or column holds no cell or the edges do not rise."""
    strips = histogram.groupby(index)[[low, high]].first()
    if list(strips.index) != list(range(len(strips))):
        raise ValueError(f"histogram: {index} must run from 0 without a gap, got {list(strips.index)[:5]}...")
    edges = np.append(strips[low].to_numpy(), strips[high].iloc[-1])
    if not (np.diff(edges) > 0).all():
        raise ValueError(f"histogram: {low} must rise with {index}; expected row 0 = south, column 0 = west")
    return edges


def on_grid(histogram, values):
    """``values`` (k,) per cell as a matrix (rows, columns); NaN where the grid has no cell."""
    matrix = np.full(grid_shape(histogram), np.nan)
    matrix[histogram["row"], histogram["column"]] = values
    return matrix


def budget_words(eps0, eps, delta=None):
    """'ε₀ = ε = 4, δ = 10⁻³⁰' for titles and captions; ``delta``: one or many numbers, None if not known."""
    words = f"ε₀ = ε = {eps:.4g}" if eps0 == eps else f"ε₀ = {eps0:g}, ε = {eps:.4g}"
    if delta is None:
        return words
    low, high = np.min(delta), np.max(delta)
    if low == high:
        return f"{words}, δ = {wording.scientific(low)}"
    return f"{words}, δ from {wording.scientific(low)} to {wording.scientific(high)}"


def row_label(budget, inches):
    """A budget's words for a row of panels so many inches high: delta on its own line where needed."""
    fits = wording.folded(budget, inches) == budget
    return budget if fits else budget.replace(", δ", "\nδ")


def reading_words(protocol):
    """The paragraph of a caption that says how the Gaussian was calibrated: the published reading.

    ``protocol`` is the config's section of that name.
    """
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"Reading: published{form}. The Gaussian noise has diffprivlib's analytic scale for ε, δ and"
        f" sensitivity {protocol['sensitivity']:g}, where δ is the shuffle model's δ̂ but at least"
        f" {wording.scientific(protocol['delta_floor'])}: δ̂ is 0 for ε ≥ ε₀, and no Gaussian mechanism has"
        " δ = 0. Below δ ≈ 10⁻¹⁷ that scale no longer grows: soon it is too small for (ε, δ)."
    )
