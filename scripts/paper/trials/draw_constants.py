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
    "dataset",
    "eps0",
    "eps",
    "n",
    "floor",
    "sensitivity",
    "gaussian",
    "shuffle+INV",
    "ratio",
]


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure: the total variation (TV) error of shuffle+INV divided by that of the Gaussian mechanism.

    The quotient depends on two constants that the paper does not print: the Gaussian's sensitivity, and its
    delta, which is called floor. There is a panel for every sensitivity. It has a line for every dataset and
    eps, over the floors.

    ``table`` has a row for every dataset, eps, sensitivity and floor, with the quotient of the errors in the
    column ratio. ``titles``: dataset -> its title.
    """
    sensitivities = list(groups(table, "sensitivity"))
    figure = style.new_figure(2.9)
    panels = figure.subplots(1, len(sensitivities), squeeze=False, sharey=True).ravel()
    ends_of_panels = []
    for axes, (sensitivity, rows) in zip(panels, sensitivities, strict=True):
        ends_of_panels.append(_draw_lines(axes, rows, titles))
        axes.set_title(f"sensitivity {_with_root(sensitivity)}")
    panels[0].set_yscale("log")
    style.log_ticks(panels[0].yaxis, subs=(1, 2, 5))
    panels[0].set_ylabel("TV error, shuffle+INV over Gaussian")
    # The lines are named at their ends. This has to wait until the shared axis has its limits.
    for axes, ends in zip(panels, ends_of_panels, strict=True):
        style.end_labels(axes, ends)
    figure.suptitle(
        "Figures 2, 6 and 7 at their largest n, under other choices of the two constants"
    )
    return figure


def _draw_lines(
    axes: Axes, rows: pd.DataFrame, titles: Mapping[str, str]
) -> list[tuple[float, str, str]]:
    """Draw a line per dataset and eps: TV error of shuffle+INV divided by the Gaussian's, over the floors.

    A floor is a delta of the Gaussian. On the axis, floors fall from left to right, at equal distances.

    Returns the right end of every line, for `style.end_labels`: (the quotient of the errors there, the line's
    name, its colour).

    ``rows`` have one sensitivity, with a row for every dataset, eps and floor, and the quotient in the column
    ratio. ``titles``: dataset -> its title.
    """
    floors = sorted(rows["floor"].unique(), reverse=True)
    place_of_floor = {floor: place for place, floor in enumerate(floors)}
    ends = []
    budgets = groups(rows, ["dataset", "eps"], sort=False)
    for number, ((dataset, eps), line) in enumerate(budgets):
        colour = style.CYCLE[number % len(style.CYCLE)]
        axes.plot(
            line["floor"].map(place_of_floor), line["ratio"], color=colour, marker="o", markersize=3
        )
        last_ratio = float(line.set_index("floor")["ratio"][floors[-1]])
        name = wording.literal(titles.get(dataset, dataset))
        ends.append((last_ratio, f"{name}, ε = {eps:g}", colour))

    axes.set_xticks(range(len(floors)), [wording.typeset(floor) for floor in floors])
    axes.set_xlabel("δ of the Gaussian (floor)")
    axes.grid(axis="y")
    return ends


def _with_root(sensitivity: float) -> str:
    """The sensitivity in words: '√2' for the root of 2, else the number."""
    return "√2" if np.isclose(sensitivity, np.sqrt(2)) else f"{sensitivity:g}"


def caption(table: pd.DataFrame) -> str:
    """The caption: how much the comparison of errors depends on two constants of the Gaussian.

    They are its sensitivity and its delta, which is called floor. ``table`` has a row for every dataset, eps,
    sensitivity and floor. Its column ratio is the total variation (TV) error of shuffle+INV divided by that
    of the Gaussian.
    """
    # At each dataset and eps: the largest ratio over the smallest one, of all floors and sensitivities.
    by_point = table.groupby(["dataset", "eps"])["ratio"]
    factors = by_point.max() / by_point.min()

    not_stated = (
        "The paper states neither the δ of its Gaussian at ε = ε₀, where δ̂ is 0,"
        " nor its sensitivity."
    )
    ratios = (
        "Under these floors of δ and sensitivities the error of shuffle+INV is"
        f" {wording.two_digits(table['ratio'])} times that of the Gaussian"
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
        "The Gaussian's error is its expectation, that of shuffle+INV the mean of the trials; only"
        " shuffle+INV is projected."
    )
    return f"{not_stated} {ratios}; {largest_change} {small_floors} {errors}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(
            draw(table, snakemake.params.settings["titles"]), caption(table), snakemake.output
        )
