"""The blanket paper: how far its eq. (3), which its theorems call tight, is above our upper bound."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, NullFormatter

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

COLUMNS = ["series", "eps", "n", "k", "eps0", "count", "equation_3", "upper"]
BLANKET = "#D55E00"
GROWTH = ("#0072B2", "#E69F00", "#CC79A7", "#000000")
FLOOR = -20  # of log10 delta: nobody needs a smaller delta


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """(a) log10 delta over eps by eq. (3) and by our bound. (b) Their difference over the number of users."""
    figure = style.new_figure(3.0)
    left, right = figure.subplots(1, 2)
    rows = rows_below_eps0(table)
    _draw_deltas(left, rows[rows["series"] == "eps"])
    _draw_growth(right, rows[rows["series"] != "eps"])
    return figure


def rows_below_eps0(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with eps < eps0, and a column ``orders``: the orders of magnitude of eq. (3) above our bound.

    A value of eq. (3) above 1 counts as 1. ``table`` has the `COLUMNS`, with equation_3 and upper as log10.
    """
    rows = table[table["eps"] < table["eps0"]]
    return rows.assign(orders=rows["equation_3"].clip(upper=0) - rows["upper"])


def _draw_deltas(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw log10 delta over eps by eq. (3) and by our bound, down to `FLOOR`, each with its name beside it.

    A name stands where our bound is nearest to a third of the floor.
    """
    first = rows.iloc[0]
    named = rows.iloc[int((rows["upper"] - FLOOR / 3).abs().argmin())]
    for column, name, colour in (
        ("equation_3", "eq. (3)", BLANKET),
        ("upper", "our bound", style.ALL_COUNTS),
    ):
        # No line can be drawn to -inf: it goes far below the floor instead.
        axes.plot(rows["eps"], np.maximum(rows[column], 10 * FLOOR), color=colour, linewidth=2)
        axes.annotate(
            name,
            (named["eps"], named[column]),
            xytext=(6, 4),
            textcoords="offset points",
            color=colour,
        )
    axes.set(
        xlim=(0, first["eps0"]), ylim=(FLOOR, 1), xlabel="ε", ylabel="δ (above 1: no statement)"
    )
    axes.set_title(f"(a) δ at {wording.setting(rows, 'n', 'k', 'eps0')}")
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()


def _draw_growth(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the column ``orders`` over the number of users: a line for every eps, with its name at its end.

    Both axes are logarithmic.
    """
    names_at_end = []
    axes.set(xscale="log", yscale="log", xlabel="number of users n", ylabel="orders of magnitude")
    for colour, (name, line) in zip(GROWTH, _named_lines(rows).items(), strict=False):
        axes.plot(line["n"], line["orders"], color=colour, marker="o", markersize=3, linewidth=1.6)
        names_at_end.append((line["orders"].iloc[-1], name, colour))
    axes.set_xlim(rows["n"].min(), rows["n"].max())
    axes.set_title("(b) eq. (3) above our bound")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    style.log_ticks(axes.yaxis)
    axes.xaxis.set_major_formatter(lambda n, _: wording.short_number(n))
    axes.grid()
    style.end_labels(axes, names_at_end)


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`: by how much eq. (3) exceeds our bound, at least in (a) and at most in (b)."""
    rows = rows_below_eps0(table)
    left = rows[rows["series"] == "eps"]
    right = rows[rows["series"] != "eps"]
    least = left["orders"].min()
    most = right["orders"].max()
    lines = _named_lines(right).values()
    rising = sum(bool(line["orders"].is_monotonic_increasing) for line in lines)

    verdict = (
        "The bound of the authors' blanket paper, eq. (3), is far above our upper bound for every dataset: at"
        f" least {10**least:,.0f} times in (a), up to {most:,.0f} orders of magnitude in (b)."
    )
    not_tight = (
        "If it were tight as n grows, as the paper's theorems say, the lines of (b) would fall to 0;"
        f" {rising} of {len(lines)} rise."
    )
    setting = f"{wording.setting(left, 'n', 'k', 'eps0', 'count')}; in (b) n_x₀ is the same share of n − 1."
    return f"{verdict} {not_tight} {setting}"


def _named_lines(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The lines of panel (b): name -> the rows of a line. The largest eps is first.

    Last is the line of the series "S_2", whose eps, half of ln kappa_2, falls with n.
    """
    fixed_eps = rows[rows["series"] == "n"]
    rising = [(f"ε = {eps:g}", line) for eps, line in groups(fixed_eps, "eps")]
    return {**dict(rising[::-1]), "ε = ½ ln κ₂": rows[rows["series"] == "S_2"]}


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
