"""Figure 3: the check-ins of each city as points and as counts per cell, on one colour scale."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from scripts.paper.data.grid import COLUMNS
from scripts.shared import maps, style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.histograms import grid_edges, grid_shape, on_grid
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import read_table

POINTS = ["latitude", "longitude", "spread"]
MAGENTA, LAND = "#c2007a", "#f3f1ea"  # as the paper's points and map


class City(NamedTuple):
    """What the figure shows of a city."""

    title: str
    box: maps.Box  # west, east, south, north, in degrees
    histogram: pd.DataFrame  # a row per cell: `grid.COLUMNS`
    points: pd.DataFrame  # a row per check-in: `POINTS`; spread says that its place is a random one


def read(
    histograms: Sequence[StrPath],
    checkins: Sequence[StrPath],
    titles: Sequence[str],
    boxes: Sequence[Mapping[str, float]],
) -> list[City]:
    """The cities that the figure shows, in order.

    Each argument has one entry per city: the paths of its histogram and of its check-ins, its title, and its
    box, which has the keys west, east, south and north, in degrees.
    """
    corners = [(box["west"], box["east"], box["south"], box["north"]) for box in boxes]
    return [
        City(title, box, read_table(histogram, COLUMNS), read_table(points, POINTS))
        for title, box, histogram, points in zip(titles, corners, histograms, checkins, strict=True)
    ]


@style.applied()
def draw(cities: Sequence[City]) -> Figure:
    """The figure, with one column per city: above its check-ins as points, below their number per cell.

    All maps are equally high, and one logarithmic colour scale holds for the counts of all cities.
    """
    # All lengths are inches. Beside the maps, the width needs about 0.85, and 0.45 for each city. Above and
    # below the maps, the height needs 1.5.
    width = 4.4 if len(cities) == 1 else max(style.WIDTH, 3.2 * len(cities))
    widths = [1 / maps.proportion(city.box) for city in cities]  # of maps with the height 1
    height = (width - 0.85 - 0.45 * len(cities)) / sum(widths)  # of every map
    figure = style.new_figure(1.5 + 2 * height, width=width)
    panels = figure.subplots(2, len(cities), squeeze=False, width_ratios=widths)
    norm = maps.count_norm(1, max(city.histogram["count"].max() for city in cities))

    for number, city in enumerate(cities):
        top, bottom = panels[:, number]
        title_width = height * widths[number] + 0.4  # a title may be a little wider than its map
        _draw_points(top, city, _letter(number), title_width)
        image = _draw_counts(bottom, city, _letter(len(cities) + number), title_width, norm)
        for axes in (top, bottom):
            longitude_is_named = axes is bottom
            latitude_is_named = number == 0
            maps.map_axes(axes, city.box, names=(longitude_is_named, latitude_is_named))

    bar = figure.colorbar(image, ax=panels[1, :], label="check-ins per cell", aspect=28, pad=0.015)
    bar.minorticks_off()
    bar.formatter = FuncFormatter(lambda value, _: wording.short_number(value))
    style.below(figure, [maps.empty()])
    return figure


def _draw_points(axes: Axes, city: City, letter: str, title_width: float) -> None:
    """Draw a city's check-ins as points, and the lines of its grid where cells are large enough to be seen.

    ``letter`` starts the title, (a) for instance. Titles are folded to ``title_width`` inches.
    """
    # Lines can be told apart if there are at most 100 rows and columns of cells.
    if maps.signs_fit(grid_shape(city.histogram)):
        x, y = grid_edges(city.histogram)
        look: dict[str, Any] = {"color": "#c9c5b8", "linewidth": 0.4, "zorder": 1}
        for place in x:
            axes.axvline(place, **look)
        for place in y:
            axes.axhline(place, **look)

    # The more points, the smaller they are. The size is an area in square points.
    size = np.clip(180 / np.sqrt(max(len(city.points), 1)), 0.4, 6)
    look = {"s": size, "color": MAGENTA, "alpha": 0.35, "linewidth": 0, "zorder": 2}
    # Rasterized: a bitmap inside the PDF, since a vector for each of so many points makes large files.
    axes.scatter(city.points["longitude"], city.points["latitude"], rasterized=True, **look)
    axes.set_facecolor(LAND)

    title = wording.folded(
        f"{letter} {wording.literal(city.title)}: {len(city.points):,} check-ins", title_width
    )
    if city.points["spread"].any():
        title += "\n" + wording.folded("at random places in small squares", title_width)
    axes.set_title(title)


def _draw_counts(axes: Axes, city: City, letter: str, title_width: float, norm: Any) -> Any:
    """Draw the count of every cell in the colours of ``norm``; returns the image, for a colour bar.

    ``letter`` starts the title. The title is folded to ``title_width`` inches.
    """
    counts = on_grid(city.histogram, city.histogram["count"])
    rows, columns = counts.shape
    title = f"{letter} {wording.literal(city.title)}: {columns} × {rows} cells"
    axes.set_title(wording.folded(title, title_width))
    return maps.heatmap(axes, grid_edges(city.histogram), counts, norm)


def caption(cities: Sequence[City], grid: str) -> str:
    """The caption: what is shown, each city's box, grid and numbers, and whose points are at random places.

    ``grid`` is the kind of grid, "uniform" or "stepped".
    """
    subject = (
        f"Gowalla check-ins of each city on the {grid} grid: single ones above, counts per cell below, on one"
        " logarithmic colour scale."
    )
    sentences = [subject, *(_sentence_on(city) for city in cities)]
    spread = [city.title for city in cities if city.points["spread"].any()]
    if spread:
        sentences.append(
            f"The points of {' and '.join(spread)} are placed at random inside small sub-cells."
        )
    return " ".join(sentences)


def _sentence_on(city: City) -> str:
    """The caption's sentence on a city: its box in degrees, the cells of its grid, and its check-ins."""
    # A printed minus sign is longer than a hyphen.
    west, east, south, north = (f"{degrees:.9g}".replace("-", "−") for degrees in city.box)
    counts = city.histogram["count"]
    rows, columns = grid_shape(city.histogram)
    return (
        f"{city.title}: latitude {south} to {north}, longitude {west} to {east}; {columns} × {rows} cells,"
        f" {(counts > 0).sum()} not empty; {counts.sum():,} check-ins in the cells, {len(city.points):,} in"
        " the box."
    )


def _letter(number: int) -> str:
    """The letter of a panel, whose ``number`` starts at 0: (a), (b) and so on. After (z) comes (a) again."""
    return f"({ascii_lowercase[number % 26]})"


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        cities = read(files.histograms, files.checkins, params.titles, params.boxes)
        write_figure(draw(cities), caption(cities, params.grid), snakemake.output)
