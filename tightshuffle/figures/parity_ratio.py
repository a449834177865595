"""How much worse than the Gaussian: ratios of TV errors over n at equal privacy; grey: as published."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from tightshuffle.figures import style, wording
from tightshuffle.figures.tables import File, groups, read_table

TITLE, SHORT_TITLE = "Error of shuffle+INV over error of the Gaussian", "Ratio of errors"
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "low", "high", "repetitions", "predicted",
]  # fmt: skip
PUBLISHED = "published"
ROWS = {  # comparison: the label at the left
    "all": "log scale: both projected;\ngrey: as published",
    "projected": "both projected\nto the simplex",
    "unprojected": "neither projected;\nlines: closed form",
}
GREY = "#9a9a9a"
Colours = dict[float, Any]  # eps0 -> red, green, blue, alpha
SPREAD = 0.74  # of the room of one n, over which its points are spread
LEAST = 0.08  # of the ratio, above and below 1, that the linear axes show at least


def read(ratios: File) -> pd.DataFrame:
    """The table of ratios: one row per setting, bound and comparison."""
    return read_table(ratios, COLUMNS)


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure of a ratio table: one column per dataset; ``titles`` maps dataset -> title."""
    table = table[table["metric"] == "tv"]
    truth = table[(table["bound"] == "upper") & table["comparison"].isin(ROWS)]
    published = table[table["comparison"] == PUBLISHED]
    colours, rules = _colours(truth), list(dict.fromkeys(truth["delta_rule"]))
    figure = style.new_figure(6.1)
    panels = figure.subplots(
        len(ROWS), len(titles), sharex="col", sharey="row", squeeze=False, height_ratios=[1, 0.9, 0.9]
    )
    for column, (dataset, title) in zip(panels.T, titles.items(), strict=True):
        rows = truth[truth["dataset"] == dataset]
        column[0].set_title(f"{wording.plain(title)}, k = {rows['k'].iloc[0]:,.0f}")
        sizes = sorted(rows["n"].unique())
        _published(column[0], published[published["dataset"] == dataset], sizes)
        for axes, name in zip(column, ROWS, strict=True):
            chosen = rows[rows["comparison"] == ("projected" if name == "all" else name)]
            _ratios(axes, chosen, sizes, colours, rules, lines=name == "unprojected")
            axes.axhline(1, color=style.INK, linewidth=0.7, zorder=1)
            axes.grid(axis="y")
        _users_axis(column[-1], sizes)
    _ratio_axes(panels, truth, published)
    figure.supylabel("TV error of shuffle+INV over that of the Gaussian", fontsize=8)
    _legend(figure, colours, rules, bool(len(published)))
    figure.suptitle(_heading(truth, published))
    return figure


def _published(axes: Axes, published: pd.DataFrame, sizes: Sequence[int]) -> None:
    """The published protocol's ratios: a grey line per budget, named by it."""
    for (eps0, eps), rows in groups(published, ["eps0", "eps"]):
        rows = rows.sort_values("n")
        x, y = np.searchsorted(sizes, rows["n"]), rows["ratio"].to_numpy()
        axes.plot(x, y, color=GREY, linewidth=2.2, marker="o", markersize=2.5, zorder=0)
        axes.fill_between(x, 1, y, color=GREY, alpha=0.13, linewidth=0, zorder=0)
        name = f"ε₀ = {eps0:g}" if eps0 == eps else f"ε₀ = {eps0:g}, ε = {eps:g}"
        middle = len(x) // 2
        above: Any = {"xytext": (-3, 4), "textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(name, (x[middle], y[middle]), color="#666666", fontsize=7, **above)


def _ratios(
    axes: Axes,
    rows: pd.DataFrame,
    sizes: Sequence[int],
    colours: Colours,
    rules: Sequence[str],
    *,
    lines: bool,
) -> None:
    """Points with intervals, one colour per eps0, open for the second delta; ``lines``: the closed form."""
    slots = np.linspace(-SPREAD / 2, SPREAD / 2, len(colours) * len(rules)) if len(rows) > 1 else [0.0]
    for (eps0, rule), part in groups(rows, ["eps0", "delta_rule"]):
        part, colour = part.sort_values("n"), colours[eps0]
        x = np.searchsorted(sizes, part["n"])
        shift = slots[list(colours).index(eps0) + len(colours) * rules.index(rule)]
        first = rule == rules[0]
        if lines:
            look: Any = {"linewidth": 1.2} if first else {"linewidth": 0.8, "linestyle": (0, (3, 1.5))}
            axes.plot(x, part["predicted"], color=colour, zorder=2, **look)
        errors = np.abs(part[["low", "high"]].to_numpy().T - part["ratio"].to_numpy())
        axes.errorbar(
            x + shift,
            part["ratio"],
            yerr=errors,
            fmt="o",
            color=colour,
            markersize=2.6 if first else 2.2,
            markerfacecolor=colour if first else "white",
            markeredgewidth=0.6,
            elinewidth=0.7 if first else 0.5,
            zorder=3,
        )


def _users_axis(axes: Axes, sizes: Sequence[int]) -> None:
    """One place per n, as in the boxplots."""
    every = -(-len(sizes) // 5)
    shown = range(0, len(sizes), every)
    axes.set_xticks(shown, [wording.short_number(sizes[i]) for i in shown])
    axes.set(xlim=(-0.6, len(sizes) - 0.4), xlabel="number of users n")


def _ratio_axes(panels: NDArray[Any], truth: pd.DataFrame, published: pd.DataFrame) -> None:
    low, high = truth["low"].min(), max(truth["high"].max(), published["high"].max())
    for axes, (name, label) in zip(panels[:, 0], ROWS.items(), strict=True):
        axes.set_ylabel(label)
        if name == "all":
            axes.set_yscale("log")
            axes.set_ylim(min(0.8, low / 1.05), 1.25 * high)
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            ends = truth.loc[truth["comparison"] == name, ["low", "high"]]
            axes.set_ylim(min(1 - LEAST, ends["low"].min() - 0.03), max(1 + LEAST, ends["high"].max() + 0.03))


def _legend(figure: Figure, colours: Colours, rules: Sequence[str], published: bool) -> None:
    handles: list[Artist] = [Patch(color=colour, label=f"ε₀ = {eps0:g}") for eps0, colour in colours.items()]
    for rank, rule in enumerate(rules):
        face = style.INK if rank == 0 else "white"
        look: Any = {"color": style.INK, "markerfacecolor": face, "markersize": 3.5, "marker": "o"}
        handles.append(Line2D([], [], linestyle="", label=f"δ = {_delta(rule)}", **look))
    if published:
        handles.append(Line2D([], [], color=GREY, linewidth=2.2, label="published protocol"))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 7), columnspacing=1.2)


def _colours(truth: pd.DataFrame) -> Colours:
    """eps0 -> colour, light to dark; from the colour map of the heatmaps."""
    budgets = sorted(truth["eps0"].unique())
    return dict(zip(budgets, style.HEAT(np.linspace(0.12, 0.95, len(budgets))), strict=True))


def _delta(rule: str) -> str:
    """'10⁻⁶' or 'n^−1.1' with a typeset exponent."""
    if rule.startswith("n^"):
        return f"$n^{{{rule[2:]}}}$"
    return wording.scientific(float(rule))


def _heading(truth: pd.DataFrame, published: pd.DataFrame) -> str:
    projected = truth.loc[truth["comparison"] == "projected", "ratio"]
    heading = (
        f"At equal (ε, δ) shuffle+INV errs {projected.min():.2f} to {projected.max():.2f} times as much"
        " as the Gaussian"
    )
    if len(published):
        heading += f"; as published {published['ratio'].min():.1f} to {published['ratio'].max():.0f} times"
    return wording.folded(heading, style.WIDTH, size=9)


def caption(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: what is divided by what, every parameter, what lies within 5 %, how far lower matters."""
    table = table[table["metric"] == "tv"]
    truth = table[table["comparison"].isin(ROWS)]
    upper = truth[truth["bound"] == "upper"]
    near = upper[upper["comparison"] == "unprojected"]
    within = (near["ratio"].sub(1).abs() <= 0.05).groupby(near["eps0"]).mean()
    keys = ["dataset", "n", "eps0", "delta_rule", "comparison"]
    both = truth.pivot(index=keys, columns="bound", values="ratio")
    deltas = [rule if rule.startswith("n^") else _delta(rule) for rule in dict.fromkeys(upper["delta_rule"])]
    sentences = [
        "Ratio of mean total variation (TV) errors, shuffle+INV over Gaussian, at the same (ε, δ):",
        f"{', '.join(titles.values())};",
        f"ε₀ = {_numbers(upper['eps0'])}; δ = {' and '.join(deltas)}.",
        "ε is what the rigorous upper bound guarantees for the whole histogram; the Gaussian noise has the",
        "exact scale for sensitivity √2.",
        f"{wording.listing(sorted(upper['repetitions'].unique()))} repetitions; each draws one sample of",
        "users for all settings. Bars are bootstrap intervals. Top and middle: both estimates projected to",
        "the simplex; bottom: neither projected, and as lines the closed form from the variances.",
        "Share of the unprojected ratios within 5 % of 1:",
        "; ".join(f"{_percent(share, 0)} at ε₀ = {eps0:g}" for eps0, share in within.items()) + ".",
    ]
    if "lower" in both:
        change = (both["upper"] / both["lower"] - 1).abs().max()
        sentences.append(
            f"With ε from the rigorous lower bound no ratio changes by more than {_percent(change, 1)}."
        )
    if len(published := table[table["comparison"] == PUBLISHED]):
        sentences.append(
            "Grey: the published protocol, ε = ε₀, whose Gaussian noise belongs to no (ε, δ) of the shuffle"
            f" model ({wording.listing(sorted(published['repetitions'].unique()))} repetitions)."
        )
    return " ".join(sentences)


def _numbers(values: "pd.Series[float]") -> str:
    return ", ".join(f"{value:g}" for value in sorted(values.unique()))


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f} %"
