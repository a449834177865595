"""Figures 4 and 5: one run's estimates beside the original, as heatmaps, or step lines without a grid."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.paper.trials.calibration_text import calibration_text
from scripts.paper.trials.metrics import total_variation
from scripts.shared import maps, style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.histograms import grid_edges, on_a_grid, on_a_map, on_grid
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import groups, read_table

MAP = 1.85  # inches, the width of a map
NAMED = 60  # cells with a name below them at most
MECHANISMS = ["gaussian", "shuffle+INV"]
COLUMNS = ["cell", "original", *MECHANISMS]
RUN = [
    "eps0",
    "eps",
    "n",
    "delta",
]  # the columns that identify a run, in the order of the rows of panels


class Run(NamedTuple):
    """One run: its parameters and a table of the fractions of users per cell, original and estimated."""

    eps0: float
    eps: float
    n: int
    delta: float
    table: pd.DataFrame

    def budget(self) -> str:
        return wording.budget(self.eps0, self.eps, self.delta)

    def title(self, mechanism: str) -> str:
        """Its name and the TV error of its estimate, in two digits."""
        error = float(total_variation(self.table[mechanism], self.table["original"]))
        return f"{style.LABELS[mechanism]}, TV = {wording.significant(error)}"


class Runs(NamedTuple):
    """A dataset's histogram (columns cell and count, on a grid also row and column) and its runs."""

    histogram: pd.DataFrame
    runs: list[Run]


def read(histogram: StrPath, estimates: StrPath) -> Runs:
    """The runs of one dataset; ValueError where the cells of the two files differ."""
    counts = read_table(histogram, ["cell", "count"])
    runs = []
    for (eps0, eps, n, delta), rows in groups(read_table(estimates, [*RUN, *COLUMNS]), RUN):
        rows = rows.reset_index(drop=True)
        if not rows["cell"].equals(counts["cell"]):
            raise ValueError(f"{estimates}: its cells are not those of {histogram}; rebuild both")
        runs.append(Run(eps0, eps, int(n), delta, rows))
    return Runs(counts, runs)


@style.applied()
def draw(data: Runs, title: str) -> Figure:
    """The figure: the original, and a row of estimates per budget; or step lines."""
    sizes = wording.listing(sorted({run.n for run in data.runs}))
    heading = f"Original and estimated histograms, {wording.literal(title)}: n = {sizes}"
    form = _maps if on_a_grid(data.histogram) else _steps
    figure = form(*data)
    figure.suptitle(
        wording.folded(f"{heading}, k = {len(data.histogram):,}", style.WIDTH - 0.4, size=9)
    )
    return figure


def _maps(histogram: pd.DataFrame, runs: list[Run]) -> Figure:
    """The original at the left, a row of estimates per run beside it; the colour scale below."""
    x, y = grid_edges(histogram)
    box = (x[0], x[-1], y[0], y[-1]) if on_a_map(histogram) else None
    high = MAP * (maps.proportion(box) if box else len(y) / len(x))  # inches
    bins = 3 if box else 4
    values = pd.concat([run.table[COLUMNS[1:]] for run in runs])
    norm = maps.count_norm(1 / max(run.n for run in runs), float(values.to_numpy().max()))

    def draw_map(axes: Axes, shares: "pd.Series[float]") -> Any:
        return maps.heatmap(axes, (x, y), on_grid(histogram, shares), norm)

    figure = style.new_figure(1.3 + (high + 0.22) * len(runs), layout="compressed")
    grid = figure.add_gridspec(len(runs), 1 + len(MECHANISMS))
    middle = len(runs) // 2
    original = figure.add_subplot(grid[middle, 0])  # once: it is the same for all runs
    original.set_title("original")
    # Else the last row has the numbers across: rows are equally far apart.
    below = middle == len(runs) - 1
    maps.map_axes(original, box, names=(below, True), numbers=(below, True), bins=bins)
    image = draw_map(original, runs[0].table["original"])
    for row, run in enumerate(runs):
        last = row == len(runs) - 1
        for column, mechanism in enumerate(MECHANISMS, 1):
            axes = figure.add_subplot(grid[row, column])
            axes.set_title(run.title(mechanism))
            draw_map(axes, run.table[mechanism])
            maps.map_axes(axes, box, names=(last, False), numbers=(last, False), bins=bins)
            if column == 1:
                axes.set_ylabel(wording.row_label(run.budget(), high + 0.1))

    negative = bool((values < 0).to_numpy().any())
    bar = figure.colorbar(
        image,
        ax=figure.axes,
        location="bottom",
        label="fraction of users per cell",
        shrink=0.6,
        aspect=40,
        pad=0.02,
        extend="min" if negative else "neither",
    )
    bar.minorticks_off()
    handles: list[Artist] = [maps.empty()]
    if negative:
        handles.append(_negative(maps.signs_fit((len(y) - 1, len(x) - 1))))
    style.below(figure, handles)
    return figure


def _negative(signs: bool) -> Artist:
    """The entry of the legend for negative cells, which have a minus sign or, if they are small, a colour."""
    colour = style.COLOURS["gaussian"]
    if signs:
        look: Any = {"marker": "_", "markersize": 5, "markeredgewidth": 0.9, "linestyle": ""}
        return style.line("negative", color=colour, **look)
    return Patch(facecolor=colour, label="negative")


def _steps(histogram: pd.DataFrame, runs: list[Run]) -> Figure:
    """A row per run: the original as an area, the estimates as lines."""
    figure = style.new_figure(0.9 + 1.7 * len(runs))
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    edges = np.arange(len(histogram) + 1) + 0.5
    for axes, run in zip(panels, runs, strict=True):
        axes.stairs(run.table["original"], edges, fill=True, color="#bdbdbd", label="original")
        for name in MECHANISMS:
            look: Any = {
                "color": style.COLOURS[name],
                "linewidth": 0.9,
                "label": style.LABELS[name],
            }
            axes.stairs(run.table[name], edges, **look)
        axes.axhline(0, color=style.INK, linewidth=0.5)
        axes.set_xlim(edges[0], edges[-1])
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_title("; ".join(map(run.title, MECHANISMS)))
        axes.set_ylabel(f"{wording.row_label(run.budget(), 1.6)}\nfraction of users")
    if "label" in histogram:
        _name_cells(panels[-1], histogram["label"].tolist())
    else:
        panels[-1].set_xlabel("cell")
    style.below(figure, panels[0].get_legend_handles_labels()[0])
    return figure


def _name_cells(axes: Axes, labels: list[str]) -> None:
    """Your own names below the steps, at most `NAMED` of them; long ones stand upright and are cut."""
    every = math.ceil(len(labels) / NAMED)
    names = [
        wording.literal(label if len(label) < 25 else f"{label[:23]}…") for label in labels[::every]
    ]
    upright = sum(map(len, names)) > 90  # characters that fit beside each other
    axes.set_xticks(range(1, len(labels) + 1, every), names, rotation=90 if upright else 0)


def caption(data: Runs, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: what is negative and how the Gaussian was calibrated, by ``protocol`` of the config."""
    below = [int((run.table["gaussian"] < 0).sum()) for run in data.runs]
    subject = (
        f"Original histogram of {title} and one estimate from each mechanism, with the total variation (TV)"
        " error; one row per budget."
    )
    negative = (
        "As in the paper, only shuffle+INV is projected onto the simplex, so"
        f" {wording.listing(below, at_most=len(below))} of the Gaussian's {len(data.histogram):,} shares are"
        " negative."
    )
    return f"{subject} {negative} {calibration_text(protocol)}"


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        runs = read(snakemake.input.histogram, snakemake.input.estimates)
        text = caption(runs, params.title, params.protocol)
        write_figure(draw(runs, params.title), text, snakemake.output)
