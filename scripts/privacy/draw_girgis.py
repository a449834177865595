"""Girgis' RDP bound beside exact Renyi divergences, and (eps, delta) after compositions beside the PLD."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset

DIVERGENCES = ["eps0", "order", "n", "k", "girgis", "clones", "two_counts"]
COMPOSED = ["compositions", "eps", "n", "k", "eps0", "girgis", "clones_rdp", "clones_pld"]
# No colour means a budget in (a) and a number of rounds in (b).
BUDGETS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#882255", "#999933")
ROUNDS = ("#56B4E9", "#CC79A7", "#000000", "#999999", "#661100", "#44AA99")
DASHED, DOTTED = (0, (4, 1.5)), (0, (1, 1.2))
Curves = dict[str, tuple[str, dict[str, Any]]]  # column -> label, look of the line
LEFT: Curves = {
    "girgis": ("Girgis et al., Theorem 3.1", {"linewidth": 1.3}),
    "clones": ("clones, exact", {"linestyle": DASHED}),
    "two_counts": ("two counts, exact (lower bound)", {"linestyle": DOTTED, "linewidth": 1.3}),
}
RIGHT: Curves = {
    "girgis": LEFT["girgis"],
    "clones_rdp": ("clones, exact RDP", {"linestyle": DASHED}),
    "clones_pld": ("clones, PLD", {"linestyle": DOTTED, "linewidth": 1.3}),
}


DEEPEST = -12  # where the axis of log10 delta ends; the distributions are computed to a little below it


def envelope(divergences: pd.DataFrame) -> pd.DataFrame:
    """With Theorem 3.1's monotone envelope: as printed, the theorem falls with the order here and there.

    A Renyi divergence never falls (van Erven, Harremoes 2014, Theorem 3): a bound at a larger order holds at
    every smaller one too.
    """
    table = divergences.sort_values(["eps0", "order"], ignore_index=True)
    return table.assign(girgis=table.iloc[::-1].groupby("eps0")["girgis"].cummin())


@style.applied()
def draw(divergences: pd.DataFrame, composed: pd.DataFrame) -> Figure:
    """(a) One round, one row per (eps0, order); (b) log10 delta, one row per (compositions, eps)."""
    figure = style.new_figure(3.5)
    left, right = figure.subplots(1, 2)
    for panel, table, key, curves, x, name, colours in (
        (left, divergences, "eps0", LEFT, "order", "ε₀ = {}", BUDGETS),
        (right, composed, "compositions", RIGHT, "eps", "{} rounds", ROUNDS),
    ):
        handles = []
        for colour, (value, rows) in zip(colours, groups(table, key), strict=False):
            label = "1 round" if key == "compositions" and value == 1 else name.format(f"{value:,g}")
            handles.append(style.line(label, color=colour, linewidth=2.5))
            for curve, (_, look) in curves.items():
                panel.plot(rows[x], rows[curve].replace(-np.inf, np.nan), color=colour, **look)
        handles += [style.line(label, color=style.INK, **look) for label, look in curves.values()]
        where: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16)}
        panel.legend(handles=handles, ncols=2, columnspacing=1.2, **where)
        panel.grid()
    left.set(xscale="log", yscale="log", xlabel="order λ", ylabel="Rényi divergence ε(λ)")
    left.set_title("(a) Rényi divergence of one round")
    right.set(xscale="log", xlabel="ε of all rounds", ylabel="log₁₀ δ", ylim=(DEEPEST, 0.3))
    right.set_title(f"(b) δ after all rounds, ε₀ = {composed['eps0'].iloc[0]:g}")
    for panel, table, x in ((left, divergences, "order"), (right, composed, "eps")):
        panel.set_xlim(table[x].min(), table[x].max())
    for axis, limits in (
        (left.xaxis, left.get_xlim()),
        (right.xaxis, right.get_xlim()),
        (left.yaxis, left.get_ylim()),
    ):
        if limits[1] < 100 * limits[0]:  # 1, 2, 5, not decades: matplotlib's own labels would overlap
            style.log_ticks(axis, (1, 2, 5))
        axis.set_minor_formatter(NullFormatter())
    figure.suptitle(wording.setting(divergences, "n", "k"))
    return figure


def caption(divergences: pd.DataFrame, composed: pd.DataFrame) -> str:
    """With every parameter, and how much larger the bound is."""
    ratio = divergences["girgis"] / divergences["clones"]
    return (
        "Rényi differential privacy of k-RR behind a shuffler: the bound of Girgis et al. beside exact"
        " divergences, for one round (a), and δ after several rounds (b). The theorem's bound is"
        f" {ratio.min():.2g} to {ratio.max():.2g} times the exact divergence of the clones, which is an upper"
        " bound too.\n\n"
        f"{wording.setting(divergences, 'n', 'k')}. (a) ε₀ = {_listing(divergences['eps0'])}. Where Theorem"
        " 3.1 falls with the order, its value at a larger order is drawn, which holds too. The two counts of"
        " x₀ and x₁, with all remaining users at a third value, give a lower bound. (b)"
        f" {_listing(composed['compositions'])} rounds for ε₀ = {composed['eps0'].iloc[0]:g}, divergences at"
        f" the best order.{_where_reached(composed)}"
    )


def _where_reached(composed: pd.DataFrame, log10_delta: float = -6) -> str:
    """The eps of each curve at ``log10_delta``, for the most rounds; '' if one is never there."""
    rounds = composed["compositions"].max()
    rows = composed[composed["compositions"] == rounds].sort_values("eps")
    reached_at = []
    for curve, (label, _) in RIGHT.items():
        reached = rows.loc[rows[curve] <= log10_delta, "eps"]
        if reached.empty:
            return ""
        reached_at.append(f"{label}: {reached.iloc[0]:.2g}")
    return (
        f" The first ε drawn with δ ≤ {typeset(10.0**log10_delta)} after {rounds:,} rounds:"
        f" {'; '.join(reached_at)}."
    )


def _listing(values: "pd.Series[float]") -> str:
    return wording.listing([float(v) if v % 1 else int(v) for v in sorted(set(values))])


if __name__ == "__main__":
    with job() as snakemake:
        divergences = envelope(read_table(snakemake.input.divergences, DIVERGENCES))
        composed = read_table(snakemake.input.composed, COMPOSED)
        style.write_figure(draw(divergences, composed), caption(divergences, composed), snakemake.output)
