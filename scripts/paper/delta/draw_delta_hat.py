"""delta-hat over eps < eps0: as printed, exact, and the proven bound, on an axis for numbers of any depth."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from scripts.paper.delta.compute_delta_hat import SMALLEST_FLOAT
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import groups, read_table

SETTING = ["dataset", "n", "k", "eps0"]
COLUMNS = [*SETTING, "eps", "published", "exact", "upper", "diffprivlib"]
LINES = {  # column: (label, colour)
    "published": ("δ̂ as printed", style.PUBLISHED),
    "exact": ("δ̂ exact", style.TRUE),
    "upper": ("proven bound, whole histogram", style.ALL_COUNTS),
}
DEPTHS = (1, 10, 100, 1000, 10_000)  # -log10 of the deltas that the axis numbers
GREY = "#777777"


def read(paths: Sequence[StrPath]) -> pd.DataFrame:
    """The tables of all datasets as one."""
    return pd.concat([read_table(path, COLUMNS) for path in paths], ignore_index=True)


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> Figure:
    """A panel per dataset, n and eps0; ``titles``: dataset -> its title; ``floor``: delta of our rerun."""
    settings = list(groups(table, SETTING, sort=False))
    columns = min(2, len(settings))
    lines = -(-len(settings) // columns)
    figure = style.new_figure(0.7 + 2.2 * lines)
    panels = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
    for axes, ((dataset, n, k, eps0), rows) in zip(panels, settings, strict=False):
        _draw_panel(axes, rows, floor)
        name = wording.literal(titles.get(dataset, dataset))
        axes.set_title(f"{name}: n = {n:,}, k = {k:,}, ε₀ = {eps0:g}")
        axes.set_xlabel("ε")
    deepest = float(-table["published"].min())
    panels[0].set_yscale("log")
    panels[0].set_ylim(2 * max(deepest, SMALLEST_FLOAT), 1)
    panels[0].yaxis.set_major_locator(FixedLocator(DEPTHS))
    panels[0].yaxis.set_minor_locator(NullLocator())
    panels[0].yaxis.set_major_formatter(lambda depth, _: f"$10^{{-{depth:g}}}$")
    for axes in panels[len(settings) :]:
        axes.set_axis_off()
    for axes in panels[: len(settings) : columns]:
        axes.set_ylabel("δ")

    handles = [style.line(label, color=colour) for label, colour in LINES.values()]
    style.below(figure, handles)
    figure.suptitle("δ̂, the largest δ of a count that occurs, where it is not 0: ε < ε₀")
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame, floor: float) -> None:
    """The three deltas of one setting, and the depths at which the rerun and its library stop."""
    for column, (_, colour) in LINES.items():
        axes.plot(rows["eps"], -rows[column], color=colour, marker=".", markersize=3)
    axes.grid(axis="y")
    levels = [
        ("diffprivlib's search stops", float(-rows["diffprivlib"].median()), "bottom"),
        ("our floor", float(-np.log10(floor)), "top"),
        ("smallest float", SMALLEST_FLOAT, "top"),
    ]
    place = axes.get_yaxis_transform()
    for label, depth, beside in levels:
        axes.axhline(depth, color=GREY, linewidth=0.6, linestyle=(0, (3, 2)))
        axes.text(0.01, depth, label, transform=place, va=beside, fontsize=7, color=GREY)


def caption(table: pd.DataFrame, titles: Mapping[str, str], floor: float) -> str:
    """The caption: how far the printed delta-hat lies below the exact one, and what the levels are."""
    gaps = table["exact"] - table["published"]
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
        table = read(snakemake.input)
        text = caption(table, settings["titles"], settings["floor"])
        write_figure(draw(table, settings["titles"], settings["floor"]), text, snakemake.output)
