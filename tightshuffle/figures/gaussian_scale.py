"""The analytic Gaussian's scale over delta, exact and published (diffprivlib's), and the delta it gives."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tightshuffle.experiments.saturation import SATURATED, saturation
from tightshuffle.figures import style
from tightshuffle.figures.tables import File, groups, read_table

TITLE, SHORT_TITLE = "Scale of the analytic Gaussian over δ", "Gaussian scale"
COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
LOOKS: dict[str, dict[str, Any]] = {
    "exact": {"linewidth": 1.6, "alpha": 0.55},
    "published": {"linestyle": (0, (4, 1.5))},
}


def read(scales: File) -> pd.DataFrame:
    """The table of scales for sensitivity 1: one row per (eps, log10 delta)."""
    return read_table(scales, COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: (a) both scales, (b) the delta that the published one gives."""
    figure = style.new_figure(3.0)
    scales, deltas = figure.subplots(1, 2)
    curves = list(groups(table, "eps"))
    legend = []
    for rank, (eps, curve) in enumerate(curves):
        colour = COLOURS[rank % len(COLOURS)]
        legend.append(Line2D([], [], color=colour, linewidth=1.6, label=f"ε = {eps:g}"))
        for reading, look in LOOKS.items():
            scales.plot(curve["log10_delta"], curve[reading], color=colour, **look)
        width = 0.9 + 4 * (1 - (rank + 1) / len(curves))  # the lines lie over each other
        deltas.plot(curve["log10_delta"], curve["published_log10_delta"], color=colour, linewidth=width)
    ends = table["log10_delta"].max(), table["log10_delta"].min()
    deltas.plot(ends, ends, color=style.INK, linewidth=0.7, linestyle=":")
    for axes in (scales, deltas):
        axes.set(xlim=ends, xlabel="log₁₀ δ asked for")
        axes.grid()
    scales.set(title="(a) scale for sensitivity 1", ylabel="standard deviation of the noise")
    scales.set_ylim(0, 1.08 * table[["exact", "published"]].to_numpy().max())
    scales.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    deltas.set(title="(b) what the published scale gives", ylabel="log₁₀ δ of the published scale")
    legend += [Line2D([], [], color=style.INK, label=name, **look) for name, look in LOOKS.items()]
    legend.append(Line2D([], [], color=style.INK, linewidth=0.7, linestyle=":", label="δ as asked for"))
    columns = len(legend) if len(legend) <= 6 else -(-len(legend) // 2)
    figure.legend(handles=legend, loc="outside lower center", ncols=columns)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of the figure, with every parameter and where the published scale leaves the exact one."""
    ends = []
    for curve in saturation(table):
        end = (
            f"for ε = {curve.eps:g} the scale stays at {curve.stays:.4g} and its log₁₀ δ at"
            f" {curve.gives:.1f}, where {curve.needed:.4g} is needed for log₁₀ δ = {curve.asked:g}"
        )
        if np.isfinite(curve.short_from):
            end += f" (short by more than {100 * SATURATED:g} % from {curve.short_from:g} on)"
        ends.append(end)
    return (
        "The analytic Gaussian mechanism: (a) the standard deviation of the noise, for sensitivity 1, over"
        " the δ asked for: exact (the smallest with which the mechanism is (ε, δ)-private) and published"
        " (diffprivlib's GaussianAnalytic, which the paper used); (b) the smallest δ for which noise of the"
        " published scale is (ε, δ)-private, and as dots the δ asked for. diffprivlib computes the normal"
        " distribution function from erf, which has no digits left in the far tail: " + "; ".join(ends) + "."
    )
