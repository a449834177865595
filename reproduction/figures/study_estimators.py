"""Each randomizer's error by estimator, one panel per dataset and eps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from reproduction.figures import style, wording
from reproduction.figures.looks import COLOURS, LABELS
from reproduction.figures.table_files import groups, reader
from reproduction.figures.wording import typeset

# One row per setting, mechanism and estimator.
COLUMNS = [
    "dataset", "n", "k", "eps", "delta", "randomizer", "estimator", "mean", "low", "high", "predicted",
    "uniform", "repetitions",
]  # fmt: skip
# marker, its face, how far below its line; the last for what would cover another one
LOOKS: dict[str, tuple[str, str | None, float]] = {
    "inversion": ("o", "white", 0.0),
    "projection": ("o", None, 0.0),
    "maximum_likelihood": ("*", None, 0.32),
}
WORDS = {
    "inversion": "inversion",
    "projection": "inversion, projected",
    "maximum_likelihood": "maximum likelihood",
}

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure of the ``titles``' datasets: mechanisms from top to bottom, error to the right."""
    shown = table[table["dataset"].isin(list(titles))]
    names = [name for name in LABELS if (shown["randomizer"] == name).any()]
    panels_of = list(groups(shown, ["eps", "dataset"], sort=False))
    datasets, budgets = list(dict.fromkeys(shown["dataset"])), sorted(shown["eps"].unique())
    figure = style.new_figure(0.7 + 1.9 * len(budgets))
    panels = figure.subplots(len(budgets), len(datasets), sharey=True, squeeze=False)
    for (eps, dataset), rows in panels_of:
        axes = panels[budgets.index(eps), datasets.index(dataset)]
        for row in rows.to_dict("records"):
            marker, face, lower = LOOKS[row["estimator"]]
            colour: str = COLOURS[row["randomizer"]]
            look: Any = {"color": colour, "markerfacecolor": face or colour, "markersize": 4.5}
            place = names.index(row["randomizer"]) + lower
            axes.plot(row["mean"], place, marker=marker, linestyle="", zorder=3, **look)
        axes.axvline(rows["uniform"].iloc[0], color=style.UNIFORM[0], linestyle=style.UNIFORM[1])
        axes.set(xscale="log", xlim=_ends(shown[shown["dataset"] == dataset]))
        axes.set_title(f"{wording.literal(titles[dataset])}, k = {rows['k'].iloc[0]:,}, ε = {eps:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_yticks(np.arange(len(names)), [LABELS[name] for name in names])
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.grid(axis="x")
    for axes in panels[-1]:
        axes.set_xlabel("TV error")
    handles = [
        Line2D(
            [],
            [],
            color=style.INK,
            linestyle="",
            marker=marker,
            markerfacecolor=face or style.INK,
            label=WORDS[name],
        )
        for name, (marker, face, _) in LOOKS.items()
    ]
    handles.append(
        Line2D([], [], color=style.UNIFORM[0], linestyle=style.UNIFORM[1], label="uniform histogram")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _ends(rows: pd.DataFrame) -> tuple[float, float]:
    """The same axis for every eps of one dataset."""
    errors = rows[["mean", "uniform"]].to_numpy()
    return errors.min() / 1.5, 1.4 * errors.max()


def caption(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: what is shown, and how well the closed form fits."""
    plain = table[table["estimator"] == "inversion"]
    inside = ((plain["low"] <= plain["predicted"]) & (plain["predicted"] <= plain["high"])).mean()
    off = (plain["mean"] / plain["predicted"] - 1).abs().max()
    return (
        "Mean total variation (TV) error of each randomizer behind a shuffler by estimator, and of the"
        " central Gaussian mechanism. Inversion is unbiased. Projection replaces its estimate by the nearest"
        " shares that are not negative and sum to 1. Dashed: the uniform histogram, which ignores the"
        " data.\n\n"
        f"{table['repetitions'].max()} repetitions at (ε, {typeset(table['delta'].iloc[0])}),"
        f" all users of {wording.listing(list(titles.values()))}. Each randomizer has the largest ε₀ that the"
        " upper bound allows. Projection is where normalised subtraction ends. Maximum likelihood is a closed"
        " form for k-RR, and expectation maximisation of at most 20 repetitions for Hadamard. The counts of"
        " the remaining randomizers do not determine it."
        f" The closed form of the unbiased error is inside {100 * inside:.0f} % of the intervals"
        f" (uniform data included) and at most {100 * off:.1f} % off the mean."
    )
