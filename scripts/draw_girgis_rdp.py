"""Girgis' RDP bound beside exact Renyi divergences, and (eps, delta) after compositions beside the PLD."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.figures.shared import read_table, write_figure
from tightshuffle.pipeline.job import job

DIVERGENCES = ["eps0", "order", "n", "k", "girgis", "clones", "two_counts"]
COMPOSED = ["compositions", "eps", "n", "k", "eps0", "girgis", "clones_rdp", "clones_pld"]
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
DASHED, DOTTED = (0, (4, 1.5)), (0, (1, 1.2))
LEFT = {
    "girgis": ("Theorem 3.1", {"linewidth": 1.3}),
    "clones": ("clones, exact", {"linestyle": DASHED}),
    "two_counts": ("two counts, exact (lower bound)", {"linestyle": DOTTED, "linewidth": 1.3}),
}
RIGHT = {
    "girgis": ("Theorem 3.1", {"linewidth": 1.3}),
    "clones_rdp": ("clones, exact RDP", {"linestyle": DASHED}),
    "clones_pld": ("clones, PLD", {"linestyle": DOTTED, "linewidth": 1.3}),
}


@plotting.style()
def draw(divergences, composed, deepest):
    """The figure: a row per (eps0, order), and per (compositions, eps); log10 delta down to ``deepest``."""
    figure = plotting.new_figure(3.5)
    left, right = figure.subplots(1, 2)
    for panel, table, key, curves, x, name in (
        (left, divergences, "eps0", LEFT, "order", "ε₀ = {}"),
        (right, composed, "compositions", RIGHT, "eps", "{} rounds"),
    ):
        handles = []
        for colour, (value, rows) in zip(COLOURS, table.groupby(key), strict=False):
            label = "1 round" if key == "compositions" and value == 1 else name.format(f"{value:,g}")
            handles.append(Line2D([], [], color=colour, linewidth=2.5, label=label))
            for curve, (_, style) in curves.items():
                panel.plot(rows[x], rows[curve].replace(-np.inf, np.nan), color=colour, **style)
        handles += [
            Line2D([], [], color=plotting.INK, label=label, **style) for label, style in curves.values()
        ]
        panel.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, columnspacing=1.2
        )
        panel.grid()
    left.set(xscale="log", yscale="log", xlabel="order λ", ylabel="ε(λ)")
    left.set_title("(a) Rényi differential privacy of one round")
    right.set(xscale="log", xlabel="ε of all rounds", ylabel="log₁₀ δ", ylim=(deepest, 0.3))
    right.set_title(f"(b) all rounds together, ε₀ = {composed['eps0'].iloc[0]:g}")
    for panel, table, x in ((left, divergences, "order"), (right, composed, "eps")):
        panel.set_xlim(table[x].min(), table[x].max())
        _label_logarithms(panel.xaxis, panel.get_xlim())
    _label_logarithms(left.yaxis, left.get_ylim())
    figure.suptitle(_setting(divergences))
    return figure


def _label_logarithms(axis, limits):
    """Decades, or 1, 2, 5 on an axis of less than two: matplotlib's own choice puts labels over another."""
    if limits[1] < 100 * limits[0]:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def caption(divergences, composed):
    """The caption of the figure, with every parameter and how much larger the bound is."""
    ratio = divergences["girgis"] / divergences["clones"]
    rounds, eps0 = _listing(composed["compositions"]), composed["eps0"].iloc[0]
    return (
        f"Rényi differential privacy of the shuffle model, {_setting(divergences)}. (a) ε(λ) of one round for"
        f" ε₀ = {_listing(divergences['eps0'])}: the bound of Girgis et al., Theorem 3.1 (real orders by"
        " their eq. (7)); the exact Rényi divergence of the clones' pair, an upper bound too; and that of the"
        " two counts of x₀ and x₁ when all others hold a third cell, a lower bound for k-RR. The theorem is"
        f" {ratio.min():.2g} to {ratio.max():.2g} times the clones' value."
        f" (b) log₁₀ δ after {rounds} rounds for ε₀ = {eps0:g}: from Theorem 3.1 and from the clones' exact"
        " divergence, both by Lemmas 2.1 and 2.2 at the best order, and from the clones' privacy loss"
        f" distribution (upper estimate).{_where_reached(composed)}"
    )


def _where_reached(composed, wanted=-6):
    """In words: the eps of each curve at log10 delta = ``wanted``, for the most rounds; '' if not reached."""
    rounds = composed["compositions"].max()
    rows = composed[composed["compositions"] == rounds].sort_values("eps")
    found = []
    for curve, (label, _) in RIGHT.items():
        reached = rows.loc[rows[curve] <= wanted, "eps"]
        if reached.empty:
            return ""
        found.append(f"{label} {reached.iloc[0]:.2g}")
    return (
        f" The first ε drawn with δ ≤ {wording.scientific(10.0**wanted)} after {rounds:,} rounds:"
        f" {'; '.join(found)}."
    )


def _setting(table):
    return f"n = {table['n'].iloc[0]:,}, k = {table['k'].iloc[0]:,}"


def _listing(values):
    return wording.listing([float(v) if v % 1 else int(v) for v in sorted(set(values))])


if __name__ == "__main__":
    with job(snakemake):
        tables = (
            read_table(snakemake.input.divergences, DIVERGENCES),
            read_table(snakemake.input.composed, COMPOSED),
        )
        figure = draw(*tables, snakemake.params.deepest)
        write_figure(figure, caption(*tables), snakemake.output)
