"""delta-hat over eps < eps0: as printed and exact, on an axis for numbers of any depth.

The depth of a delta is -log10 of it: 30 for 1e-30. The axis shows the depth on a logarithmic scale, so that
1e-10 and 1e-10,000 have a place.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from scripts.paper.delta.delta_hat_gap import orders_below_exact, points_below_floats
from scripts.paper.delta.delta_hat_table import DEPTH_OF_SMALLEST_FLOAT, SETTING
from scripts.paper.delta.setting_panels import points_in_words, setting_panels
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_tables

COLUMNS = [*SETTING, "eps", "published", "exact", "diffprivlib"]
LINES = {  # column with log10 of deltas: (label, colour)
    "published": ("δ̂ as printed", style.PUBLISHED),
    "exact": ("δ̂ exact", style.TRUE),
}
NUMBERED_DEPTHS = (1, 10, 100, 1000, 10_000)  # -log10 of the deltas that stand at the axis
GREY = "#777777"
HOW_TO_READ = (
    "The axis of δ is logarithmic in the exponent. Drawn is the largest n of each dataset."
)


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> Figure:
    """The figure: a panel for every dataset and eps0 at the largest n, with both forms of delta-hat over eps.

    Parameters
    ----------
    table: that of `compute_delta_hat` for all datasets
    titles: dataset -> its title
    floor: a delta, drawn as a level. In the paper's trials the Gaussian has it where delta-hat is smaller
    """
    figure, panels = panels_of_deltas(table, titles, LINES)
    for axes, rows in panels:
        _draw_levels(axes, rows, floor)
    figure.suptitle("δ̂, the largest δ of a count that occurs, where it is not 0: ε < ε₀")
    return figure


def panels_of_deltas(
    table: pd.DataFrame, titles: Mapping[str, str], lines: Mapping[str, tuple[str, str]]
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A figure with a panel for every dataset and eps0 at the largest n, with deltas over eps, and a legend.

    All panels share the vertical axis. It shows the depth, -log10 of delta, on a logarithmic scale. The depth
    grows downwards, from 1 to twice the largest one.

    ``lines``: column of ``table`` with log10 of deltas -> label and colour of its line. ``table`` has a row
    for every dataset, n, k, eps0 and eps. ``titles``: dataset -> its title. Returned are the figure, and each
    panel with its rows of the table.
    """
    figure, panels = setting_panels(table, titles, other_inches=0.7, ylabel="δ", sharey=True)
    for axes, rows in panels:
        for column, (_, colour) in lines.items():
            axes.plot(rows["eps"], -rows[column], color=colour, marker=".", markersize=3)
        axes.grid(axis="y")

    axes, _ = panels[0]
    deepest = float(-table[list(lines)].min().min())
    axes.set_yscale("log")
    axes.set_ylim(2 * max(deepest, DEPTH_OF_SMALLEST_FLOAT), 1)
    axes.yaxis.set_major_locator(FixedLocator(NUMBERED_DEPTHS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda depth, _: f"$10^{{-{depth:g}}}$")

    handles = [style.line(label, color=colour) for label, colour in lines.values()]
    style.below(figure, handles)
    return figure, panels


def _draw_levels(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    """Draw three levels of delta in a panel, dashed; ``rows`` of the table are the panel's."""
    depth_of_library = float(-rows["diffprivlib"].median())
    depth_of_floor = float(-np.log10(floor))
    # The first two may be near each other: the label of the upper one is above its line, the other's below.
    library_edge, floor_edge = "bottom", "top"
    if depth_of_floor < depth_of_library:
        library_edge, floor_edge = floor_edge, library_edge
    # Each level: its label, its depth, and which edge of the label lies on the dashed line.
    levels = [
        ("diffprivlib's search stops", depth_of_library, library_edge),
        ("our floor", depth_of_floor, floor_edge),
        ("smallest float", DEPTH_OF_SMALLEST_FLOAT, "bottom"),
    ]
    share_and_depth = axes.get_yaxis_transform()  # x is a share of the panel's width, y a depth
    for label, depth, edge in levels:
        axes.axhline(depth, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
        axes.text(0.01, depth, label, transform=share_and_depth, va=edge, fontsize=7, color=GREY)


def caption(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> str:
    """The caption: how far the printed delta-hat lies below the exact one, and what the dashed lines are.

    The arguments are those of `draw`.
    """
    orders = orders_below_exact(table)

    gap = (
        f"As printed, δ̂ (eq. 15) lies {orders.low:,.0f} to {orders.high:,.0f} orders of magnitude below the"
        " exact δ̂ of the same histogram."
    )
    below_floats = (
        f"At {points_below_floats(table)} of the {len(table)} points it is below every float: a program gets"
        " 0, for which no Gaussian mechanism exists."
    )
    points = f"The points: {points_in_words(table, titles)}."
    no_guarantee = "The exact δ̂ is still the δ of one count in one dataset, and no guarantee."
    dashed = (
        "Dashed lines: where the noise of diffprivlib's analytic Gaussian stops growing (the median over ε);"
        f" {wording.typeset(floor)}, which the Gaussian of our rerun has where δ̂ is smaller; and the"
        " smallest float."
    )
    return f"{gap} {below_floats} {points} {no_guarantee} {dashed} {HOW_TO_READ}"


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read_tables(snakemake.input, COLUMNS)
        text = caption(table, params.titles, params.floor)
        write_figure(draw(table, params.titles, params.floor), text, snakemake.output)
