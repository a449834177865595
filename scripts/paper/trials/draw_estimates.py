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

MAP_WIDTH = 1.85  # inches
MOST_NAMES = 60  # more names of cells do not fit below a panel
MECHANISMS = ["gaussian", "shuffle+INV"]
SHOWN = ["original", *MECHANISMS]  # the maps of a row, from left to right
COLUMNS = ["cell", *SHOWN]
# What all cells of a run share. Runs are drawn in the order of these columns.
RUN_KEY = ["eps0", "eps", "n", "delta"]


class Run(NamedTuple):
    """One run of shuffle+INV and of the Gaussian, which is a row of panels."""

    eps0: float  # the local budget of shuffle+INV
    eps: float  # for which, with delta, the Gaussian's noise was chosen
    n: int  # users
    delta: float
    # A row per cell, with the fraction of users that it holds: original, gaussian and shuffle+INV.
    table: pd.DataFrame

    def budget(self) -> str:
        """The run's eps0, eps and delta in words: 'ε₀ = ε = 4, δ = 10⁻¹⁷ (our choice)'."""
        return wording.budget(self.eps0, self.eps, self.delta)

    def title(self, shown: str) -> str:
        """'original', or a mechanism's name and the TV error of its estimate: 'Gaussian, TV = 0.14'."""
        if shown == "original":
            return shown
        error = float(total_variation(self.table[shown], self.table["original"]))
        return f"{style.LABELS[shown]}, TV = {wording.significant(error)}"


class Runs(NamedTuple):
    """A dataset's histogram (columns cell and count, on a grid also row and column) and its runs."""

    histogram: pd.DataFrame
    runs: list[Run]


def read(histogram: StrPath, estimates: StrPath) -> Runs:
    """A dataset's histogram and the runs of shuffle+INV and of the Gaussian on it, from two files.

    ``histogram`` is the path of a table with a row per cell and the columns cell and count. ``estimates`` is
    the path of a table with a row per run and cell. Its columns eps0, eps, n and delta are the same in all
    rows of a run. Its columns original, gaussian and shuffle+INV are the fraction of users that the cell
    holds, in truth and by the mechanisms. Raises ValueError where the two files have different cells.
    """
    counts = read_table(histogram, ["cell", "count"])
    table = read_table(estimates, [*RUN_KEY, *COLUMNS])
    runs = []
    for (eps0, eps, n, delta), rows in groups(table, RUN_KEY):
        rows = rows.reset_index(drop=True)
        if not rows["cell"].equals(counts["cell"]):
            raise ValueError(f"{estimates}: its cells are not those of {histogram}; rebuild both")
        runs.append(Run(eps0, eps, int(n), delta, rows))
    return Runs(counts, runs)


@style.applied()
def draw(data: Runs, title: str) -> Figure:
    """The figure: a row for each run, with the original histogram of a dataset and two estimates.

    The estimates are those of the Gaussian and of shuffle+INV. Histograms are maps if the dataset's cells
    form a grid, and step lines if they do not. ``title`` is that of the dataset.
    """
    sizes = wording.listing(sorted({run.n for run in data.runs}))
    heading = f"Original and estimated histograms, {wording.literal(title)}: n = {sizes}"
    draw_runs = _draw_maps if on_a_grid(data.histogram) else _draw_steps
    figure = draw_runs(data.histogram, data.runs)
    figure.suptitle(
        wording.folded(f"{heading}, k = {len(data.histogram):,}", style.WIDTH - 0.4, size=9)
    )
    return figure


def _draw_maps(histogram: pd.DataFrame, runs: list[Run]) -> Figure:
    """A figure of maps: for each run a row with the original and the estimates.

    Every cell has the colour of its fraction of users, on one logarithmic scale. The scale begins at one user
    of the largest n. Cells with 0 and negative cells have an entry in the legend.
    """
    x, y = grid_edges(histogram)
    box = (x[0], x[-1], y[0], y[-1]) if on_a_map(histogram) else None  # None: edges without degrees
    high = MAP_WIDTH * (maps.proportion(box) if box else len(y) / len(x))  # inches
    bins = 3 if box else 4  # numbers at an axis, of which degrees have more digits
    values = pd.concat([run.table[SHOWN] for run in runs])
    norm = maps.count_norm(1 / max(run.n for run in runs), float(values.to_numpy().max()))

    def draw_map(axes: Axes, shares: "pd.Series[float]") -> Any:
        """Draw the fraction of users of each cell; returns the image, for the colour bar."""
        return maps.heatmap(axes, (x, y), on_grid(histogram, shares), norm)

    figure = style.new_figure(1.3 + (high + 0.22) * len(runs), layout="compressed")
    panels = figure.subplots(len(runs), len(SHOWN), squeeze=False)
    for row, run in enumerate(runs):
        # Only maps at the left and at the bottom have numbers and a name beside them. The two flags of names,
        # and of numbers, are for the horizontal and for the vertical axis.
        last = row == len(runs) - 1
        for axes, shown in zip(panels[row], SHOWN, strict=True):
            first = shown == SHOWN[0]
            axes.set_title(run.title(shown))
            image = draw_map(axes, run.table[shown])
            maps.map_axes(axes, box, names=(last, first), numbers=(last, first), bins=bins)
        left = panels[row, 0]
        budget = wording.row_label(run.budget(), high + 0.1)
        left.set_ylabel(f"{budget}\n{left.get_ylabel()}")

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
    handles: list[Artist] = [
        maps.empty("0: an empty cell, or an estimate that the projection cut to 0")
    ]
    if negative:
        signs_fit = maps.signs_fit((len(y) - 1, len(x) - 1))
        handles.append(_legend_of_negative(as_signs=signs_fit))
    style.below(figure, handles)
    return figure


def _legend_of_negative(*, as_signs: bool) -> Artist:
    """The entry of the legend for negative cells, which are drawn as minus signs, or else as a colour."""
    colour = style.COLOURS["gaussian"]
    if as_signs:
        look: Any = {"marker": "_", "markersize": 5, "markeredgewidth": 0.9, "linestyle": ""}
        return style.line("negative", color=colour, **look)
    return Patch(facecolor=colour, label="negative")


def _draw_steps(histogram: pd.DataFrame, runs: list[Run]) -> Figure:
    """A figure with a panel per run: the fraction of users that each cell holds, as steps over the cells.

    The original is a grey area. The estimates of the Gaussian and of shuffle+INV are lines. Below the last
    panel stand the numbers of the cells, or their names if ``histogram`` has a column label.
    """
    # Inches: 1.7 for a panel, of which about 1.6 are inside of its frame, and 0.9 for the rest.
    figure = style.new_figure(0.9 + 1.7 * len(runs))
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    edges = np.arange(len(histogram) + 1) + 0.5  # cell 1 reaches from 0.5 to 1.5
    for axes, run in zip(panels, runs, strict=True):
        axes.stairs(run.table["original"], edges, fill=True, color="#bdbdbd", label="original")
        for name in MECHANISMS:
            look: Any = {"color": style.COLOURS[name], "label": style.LABELS[name]}
            axes.stairs(run.table[name], edges, linewidth=0.9, **look)
        axes.axhline(0, color=style.INK, linewidth=0.5)
        axes.set_xlim(edges[0], edges[-1])
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        # Both mechanisms with their total variation (TV) errors.
        axes.set_title("; ".join(map(run.title, MECHANISMS)))
        # The budget is folded to lines that fit beside the panel.
        budget = wording.row_label(run.budget(), inches=1.6)
        axes.set_ylabel(f"{budget}\nfraction of users")

    if "label" in histogram:
        _name_cells(panels[-1], histogram["label"].tolist())
    else:
        panels[-1].set_xlabel("cell")
    style.below(figure, panels[0].get_legend_handles_labels()[0])
    return figure


def _name_cells(axes: Axes, labels: list[str]) -> None:
    """Write the names of the cells below the steps, but at most `MOST_NAMES` names, evenly chosen.

    Long names are cut. If the names do not fit beside each other, they stand upright.
    """
    every = math.ceil(len(labels) / MOST_NAMES)
    names = [
        wording.literal(label if len(label) < 25 else f"{label[:23]}…") for label in labels[::every]
    ]
    upright = sum(map(len, names)) > 90  # characters that fit beside each other
    axes.set_xticks(range(1, len(labels) + 1, every), names, rotation=90 if upright else 0)


def caption(data: Runs, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: what is shown, how many estimates are negative, and how the Gaussian's noise was chosen.

    ``title`` is that of the dataset. ``protocol`` is the config's section on the Gaussian's noise, with
    delta_form, delta_floor and sensitivity.
    """
    # In how many cells the Gaussian's estimate is negative, run by run.
    negatives = [int((run.table["gaussian"] < 0).sum()) for run in data.runs]
    # All of them are listed, also those of many runs.
    numbers = wording.listing(negatives, at_most=len(negatives))
    subject = (
        f"Original histogram of {title} and one estimate from each mechanism, with the total variation (TV)"
        " error; one row per budget."
    )
    negative = (
        "As in the paper, only shuffle+INV is projected onto the simplex, so"
        f" {numbers} of the Gaussian's {len(data.histogram):,} shares are negative."
    )
    return f"{subject} {negative} {calibration_text(protocol)}"


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        runs = read(snakemake.input.histogram, snakemake.input.estimates)
        text = caption(runs, params.title, params.protocol)
        write_figure(draw(runs, params.title), text, snakemake.output)
