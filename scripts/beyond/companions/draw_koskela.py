"""Koskela et al., Figure 1: delta of several rounds over eps."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

# One row per curve, number of rounds and eps; upper is log10 delta.
COLUMNS = ["curve", "rounds", "n", "k", "eps0", "eps", "upper"]
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {  # curve -> name, look; others stay in the table
    "strong": ("strong adversary", {"color": "#D55E00", "linewidth": 1.6}),
    "weak": ("weak adversary", {"color": "#0072B2", "linewidth": 1.6}),
    "balle_analytic": ("Balle et al., Theorem 3.1", {"color": style.INK, "linestyle": "--"}),
    "stronger-clones": ("stronger clones, 2/($e^{ε_0}$+1)", {"color": "#0072B2", "linewidth": 1.6}),
    "clones": ("clones as stated, $e^{-ε_0}$: {} rounds", {"color": "#D55E00", "linestyle": "--"}),
}
MOST_ROUNDS_ONLY = "clones"  # with fewer rounds it would lie on lines of the stronger clones
UNNUMBERED = ("balle_analytic", MOST_ROUNDS_ONLY)
# Of log10 delta: where the axis ends, and where lines have their number of rounds.
LOWEST, NAMED = (-10, -7)


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that the figure shows."""
    most = table["rounds"].max()
    kept = table["curve"].isin(list(LOOKS)) & np.isfinite(table["upper"])
    return table[kept & ((table["curve"] != MOST_ROUNDS_ONLY) | (table["rounds"] == most))]


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A line per curve and number of rounds, which is written on it."""
    rows, most = drawn(table), int(table["rounds"].max())
    figure = style.new_figure(3.2, width=5.5)
    axes = figure.subplots()
    for (name, number), curve in groups(rows, ["curve", "rounds"], sort=False):
        axes.plot(curve["eps"], curve["upper"], **LOOKS[name][1])
        if name not in UNNUMBERED:
            place = np.interp(-NAMED, -curve["upper"], curve["eps"])
            box: Any = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            axes.text(place, NAMED, f"{number}", ha="center", va="center", fontsize=7, bbox=box)
    axes.set(xlim=(0, table["eps"].max()), ylim=(LOWEST, 0), xlabel="ε of all rounds", ylabel="δ")
    axes.set_title(f"{_setting(table)}; numbers: rounds")
    axes.yaxis.set_major_formatter(style.POWERS)
    axes.grid()
    names = [name for name in LOOKS if name in set(rows["curve"])]
    handles = [
        style.line(LOOKS[name][0].replace("{}", str(most)), **LOOKS[name][1]) for name in names
    ]
    style.below(figure, handles)
    return figure


def caption(table: pd.DataFrame) -> str:
    """What one sees, and what the paper leaves open."""
    rounds = wording.listing(sorted(int(number) for number in table["rounds"].unique()))
    subject = f"δ over ε after {rounds} rounds, as in Figure 1 of Koskela, Heikkilä and Honkela."
    if MOST_ROUNDS_ONLY in set(table["curve"]):
        verdict = (
            "The stronger clones give a smaller δ than the clones that the paper states."
            " We did not check which of the two its own figure shows."
        )
    else:
        verdict = (
            "An adversary who knows less (weak) gets a much smaller δ than the strong one, and both are far"
            " below the analytic bound of Balle et al. for one round."
            " The paper does not say how many rounds it plots."
        )
    return f"{subject} {verdict} {_setting(table)}."


def _setting(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    cells = "" if "clones" in set(table["curve"]) else f", k = {first['k']:,.0f}"
    return f"n = {first['n']:,.0f}{cells}, ε₀ = {first['eps0']:.4g}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
