"""Counts per cell as a heatmap, on the axes of a map.

An empty cell is grey, which is outside of the colour map, so that it cannot look like a cell with few users.
"""

import math
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.shared import style
from scripts.shared.histograms import Edges
from tightshuffle.arguments import Floats

Box = tuple[float, float, float, float]  # west, east, south, north, in degrees
EMPTY = "#e4e4e4"
# Many = dark; without viridis' lightest yellow, which is a light grey for people who see no blue. "Over" is
# for negative cells: no count is above the scale's upper end.
HEAT = ListedColormap(
    matplotlib.colormaps["viridis_r"](np.linspace(0.15, 1, 256)), "heat"
).with_extremes(bad=EMPTY, over=style.COLOURS["gaussian"])
SIGNS_FIT = 100  # rows or columns at most: with more of them, a cell has no room for a minus sign


def count_norm(low: float, high: float) -> LogNorm:
    """The logarithmic colour scale from ``low`` to ``high``: at least one decade, so it always exists."""
    return LogNorm(low, max(high, 10 * low))


def signs_fit(shape: tuple[int, ...]) -> bool:
    """Whether the cells of a heatmap with ``shape`` (rows, columns) have room for a minus sign."""
    return max(shape) <= SIGNS_FIT


def heatmap(axes: Axes, grid: Edges, values: Floats, norm: Any) -> Any:
    """Draw one value per cell as one image; 0 is empty (grey), below 0 is empty with a minus sign.

    ``grid`` is (x edges (c+1,), y edges (r+1,)), ``values`` (r, c) with row 0 in the south; NaN is no cell.
    Values between 0 and the norm's lower end take its lowest colour. Where cells are too small for signs,
    negative ones take the Gaussian's colour. Returns the image, for a colour bar.
    """
    x, y = grid
    axes.set_facecolor(EMPTY)
    positive = np.ma.masked_where(~(values > 0), values)
    signed = values < 0
    fine = not signs_fit(values.shape)
    if fine:
        positive[signed] = 10 * norm.vmax
        signed = np.zeros_like(signed)
    image = axes.pcolorfast(x, y, positive, norm=norm, cmap=HEAT)
    if fine:  # on an even grid a pixel takes the mean colour of its cells: none is lost
        image.set(interpolation="auto", interpolation_stage="rgba", resample=True)

    row, column = np.nonzero(signed)
    figure: Any = axes.figure
    width = axes.get_position().width * figure.get_figwidth() * 72 / max(values.shape[1], 1)
    middles = (x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2
    axes.scatter(
        *middles, marker="_", s=(0.5 * width) ** 2, color=style.COLOURS["gaussian"], linewidth=0.7
    )
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))  # the marks moved them
    return image


def empty() -> Patch:
    """The entry of a legend for empty cells."""
    return Patch(facecolor=EMPTY, edgecolor="#b0b0b0", linewidth=0.5, label="empty cell")


def map_axes(
    axes: Axes,
    box: Box | None,
    *,
    names: tuple[bool, bool],
    numbers: tuple[bool, bool] = (True, True),
    bins: int = 4,
) -> None:
    """Longitude and latitude on the axes, with true aspect; rows and columns without ``box``.

    ``names`` and ``numbers``: whether the (horizontal, vertical) axis is named, numbered in ``bins``.
    """
    if box:
        axes.set(xlim=box[:2], ylim=box[2:])
        axes.set_aspect(true_aspect(box))
        across, up, form = "longitude (°)", "latitude (°)", "{x:.2f}"
    else:
        axes.set_aspect("equal")
        across, up, form = "column", "row", "{x:.0f}"

    name_across, name_up = names
    axes.set_xlabel(across if name_across else "")
    axes.set_ylabel(up if name_up else "")
    axes.tick_params(labelbottom=numbers[0], labelleft=numbers[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(bins, steps=[1, 2, 4, 5, 10], integer=not box))
        axis.set_major_formatter(form)


def proportion(box: Box) -> float:
    """Height over width, on the ground, of a box (west, east, south, north) in degrees."""
    west, east, south, north = box
    return (north - south) / (east - west) * true_aspect(box)


def true_aspect(box: Box) -> float:
    """Length of a degree of latitude over one of longitude in the middle of (west, east, south, north)."""
    return 1 / math.cos(math.radians((box[2] + box[3]) / 2))
