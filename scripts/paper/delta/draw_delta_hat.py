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

from scripts.paper.delta.delta_hat_table import DEPTH_OF_SMALLEST_FLOAT, SETTING
from scripts.paper.delta.setting_panels import setting_panels
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
HOW_TO_READ = "The axis is logarithmic in the exponent. One sample of n users each."


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> Figure:
    """The figure: a panel for every dataset, n and eps0, with both forms of delta-hat as lines over eps.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them. The lines are

    - delta-hat by the formula that the paper's Theorem 1 prints;
    - delta-hat by the true deltas.

    Parameters
    ----------
    table: a row for every dataset, n, k, eps0 and eps, with log10 of both deltas in the columns published and
        exact. The column diffprivlib is log10 of the delta that diffprivlib's Gaussian has with its largest
        noise, which is drawn as a level
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
    """A figure with a panel for every dataset, n and eps0, in which deltas are lines over eps; with a legend.

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
    """Draw three levels of delta in the panel of one dataset, n and eps0, dashed.

    The vertical axis shows the depth of a delta, which is -log10 of it. ``rows`` has a row for every eps, and
    log10 of the delta that diffprivlib's largest noise gives in the column diffprivlib. ``floor`` is a delta,
    the one that the Gaussian has in the paper's trials where delta-hat is smaller.
    """
    # Each level: its label, its depth, and which edge of the label lies on the dashed line.
    levels = [
        ("diffprivlib's search stops", float(-rows["diffprivlib"].median()), "bottom"),
        ("our floor", float(-np.log10(floor)), "top"),
        ("smallest float", DEPTH_OF_SMALLEST_FLOAT, "bottom"),
    ]
    share_and_depth = axes.get_yaxis_transform()  # x is a share of the panel's width, y a depth
    for label, depth, edge in levels:
        axes.axhline(depth, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
        axes.text(0.01, depth, label, transform=share_and_depth, va=edge, fontsize=7, color=GREY)


def caption(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> str:
    """The caption: how far the printed delta-hat lies below the exact one, and what the dashed lines are.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them.

    Parameters
    ----------
    table: a row for every point of the figure (a dataset, n, eps0 and eps), with log10 of delta-hat in the
        columns published (by the formula that Theorem 1 prints) and exact (by the true deltas)
    titles: dataset -> its title
    floor: the delta that the Gaussian has in the paper's trials where delta-hat is smaller
    """
    gaps = table["exact"] - table["published"]  # log10 of the exact over the printed delta-hat
    points_below_floats = int((table["published"] < -DEPTH_OF_SMALLEST_FLOAT).sum())
    datasets = wording.listing([titles.get(name, name) for name in table["dataset"].unique()])

    gap = (
        f"As printed, δ̂ (eq. 15) lies {gaps.min():,.0f} to {gaps.max():,.0f} orders of magnitude below the"
        f" exact δ̂ of the same histogram, on {datasets}."
    )
    below_floats = (
        f"At {points_below_floats} of the {len(table)} points it is below every float: a program gets 0, for"
        " which no Gaussian mechanism exists."
    )
    no_guarantee = "The exact δ̂ is still the δ of one count in one dataset, and no guarantee."
    dashed = (
        "Dashed lines: where the noise of diffprivlib's analytic Gaussian stops growing (the median over ε);"
        f" {wording.typeset(floor)}, which the Gaussian of our rerun has where δ̂ is smaller; and the"
        " smallest float."
    )
    return f"{gap} {below_floats} {no_guarantee} {dashed} {HOW_TO_READ}"


if __name__ == "__main__":
    with job() as snakemake:
        settings = snakemake.params.settings
        table = read_tables(snakemake.input, COLUMNS)
        text = caption(table, settings["titles"], settings["floor"])
        write_figure(draw(table, settings["titles"], settings["floor"]), text, snakemake.output)
