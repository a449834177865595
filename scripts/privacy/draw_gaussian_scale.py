"""The analytic Gaussian's scale over delta, exact and published (diffprivlib's), and the delta it gives."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scripts.privacy.saturation import SATURATED, saturation
from scripts.shared import style
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

# One row per (eps, log10 delta), for sensitivity 1.
COLUMNS = ["eps", "log10_delta", "exact", "published", "published_log10_delta"]
NAMES = {"exact": "exact", "published": "diffprivlib"}
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")  # of up to six curves
LOOKS: dict[str, dict[str, Any]] = {
    "exact": {"linewidth": 1.6, "alpha": 0.55},
    "published": {"linestyle": (0, (4, 1.5))},
}


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """(a) Both scales, (b) that of diffprivlib over the exact one."""
    figure = style.new_figure(3.0)
    scales, shares = figure.subplots(1, 2)
    legend, ends_of_shares = [], []
    for colour, (eps, curve) in zip(CYCLE, groups(table, "eps"), strict=False):
        legend.append(style.line(f"ε = {eps:g}", color=colour, linewidth=1.6))
        for reading, look in LOOKS.items():
            scales.plot(curve["log10_delta"], curve[reading], color=colour, **look)
        share = curve["published"] / curve["exact"]
        shares.plot(curve["log10_delta"], share, color=colour)
        deepest = int(curve["log10_delta"].argmin())
        ends_of_shares.append((float(share.iloc[deepest]), f"ε = {eps:g}", colour))
    ends = table["log10_delta"].max(), table["log10_delta"].min()
    shares.axhline(1, color=style.INK, linewidth=0.7, linestyle=":")
    for axes in (scales, shares):
        axes.set(xlim=ends, xlabel="requested log₁₀ δ")
        axes.grid()
    scales.set(title="(a) noise for sensitivity 1", ylabel="standard deviation")
    scales.set_ylim(0, 1.08 * table[["exact", "published"]].to_numpy().max())
    scales.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    shares.set(title="(b) noise of diffprivlib, relative to exact", ylabel="diffprivlib / exact")
    ratio = table["published"] / table["exact"]
    low, high = min(1, ratio.min()), max(1, ratio.max())
    shares.set_ylim(low - 0.25 * (high - low) - 0.02, 1.08 * high)  # room for the names of the lines
    style.end_labels(shares, ends_of_shares)
    legend += [style.line(NAMES[name], color=style.INK, **look) for name, look in LOOKS.items()]
    style.below(figure, legend, len(legend) if len(legend) <= 6 else -(-len(legend) // 2))
    return figure


def caption(table: pd.DataFrame) -> str:
    """With every parameter and where diffprivlib's scale leaves the exact one."""
    ends = [
        f" For ε = {curve.eps:g} it stops at {curve.stays:.4g}, which gives log₁₀ δ = {curve.gives:.1f}."
        f" A log₁₀ δ of {curve.asked:g} needs {curve.needed:.4g}."
        + f" From log₁₀ δ = {curve.short_from:g} on, it is more than {100 * SATURATED:g} % too small."
        * bool(np.isfinite(curve.short_from))
        for curve in saturation(table)
    ]
    return (
        "Noise of the analytic Gaussian mechanism over the requested δ: exact, and by diffprivlib, the"
        " library that the paper names. (a) Standard deviation for sensitivity 1. (b) diffprivlib's over the"
        " exact one: below 1 the noise is too small for (ε, δ).\n\n"
        f"diffprivlib's scale stops growing where its arithmetic has no digits left.{''.join(ends)}"
    )


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
