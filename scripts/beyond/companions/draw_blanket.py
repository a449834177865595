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
    """Both over eps, and by how many orders of magnitude they differ over n."""
    figure = style.new_figure(3.0)
    left, right = figure.subplots(1, 2)
    rows = inside(table)
    _draw_curve(left, rows[rows["series"] == "eps"])
    _draw_growth(right, rows[rows["series"] != "eps"])
    return figure


def inside(table: pd.DataFrame) -> pd.DataFrame:
    """The rows below eps0, with the ``orders`` of magnitude of eq. (3), cut at 1, above our bound."""
    rows = table[table["eps"] < table["eps0"]]
    return rows.assign(orders=rows["equation_3"].clip(upper=0) - rows["upper"])


def _draw_curve(axes: Axes, curve: pd.DataFrame) -> None:
    first = curve.iloc[0]
    for column, name, colour in (
        ("equation_3", "eq. (3)", BLANKET),
        ("upper", "our bound", style.ALL_COUNTS),
    ):
        axes.plot(curve["eps"], np.maximum(curve[column], 10 * FLOOR), color=colour, linewidth=2)
        place = curve.iloc[int((curve["upper"] - FLOOR / 3).abs().argmin())]
        axes.annotate(
            name,
            (place["eps"], place[column]),
            xytext=(6, 4),
            textcoords="offset points",
            color=colour,
        )
    axes.set(
        xlim=(0, first["eps0"]), ylim=(FLOOR, 1), xlabel="ε", ylabel="δ (above 1: no statement)"
    )
    axes.set_title(f"(a) δ at n = {first['n']:,.0f}, k = {first['k']:g}, ε₀ = {first['eps0']:g}")
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()


def _draw_growth(axes: Axes, growth: pd.DataFrame) -> None:
    ends = []
    axes.set(xscale="log", yscale="log", xlabel="number of users n", ylabel="orders of magnitude")
    for colour, ((series, eps), rows) in zip(GROWTH, _growth_series(growth), strict=False):
        name = f"ε = {eps:g}" if series == "n" else "ε = ½ ln κ₂"
        axes.plot(rows["n"], rows["orders"], color=colour, marker="o", markersize=3, linewidth=1.6)
        ends.append((rows["orders"].iloc[-1], name, colour))
    axes.set_xlim(growth["n"].min(), growth["n"].max())
    axes.set_title("(b) eq. (3) above our bound")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    style.log_ticks(axes.yaxis)
    axes.xaxis.set_major_formatter(lambda n, _: wording.short_number(n))
    axes.grid()
    style.end_labels(axes, ends)


def caption(table: pd.DataFrame) -> str:
    """By how much eq. (3) exceeds our bound, at least and at most."""
    rows = inside(table)
    curve, growth = rows[rows["series"] == "eps"], rows[rows["series"] != "eps"]
    closest, grown = curve["orders"].min(), growth["orders"].max()
    series = _growth_series(growth)
    rising = sum(bool(points["orders"].is_monotonic_increasing) for _, points in series)

    verdict = (
        "The bound of the authors' blanket paper, eq. (3), is far above our upper bound for every dataset: at"
        f" least {10**closest:,.0f} times in (a), up to {grown:,.0f} orders of magnitude in (b)."
    )
    not_tight = (
        "If it were tight as n grows, as the paper's theorems say, the lines of (b) would fall to 0;"
        f" {rising} of {len(series)} rise."
    )
    setting = f"{wording.setting(curve, 'n', 'k', 'eps0', 'count')}; in (b) n_x₀ is the same share of n − 1."
    return f"{verdict} {not_tight} {setting}"


def _growth_series(growth: pd.DataFrame) -> list[tuple[tuple[str, float], pd.DataFrame]]:
    """Groups (series, eps) -> rows, by eps; S_2 last, as its eps falls with n."""
    fixed = growth[growth["series"] == "n"]
    by_eps = [(("n", eps), rows) for eps, rows in groups(fixed, "eps")]
    return [*by_eps[::-1], (("S_2", np.nan), growth[growth["series"] == "S_2"])]


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
