"""The blanket paper: where its theorems call eq. (3) tight, and how far eq. (3) is from the true delta."""

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

REGIONS_READ = ["eps0", "n", "k", "count", "log_kappa_2", "kappa_4", "case_border", "roots_P", "roots_H"]
TIGHTNESS_READ = [
    *["series", "eps", "n", "k", "eps0", "count", "log_kappa_2", "kappa_4", "equation_3", "surplus"],
    *["count_forward", "count_reverse", "lower", "upper"],
]
REGIONS = {  # from above: where the region ends below, its colour, its name
    "Theorem 2.1 (for n → ∞)": ("kappa_4", "#f3dfc9"),
    "Theorem 2.2 (for n → ∞)": ("log_kappa_2", "#d3e6f3"),
    "S₂ (Theorem 2.3 b)": (None, "#cfe8dd"),
}
BLANKET, COUNT, TRUTH, SURPLUS = "#D55E00", "#56B4E9", "#0072B2", "#CC79A7"
GROWTH = ("#0072B2", "#009E73", "#E69F00", "#000000")


@style.applied()
def draw(regions: pd.DataFrame, tightness: pd.DataFrame) -> Figure:
    """(a) The regions, (b) eq. (3) over eps, (c) eq. (3) over the upper bound, over n."""
    figure = style.new_figure(3.5)
    panels = figure.subplots(1, 3)
    _draw_regions(panels[0], regions)
    _draw_curve(panels[1], tightness[tightness["series"] == "eps"])
    _draw_growth(panels[2], tightness)
    handles: list[Artist] = [Patch(facecolor=colour, label=name) for name, (_, colour) in REGIONS.items()]
    handles += [
        style.line("ε = ε₀ (δ = 0 beyond)", color=style.INK, linewidth=1.1),
        style.line("start of Case 1 of eq. (3)", color=style.INK, linewidth=0.9, linestyle=":"),
        style.line("eq. (3)", color=BLANKET, linewidth=1.4),
        style.line("histogram, lower to upper bound", color=TRUTH, linewidth=1.4),
        style.line("count of x₀, both directions", color=COUNT, linestyle="--"),
        style.line("$κ_3 (κ_2 - e^ε) / κ_2$", color=SURPLUS, linestyle="-."),
    ]
    style.below(figure, handles, 3)
    return figure


def _draw_regions(axes: Axes, regions: pd.DataFrame) -> None:
    eps0 = regions["eps0"].to_numpy()
    low, high = regions["log_kappa_2"].min() / 5, 3 * eps0.max()
    top = np.full(eps0.shape, high)
    for border, colour in REGIONS.values():
        bottom = regions[border].to_numpy() if border else np.full(eps0.shape, low)
        axes.fill_between(eps0, bottom, top, color=colour, linewidth=0)
        top = bottom
    axes.plot(eps0, eps0, color=style.INK, linewidth=1.1)
    axes.plot(eps0, regions["case_border"], color=style.INK, linewidth=0.9, linestyle=":")
    axes.set(yscale="log", xlim=(eps0[0], eps0[-1]), ylim=(low, high), xlabel="ε₀", ylabel="ε")
    axes.set_title("(a) claim: eq. (3) is tight")


def _draw_curve(axes: Axes, curve: pd.DataFrame) -> None:
    eps = curve["eps"].to_numpy()
    at = curve.iloc[0]
    stop = eps[-1]
    for border, colour in REGIONS.values():
        start = np.clip(at[border], eps[0], eps[-1]) if border else eps[0]
        axes.axvspan(start, stop, color=colour, linewidth=0)
        stop = start
    axes.axvline(at["eps0"], color=style.INK, linewidth=1.1)
    deepest = curve["upper"][np.isfinite(curve["upper"])].min()
    # A deep bound would flatten eq. (3).
    bottom = 1.1 * max(deepest, min(4 * curve["equation_3"].min(), -1))
    shown = {name: np.maximum(curve[name], 10 * bottom) for name in ("lower", "upper")}
    axes.fill_between(eps, shown["lower"], shown["upper"], color=TRUTH, linewidth=1.4)
    for direction in ("forward", "reverse"):
        axes.plot(eps, np.maximum(curve[f"count_{direction}"], 10 * bottom), color=COUNT, linestyle="--")
    positive = curve["surplus"] > 0
    axes.plot(eps[positive], np.log10(curve["surplus"][positive]), color=SURPLUS, linestyle="-.")
    axes.plot(eps, curve["equation_3"], color=BLANKET, linewidth=1.4)
    top = max(-0.06 * bottom, 1.1 * curve["equation_3"].max())
    axes.set(xscale="log", xlim=(eps[0], eps[-1]), ylim=(bottom, top), xlabel="ε", ylabel="log₁₀ δ")
    axes.set_title(f"(b) δ at ε₀ = {at['eps0']:g}, n = {wording.short_number(at['n'])}")


def _draw_growth(axes: Axes, tightness: pd.DataFrame) -> None:
    growth = tightness[tightness["series"] != "eps"].assign(orders=_orders)
    for colour, ((series, eps), rows) in zip(GROWTH, _growth_series(growth), strict=False):
        name = f"Theorem 2.2, ε = {eps:g}" if series == "n" else "S₂, ε = ½ ln κ₂"
        axes.plot(rows["n"], rows["orders"], color=colour, marker="o", markersize=2.5, label=name)
    axes.set(xscale="log", yscale="log", xlabel="n")
    axes.set_ylim(growth["orders"].min() / 1.5, growth["orders"].max() * 2.5)  # room for the legend
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set(ylabel="orders of magnitude", title="(c) eq. (3) / upper bound")
    axes.legend(loc="upper left")
    axes.grid()


def caption(regions: pd.DataFrame, tightness: pd.DataFrame) -> str:
    """With every parameter, and how the theorems compare with the bounds."""
    inside = tightness[tightness["eps"] < tightness["eps0"]].assign(orders=_orders)
    curve, growth = inside[inside["series"] == "eps"], inside[inside["series"] != "eps"]
    closest, grown = curve.iloc[int(curve["orders"].argmin())], growth.iloc[int(growth["orders"].argmax())]
    lines = [rows["orders"] for _, rows in _growth_series(growth)]
    rising = sum(bool(line.is_monotonic_increasing) for line in lines)
    with_roots = int(((regions["roots_P"] > 0) | (regions["roots_H"] > 0)).sum())
    return (
        "The upper bound on δ of the authors' blanket paper, eq. (3): (a) where the paper calls it tight, (b)"
        " beside rigorous bounds, (c) by how many orders of magnitude it exceeds our upper bound. If eq. (3)"
        " is tight as n grows, the lines of (c) tend to 0.\n\n"
        f"In (a), {wording.setting(regions, 'n', 'k', 'count')}. The root that Theorem 2.3 needs exists at"
        f" {with_roots} of the {len(regions)} ε₀ shown. (b) At ε₀ = {closest['eps0']:g}, eq. (3), cut at 1,"
        f" is at least {10 ** closest['orders']:,.0f} times the upper bound, at ε = {closest['eps']:.2g}."
        f" (c) It exceeds the upper bound by up to {grown['orders']:,.0f} orders of magnitude, at"
        f" n = {grown['n']:,.0f}, ε = {grown['eps']:.2g}; n_x₀ is the same share of n − 1 as in (a)."
        f" {rising} of the {len(lines)} lines rise with n."
    )


def _orders(table: pd.DataFrame) -> "pd.Series[float]":
    """log10 of eq. (3), cut at 1, over the upper bound."""
    return table["equation_3"].clip(upper=0) - table["upper"]


def _growth_series(growth: pd.DataFrame) -> list[tuple[tuple[str, float], pd.DataFrame]]:
    """Groups (series, eps) -> rows, by eps; S_2 last, as its eps falls with n."""
    fixed = growth[growth["series"] == "n"]
    by_eps = [(("n", eps), rows) for eps, rows in groups(fixed, "eps")]
    return [*by_eps[::-1], (("S_2", np.nan), growth[growth["series"] == "S_2"])]


if __name__ == "__main__":
    with job() as snakemake:
        regions = read_table(snakemake.input.regions, REGIONS_READ)
        tightness = read_table(snakemake.input.tightness, TIGHTNESS_READ)
        style.write_figure(draw(regions, tightness), caption(regions, tightness), snakemake.output)
