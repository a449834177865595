"""The first picture of README and page: delta by the paper's formula beside the true one, over eps."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reproduction.figures import style
from reproduction.figures.table_files import reader
from tightshuffle.number_text import from_log10, typeset

COLUMNS = ["eps", "eps0", "n", "k", "count", "published", "exact"]
LINES = {  # column -> name, colour, where the name stands
    "exact": ("true value", "#0072B2"),
    "published": ("the paper's formula", "#D55E00"),
}


read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame, eps0: float) -> Figure:
    """The figure: log10 delta over eps at the table's eps0 next to ``eps0``; each line has its name."""
    shown = _shown(table, eps0)
    figure = style.new_figure(2.9, width=5.0)  # read on phones, too
    axes = figure.add_subplot()
    for reading, (name, colour) in LINES.items():
        axes.plot(shown["eps"], shown[reading], color=colour, linewidth=2.4)
        middle = shown.iloc[len(shown) // 2]
        axes.annotate(
            name,
            (middle["eps"], middle[reading]),
            xytext=(6, 6),
            textcoords="offset points",
            color=colour,
            fontsize=10,
            fontweight="bold",
        )
    axes.set(xlabel="ε", ylabel="δ of one count (smaller: more private)", ylim=(None, 0))
    axes.margins(x=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"$10^{{{value:g}}}$")
    axes.grid()
    return figure


def caption(table: pd.DataFrame, eps0: float) -> str:
    """The caption of the figure: the setting, and both values at the smallest eps."""
    first = _shown(table, eps0).iloc[0]
    published, exact = (typeset(from_log10(first[reading])) for reading in ("published", "exact"))
    return (
        "The paper's formula gives a δ that is far too small."
        f" At ε = {first['eps']:g} it gives {published}, and the true value is {exact}."
        " Both lines are the δ of one count, that of the value x₀."
        f"\n\nn = {first['n']:g} users, k = {first['k']:g} values, ε₀ = {first['eps0']:g},"
        f" {first['count']:g} of the remaining users hold x₀."
    )


def _shown(table: pd.DataFrame, eps0: float) -> pd.DataFrame:
    """The rows with the eps0 next to ``eps0`` and the smaller half of its eps; ValueError for delta = 0."""
    positive = table[table["published"] > -np.inf]
    if positive.empty:
        raise ValueError("delta surface: every published delta is 0; expected an eps below an eps0")
    near = min(positive["eps0"], key=lambda value: abs(value - eps0))
    rows = positive[positive["eps0"] == near].sort_values("eps")
    return rows[: -(-len(rows) // 2)]
