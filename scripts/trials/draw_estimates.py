"""One run's estimates and their signed errors: heatmaps below the original, or step lines without a grid."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.shared import style, wording
from scripts.shared.histograms import Edges, grid_edges, on_a_grid, on_a_map, on_grid
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import groups, read_table
from scripts.trials.draw_tv import AS_PUBLISHED, published
from scripts.trials.metrics import total_variation
from tightshuffle.arguments import Floats

MAP = 1.38  # inches, the width of a map
NAMED = 60  # cells with a name below them at most
MECHANISMS = ["gaussian", "shuffle+INV"]
COLUMNS = ["cell", "original", *MECHANISMS]
Estimators = Mapping[str, str]  # mechanism -> "unprojected" or "projected"
RUN = ["eps0", "eps", "n", "delta"]  # the columns that identify a run, in the order of the rows of panels
SIGNED = matplotlib.colormaps["RdBu_r"].with_extremes(bad=style.EMPTY)  # blue: too few


class Run(NamedTuple):
    """One run: its parameters and a table of the fractions of users per cell, original and estimated."""

    eps0: float
    eps: float
    n: int
    delta: float
    table: pd.DataFrame

    def budget(self) -> str:
        return wording.budget(self.eps0, self.eps, self.delta)

    def distance(self, mechanism: str) -> str:
        """TV error of an estimate, in two digits."""
        return wording.significant(float(total_variation(self.table[mechanism], self.table["original"])))


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


def draw(data: Runs, title: str) -> Figure:
    """The figure: the original, and a row per budget with each estimate and its error; or step lines."""
    return draw_runs(data, title, AS_PUBLISHED, {"gaussian": "unprojected", "shuffle+INV": "projected"})


def caption(data: Runs, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: every parameter, TV errors, the Gaussian; ``protocol`` is that section of the config."""
    below = [int((run.table["gaussian"] < 0).sum()) for run in data.runs]
    negative = (
        " The Gaussian estimates are not projected onto the simplex:"
        f" {wording.listing(below, at_most=len(below))} of the {len(data.histogram):,} shares are negative."
    )
    return caption_of_runs(data, title, AS_PUBLISHED, f"{negative}\n\n{published(protocol)}")


@style.applied()
def draw_runs(data: Runs, title: str, calibrated: str, estimators: Estimators) -> Figure:
    """The figure; ``calibrated`` names the Gaussian's calibration, ``estimators`` what is projected."""
    sizes = wording.listing(sorted({run.n for run in data.runs}))
    heading = (
        f"Original and estimated histograms, {wording.literal(title)}: n = {sizes},"
        f" k = {len(data.histogram):,}, {calibrated}"
    )
    figure = (_maps if on_a_grid(data.histogram) else _steps)(*data, estimators)
    figure.suptitle(wording.folded(heading, style.WIDTH - 0.4, size=9))
    return figure


def _maps(histogram: pd.DataFrame, runs: list[Run], estimators: Estimators) -> Figure:
    """The original once, with the colour scales; below, a row per run: each estimate and its error."""
    x, y = edges = grid_edges(histogram)
    box = (x[0], x[-1], y[0], y[-1]) if on_a_map(histogram) else None
    high = MAP * (style.proportion(box) if box else len(y) / len(x))  # inches
    heights = [max(high, 0.9) + 0.2, *[high + 0.2] * len(runs)]
    figure = style.new_figure(0.7 + sum(heights), layout="compressed")
    grid = figure.add_gridspec(len(heights), 2 * len(MECHANISMS), height_ratios=heights)
    tables = [run.table for run in runs]
    unit = 1 / max(run.n for run in runs)
    norm = style.count_norm(unit, max(float(table[COLUMNS[1:]].to_numpy().max()) for table in tables))
    errors = [table[MECHANISMS].sub(table["original"], axis=0) for table in tables]
    signed = _error_norm(unit, max(float(error.abs().to_numpy().max()) for error in errors))

    def panel(row: int, column: int, values: "pd.Series[float]", title: str) -> Any:
        axes = figure.add_subplot(grid[row, column])
        form: Any = _errors if column % 2 else style.heatmap
        image = form(axes, edges, on_grid(histogram, values), signed if column % 2 else norm)
        axes.set_title(title)
        outer = (row == len(runs), column == 0)
        style.map_axes(axes, box, names=outer, numbers=outer, bins=3 if box else 4)
        if row and column == 0:
            axes.set_ylabel(f"{wording.row_label(runs[row - 1].budget(), high + 0.1)}\n{axes.get_ylabel()}")
        return image

    same = all(table["original"].equals(tables[0]["original"]) for table in tables)
    shares = panel(0, 0, tables[0]["original"], "original" if same else "original of the first row")
    for row, (run, error) in enumerate(zip(runs, errors, strict=True), start=1):
        for place, name in enumerate(MECHANISMS):
            panel(row, 2 * place, run.table[name], f"{style.LABELS[name]}, {estimators[name]}")
            image = panel(row, 2 * place + 1, error[name], f"error (TV = {run.distance(name)})")
    negative = any((table[MECHANISMS].to_numpy() < 0).any() for table in tables)
    _scales(figure.add_subplot(grid[0, 1:]), shares, image, heights[0] - 0.2, negative=negative)
    return figure


def _errors(axes: Axes, grid: Edges, values: Floats, norm: SymLogNorm) -> Any:
    """One signed error per cell; ``grid`` and ``values`` as in `style.heatmap`."""
    return style.image(axes, grid, np.ma.masked_invalid(values), norm=norm, cmap=SIGNED)


def _error_norm(unit: float, largest: float) -> SymLogNorm:
    """The colour scale of errors up to ``largest``: logarithmic on both sides, linear within ``unit``."""
    end = max(largest, 10 * unit)
    return SymLogNorm(unit, linscale=0.5, vmin=-end, vmax=end, base=10)


def _scales(axes: Axes, shares: Any, signed: Any, inches: float, *, negative: bool) -> None:
    """The colour bars of shares and of signed errors, and what is outside the first, in axes of their own.

    ``inches`` is the height of ``axes``; ``negative``: whether a share is below 0.
    """
    axes.set(xticks=[], yticks=[])
    axes.set_axis_off()
    figure: Any = axes.figure
    bars = [
        (shares, "fraction of users per cell", "min" if negative else "neither"),
        (signed, "estimate − original", "neither"),
    ]
    for number, (image, label, extend) in enumerate(bars):
        place = axes.inset_axes((0.06, 1 - (0.24 + 0.44 * number) / inches, 0.37, 0.1 / inches))
        bar = figure.colorbar(image, cax=place, orientation="horizontal", extend=extend)
        bar.minorticks_off()
        place.text(1.08, 0.5, label, transform=place.transAxes, va="center")
    low, high = (math.log10(end) for end in (signed.norm.linthresh, signed.norm.vmax))
    powers = 10.0 ** np.arange(math.ceil(low + 0.5), math.ceil(high))[::-2]  # room for the 0 between them
    bar.set_ticks([*-powers, 0, *powers[::-1]])
    handles: list[Artist] = [style.empty()]
    colour = style.COLOURS["gaussian"]
    if negative and style.signs_fit(shares.get_array().shape):
        minus: Any = {"marker": "_", "markersize": 5, "markeredgewidth": 0.9, "color": colour}
        handles.append(style.line("negative", linestyle="", **minus))
    elif negative:
        handles.append(Patch(facecolor=colour, label="negative"))
    axes.legend(handles=handles, loc="upper right", borderpad=0, labelspacing=0.8)


def _steps(histogram: pd.DataFrame, runs: list[Run], estimators: Estimators) -> Figure:
    """A row per run: the original as an area, the estimates as lines."""
    figure = style.new_figure(0.9 + 1.7 * len(runs))
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    edges = np.arange(len(histogram) + 1) + 0.5
    for axes, run in zip(panels, runs, strict=True):
        axes.stairs(run.table["original"], edges, fill=True, color="#bdbdbd", label="original")
        for name in MECHANISMS:
            look: Any = {"color": style.COLOURS[name], "linewidth": 0.9, "label": style.LABELS[name]}
            axes.stairs(run.table[name], edges, **look)
        axes.axhline(0, color=style.INK, linewidth=0.5)
        axes.set_xlim(edges[0], edges[-1])
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        named = [
            f"{style.LABELS[name]} ({estimators[name]}), TV = {run.distance(name)}" for name in MECHANISMS
        ]
        axes.set_title("; ".join(named))
        axes.set_ylabel(f"{wording.row_label(run.budget(), 1.6)}\nfraction of users")
    if "label" in histogram:
        _name_cells(panels[-1], histogram["label"].tolist())
    else:
        panels[-1].set_xlabel("cell")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _name_cells(axes: Axes, labels: list[str]) -> None:
    """Your own names below the steps, at most `NAMED` of them; long ones stand upright and are cut."""
    every = math.ceil(len(labels) / NAMED)
    names = [wording.literal(label if len(label) < 25 else f"{label[:23]}…") for label in labels[::every]]
    upright = sum(map(len, names)) > 90  # characters that fit beside each other
    axes.set_xticks(range(1, len(labels) + 1, every), names, rotation=90 if upright else 0)


def caption_of_runs(data: Runs, title: str, calibrated: str, paragraphs: str) -> str:
    """The caption of `draw_runs`; ``paragraphs``: what is projected, how the Gaussian was calibrated."""
    histogram, runs = data
    distances = " ".join(
        f"TV error at {run.budget()}, n = {run.n:,}: "
        + ", ".join(f"{style.LABELS[name]} {run.distance(name)}" for name in MECHANISMS)
        + "."
        for run in runs
    )
    colours, scales = " The grey area is the original, the lines are the estimates.", ""
    if on_a_grid(histogram):
        colours = " Errors are estimate − original: red too high, blue too low."
        scales = " Colours are logarithmic, for errors on both sides, from one user's share 1/n on."
    return (
        f"Original histogram and one estimate from each mechanism, {title}, {calibrated}, one row per budget."
        f"{colours} TV is the total variation error.\n\n"
        f"k = {len(histogram):,}. {distances}{scales}{paragraphs}"
    )


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        runs = read(snakemake.input.histogram, snakemake.input.estimates)
        text = caption(runs, params.title, params.protocol)
        style.write_figure(draw(runs, params.title), text, snakemake.output)
