"""Girgis et al.: their bound on the Renyi divergence beside exact ones, and delta after many rounds."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_table
from scripts.shared.wording import typeset

DIVERGENCES = ["eps0", "order", "n", "k", "girgis", "clones", "two_counts"]
COMPOSED = ["rounds", "eps", "n", "k", "eps0", "girgis", "clones_rdp", "clones_pld"]
GIRGIS: dict[str, Any] = {"color": "#D55E00", "linewidth": 2}
CLONES: dict[str, Any] = {"color": "#0072B2", "linewidth": 1.6}
Curves = dict[str, tuple[str, dict[str, Any]]]  # column -> label, look of the line
LEFT: Curves = {
    "girgis": ("Girgis et al., Theorem 3.1", GIRGIS),
    "clones": ("clones, exact divergence", CLONES),
    "two_counts": ("two counts, exact: a lower bound", {"color": "#777777", "linestyle": "--"}),
}
RIGHT: Curves = {
    "girgis": LEFT["girgis"],
    "clones_rdp": LEFT["clones"],
    "clones_pld": ("clones, loss distribution", {"color": "#009E73", "linewidth": 1.6}),
}
# Where the axis of log10 delta ends; the distributions are computed to a little below it.
DEEPEST = -12


def envelope(divergences: pd.DataFrame) -> pd.DataFrame:
    """With Theorem 3.1's monotone envelope: as printed, the theorem falls with the order here and there.

    A Renyi divergence never falls (van Erven, Harremoes 2014, Theorem 3): a bound at a larger order holds at
    every smaller one too.
    """
    table = divergences.sort_values(["eps0", "order"], ignore_index=True)
    return table.assign(girgis=table.iloc[::-1].groupby("eps0")["girgis"].cummin())


def drawn(divergences: pd.DataFrame, composed: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The divergences at the eps0 of the rounds, and the most rounds."""
    most = composed[composed["rounds"] == composed["rounds"].max()].sort_values("eps")
    return divergences[divergences["eps0"] == composed["eps0"].iloc[0]], most


@style.applied()
def draw(divergences: pd.DataFrame, composed: pd.DataFrame) -> Figure:
    """(a) One round, one row per (eps0, order); (b) log10 delta, one row per (rounds, eps)."""
    figure = style.new_figure(3.1)
    panels = figure.subplots(1, 2)
    one, most = drawn(divergences, composed)
    for axes, rows, curves, x in ((panels[0], one, LEFT, "order"), (panels[1], most, RIGHT, "eps")):
        for curve, (_, look) in curves.items():
            axes.plot(rows[x], rows[curve].replace(-np.inf, np.nan), **look)
        axes.set(xscale="log", xlim=(rows[x].min(), rows[x].max()))
        axes.grid()
    panels[0].set(yscale="log", xlabel="order λ", ylabel="Rényi divergence ε(λ)")
    panels[0].set_title("(a) Rényi divergence of one round")
    panels[1].set(xlabel="ε of all rounds", ylabel="δ", ylim=(DEEPEST, 0))
    panels[1].set_title(f"(b) δ after {most['rounds'].iloc[0]:,.0f} rounds")
    panels[1].yaxis.set_major_formatter(style.POWERS)
    for axis in (panels[0].xaxis, panels[0].yaxis, panels[1].xaxis):
        axis.set(major_locator=LogLocator(), minor_formatter=NullFormatter())
    looks = dict([*LEFT.values(), *RIGHT.values()])  # each name once
    style.below(figure, [style.line(label, **look) for label, look in looks.items()], 2)
    figure.suptitle(wording.setting(one, "n", "k", "eps0"))
    return figure


def caption(divergences: pd.DataFrame, composed: pd.DataFrame) -> str:
    """With every parameter, and how much larger the bound is."""
    ratio = divergences["girgis"] / divergences["clones"]
    one, most = drawn(divergences, composed)
    budgets = wording.listing(f"{eps0:g}" for eps0 in sorted(set(divergences["eps0"])))

    verdict = (
        "The bound of Girgis et al. on the Rényi divergence of k-RR behind a shuffler is"
        f" {ratio.min():.2g} to {ratio.max():.2g} times that of the clones, an upper bound too, for ε₀ ="
        f" {budgets}; drawn is {wording.setting(one, 'n', 'k', 'eps0')}."
    )
    curves = (
        "Where Theorem 3.1 falls with the order, its value at a larger order is drawn. In the lower bound all"
        " other users hold a third value. (b) takes the best order."
    )
    return f"{verdict} {curves}{_where_reached(most)}"


def _where_reached(most: pd.DataFrame, log10_delta: float = -6) -> str:
    """The eps of each curve at ``log10_delta``; '' if one is never there."""
    reached_at = []
    for curve, (label, _) in RIGHT.items():
        reached = most.loc[most[curve] <= log10_delta, "eps"]
        if reached.empty:
            return ""
        reached_at.append(f"{label}: {reached.iloc[0]:.2g}")
    return f" The first ε drawn with δ ≤ {typeset(10.0**log10_delta)}: {'; '.join(reached_at)}."


if __name__ == "__main__":
    with job() as snakemake:
        divergences = envelope(read_table(snakemake.input.divergences, DIVERGENCES))
        composed = read_table(snakemake.input.composed, COMPOSED)
        write_figure(draw(divergences, composed), caption(divergences, composed), snakemake.output)
