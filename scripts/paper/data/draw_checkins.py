"""Figure 3: the check-ins of each city as points and as counts per cell, on one colour scale."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from scripts.paper.data.grid import COLUMNS
from scripts.shared import style, wording
from scripts.shared.histograms import grid_edges, grid_shape, on_grid
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import read_table

POINTS = ["latitude", "longitude", "spread"]
MAGENTA, LAND = "#c2007a", "#f3f1ea"  # as the paper's points and map


class City(NamedTuple):
    """A city's title, box, `cell_table` and `point_table`."""

    title: str
    box: style.Box
    histogram: pd.DataFrame
    points: pd.DataFrame


def read(
    histograms: Sequence[StrPath],
    checkins: Sequence[StrPath],
    titles: Sequence[str],
    boxes: Sequence[Mapping[str, float]],
) -> list[City]:
    """The cities; ``boxes`` have the keys west, east, south and north, in degrees."""
    corners = [(box["west"], box["east"], box["south"], box["north"]) for box in boxes]
    return [
        City(title, box, read_table(histogram, COLUMNS), read_table(points, POINTS))
        for title, box, histogram, points in zip(titles, corners, histograms, checkins, strict=True)
    ]


@style.applied()
def draw(cities: Sequence[City]) -> Figure:
    """The figure: one column per city, points on the grid above, counts per cell below."""
    width = 4.4 if len(cities) == 1 else max(style.WIDTH, 3.2 * len(cities))
    widths = [1 / style.proportion(city.box) for city in cities]  # all panels equally high
    height = (width - 0.85 - 0.45 * len(cities)) / sum(widths)
    figure = style.new_figure(1.5 + 2 * height, width=width)
    panels = figure.subplots(2, len(cities), squeeze=False, width_ratios=widths)
    norm = style.count_norm(1, max(city.histogram["count"].max() for city in cities))
    for number, city in enumerate(cities):
        top, bottom = panels[:, number]
        title, counts = wording.literal(city.title), on_grid(city.histogram, city.histogram["count"])
        edges = grid_edges(city.histogram)
        for draw_line, places in zip((top.axvline, top.axhline), edges, strict=True):
            for place in places if style.signs_fit(counts.shape) else ():
                draw_line(place, color="#c9c5b8", linewidth=0.4, zorder=1)
        top.set_facecolor(LAND)
        size = np.clip(180 / np.sqrt(max(len(city.points), 1)), 0.4, 6)
        look = {"s": size, "color": MAGENTA, "alpha": 0.35, "linewidth": 0}
        # a bitmap inside the PDF, since there are many
        top.scatter(city.points["longitude"], city.points["latitude"], rasterized=True, zorder=2, **look)
        space = height * widths[number] + 0.4
        heading = wording.folded(f"{_letter(number)} {title}: {len(city.points):,} check-ins", space)
        placed = wording.folded("at random places in small squares", space)
        top.set_title(f"{heading}\n{placed}" if city.points["spread"].any() else heading)
        image = style.heatmap(bottom, edges, counts, norm)
        cells = f"{counts.shape[1]} × {counts.shape[0]} cells"
        bottom.set_title(wording.folded(f"{_letter(len(cities) + number)} {title}: {cells}", space))
        for axes in (top, bottom):
            style.map_axes(axes, city.box, names=(axes is bottom, number == 0))
    bar = figure.colorbar(image, ax=panels[1, :], label="check-ins per cell", aspect=28, pad=0.015)
    bar.minorticks_off()
    bar.formatter = FuncFormatter(lambda value, _: wording.short_number(value))
    style.below(figure, [style.empty()])
    return figure


def caption(cities: Sequence[City], grid: str) -> str:
    """The caption: boxes, grids (``grid`` is uniform or stepped), totals, spread points."""
    spread = [city.title for city in cities if city.points["spread"].any()]
    places = f" The points of {' and '.join(spread)} are placed at random inside small sub-cells."
    return (
        f"Gowalla check-ins of each city on the {grid} grid: single ones above, counts per cell below, on one"
        f" logarithmic colour scale. {' '.join(map(_numbers_of, cities))}{places * bool(spread)}"
    )


def _numbers_of(city: City) -> str:
    west, east, south, north = (f"{value:.9g}".replace("-", "−") for value in city.box)
    counts, (rows, columns) = city.histogram["count"], grid_shape(city.histogram)
    return (
        f"{city.title}: latitude {south} to {north}, longitude {west} to {east}; {columns} × {rows} cells,"
        f" {(counts > 0).sum()} not empty; {counts.sum():,} check-ins in the cells, {len(city.points):,} in"
        " the box."
    )


def _letter(number: int) -> str:
    return f"({ascii_lowercase[number % 26]})"


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        cities = read(files.histograms, files.checkins, params.titles, params.boxes)
        style.write_figure(draw(cities), caption(cities, params.grid), snakemake.output)
