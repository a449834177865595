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
LINE_COLOURS = ("#0072B2", "#E69F00", "#CC79A7", "#000000")
LOWEST = -20  # log10 delta at which panel (a) ends: nobody needs a smaller delta


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """Two panels: two bounds on delta, and by how much eq. (3) of the blanket paper is above ours.

    Panel (a) shows log10 of both bounds over eps. Panel (b) shows the difference of their log10 over the
    number of users. ``table`` has the columns eps, n, k, eps0, equation_3 and upper, which are log10 of both
    bounds, and series. The rows of the series "eps" are for panel (a), all others for panel (b).
    """
    figure = style.new_figure(3.0)
    left, right = figure.subplots(1, 2)
    rows = rows_below_eps0(table)
    _draw_deltas(left, rows[rows["series"] == "eps"])
    _draw_decades(right, rows[rows["series"] != "eps"])
    return figure


def rows_below_eps0(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with eps < eps0, and a new column ``decades``: log10 of the quotient of eq. (3) and our bound.

    The columns equation_3 and upper of ``table`` are log10 of these two bounds. A value of eq. (3) above 1
    counts as 1, since delta is at most 1.
    """
    rows = table[table["eps"] < table["eps0"]]
    return rows.assign(decades=rows["equation_3"].clip(upper=0) - rows["upper"])


def _draw_deltas(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw panel (a): log10 of eq. (3) and of our bound over eps, each line with its name beside it.

    The columns equation_3 and upper of ``rows`` are log10 of these bounds. The axis ends at log10 delta =
    `LOWEST`. Both names stand at that eps where our bound is nearest to a third of this depth.
    """
    first = rows.iloc[0]
    named = rows.iloc[int((rows["upper"] - LOWEST / 3).abs().argmin())]
    for column, name, colour in (
        ("equation_3", "eq. (3)", BLANKET),
        ("upper", "our bound", style.ALL_COUNTS),
    ):
        # No line can be drawn to -inf: it goes far below the end of the axis instead.
        axes.plot(rows["eps"], np.maximum(rows[column], 10 * LOWEST), color=colour, linewidth=2)
        axes.annotate(
            name,
            (named["eps"], named[column]),
            xytext=(6, 4),
            textcoords="offset points",
            color=colour,
        )
    # The axis of log10 delta goes up to 1, since eq. (3) can exceed delta = 1.
    axes.set(
        xlim=(0, first["eps0"]), ylim=(LOWEST, 1), xlabel="ε", ylabel="δ (above 1: no statement)"
    )
    axes.set_title(f"(a) δ at {wording.setting(rows, 'n', 'k', 'eps0')}")
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()


def _draw_decades(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw panel (b): how far eq. (3) is above our bound, over the number of users, both axes logarithmic.

    The column ``decades`` of ``rows`` is log10 of the quotient of both bounds. There is a line for every
    fixed eps, and one for eps = ln(kappa_2) / 2, each with its name at its end.
    """
    names_at_end = []
    axes.set(xscale="log", yscale="log", xlabel="number of users n", ylabel="orders of magnitude")
    # strict=False: there may be fewer lines than colours.
    for colour, (name, line) in zip(LINE_COLOURS, _lines_by_name(rows).items(), strict=False):
        axes.plot(line["n"], line["decades"], color=colour, marker="o", markersize=3, linewidth=1.6)
        names_at_end.append((line["decades"].iloc[-1], name, colour))
    axes.set_xlim(rows["n"].min(), rows["n"].max())
    axes.set_title("(b) eq. (3) above our bound")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    style.log_ticks(axes.yaxis)
    axes.xaxis.set_major_formatter(lambda n, _: wording.short_number(n))
    axes.grid()
    style.end_labels(axes, names_at_end)


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`, with how far eq. (3) of the blanket paper is above our upper bound on delta.

    It states the smallest quotient of both bounds in panel (a), the largest one in panel (b) in orders of
    magnitude, how many lines of (b) rise with the number of users, and n, k, eps0 and n_x0.
    """
    rows = rows_below_eps0(table)
    # Panel (a) has the series "eps", at one n. Panel (b) has the other series, at several n.
    panel_a = rows[rows["series"] == "eps"]
    panel_b = rows[rows["series"] != "eps"]
    least = panel_a["decades"].min()
    most = panel_b["decades"].max()
    lines = _lines_by_name(panel_b).values()
    rising = sum(bool(line["decades"].is_monotonic_increasing) for line in lines)

    verdict = (
        "The bound of the authors' blanket paper, eq. (3), is far above our upper bound for every dataset: at"
        f" least {10**least:,.0f} times in (a), up to {most:,.0f} orders of magnitude in (b)."
    )
    not_tight = (
        "If it were tight as n grows, as the paper's theorems say, the lines of (b) would fall to 0;"
        f" {rising} of {len(lines)} rise."
    )
    # n_x₀ is how many of the n - 1 users other than the target user hold x0.
    setting_of_a = wording.setting(panel_a, "n", "k", "eps0", "count")
    return f"{verdict} {not_tight} {setting_of_a}; in (b) n_x₀ is the same share of n − 1."


def _lines_by_name(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The lines of panel (b): the name of a line -> its rows, one for each number of users.

    The series "n" gives a line for each of its eps, from the largest one on. The last line is the series
    "S_2", whose eps = ln(kappa_2) / 2 falls with the number of users.
    """
    fixed_eps = rows[rows["series"] == "n"]
    rising = [(f"ε = {eps:g}", line) for eps, line in groups(fixed_eps, "eps")]
    return {**dict(rising[::-1]), "ε = ½ ln κ₂": rows[rows["series"] == "S_2"]}


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
