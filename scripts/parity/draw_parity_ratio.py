"""TV error of shuffle+INV over that of the Gaussian, over n: published protocol and equal privacy."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scripts.parity.summarise_parity import largest_change_percent, nearly_equal
from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset

# One row per setting, bound and comparison.
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "low", "high", "repetitions", "predicted", "informative",
]  # fmt: skip
PUBLISHED = "published"
ROWS = {  # comparison: the label at the left
    PUBLISHED: "published protocol,\nour rerun (log scale)",
    "projected": "equal (ε, δ),\nboth projected",
    "unprojected": "equal (ε, δ),\nneither projected",
}
HEIGHTS = [1.75, 1.45, 1.45]  # inches of the rows; the first has room for the names of lines
CROSS: dict[str, Any] = {"marker": "x", "markersize": 2.6, "markeredgewidth": 0.6}  # both lose to the uniform
THEORY: tuple[dict[str, Any], ...] = (  # lines of the closed form: the first delta, the second
    {"linewidth": 1.2},
    {"linewidth": 0.8, "linestyle": (0, (3, 1.5))},
)
Colours = dict[float, Any]  # eps0 -> red, green, blue, alpha
SPREAD = 0.74  # of the room of one n, over which its points are spread
LEAST = 0.08  # of the ratio, above and below 1, that the linear axes show at least


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure of a ratio table: one column per dataset; ``titles`` maps dataset -> title."""
    truth, published = _parts(table)
    budgets = sorted({*truth["eps0"], *published["eps0"]})
    # Light to dark, from the colour map of the heatmaps.
    colours = dict(zip(budgets, style.HEAT(np.linspace(0.12, 0.95, len(budgets))), strict=True))
    rules = list(dict.fromkeys(truth["delta_rule"]))
    figure = style.new_figure(1.2 + sum(HEIGHTS))
    panels = figure.subplots(len(ROWS), len(titles), sharex="col", squeeze=False, height_ratios=HEIGHTS)
    for column, (dataset, title) in zip(panels.T, titles.items(), strict=True):
        here = truth[truth["dataset"] == dataset]
        column[0].set_title(f"{wording.literal(title)}, k = {here['k'].iloc[0]:,.0f}")
        sizes = sorted(here["n"].unique())
        _published(column[0], published[published["dataset"] == dataset], sizes, colours)
        # One axis for all datasets: the published protocol's ratios have another order of magnitude.
        low, high = min(0.8, published["low"].min() / 1.05), 1.4 * published["high"].max()
        column[0].set(yscale="log", ylim=(low, high))
        style.log_ticks(column[0].yaxis, (1, 2, 5))
        low, high = min(1 - LEAST, here["low"].min() - 0.03), max(1 + LEAST, here["high"].max() + 0.03)
        for axes, name in zip(column[1:], list(ROWS)[1:], strict=True):
            _ratios(axes, here[here["comparison"] == name], sizes, colours, rules)
            axes.set_ylim(low, high)
            axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
            axes.yaxis.set_major_formatter("{x:.2f}")
        for axes in column:
            axes.axhline(1, color=style.INK, linewidth=0.7, zorder=1)
            axes.grid(axis="y")
        shown = range(0, len(sizes), -(-len(sizes) // 5))  # one place per n, as in the boxplots
        column[-1].set_xticks(shown, [wording.short_number(sizes[i]) for i in shown])
        column[-1].set(xlim=(-0.6, len(sizes) - 0.4), xlabel="number of users n")
    for axes, label in zip(panels[:, 0], ROWS.values(), strict=True):
        axes.set_ylabel(label)
    figure.supylabel("TV error of shuffle+INV / TV error of the Gaussian", fontsize=8)
    _legend(figure, colours, rules)
    figure.suptitle(_heading(truth, published))
    return figure


def _parts(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The TV rows at equal privacy by the upper bound, and those of the published protocol."""
    table = table[table["metric"] == "tv"]
    equal = (table["bound"] == "upper") & table["comparison"].isin(ROWS)
    return table[equal], table[table["comparison"] == PUBLISHED]


def _published(axes: Axes, published: pd.DataFrame, sizes: Sequence[int], colours: Colours) -> None:
    """The published protocol's ratios: a line per budget, named by it."""
    for (eps0, eps), rows in groups(published, ["eps0", "eps"]):
        x, y = _bars(axes, rows.sort_values("n"), sizes, fmt="-o", color=colours[eps0], elinewidth=0.7)
        middle = len(x) // 2
        below: Any = {"xytext": (3, -4), "textcoords": "offset points", "ha": "left", "va": "top"}
        name = f"ε₀ = ε = {eps:g}" if eps0 == eps else f"ε₀ = {eps0:g}, ε = {eps:g}"
        axes.annotate(name, (x[middle], y[middle]), color=colours[eps0], fontsize=7, **below)


def _ratios(
    axes: Axes, rows: pd.DataFrame, sizes: Sequence[int], colours: Colours, rules: Sequence[str]
) -> None:
    """Points with intervals, one colour per eps0, open for the second delta; crosses: uninformative settings.

    Lines: the closed form, where there is one.
    """
    slots = np.linspace(-SPREAD / 2, SPREAD / 2, len(colours) * len(rules)) if len(rows) > 1 else [0.0]
    for (eps0, rule), part in groups(rows, ["eps0", "delta_rule"]):
        part, colour, first = part.sort_values("n"), colours[eps0], rule == rules[0]
        shift = slots[list(colours).index(eps0) + len(colours) * rules.index(rule)]
        if (part["comparison"] == "unprojected").all():
            theory: Any = {"color": colour, "zorder": 2, **THEORY[0 if first else 1]}
            axes.plot(np.searchsorted(sizes, part["n"]), part["predicted"], **theory)
        look: Any = {"markersize": 2.6, "markerfacecolor": colour, "elinewidth": 0.7}
        if not first:
            look = {"markersize": 2.2, "markerfacecolor": "white", "elinewidth": 0.5}
        look |= {"fmt": "o", "color": colour, "markeredgewidth": 0.6, "zorder": 3}
        _bars(axes, part[part["informative"]], sizes, shift, **look)
        crossed = part[~part["informative"]]
        x = np.searchsorted(sizes, crossed["n"]) + shift
        axes.plot(x, crossed["ratio"], color=colour, linestyle="", zorder=3, **CROSS)


def _bars(axes: Axes, rows: pd.DataFrame, sizes: Sequence[int], shift: float = 0, **look: Any) -> Any:
    """Ratios with their intervals; returns their places."""
    x, y = np.searchsorted(sizes, rows["n"]) + shift, rows["ratio"].to_numpy()
    errors = np.abs(rows[["low", "high"]].to_numpy().T - y)
    axes.errorbar(x, y, yerr=errors, **({"markersize": 2.6} | look))
    return x, y


def _legend(figure: Figure, colours: Colours, rules: Sequence[str]) -> None:
    handles: list[Artist] = [Patch(color=colour, label=f"ε₀ = {eps0:g}") for eps0, colour in colours.items()]
    ink: Any = {"color": style.INK}
    for rank, rule in enumerate(rules):
        delta = f"$n^{{{rule[2:]}}}$" if rule.startswith("n^") else typeset(float(rule))
        look: Any = {"markerfacecolor": "white" if rank else style.INK, "markersize": 3.5, "marker": "o"}
        handles.append(style.line(f"δ = {delta}", linestyle="", **ink, **look))
        handles.append(style.line(f"theory, δ = {delta}", **ink, **THEORY[min(rank, 1)]))
    handles.append(style.line("both worse than the uniform histogram", linestyle="", **ink, **CROSS))
    rows = math.ceil(len(handles) / 2)
    figure.legend(handles=handles, loc="outside lower center", ncols=rows, columnspacing=1.4)


def _heading(truth: pd.DataFrame, published: pd.DataFrame) -> str:
    """The ranges: of the rerun; at equal privacy at its datasets and eps0, and wherever it is informative."""
    projected = truth[truth["comparison"] == "projected"]
    informative = projected.loc[projected["informative"], "ratio"]
    own = projected.merge(published[["dataset", "eps0"]].drop_duplicates())["ratio"]
    equal = "at equal (ε, δ) no setting beats the uniform histogram"
    if len(informative):
        same = f"{own.min():.2f} to {own.max():.2f} in the same settings, " if len(own) else ""
        ends = f"{informative.min():.2f} to {informative.max():.2f} in all without crosses"
        equal = f"at equal (ε, δ), both projected, {same}{ends}"
    rerun = f"{wording.two_digits(published['ratio'])} in our rerun of the published protocol"
    heading = f"Error of shuffle+INV relative to the Gaussian: {rerun}; {equal}"
    return wording.folded(heading, style.WIDTH, size=9)


def caption(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: what is divided by what, every parameter, how many ratios are near 1."""
    equal, published = _parts(table)
    rules = [
        rule.replace("-", "−") if rule.startswith("n^") else typeset(float(rule))
        for rule in dict.fromkeys(equal["delta_rule"])
    ]
    budgets = ", ".join(f"{eps0:g}" for eps0 in sorted(equal["eps0"].unique()))
    here, there = (wording.listing(sorted(rows["repetitions"].unique())) for rows in (equal, published))
    change = largest_change_percent(table[table["metric"] == "tv"])
    lower = f" With ε from the rigorous lower bound no ratio changes by more than {change or 0:.1f} %."
    return (
        "Total variation (TV) error of shuffle+INV over that of the Gaussian mechanism, by number of users n."
        " Top: the published protocol, where only shuffle+INV is projected. Middle: both at equal (ε, δ),"
        " projected onto the simplex. Bottom: neither projected; lines are the closed form. Above 1 the"
        " Gaussian is better. Crosses: both do worse than a uniform histogram.\n\n"
        f"Datasets: {', '.join(titles.values())}. Equal (ε, δ): ε₀ = {budgets}, δ = {' and '.join(rules)}, ε"
        f" from the rigorous upper bound; {here} repetitions. Published protocol: our rerun with {there}"
        f" repetitions. Bars are bootstrap intervals. {_informative(equal)}{lower * (change is not None)}"
    )


def _informative(equal: pd.DataFrame) -> str:
    """How many settings are informative, and in how many of those the ratio is near 1."""
    rows = equal[equal["comparison"] == "unprojected"]
    informative = rows[rows["informative"]]
    within = nearly_equal(informative["ratio"]).groupby(informative["eps0"])
    shares = ", ".join(f"{near.sum()} of {len(near)} (ε₀ = {eps0:g})" for eps0, near in within)
    return (
        f"In {len(rows) - len(informative)} of the {len(rows)} settings (crosses, without bars) both do worse"
        " than the uniform histogram. Elsewhere the ratio without projection is within 5 % of 1 in:"
        f" {shares or 'none'}."
    )


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read_table(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table, params.titles), caption(table, params.titles), snakemake.output)
