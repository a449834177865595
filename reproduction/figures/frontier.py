"""k-RR with dummies: error over messages per user, one panel per setting."""

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from reproduction.figures import style
from reproduction.figures.looks import COLOURS
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import significant, typeset

# One row per setting and eps0.
COLUMNS = ["n", "k", "eps", "delta", "eps0", "messages", "ratio"]
SETTING = ["n", "k", "eps"]
APART = 0.09  # of the panel's sides, between two points whose eps0 is written

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: one panel per setting, the ratio of errors over messages per user, with eps0 beside it."""
    settings = list(groups(table, SETTING, sort=False))
    columns = min(len(settings), 2)
    lines = -(-len(settings) // columns)
    figure = style.new_figure(0.6 + 2.3 * lines)
    panels = figure.subplots(lines, columns, sharey=True, squeeze=False).ravel()
    lowest, highest = min(table["ratio"].min(), 1.0), max(table["ratio"].max(), 1.0)
    ends = lowest - 0.08 * (highest - lowest), highest + 0.15 * (highest - lowest)
    colour = COLOURS["grr"]
    for axes, ((n, k, eps), rows) in zip(panels, settings, strict=False):
        axes.plot(rows["messages"], rows["ratio"], color=colour, linewidth=1.2, marker="o", markersize=2.5)
        for marker, end in zip("sD", (rows.iloc[0], rows.iloc[-1]), strict=True):
            axes.plot(end["messages"], end["ratio"], marker, color=colour, markersize=5)
        width = max(rows["messages"].max() - 1, 0.01)
        axes.set(xlim=(1 - 0.05 * width, 1 + 1.12 * width), ylim=ends)
        for _, row in _apart(rows, width, ends[1] - ends[0]).iterrows():
            budget = "∞" if row["eps0"] == math.inf else f"{row['eps0']:.3g}"
            where = row["messages"], row["ratio"]
            axes.annotate(budget, where, xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.axhline(1, color=COLOURS["gaussian"], linewidth=0.9, linestyle="--", zorder=1)
        axes.set_title(f"n = {n:,}, k = {k:,}, ε = {eps:g}")
        axes.grid()
    for axes in panels[len(settings) :]:
        axes.set_visible(False)
    for axes in panels[len(settings) - columns : len(settings)]:
        axes.set_xlabel("messages per user")
    figure.supylabel("TV error / TV error of the Gaussian", fontsize=8)
    colours: Any = {"color": colour}
    handles = [
        style.line("k-RR alone", marker="s", markersize=5, linestyle="", **colours),
        style.line("k-RR with dummies (number: ε₀)", marker="o", markersize=2.5, **colours),
        style.line("dummies alone", marker="D", markersize=5, linestyle="", **colours),
        style.line("Gaussian", color=COLOURS["gaussian"], linewidth=0.9, linestyle="--"),
    ]
    style.below(figure, handles)
    return figure


def _apart(rows: pd.DataFrame, width: float, height: float) -> pd.DataFrame:
    """The rows whose eps0 have room: both ends, and of those between every one far enough from the last."""
    last, end = rows.iloc[0], rows.iloc[-1]
    kept = [rows.index[0]]
    for index, row in rows.iloc[1:-1].iterrows():
        gaps = [
            max(abs(row["messages"] - other["messages"]) / width, abs(row["ratio"] - other["ratio"]) / height)
            for other in (last, end)
        ]
        if min(gaps) >= APART:
            kept.append(index)
            last = row
    return rows.loc[[*kept, rows.index[-1]]]


def caption(table: pd.DataFrame) -> str:
    """The caption: what is compared, and both ends of every panel."""
    ends = []
    for (n, k, eps), rows in groups(table, SETTING, sort=False):
        alone, most = rows.iloc[0], rows.iloc[-1]
        ends.append(
            f" n = {n:,}, k = {k:,}, ε = {eps:g}: {alone['ratio']:.2f} with ε₀ ="
            f" {alone['eps0']:.2f}, and {most['ratio']:.2f} with {significant(most['messages'] - 1)} dummies"
            " per user."
        )
    return (
        "Expected total variation (TV) error of k-RR with dummies, over that of the central Gaussian"
        " mechanism with the same (ε, δ), by messages per user. Dummies are uniform values that the shuffler"
        " adds. The numbers are ε₀, which is left if the shuffler fails.\n\n"
        f"δ = {typeset(table['delta'].iloc[0])}, uniform data, unbiased estimates, no projection. Each point"
        " has the fewest dummies that the rigorous upper bound allows. At ε₀ = ∞ users send the values"
        f" themselves, and nothing is left if the shuffler fails. Both ends of the lines:{''.join(ends)}"
    )
