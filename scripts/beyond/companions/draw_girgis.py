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
PANEL_A: Curves = {
    "girgis": ("Girgis et al., Theorem 3.1", GIRGIS),
    "clones": ("clones, exact divergence", CLONES),
    "two_counts": ("two counts, exact: a lower bound", {"color": "#777777", "linestyle": "--"}),
}
PANEL_B: Curves = {
    "girgis": PANEL_A["girgis"],
    "clones_rdp": PANEL_A["clones"],
    "clones_pld": ("clones, loss distribution", {"color": "#009E73", "linewidth": 1.6}),
}
# log10 delta at which the axis of panel (b) ends; `girgis_composed` computes distributions to a little below.
LOWEST = -12


def envelope(divergences: pd.DataFrame) -> pd.DataFrame:
    """``divergences`` sorted by eps0 and order, with the column girgis as its monotone envelope.

    The column girgis is an upper bound on the Renyi divergence. At each order its envelope is the smallest
    value at this order or a larger one. The envelope is a bound, too: a Renyi divergence never falls with its
    order (van Erven, Harremoes 2014, Theorem 3), so a bound at a larger order holds at every smaller one. It
    differs from the column where Theorem 3.1, as printed, falls with the order.
    """
    table = divergences.sort_values(["eps0", "order"], ignore_index=True)
    return table.assign(girgis=table.iloc[::-1].groupby("eps0")["girgis"].cummin())


def panel_rows(
    divergences: pd.DataFrame, composed: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of panel (a), those of ``divergences`` at the eps0 of ``composed``, and those of panel (b).

    Panel (b) has the rows of ``composed`` with the largest number of rounds, sorted by eps.
    """
    most_rounds = composed[composed["rounds"] == composed["rounds"].max()].sort_values("eps")
    one_round = divergences[divergences["eps0"] == composed["eps0"].iloc[0]]
    return one_round, most_rounds


@style.applied()
def draw(divergences: pd.DataFrame, composed: pd.DataFrame) -> Figure:
    """Two panels: (a) Renyi divergences of one round over the order, (b) delta over eps after many rounds.

    ``divergences`` has a row per eps0 and order. Its columns girgis, clones and two_counts are bounds on the
    Renyi divergence, in natural logs. ``composed`` has a row per number of rounds and eps. Its columns
    girgis, clones_rdp and clones_pld are log10 of bounds on delta. Each of these columns is a line, and
    `PANEL_A` and `PANEL_B` have its label and its look (colour, width and style). Panel (b) shows the largest
    number of rounds, and panel (a) the eps0 of ``composed``.
    """
    figure = style.new_figure(3.1)
    left, right = figure.subplots(1, 2)
    one_round, most_rounds = panel_rows(divergences, composed)
    _draw_lines(left, one_round, "order", PANEL_A)
    _draw_lines(right, most_rounds, "eps", PANEL_B)

    left.set(yscale="log", xlabel="order λ", ylabel="Rényi divergence ε(λ)")
    left.set_title("(a) Rényi divergence of one round")
    right.set(xlabel="ε of all rounds", ylabel="δ", ylim=(LOWEST, 0))
    right.set_title(f"(b) δ after {most_rounds['rounds'].iloc[0]:,.0f} rounds")
    right.yaxis.set_major_formatter(style.POWERS)
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        axis.set(major_locator=LogLocator(), minor_formatter=NullFormatter())

    # A dict, so that the legend has a label of both panels only once.
    look_of_label = dict([*PANEL_A.values(), *PANEL_B.values()])
    entries = [style.line(label, **look) for label, look in look_of_label.items()]
    style.below(figure, entries, columns=2)
    figure.suptitle(wording.setting(one_round, "n", "k", "eps0"))
    return figure


def _draw_lines(axes: Axes, rows: pd.DataFrame, x: str, curves: Curves) -> None:
    """Draw each column of ``rows`` that is in ``curves`` over the column ``x``, on a logarithmic x axis.

    ``curves`` has for each column a pair (label, look), of which the look is used. A line ends where it is
    -inf, which is log10 of 0.
    """
    for column, (_, look) in curves.items():
        axes.plot(rows[x], rows[column].replace(-np.inf, np.nan), **look)
    axes.set(xscale="log", xlim=(rows[x].min(), rows[x].max()))
    axes.grid()


def caption(divergences: pd.DataFrame, composed: pd.DataFrame) -> str:
    """The caption of `draw`: how large Girgis et al.'s bound is, what is drawn, and the eps of the curves.

    The range of the ratio of the bound to the Renyi divergence of the clones' pair is over all eps0 and
    orders of ``divergences``. The last sentence has the eps at which each curve of panel (b) falls to a delta
    of 10^-6.
    """
    ratio = divergences["girgis"] / divergences["clones"]
    one_round, most_rounds = panel_rows(divergences, composed)
    budgets = wording.listing(f"{eps0:g}" for eps0 in sorted(set(divergences["eps0"])))

    verdict = (
        "The bound of Girgis et al. on the Rényi divergence of k-RR behind a shuffler is"
        f" {ratio.min():.2g} to {ratio.max():.2g} times that of the clones, an upper bound too, for ε₀ ="
        f" {budgets}; drawn is {wording.setting(one_round, 'n', 'k', 'eps0')}."
    )
    # "The best order": of the Renyi divergences in (b), that with the smallest delta at this eps.
    curves = (
        "Where Theorem 3.1 falls with the order, its value at a larger order is drawn. In the lower bound all"
        " other users hold a third value. (b) takes the best order."
    )
    return f"{verdict} {curves}{_sentence_on_eps(most_rounds)}"


def _sentence_on_eps(rows: pd.DataFrame, log10_delta: float = -6) -> str:
    """' The first ε drawn with δ ≤ 10⁻⁶: ...', with this ε of each curve of panel (b).

    ``rows`` are those of panel (b), sorted by eps. The text is empty if a curve never falls to this delta.
    It begins with a space, since it follows another sentence.
    """
    eps_of_curves = []
    for column, (label, _) in PANEL_B.items():
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
