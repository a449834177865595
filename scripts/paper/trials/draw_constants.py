"""What hangs on our two constants: shuffle+INV's error over the Gaussian's, by floor and sensitivity."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

COLUMNS = [
    "dataset", "experiment", "end", "eps0", "eps", "n", "repetitions", "shuffle+INV", "standard_error",
    "floor", "sensitivity", "ratio", "low", "high", "confidence",
]  # fmt: skip
ROWS = {  # (experiment, end of its n) -> which points a row of panels has
    ("tv", "smallest"): "Figures 2, 6, 7, smallest n",
    ("tv", "largest"): "Figures 2, 6, 7, largest n",
    ("estimates", "smallest"): "Figures 4, 5, smallest n",
    ("estimates", "largest"): "Figures 4, 5",
}


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure: the total variation (TV) error of shuffle+INV divided by that of the Gaussian mechanism.

    There is a column of panels for every sensitivity, and a row for every experiment and end of its n, as far
    as the table has them. A panel has a line for every dataset and eps, over the floors.

    ``table`` is that of `compute_constants`. ``titles``: dataset -> its title.
    """
    of_row = dict(groups(table, ["experiment", "end"]))
    drawn = [key for key in ROWS if key in of_row]
    colours = dict(zip(table["dataset"].unique(), style.CYCLE, strict=False))
    sensitivities = sorted(table["sensitivity"].unique())
    figure = style.new_figure(0.9 + 1.75 * len(drawn))
    panels = figure.subplots(
        len(drawn), len(sensitivities), squeeze=False, sharex=True, sharey=True
    )
    ends_of_panels = []
    for row, key in enumerate(drawn):
        for axes, sensitivity in zip(panels[row], sensitivities, strict=True):
            lines = of_row[key]
            lines = lines[lines["sensitivity"] == sensitivity]
            ends_of_panels.append(_draw_lines(axes, lines, titles, colours))
            axes.set_title(f"{ROWS[key]}; sensitivity {_with_root(sensitivity)}")
    for axes in panels[-1]:
        axes.set_xlabel("δ of the Gaussian (floor)")
    panels[0, 0].set_yscale("log")
    style.log_ticks(panels[0, 0].yaxis, subs=(1, 3))
    figure.supylabel("TV error, shuffle+INV over Gaussian")
    # The lines are named at their ends. This has to wait until the shared axis has its limits.
    for axes, ends in zip(panels.ravel(), ends_of_panels, strict=True):
        style.end_labels(axes, ends)
    figure.suptitle("Figures 2 and 4 to 7 under other choices of the two constants")
    return figure


def _draw_lines(
    axes: Axes, rows: pd.DataFrame, titles: Mapping[str, str], colours: Mapping[str, str]
) -> list[tuple[float, str, str]]:
    """Draw a line per dataset and eps: TV error of shuffle+INV divided by the Gaussian's, over the floors.

    A floor is a delta of the Gaussian. On the axis, floors fall from left to right, at equal distances.

    Returns the right end of every line, for `style.end_labels`: (the quotient of the errors there, the line's
    name, its colour).

    ``rows`` have one sensitivity, with a row for every dataset, eps and floor, and the quotient in the column
    ratio. ``titles`` and ``colours``: dataset -> its title, and the colour of its lines.
    """
    floors = sorted(rows["floor"].unique(), reverse=True)
    place_of_floor = {floor: place for place, floor in enumerate(floors)}
    ends = []
    budgets = groups(rows, ["dataset", "eps"], sort=False)
    for (dataset, eps), line in budgets:
        colour = colours[dataset]
        axes.plot(
            line["floor"].map(place_of_floor), line["ratio"], color=colour, marker="o", markersize=3
        )
        last_ratio = float(line.set_index("floor")["ratio"][floors[-1]])
        name = wording.literal(titles.get(dataset, dataset))
        ends.append((last_ratio, f"{name}, ε = {eps:g}", colour))

    axes.axhline(1, color=style.INK, linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(floors)), [wording.typeset(floor) for floor in floors])
    axes.grid(axis="y")
    return ends


def _with_root(sensitivity: float) -> str:
    """The sensitivity in words: '√2' for the root of 2, else the number."""
    return "√2" if np.isclose(sensitivity, np.sqrt(2)) else f"{sensitivity:g}"


def _range_in_words(table: pd.DataFrame) -> str:
    """The range of all ratios with their intervals, as texts write it: '0.97 to 139'."""
    return f"{table['low'].min():.2f} to {table['high'].max():.0f}"


def caption(table: pd.DataFrame) -> str:
    """The caption: how much the comparison of errors depends on the two constants, and how precise it is.

    ``table`` is that of `compute_constants`.
    """
    # At each point: the largest ratio over the smallest one, of all floors and sensitivities.
    by_point = table.groupby(["dataset", "experiment", "end", "eps0", "eps"])["ratio"]
    factors = by_point.max() / by_point.min()
    standard_errors = table["standard_error"] / table["shuffle+INV"]

    not_stated = (
        "The paper states neither the δ of its Gaussian at ε = ε₀, where δ̂ is 0,"
        " nor its sensitivity."
    )
    ratios = (
        "Over all datasets, ε₀, both ends of n and these choices of δ and sensitivity, the error of"
        f" shuffle+INV is {_range_in_words(table)} times that of the Gaussian, with"
        f" {100 * table['confidence'].iloc[0]:g} % confidence for all ratios together"
    )
    largest_change = (
        "at one point the choice changes the ratio by a factor of up to"
        f" {wording.significant(factors.max())}."
    )
    small_floors = (
        "Below a δ of about 10⁻¹⁷ diffprivlib's scale stops growing,"
        " so a smaller floor gives the same noise."
    )
    errors = (
        "The Gaussian's error is its expectation, that of shuffle+INV the mean of"
        f" {table['repetitions'].min():,} repetitions; only shuffle+INV is projected."
    )
    precision = (
        f"The standard error of a mean is at most {100 * standard_errors.max():.1f} % of it."
    )
    return f"{not_stated} {ratios}; {largest_change} {small_floors} {errors} {precision}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        figure = draw(table, snakemake.params.titles)
        write_figure(figure, caption(table), snakemake.output)
