"""delta-hat over eps < eps0: as printed, exact, and the proven bound, on an axis for numbers of any depth.

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

COLUMNS = [*SETTING, "eps", "published", "exact", "upper", "diffprivlib"]
LINES = {  # column: (label, colour)
    "published": ("δ̂ as printed", style.PUBLISHED),
    "exact": ("δ̂ exact", style.TRUE),
    "upper": ("proven bound, whole histogram", style.ALL_COUNTS),
}
NUMBERED_DEPTHS = (1, 10, 100, 1000, 10_000)  # -log10 of the deltas that stand at the axis
GREY = "#777777"


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> Figure:
    """The figure: a panel for every dataset, n and eps0, with three deltas as lines over eps.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them. The lines are

    - delta-hat by the formula that the paper's Theorem 1 prints;
    - delta-hat by the true deltas;
    - a proven bound on the delta of the whole histogram of reports.

    Parameters
    ----------
    table: a row for every dataset, n, k, eps0 and eps, with log10 of the three deltas in the columns
        published, exact and upper. The column diffprivlib is log10 of the delta that diffprivlib's Gaussian
        has with its largest noise, which is drawn as a level
    titles: dataset -> its title
    floor: a delta, drawn as a level. In the paper's trials the Gaussian has it where delta-hat is smaller
    """
    figure, panels = setting_panels(table, titles, other_inches=0.7, ylabel="δ", sharey=True)
    for axes, rows in panels:
        _draw_panel(axes, rows, floor)

    # All panels share the vertical axis. It shows the depth, -log10 of delta, on a logarithmic scale. The
    # depth grows downwards, from 1 to twice the largest one.
    axes, _ = panels[0]
    deepest = float(-table["published"].min())
    axes.set_yscale("log")
    axes.set_ylim(2 * max(deepest, DEPTH_OF_SMALLEST_FLOAT), 1)
    axes.yaxis.set_major_locator(FixedLocator(NUMBERED_DEPTHS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda depth, _: f"$10^{{-{depth:g}}}$")

    handles = [style.line(label, color=colour) for label, colour in LINES.values()]
    style.below(figure, handles)
    figure.suptitle("δ̂, the largest δ of a count that occurs, where it is not 0: ε < ε₀")
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    """Draw three deltas of one dataset, n and eps0 as lines over eps, and three levels of delta, dashed.

    The vertical axis shows the depth of a delta, which is -log10 of it. ``rows`` has a row for every eps, and
    log10 of deltas in the columns published (delta-hat by the printed formula), exact (the true delta-hat),
    upper (a proven bound for the whole histogram) and diffprivlib (what its largest noise gives). ``floor``
    is a delta, the one that the Gaussian has in the paper's trials where delta-hat is smaller.
    """
    for column, (_, colour) in LINES.items():
        axes.plot(rows["eps"], -rows[column], color=colour, marker=".", markersize=3)
    axes.grid(axis="y")

    # Each level: its label, its depth, and which edge of the label lies on the dashed line.
    levels = [
        ("diffprivlib's search stops", float(-rows["diffprivlib"].median()), "bottom"),
        ("our floor", float(-np.log10(floor)), "top"),
        ("smallest float", DEPTH_OF_SMALLEST_FLOAT, "top"),
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
    no_guarantee = (
        "The exact δ̂ is still the δ of one count in one dataset, and no guarantee; the proven bound, for all"
        " counts and every dataset, is larger."
    )
    dashed = (
        "Dashed lines: where the noise of diffprivlib's analytic Gaussian stops growing (the median over ε);"
        f" {wording.typeset(floor)}, which the Gaussian of our rerun has where δ̂ is smaller; and the"
        " smallest float."
    )
    axes = "The axis is logarithmic in the exponent. One sample of n users each."
    return f"{gap} {below_floats} {no_guarantee} {dashed} {axes}"


if __name__ == "__main__":
    with job() as snakemake:
        settings = snakemake.params.settings
        table = read_tables(snakemake.input, COLUMNS)
        text = caption(table, settings["titles"], settings["floor"])
        write_figure(draw(table, settings["titles"], settings["floor"]), text, snakemake.output)
