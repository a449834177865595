"""Girgis et al.: their bound on the Renyi divergence beside exact ones, and delta after many rounds."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
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
    """The divergences, sorted by eps0 and order, with the monotone envelope of the column girgis.

    A Renyi divergence never falls with its order (van Erven, Harremoes 2014, Theorem 3), so a bound at a
    larger order holds at every smaller one too. Theorem 3.1 as printed falls with the order here and there.
    There the smallest value at a larger order takes its place.
    """
    table = divergences.sort_values(["eps0", "order"], ignore_index=True)
    return table.assign(girgis=table.iloc[::-1].groupby("eps0")["girgis"].cummin())


def rows_of_panels(
    divergences: pd.DataFrame, composed: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of panel (a), at the eps0 of ``composed``, and those of panel (b), with the most rounds."""
    most_rounds = composed[composed["rounds"] == composed["rounds"].max()].sort_values("eps")
    one_round = divergences[divergences["eps0"] == composed["eps0"].iloc[0]]
    return one_round, most_rounds


@style.applied()
def draw(divergences: pd.DataFrame, composed: pd.DataFrame) -> Figure:
    """(a) Renyi divergences of one round over the order. (b) log10 delta over eps after the most rounds.

    ``divergences`` has the columns `DIVERGENCES`, a row per eps0 and order. ``composed`` has the columns
    `COMPOSED`, a row per number of rounds and eps. `LEFT` and `RIGHT` say which columns are lines, and with
    which label and look.
    """
    figure = style.new_figure(3.1)
    left, right = figure.subplots(1, 2)
    one_round, most_rounds = rows_of_panels(divergences, composed)
    _draw_lines(left, one_round, "order", LEFT)
    _draw_lines(right, most_rounds, "eps", RIGHT)

    left.set(yscale="log", xlabel="order λ", ylabel="Rényi divergence ε(λ)")
    left.set_title("(a) Rényi divergence of one round")
    right.set(xlabel="ε of all rounds", ylabel="δ", ylim=(DEEPEST, 0))
    right.set_title(f"(b) δ after {most_rounds['rounds'].iloc[0]:,.0f} rounds")
    right.yaxis.set_major_formatter(style.POWERS)
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        axis.set(major_locator=LogLocator(), minor_formatter=NullFormatter())

    look_of_label = dict([*LEFT.values(), *RIGHT.values()])  # a label of both panels once
    entries = [style.line(label, **look) for label, look in look_of_label.items()]
    style.below(figure, entries, columns=2)
    figure.suptitle(wording.setting(one_round, "n", "k", "eps0"))
    return figure


def _draw_lines(axes: Axes, rows: pd.DataFrame, x: str, curves: Curves) -> None:
    """Draw columns of ``rows`` over the column ``x``, on a logarithmic x axis. Where one is -inf, it ends."""
    for column, (_, look) in curves.items():
        axes.plot(rows[x], rows[column].replace(-np.inf, np.nan), **look)
    axes.set(xscale="log", xlim=(rows[x].min(), rows[x].max()))
    axes.grid()


def caption(divergences: pd.DataFrame, composed: pd.DataFrame) -> str:
    """The caption of `draw`: the ratio of the bound to the clones' divergence, and the eps of all curves."""
    ratio = divergences["girgis"] / divergences["clones"]
    one_round, most_rounds = rows_of_panels(divergences, composed)
    budgets = wording.listing(f"{eps0:g}" for eps0 in sorted(set(divergences["eps0"])))

    verdict = (
        "The bound of Girgis et al. on the Rényi divergence of k-RR behind a shuffler is"
        f" {ratio.min():.2g} to {ratio.max():.2g} times that of the clones, an upper bound too, for ε₀ ="
        f" {budgets}; drawn is {wording.setting(one_round, 'n', 'k', 'eps0')}."
    )
    curves = (
        "Where Theorem 3.1 falls with the order, its value at a larger order is drawn. In the lower bound all"
        " other users hold a third value. (b) takes the best order."
    )
    return f"{verdict} {curves}{_eps_in_words(most_rounds)}"


def _eps_in_words(rows: pd.DataFrame, log10_delta: float = -6) -> str:
    """' The first ε drawn with δ ≤ 10⁻⁶: ...', with the eps of each curve of panel (b).

    An empty text if a curve never falls to this delta. ``rows`` are those of panel (b), by eps.
    """
    eps_of_curves = []
    for column, (label, _) in RIGHT.items():
        reached = rows.loc[rows[column] <= log10_delta, "eps"]
        if reached.empty:
            return ""
        eps_of_curves.append(f"{label}: {reached.iloc[0]:.2g}")
    return f" The first ε drawn with δ ≤ {typeset(10.0**log10_delta)}: {'; '.join(eps_of_curves)}."


if __name__ == "__main__":
    with job() as snakemake:
        divergences = envelope(read_table(snakemake.input.divergences, DIVERGENCES))
        composed = read_table(snakemake.input.composed, COMPOSED)
        write_figure(draw(divergences, composed), caption(divergences, composed), snakemake.output)
