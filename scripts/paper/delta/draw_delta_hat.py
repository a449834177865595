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

from scripts.paper.delta.compute_delta_hat import SETTING, SMALLEST_FLOAT
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
DEPTHS = (1, 10, 100, 1000, 10_000)  # that the axis numbers
GREY = "#777777"


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> Figure:
    """The figure: a panel for every dataset, n and eps0, with a line for each of three deltas over eps.

    They are delta-hat, the largest delta of a count that occurs, as the paper prints it and exactly, and a
    proven bound on the delta of the whole histogram. ``table`` has log10 of them in the columns published,
    exact and upper, with a row for every dataset, n, eps0 and eps. ``titles``: dataset -> its title.
    ``floor``: the delta that the Gaussian has in the paper's trials where delta-hat is smaller.
    """
    figure, panels = setting_panels(table, titles, around=0.7, ylabel="δ", sharey=True)
    for axes, rows in panels:
        _draw_panel(axes, rows, floor)

    # All panels share the axis of depths, -log10 of delta. It points downwards.
    axes = panels[0][0]
    deepest = float(-table["published"].min())
    axes.set_yscale("log")
    axes.set_ylim(2 * max(deepest, SMALLEST_FLOAT), 1)
    axes.yaxis.set_major_locator(FixedLocator(DEPTHS))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda depth, _: f"$10^{{-{depth:g}}}$")

    handles = [style.line(label, color=colour) for label, colour in LINES.values()]
    style.below(figure, handles)
    figure.suptitle("δ̂, the largest δ of a count that occurs, where it is not 0: ε < ε₀")
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    """Draw the three deltas of one setting over eps, and three dashed lines at levels of delta.

    The vertical axis is the depth of a delta, which is -log10 of it. ``rows`` has log10 of the deltas as
    printed, exact, of the proven bound, and of diffprivlib's largest noise. ``floor`` is a delta.
    """
    for column, (_, colour) in LINES.items():
        axes.plot(rows["eps"], -rows[column], color=colour, marker=".", markersize=3)
    axes.grid(axis="y")

    # Label and depth of each level, and whether the label stands on its bottom or hangs from its top.
    levels = [
        ("diffprivlib's search stops", float(-rows["diffprivlib"].median()), "bottom"),
        ("our floor", float(-np.log10(floor)), "top"),
        ("smallest float", SMALLEST_FLOAT, "top"),
    ]
    place = axes.get_yaxis_transform()  # x as a share of the panel's width, y as a depth
    for label, depth, edge in levels:
        axes.axhline(depth, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
        axes.text(0.01, depth, label, transform=place, va=edge, fontsize=7, color=GREY)


def caption(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> str:
    """The caption: how far the printed delta-hat lies below the exact one, and what the dashed lines are.

    delta-hat is the largest delta of a count that occurs. ``table`` has log10 of it in the columns published
    and exact, with a row for every point of the figure. ``titles``: dataset -> its title. ``floor``: the
    delta that the Gaussian has in the paper's trials where delta-hat is smaller.
    """
    gaps = table["exact"] - table["published"]  # orders of magnitude
    beyond_floats = int((table["published"] < -SMALLEST_FLOAT).sum())
    datasets = wording.listing([titles.get(name, name) for name in table["dataset"].unique()])

    gap = (
        f"As printed, δ̂ (eq. 15) lies {gaps.min():,.0f} to {gaps.max():,.0f} orders of magnitude below the"
        f" exact δ̂ of the same histogram, on {datasets}."
    )
    no_noise = (
        f"At {beyond_floats} of the {len(table)} points it is below every float: a program gets 0, for which"
        " no Gaussian mechanism exists."
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
    return f"{gap} {no_noise} {no_guarantee} {dashed} {axes}"


if __name__ == "__main__":
    with job() as snakemake:
        settings = snakemake.params.settings
        table = read_tables(snakemake.input, COLUMNS)
        text = caption(table, settings["titles"], settings["floor"])
        write_figure(draw(table, settings["titles"], settings["floor"]), text, snakemake.output)
