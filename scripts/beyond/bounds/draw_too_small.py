"""The first picture of README and page: delta of one value's count, printed and true, and of all counts."""

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_table
from scripts.shared.wording import typeset
from tightshuffle.number_text import from_log10

# One row per eps, rising. published, exact, lower and upper are log10 delta.
COLUMNS = ["eps", "eps0", "n", "k", "count", "published", "exact", "lower", "upper"]
# Column -> the name and colour of its line; the share of the rows after which the name stands, and how far
# the name is shifted from there to the right and up, in points.
LINES = {
    "upper": ("all counts: upper bound", style.ALL_COUNTS, 0.4, (6, 6)),
    "exact": ("one count: true value", style.TRUE, 0.5, (-8, -9)),
    "published": ("one count: the paper's formula", style.PUBLISHED, 0.2, (8, 5)),
}


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A figure of log10 delta over eps in one setting: three lines, each with its name beside it.

    The lines are our upper bound on delta of the whole histogram for every dataset, the true delta of the
    count of x0, and the delta of this count by Theorem 1 as printed. ``table`` has the `COLUMNS`: the setting
    (eps0, n, k, count), and log10 of these deltas in a row for each eps (rising). `LINES` says where the name
    of each line stands.
    """
    figure = style.new_figure(3.1, width=5.0)  # read on phones, too
    axes = figure.add_subplot()
    for column, (name, colour, share_of_rows, shift_in_points) in LINES.items():
        axes.plot(table["eps"], table[column], color=colour, linewidth=2.4)
        # The point beside which the name stands.
        named = table.iloc[int(share_of_rows * len(table))]
        axes.annotate(
            name,
            (named["eps"], named[column]),
            xytext=shift_in_points,
            textcoords="offset points",
            ha="right" if shift_in_points[0] < 0 else "left",
            color=colour,
            fontsize=10,
            fontweight="bold",
        )
    axes.set_title(wording.setting(table, "n", "k", "eps0"))
    axes.set(xlabel="ε", ylabel="δ (smaller: more private)", ylim=(None, 0))
    axes.margins(x=0)
    axes.yaxis.set_major_formatter(style.POWERS)
    axes.grid()
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`, three sentences: delta of one count and of all counts, and the setting.

    The deltas are those of the smallest eps, as texts: of the count of x0 by the paper's Theorem 1 as printed
    and the true one, and our lower and upper bound on delta of all counts in the worst dataset.
    """
    smallest_eps = table.iloc[0]
    published, exact, lower, upper = (
        typeset(from_log10(smallest_eps[column]))
        for column in ("published", "exact", "lower", "upper")
    )
    of_all_counts = lower if lower == upper else f"{lower} to {upper}"

    one_count = (
        f"The paper's formula gives a δ of one value's count that is far too small: {published} at"
        f" ε = {smallest_eps['eps']:g}, where the true δ of this count is {exact}."
    )
    all_counts = (
        "The δ of all counts, which the shuffler releases, is larger:"
        f" {of_all_counts} for the worst dataset (drawn: the rigorous upper bound)."
    )
    setting = (
        f"{wording.setting(table, 'n', 'k', 'eps0')};"
        f" {smallest_eps['count']:g} of the other users hold the counted value x₀."
    )
    return f"{one_count} {all_counts} {setting}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
