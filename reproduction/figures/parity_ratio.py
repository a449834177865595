"""TV error of shuffle+INV over that of the Gaussian, over n: published protocol and equal privacy."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from reproduction.experiments.parity_summary import largest_change_percent, nearly_equal
from reproduction.figures import style, wording
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import typeset

# One row per setting, bound and comparison.
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "low", "high", "repetitions", "predicted", "informative",
]  # fmt: skip
PUBLISHED, PAIRED = "published", "the paper's pairing"
ROWS = {  # comparison: the label at the left
    PUBLISHED: "published protocol,\nour rerun (log scale)",
    "projected": "equal (ε, δ),\nboth projected",
    "unprojected": "equal (ε, δ),\nneither projected",
}
CROSS: dict[str, Any] = {
    "marker": "x",
    "markersize": 2.6,
    "markeredgewidth": 0.6,
}  # both lose to the uniform one
THEORY: tuple[dict[str, Any], ...] = (  # lines of the closed form: the first delta, the second
    {"linewidth": 1.2},
    {"linewidth": 0.8, "linestyle": (0, (3, 1.5))},
)
Colours = dict[float, Any]  # eps0 -> red, green, blue, alpha
SPREAD = 0.74  # of the room of one n, over which its points are spread
LEAST = 0.08  # of the ratio, above and below 1, that the linear axes show at least

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure of a ratio table: one column per dataset; ``titles`` maps dataset -> title."""
    truth, published = _parts(table)
    rows = {name: label for name, label in ROWS.items() if name != PUBLISHED or len(published)}
    colours, rules = _colours(truth, published), list(dict.fromkeys(truth["delta_rule"]))
    heights = [1.75 if name == PUBLISHED else 1.45 for name in rows]  # room for the names of lines
    figure = style.new_figure(1.2 + sum(heights))
    panels = figure.subplots(len(rows), len(titles), sharex="col", squeeze=False, height_ratios=heights)
    for column, (dataset, title) in zip(panels.T, titles.items(), strict=True):
        here = truth[truth["dataset"] == dataset]
        column[0].set_title(f"{wording.literal(title)}, k = {here['k'].iloc[0]:,.0f}")
        sizes = sorted(here["n"].unique())
        for axes, name in zip(column, rows, strict=True):
            if name == PUBLISHED:
                _published(axes, published[published["dataset"] == dataset], sizes, colours)
                _logarithmic(axes, published)
            else:
                _ratios(axes, here[here["comparison"] == name], sizes, colours, rules)
                _linear(axes, here)
            axes.axhline(1, color=style.INK, linewidth=0.7, zorder=1)
            axes.grid(axis="y")
        _users_axis(column[-1], sizes)
    for axes, label in zip(panels[:, 0], rows.values(), strict=True):
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
        rows = rows.sort_values("n")
        x, y = np.searchsorted(sizes, rows["n"]), rows["ratio"].to_numpy()
        errors = np.abs(rows[["low", "high"]].to_numpy().T - y)
        look: Any = {"fmt": "-o", "markersize": 2.6, "elinewidth": 0.7}
        axes.errorbar(x, y, yerr=errors, color=colours[eps0], **look)
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
            axes.plot(
                np.searchsorted(sizes, part["n"]),
                part["predicted"],
                color=colour,
                zorder=2,
                **THEORY[0 if first else 1],
            )
        clear, crossed = part[part["informative"]], part[~part["informative"]]
        axes.errorbar(
            np.searchsorted(sizes, clear["n"]) + shift,
            clear["ratio"],
            yerr=np.abs(clear[["low", "high"]].to_numpy().T - clear["ratio"].to_numpy()),
            fmt="o",
            color=colour,
            markersize=2.6 if first else 2.2,
            markerfacecolor=colour if first else "white",
            markeredgewidth=0.6,
            elinewidth=0.7 if first else 0.5,
            zorder=3,
        )
        x = np.searchsorted(sizes, crossed["n"]) + shift
        axes.plot(x, crossed["ratio"], color=colour, linestyle="", zorder=3, **CROSS)


def _users_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """One place per n, as in the boxplots."""
    every = -(-len(sizes) // 5)
    shown = range(0, len(sizes), every)
    axes.set_xticks(shown, [wording.short_number(sizes[i]) for i in shown])
    axes.set(xlim=(-0.6, len(sizes) - 0.4), xlabel="number of users n")


def _logarithmic(axes: Axes, published: pd.DataFrame) -> None:
    """One y axis for all datasets: the published protocol's ratios have another order of magnitude."""
    axes.set_yscale("log")
    axes.set_ylim(min(0.8, published["low"].min() / 1.05), 1.4 * published["high"].max())
    style.log_ticks(axes.yaxis, (1, 2, 5))


def _linear(axes: Axes, here: pd.DataFrame) -> None:
    """The y axis of a dataset's ratios at equal privacy, the same for both comparisons."""
    low, high = min(1 - LEAST, here["low"].min() - 0.03), max(1 + LEAST, here["high"].max() + 0.03)
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter("{x:.2f}")


def _legend(figure: Figure, colours: Colours, rules: Sequence[str]) -> None:
    handles: list[Artist] = [Patch(color=colour, label=f"ε₀ = {eps0:g}") for eps0, colour in colours.items()]
    for rank, rule in enumerate(rules):
        face = style.INK if rank == 0 else "white"
        look: Any = {"color": style.INK, "markerfacecolor": face, "markersize": 3.5, "marker": "o"}
        handles.append(Line2D([], [], linestyle="", label=f"δ = {_delta(rule)}", **look))
        lines: Any = {"color": style.INK, **THEORY[min(rank, 1)]}
        handles.append(Line2D([], [], label=f"theory, δ = {_delta(rule)}", **lines))
    crosses = "both worse than the uniform histogram"
    handles.append(Line2D([], [], color=style.INK, linestyle="", label=crosses, **CROSS))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=math.ceil(len(handles) / 2), columnspacing=1.4
    )


def _colours(*tables: pd.DataFrame) -> Colours:
    """eps0 -> colour, light to dark; from the colour map of the heatmaps."""
    budgets = sorted({eps0 for table in tables for eps0 in table["eps0"]})
    return dict(zip(budgets, style.HEAT(np.linspace(0.12, 0.95, len(budgets))), strict=True))


def _delta(rule: str) -> str:
    """'10⁻⁶' or 'n^−1.1' with a typeset exponent."""
    if rule.startswith("n^"):
        return f"$n^{{{rule[2:]}}}$"
    return typeset(float(rule))


def _heading(truth: pd.DataFrame, published: pd.DataFrame) -> str:
    informative = truth.loc[(truth["comparison"] == "projected") & truth["informative"], "ratio"]
    equal = "at equal (ε, δ) no setting beats the uniform histogram"
    if len(informative):
        equal = (
            f"at equal (ε, δ), both projected, {_own(truth, published)}{informative.min():.2f} to"
            f" {informative.max():.2f} in all without crosses"
        )
    ends = (
        f"{wording.two_digits(published['ratio'])} in our rerun of the published protocol; "
        if len(published)
        else ""
    )
    return wording.folded(
        f"Error of shuffle+INV relative to the Gaussian: {ends}{equal}", style.WIDTH, size=9
    )


def _own(truth: pd.DataFrame, published: pd.DataFrame) -> str:
    """The range at the datasets and ε₀ of the published protocol; empty if there are none."""
    places = published[["dataset", "eps0"]].drop_duplicates()
    ratios = truth[truth["comparison"] == "projected"].merge(places)["ratio"]
    return f"{ratios.min():.2f} to {ratios.max():.2f} in the same settings, " if len(ratios) else ""


def caption(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: what is divided by what, every parameter, how many ratios are near 1, the effect of"
    " lower."""
    equal, published = _parts(table)
    deltas = [
        rule.replace("-", "−") if rule.startswith("n^") else _delta(rule)
        for rule in dict.fromkeys(equal["delta_rule"])
    ]
    middle = "Top: the published protocol. Middle" if len(published) else "Top"
    text = (
        "Total variation (TV) error of shuffle+INV over that of the Gaussian mechanism, by number of users n."
        f" {middle}: both at equal (ε, δ), projected onto the simplex. Bottom: neither projected;"
        " lines are the closed form. Above 1 the Gaussian is better. Crosses: both do worse than a uniform"
        " histogram, so their ratio is not informative.\n\n"
        f"Datasets: {', '.join(titles.values())}."
        f" Equal (ε, δ): ε₀ = {_numbers(equal['eps0'])} and δ = {' and '.join(deltas)}."
        " The rigorous upper bound guarantees this ε for the whole histogram. The Gaussian noise has the"
        " exact scale for sensitivity √2. To project is to take the nearest shares that are not negative and"
        " sum to 1. The closed form follows from the variances."
        f" {wording.listing(sorted(equal['repetitions'].unique()))} repetitions; each draws one sample of"
        " users for all settings. Bars are bootstrap intervals."
        f"{' The top row has one logarithmic scale; below it, each' if len(published) else ' Each'} dataset"
        " has its own linear scale.\n\n"
        f"{_informative(equal)}"
    )
    change = largest_change_percent(table[table["metric"] == "tv"])
    if change is not None:
        text += f" With ε from the rigorous lower bound no ratio changes by more than {change:.1f} %."
    if len(published):
        text += (
            "\n\nThe published protocol sets ε = ε₀, which handicaps shuffle+INV. Its Gaussian noise belongs"
            " to no (ε, δ) of the shuffle model, and only shuffle+INV is projected. The row shows our rerun"
            f" ({wording.listing(sorted(published['repetitions'].unique()))} repetitions), without the runs"
            " on all check-ins of a city. The paper prints both errors for two n of N(0, 2), but not the"
            " noise (errata, 7)."
        )
        paired = table[(table["comparison"] == PAIRED) & (table["bound"] == "upper") & table["informative"]]
        same = paired.loc[paired["metric"] == "tv", "ratio"]
        if len(same):
            text += (
                " With this unequal projection at equal (ε, δ), the ratio is"
                f" {wording.two_digits(same)} in the settings without crosses."
            )
    return text


def _informative(equal: pd.DataFrame) -> str:
    """How many settings are informative, and in how many of those the ratio is near 1."""
    rows = equal[equal["comparison"] == "unprojected"]
    informative = rows[rows["informative"]]
    within = nearly_equal(informative["ratio"]).groupby(informative["eps0"])
    shares = ", ".join(f"{near.sum()} of {len(near)} (ε₀ = {eps0:g})" for eps0, near in within)
    return (
        f"In {len(rows) - len(informative)} of the {len(rows)} settings (crosses, without bars) both"
        " mechanisms, projected, do worse than the uniform histogram, which ignores the data."
        + (
            f" Elsewhere the ratio without projection is within 5 % of 1 in: {shares}."
            if len(informative)
            else ""
        )
    )


def _numbers(values: "pd.Series[float]") -> str:
    return ", ".join(f"{value:g}" for value in sorted(values.unique()))
