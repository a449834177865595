"""delta over eps by every bound: published and exact delta of a count, and bounds for every dataset."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table
from tightshuffle.arguments import Floats

Curves = dict[str, tuple[str, dict[str, Any]]]  # column -> label, look of the line
SETTING = ["n", "k", "eps0", "count"]
BAND = ["lower", "upper"]
COUNTS: Curves = {  # of one cell, and with a given count: no guarantee for the histogram
    "published": ("count of x₀, published", {"color": "#D55E00", "linewidth": 2.2}),
    "exact": ("count of x₀, exact", {"color": "#D55E00", "linewidth": 1.3, "linestyle": (0, (4, 1.5))}),
}
BOUNDS: Curves = {  # valid for every dataset, by the column of the method
    column: (label, {"color": colour, "linestyle": (0, dashes)})
    for column, label, colour, dashes in (
        ("balle_bennett", "Balle et al., Bennett", "#009E73", None),
        ("clones", "clones", "#CC79A7", (4, 1.5)),
        ("stronger_clones", "stronger clones", "#CC79A7", None),
        ("koskela_strong", "Koskela et al., strong", "#000000", (1, 1.2)),
        ("girgis", "Girgis et al., RDP", "#000000", (5, 1.5, 1.2, 1.5)),
        ("blanket", "blanket paper, eq. (3)", "#E69F00", None),
    )
}
# One row per setting and eps; log10 delta, -inf for 0.
COLUMNS = ["setting", "eps", *SETTING, *COUNTS, *BAND, *BOUNDS]
TRUTH, FALSE = "#0072B2", "#f9e4d8"
SHADE_INK = "#8a4b20"
PUBLISHED_INK = "#9c4400"  # the line's colour, darker: readable on the shade
TOP = 0.4  # orders of magnitude below 1 at which the axes begin


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A panel per setting; orders of magnitude below 1 on a logarithmic axis, downwards."""
    settings = [rows for _, rows in groups(table, "setting")]
    figure = style.new_figure(3.3)
    panels = figure.subplots(1, len(settings), squeeze=False)[0]
    for axes, letter, rows in zip(panels, "abc", settings, strict=False):
        _draw_setting(axes, rows)
        axes.set_title(f"({letter}) {_setting(rows)}")
    panels[0].set_ylabel(wording.DELTA_AXIS)
    panels[0].annotate("violated by\nsome dataset", (0.04, 0.03), xycoords="axes fraction", color=SHADE_INK)
    _name_lines(panels[-1], settings[-1])
    return figure


def _draw_setting(axes: Axes, rows: pd.DataFrame) -> None:
    eps = rows["eps"].to_numpy()
    orders = {name: _orders(rows[name]) for name in [*COUNTS, *BAND, *BOUNDS]}
    finite = np.concatenate([values[np.isfinite(values)] for values in orders.values()])
    bottom = 1.6 * finite.max()
    upper, lower = (np.minimum(orders[name], 2 * bottom) for name in ("upper", "lower"))
    axes.fill_between(eps, lower, 2 * bottom, color=FALSE, linewidth=0)
    for curves in (BOUNDS, COUNTS):
        for name, (_, look) in curves.items():
            axes.plot(eps, orders[name], **look)
    axes.fill_between(eps, upper, lower, color=TRUTH, linewidth=2.2)
    _name_published(axes, eps, orders["published"])
    axes.set(xscale="log", yscale="log", xlim=(eps[0], eps[-1]), ylim=(bottom, TOP), xlabel="ε")
    style.log_ticks(axes.xaxis)
    style.log_ticks(axes.yaxis, (1, 3) if bottom < 3000 else (1,), style.ORDERS)
    axes.grid()


def _name_lines(axes: Axes, rows: pd.DataFrame) -> None:
    """The names of all lines at their right ends; one that has left the axes is named at the edge."""
    curves = COUNTS | BOUNDS | {"upper": ("histogram, worst case", {"color": TRUTH, "linewidth": 2.2})}
    bottom, top = axes.get_ylim()
    ends = [
        (float(np.clip(_orders(rows[name])[-1], top, bottom)), label, look["color"])
        for name, (label, look) in curves.items()
    ]
    style.end_labels(axes, ends, looks=dict(curves.values()))


def _name_published(axes: Axes, eps: Floats, orders: Floats) -> None:
    """The line that the figure is about has its name at its left end."""
    if np.isfinite(orders[0]):
        above: Any = {"xytext": (4, 4), "textcoords": "offset points", "fontsize": 8, "va": "bottom"}
        axes.annotate("published", (eps[0], orders[0]), color=PUBLISHED_INK, **above)


def _orders(log10_delta: "pd.Series[float]") -> Floats:
    """Orders of magnitude below 1, at least a little so that the axis shows them; inf where delta is 0."""
    return np.clip(-log10_delta.to_numpy(float), TOP / 100, None)


def caption(table: pd.DataFrame) -> str:
    """With every parameter, and how far the lines are from the bounds."""
    width = table["upper"] - table["lower"]
    settings = [wording.setting(rows, *SETTING) for _, rows in groups(table, "setting")]
    parameters = ". ".join(f"({letter}) {text}" for letter, text in zip("abc", settings, strict=False))
    excess = (table[list(BOUNDS)].min(axis=1) - table["upper"]).clip(lower=0)
    return (
        "δ over ε for k-RR behind a shuffler: published and exact δ of one count, worst-case δ of the whole"
        " histogram (blue: from a lower to an upper bound), and bounds from the literature. No (ε, δ) in the"
        " shaded area holds for every dataset.\n\nSettings: "
        f"{parameters}. Blue is at most {_each(table, width, lambda part: f'{part.max():.2g}')} orders of"
        f" magnitude wide. The published δ lies below the lower bound by"
        f" {_each(table, table['lower'] - table['published'], _span)} orders of magnitude; the best"
        f" bound from the literature at each ε exceeds the upper bound by {_each(table, excess, _span)}."
    )


def _each(table: pd.DataFrame, values: "pd.Series[float]", text: Callable[..., str]) -> str:
    """'(a) 0.8 to 14, (b) 3': the text of every setting's finite ``values``."""
    own = values[np.isfinite(values)].groupby(table["setting"])
    return ", ".join(f"({letter}) {text(part)}" for letter, (_, part) in zip("abc", own, strict=False))


def _span(values: "pd.Series[float]") -> str:
    ends = values.min(), values.max()
    return " to ".join(f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}" for value in ends)


def _setting(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    return f"n = {wording.short_number(first['n'])}, k = {first['k']:.0f}, ε₀ = {first['eps0']:g}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
