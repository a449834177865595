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
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from scripts.shared import style
from scripts.shared.histograms import Edges
from tightshuffle.arguments import Floats

Box = tuple[float, float, float, float]  # west, east, south, north, in degrees
EMPTY = "#e4e4e4"  # grey, the colour of an empty cell
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
    """Draw one value per cell of a grid as an image, and return the image, which a colour bar needs.

    A positive value has its colour on the scale ``norm``, a value below the scale the lowest colour. A cell
    with 0 is grey, and so is a cell with a negative value, which has a minus sign in it. Where the grid is so
    fine that cells have no room for signs, a cell with a negative value has the colour of the Gaussian
    mechanism instead.

    ``grid`` has the edges of the cells, x (columns + 1,) and y (rows + 1,). ``values`` have shape (rows,
    columns), with row 0 in the south, and NaN where there is no cell.
    """
    x, y = grid
    axes.set_facecolor(EMPTY)
    positive = np.ma.masked_where(~(values > 0), values)
    negative = values < 0
    too_small = not signs_fit(values.shape)
    if too_small:
        # Any value above the scale has the colour of the Gaussian mechanism in the colour map HEAT.
        positive[negative] = 10 * norm.vmax
    image = axes.pcolorfast(x, y, positive, norm=norm, cmap=HEAT)
    if too_small:
        # On an even grid a pixel takes the mean colour of its cells, so no cell is lost in a coarse image.
        image.set(interpolation="auto", interpolation_stage="rgba", resample=True)

    # The minus signs are half as wide as a cell. width is that of a cell, in points, 72 per inch.
    row, column = np.nonzero(negative & (not too_small))
    figure: Any = axes.figure
    width = axes.get_position().width * figure.get_figwidth() * 72 / max(values.shape[1], 1)
    middles = (x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2
    axes.scatter(
        *middles, marker="_", s=(0.5 * width) ** 2, color=style.COLOURS["gaussian"], linewidth=0.7
    )
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))  # the signs moved the limits
    return image


def empty(label: str = "empty cell") -> Patch:
    """The entry of a legend for the cells with 0."""
    return Patch(facecolor=EMPTY, edgecolor="#b0b0b0", linewidth=0.5, label=label)


def map_axes(
    axes: Axes,
    box: Box | None,
    *,
    names: tuple[bool, bool],
    numbers: tuple[bool, bool] = (True, True),
    bins: int = 4,
) -> None:
    """Set up the axes of a map: limits, proportion, and what stands at the axes.

    With a ``box`` (west, east, south, north, in degrees), the axes are longitude and latitude within it, and
    lengths have the proportions that they have on the ground. Without a box, the axes are the columns and
    rows of a grid, whose cells are squares.

    ``names`` are two booleans: whether the horizontal axis has its name, and whether the vertical one does.
    ``numbers`` are two more: whether each axis has its numbers, of which there are about ``bins``.
    """
    if box:
        axes.set(xlim=box[:2], ylim=box[2:])
        axes.set_aspect(true_aspect(box))
        across, up = "longitude (°)", "latitude (°)"
    else:
        axes.set_aspect("equal")
        across, up = "column", "row"

    name_across, name_up = names
    axes.set_xlabel(across if name_across else "")
    axes.set_ylabel(up if name_up else "")
    axes.tick_params(labelbottom=numbers[0], labelleft=numbers[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(bins, steps=[1, 2, 4, 5, 10], integer=not box))
        decimals_by_distance = ScalarFormatter(useOffset=False)
        decimals_by_distance.set_scientific(False)
        axis.set_major_formatter(decimals_by_distance)


def proportion(box: Box) -> float:
    """Height / width, on the ground, of a box (west, east, south, north) in degrees."""
    west, east, south, north = box
    return (north - south) / (east - west) * true_aspect(box)


def true_aspect(box: Box) -> float:
    """Length of a degree of latitude / that of a degree of longitude, in the middle of a box.

    ``box`` is (west, east, south, north), in degrees.
    """
    return 1 / math.cos(math.radians((box[2] + box[3]) / 2))
