"""The first picture of README and page: delta of one value's count, printed and true, and of all counts."""

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_table
from scripts.shared.wording import typeset
from tightshuffle.number_text import from_log10

# One row per eps, rising; the last four are log10 delta.
COLUMNS = ["eps", "eps0", "n", "k", "count", "published", "exact", "lower", "upper"]
# Column -> its name and colour; the share of the rows after which the name stands, and its shift in points.
LINES = {
    "upper": ("all counts: upper bound", style.ALL_COUNTS, 0.4, (6, 6)),
    "exact": ("one count: true value", style.TRUE, 0.5, (-8, -9)),
    "published": ("one count: the paper's formula", style.PUBLISHED, 0.2, (8, 5)),
}


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """log10 delta over eps in one setting: three lines, each with its name beside it.

    ``table`` has the `COLUMNS`. `LINES` says which three, and where a name stands: beside the point after
    this share of the rows, shifted to the right and up by so many points.
    """
    figure = style.new_figure(3.1, width=5.0)  # read on phones, too
    axes = figure.add_subplot()
    for column, (name, colour, share, shift) in LINES.items():
        axes.plot(table["eps"], table[column], color=colour, linewidth=2.4)
        named = table.iloc[int(share * len(table))]
        axes.annotate(
            name,
            (named["eps"], named[column]),
            xytext=shift,
            textcoords="offset points",
            ha="right" if shift[0] < 0 else "left",
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
    """The caption of `draw`: four deltas at the smallest eps, and the setting."""
    first = table.iloc[0]
    published, exact, lower, upper = (
        typeset(from_log10(first[column])) for column in ("published", "exact", "lower", "upper")
    )
    whole = lower if lower == upper else f"{lower} to {upper}"

    one_count = (
        f"The paper's formula gives a δ of one value's count that is far too small: {published} at"
        f" ε = {first['eps']:g}, where the true δ of this count is {exact}."
    )
    all_counts = (
        "The δ of all counts, which the shuffler releases, is larger:"
        f" {whole} for the worst dataset (drawn: the rigorous upper bound)."
    )
    setting = (
        f"{wording.setting(table, 'n', 'k', 'eps0')}; {first['count']:g} of the other users hold the counted"
        " value x₀."
    )
    return f"{one_count} {all_counts} {setting}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
