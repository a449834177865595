"""The analytic Gaussian's scale over delta, exact and published (diffprivlib's), and the delta it gives."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reproduction.figures import style
from reproduction.figures.table_files import groups, reader
from reproduction.protocol.saturation import SATURATED, saturation

# One row per (eps, log10 delta), for sensitivity 1.
COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
NAMES = {"exact": "exact", "published": "diffprivlib"}
LOOKS: dict[str, dict[str, Any]] = {
    "exact": {"linewidth": 1.6, "alpha": 0.55},
    "published": {"linestyle": (0, (4, 1.5))},
}

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: (a) both scales, (b) that of diffprivlib over the exact one."""
    figure = style.new_figure(3.0)
    scales, shares = figure.subplots(1, 2)
    legend, ends_of_shares = [], []
    for colour, (eps, curve) in zip(style.CYCLE, groups(table, "eps"), strict=False):
        legend.append(Line2D([], [], color=colour, linewidth=1.6, label=f"ε = {eps:g}"))
        for reading, look in LOOKS.items():
            scales.plot(curve["log10_delta"], curve[reading], color=colour, **look)
        share = curve["published"] / curve["exact"]
        shares.plot(curve["log10_delta"], share, color=colour)
        deepest = int(curve["log10_delta"].argmin())
        ends_of_shares.append((float(share.iloc[deepest]), f"ε = {eps:g}", colour))
    ends = table["log10_delta"].max(), table["log10_delta"].min()
    shares.axhline(1, color=style.INK, linewidth=0.7, linestyle=":")
    for axes in (scales, shares):
        axes.set(xlim=ends, xlabel="log₁₀ δ asked for")
        axes.grid()
    scales.set(title="(a) scale for sensitivity 1", ylabel="standard deviation of the noise")
    scales.set_ylim(0, 1.08 * table[["exact", "published"]].to_numpy().max())
    scales.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    shares.set(title="(b) scale given over scale needed", ylabel="diffprivlib over exact")
    shares.set_ylim(0, 1.08 * max(1, (table["published"] / table["exact"]).max()))
    style.end_labels(shares, ends_of_shares)
    legend += [Line2D([], [], color=style.INK, label=NAMES[name], **look) for name, look in LOOKS.items()]
    columns = len(legend) if len(legend) <= 6 else -(-len(legend) // 2)
    figure.legend(handles=legend, loc="outside lower center", ncols=columns)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of the figure, with every parameter and where diffprivlib's scale leaves the exact one."""
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
        " the δ asked for: exact (the smallest with which the mechanism is (ε, δ)-private) and that of"
        " diffprivlib's GaussianAnalytic, which the paper names; (b) the latter over the former: below 1 the"
        " noise is too small for (ε, δ). diffprivlib computes the normal distribution function from erf,"
        f" which has no digits left in the far tail: {'; '.join(ends)}. Which δ the paper asked for is not"
        " stated."
    )
