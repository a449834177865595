"""The audit over eps: lower bounds on delta from runs of the protocol, beside published, exact and upper."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reproduction.figures import style, wording
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import percent, typeset

COUNT, HISTOGRAM = "#D55E00", "#0072B2"  # colours of what is observed: the count of x0, all counts
Curves = dict[str, tuple[str, dict[str, Any]]]  # column -> label, look
LINES: Curves = {
    "published_log10_delta": ("count of x₀, published", {"color": COUNT, "linewidth": 2.2}),
    "exact_log10_delta": ("count of x₀, exact", {"color": COUNT, "linestyle": (0, (4, 1.5))}),
    "upper_log10_delta": ("upper bound, every dataset", {"color": HISTOGRAM}),
}
AUDITS: Curves = {
    "count": ("audit of the count of x₀:\nlower bound on δ", {"color": COUNT}),
    "histogram": ("audit of the histogram:\nlower bound on δ", {"color": HISTOGRAM}),
}
SETTING = ["n", "k", "eps0", "count"]
# One row per setting, eps and observer.
COLUMNS = [
    *[*SETTING, "eps", *LINES, "audited_delta", "confidence", "runs", "observes", "remaining", "direction"],
    *["joint_delta", "violated", "violated_jointly", "upper_violated"],
]
HEIGHT = 2.1  # inches of a row of panels
POWERLESS: dict[str, Any] = {"marker": "x", "color": "#777777", "linestyle": "", "markersize": 4}
TOP = 0.5  # orders of magnitude below 1 at which the axes begin
MARK: dict[str, Any] = {"marker": "_", "markersize": 9, "markeredgewidth": 2.2, "linestyle": ""}
VALUES = {"x1": "x₁", "x2": "one same third value"}

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: a panel per setting; orders of magnitude below 1 on a logarithmic axis, downwards."""
    settings = [rows for _, rows in groups(table, SETTING, sort=False)]
    columns = min(4, len(settings))
    lines = math.ceil(len(settings) / columns)
    figure = style.new_figure(0.8 + HEIGHT * lines)
    panels = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).ravel()
    shown = table[table["eps"] < table["eps0"]]
    orders = -shown[[*LINES]].to_numpy()  # of magnitude below 1; inf where delta is 0
    bottom = 1.7 * max(orders[np.isfinite(orders)], default=10)
    for axes, rows in zip(panels, settings, strict=False):
        _draw_setting(axes, rows, bottom)
    axes.set(xscale="log", yscale="log", ylim=(bottom, TOP))
    low, high = (shown if len(shown) else table)["eps"].agg(["min", "max"])
    axes.set_xlim(low / 1.25, 1.25 * high)
    style.log_ticks(axes.xaxis)
    style.log_ticks(axes.yaxis, text=style.ORDERS)
    for number, axes in enumerate(panels):
        axes.set_axis_on() if number < len(settings) else axes.set_axis_off()
        axes.set_xlabel("ε" if number + columns >= len(settings) else "")
        axes.tick_params(labelbottom=number + columns >= len(settings))
        axes.set_ylabel(wording.DELTA_AXIS if number % columns == 0 else "")
    _name_lines(panels[0], settings[0])
    # Into the place of a panel that is not there, else below all.
    free = len(settings) < len(panels)
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": 3, "columnspacing": 1.6}
    if free:
        place = {"loc": "center", "bbox_to_anchor": (0.5, 0.5), "bbox_transform": panels[-1].transAxes}
    (panels[-1] if free else figure).legend(handles=_legend(), **place)
    return figure


def _legend() -> list[Line2D]:
    lines = [style.line(label, **look) for label, look in reversed(LINES.values())]
    marks = [style.line(label, **MARK, **look) for label, look in reversed(AUDITS.values())]
    return [*lines, *marks, style.line("too few runs", **POWERLESS)]


def _name_lines(axes: Axes, rows: pd.DataFrame) -> None:
    """Short names right of the ends of the first panel's lines."""
    drawn = rows[rows["eps"] < rows["eps0"]]
    if drawn.empty:
        return
    end, (bottom, top) = drawn.sort_values("eps").iloc[-1], axes.get_ylim()
    ends = [
        (float(np.clip(-end[column], top, bottom)), column.split("_")[0], look["color"])
        for column, (_, look) in LINES.items()
    ]
    to_axes = axes.transScale + axes.transLimits
    style.end_labels(axes, ends, x=to_axes.transform((end["eps"], bottom))[0])


def _draw_setting(axes: Axes, rows: pd.DataFrame, bottom: float) -> None:
    axes.set_title(wording.folded(wording.setting(rows, "n", "k", "eps0"), 1.45))
    rows = rows[rows["eps"] < rows["eps0"]]
    curve = rows[rows["observes"] == "count"]
    for name, (_, look) in LINES.items():
        axes.plot(curve["eps"], np.minimum(-curve[name], 1e3 * bottom), **look)
    seen = rows[rows["audited_delta"] > 0]
    for observes, (_, look) in AUDITS.items():
        own = seen[seen["observes"] == observes]
        axes.plot(own["eps"], -np.log10(own["audited_delta"]), **MARK, **look)
    blind = sorted(set(rows["eps"]) - set(seen["eps"]))
    axes.plot(blind, np.full(len(blind), bottom / 1.25), **POWERLESS)
    axes.grid()


def caption(table: pd.DataFrame) -> str:
    """The caption: every parameter, how many bounds hold jointly, and where the audit has no power."""
    settings = [
        f"{wording.setting(rows, *SETTING)} ({rows['runs'].iloc[0]:,.0f})"
        for _, rows in groups(table, SETTING, sort=False)
    ]
    inside, beyond = table[table["eps"] < table["eps0"]], table[table["eps"] >= table["eps0"]]
    risk = 1 - table["confidence"].iloc[0]
    sure, together = percent(1 - risk, 6), percent(max(0.0, 1 - len(table) * risk), 6)
    others = " or ".join(VALUES[value] for value in sorted(set(table["remaining"])))
    return (
        "Lower bounds on δ from an audit of k-RR behind a shuffler (ticks), beside the published δ, the exact"
        " δ and the upper bound. A tick above the published line shows that the published δ is too small."
        " Crosses: too few runs for so small a δ. The scale log(−log δ) makes gaps look small.\n\n"
        "Each run draws the reports of all n users one by one and shuffles them, once with a user who holds"
        " x₀ and once with a user who holds x₁. The observer sees the count of x₀ or the whole histogram."
        " One half of the runs chooses the event. The other half gives the lower bound on δ, with"
        f" {sure} confidence each. Of the other users, n_x₀ hold x₀, and all except these hold {others}."
        f" Settings, and runs with either user: {'; '.join(settings)}.\n\n"
        f"{table['violated'].sum()} of {len(table)} bounds exceed the published δ. As drawn, all hold at once"
        f" with a confidence of at least {together}. If all must hold at once with {sure},"
        f" {table['violated_jointly'].sum()} still exceed it.{_strongest(table)}"
        f" {_number(table['upper_violated'])} of the bounds exceed the upper bound on δ for every dataset."
        f" {(inside['audited_delta'] == 0).sum()} of {len(inside)} bounds at ε < ε₀ are 0, because δ is too"
        " small for this number of runs. A cross stands where this holds for both observers. At ε ≥ ε₀, where"
        f" δ is 0, {_number(beyond['audited_delta'] > 0).lower()} of {len(beyond)} bounds is above 0."
    )


def _strongest(table: pd.DataFrame) -> str:
    """The sentence on the row that exceeds the published delta by most among those of the count of x0."""
    own = table[(table["observes"] == "count") & (table["audited_delta"] > 0)]
    own = own[np.isfinite(own["published_log10_delta"])]
    if own.empty:
        return ""
    widest = own.loc[[(np.log10(own["audited_delta"]) - own["published_log10_delta"]).idxmax()]]
    row = widest.iloc[0]
    return (
        f" The widest gap of the count of x₀ is at {wording.setting(widest, 'n', 'k', 'eps0', 'eps')}:"
        f" published {typeset(10 ** row['published_log10_delta'])}, audited at least"
        f" {typeset(row['audited_delta'], round_up=False)}, exact"
        f" {typeset(10 ** row['exact_log10_delta'])}."
    )


def _number(which: "pd.Series[bool]") -> str:
    return "None" if not which.any() else str(which.sum())
