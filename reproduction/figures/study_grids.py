"""Errors on one city, by the number of cells that it is cut into."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reproduction.figures import style, wording
from reproduction.figures.looks import COLOURS, LABELS, MARKERS, legend
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import typeset

# One row per grid, eps, mechanism and estimator.
COLUMNS = [
    "n", "k", "eps", "delta", "randomizer", "eps0", "estimator", "mean", "predicted", "uniform",
    "repetitions", "columns", "rows",
]  # fmt: skip

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame, title: str) -> Figure:
    """The figure: one panel per eps, TV error over the number of cells; ``title`` is the city's."""
    budgets = list(groups(table, "eps"))
    figure = style.new_figure(3.2)
    panels = figure.subplots(1, len(budgets), sharey=True, squeeze=False)[0]
    errors = table.loc[table["estimator"] == "projection", "mean"]
    cells = table.drop_duplicates("k").sort_values("k")
    for axes, (eps, here) in zip(panels, budgets, strict=True):
        for name, rows in groups(here, "randomizer", sort=False):
            plain, projected = (rows[rows["estimator"] == kind] for kind in ("inversion", "projection"))
            axes.plot(plain["k"], plain["predicted"], color=COLOURS[name], linewidth=0.9, linestyle=":")
            look: Any = {"marker": MARKERS[name], "markersize": 3.5, "linewidth": 1.2}
            axes.plot(projected["k"], projected["mean"], color=COLOURS[name], **look)
        axes.plot(cells["k"], cells["uniform"], color=style.UNIFORM[0], linestyle=style.UNIFORM[1])
        axes.set(xscale="log", yscale="log", xlabel="columns × rows of cells")
        heading = f"{wording.literal(title)}, ε = {eps:g}"
        axes.set_title(wording.folded(heading, style.WIDTH / len(budgets) - 0.6))
        axes.set_xticks(
            cells["k"],
            [f"{columns} × {rows}" for columns, rows in zip(cells["columns"], cells["rows"], strict=True)],
        )
        axes.tick_params(axis="x", rotation=35)
        axes.set_xticks([], minor=True)
        axes.grid(axis="y")
        axes.set_ylim(errors.min() / 1.6, 2)
    panels[0].set_ylabel("TV error")
    handles = legend(list(dict.fromkeys(table["randomizer"])))
    handles += [
        Line2D([], [], color=style.UNIFORM[0], linestyle=style.UNIFORM[1], label="uniform histogram"),
        Line2D([], [], color=style.INK, linewidth=1.2, label="projected, measured"),
        Line2D([], [], color=style.INK, linewidth=0.9, linestyle=":", label="unprojected, closed form"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def caption(table: pd.DataFrame, title: str) -> str:
    """The caption, with the finest grid on which each mechanism beats the uniform histogram by a half."""
    projected = table[table["estimator"] == "projection"]
    good = projected[projected["mean"] <= projected["uniform"] / 2]
    finest = []
    for eps, rows in groups(projected, "eps"):
        cells = good[good["eps"] == eps].groupby("randomizer")["k"].max()
        most: dict[str, list[str]] = {}  # number of cells -> who reaches it
        for name in dict.fromkeys(rows["randomizer"]):
            most.setdefault(f"{cells[name]:,}" if name in cells else "none", []).append(LABELS[name])
        each = [f"{number} for {wording.listing(names)}" for number, names in most.items()]
        finest.append(f" At ε = {eps:g}: {'; '.join(each)}.")
    return (
        f"Total variation (TV) error on {title} by the number of cells, for randomizers behind a shuffler and"
        " for the central Gaussian mechanism. Solid: measured, projected onto the simplex. Dotted: closed"
        " form without projection. Dashed: the uniform histogram, which ignores the data.\n\n"
        f"All {table['n'].iloc[0]:,} check-ins, cut in {table['k'].nunique()} ways into {table['k'].min():,}"
        f" to {table['k'].max():,} cells. Every mechanism has (ε, {typeset(table['delta'].iloc[0])}). Errors"
        f" are means of {table['repetitions'].iloc[0]} repetitions. To project is to take the nearest shares"
        " that are not negative and sum to 1. Listed is the largest number of cells at which the error is at"
        f" most half that of the uniform histogram.{''.join(finest)}"
    )
