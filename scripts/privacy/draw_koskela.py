"""Koskela et al., Figure 1: delta of several rounds over eps."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

# One row per curve, number of rounds and eps; upper is log10 delta.
COLUMNS = ["curve", "compositions", "n", "k", "eps0", "eps", "upper"]
LABELS = {
    "strong": "Koskela et al., strong adversary",
    "weak": "Koskela et al., weak adversary",
    "clones": "clones with e^{−ε₀}, as stated",
    "stronger-clones": "stronger clones with 2/(e^{ε₀}+1)",
    "balle_analytic": "Balle et al., Theorem 3.1",
    "balle_bennett": "Balle et al., Bennett's inequality",
}
TYPESET = {
    "clones": "clones with $e^{-ε_0}$, as stated",
    "stronger-clones": "stronger clones with $2/(e^{ε_0}+1)$",
}
COLOURS = {"strong": "#D55E00", "weak": "#0072B2", "balle_analytic": "#000000", "balle_bennett": "#009E73"}
COLOURS |= {"clones": "#D55E00", "stronger-clones": "#0072B2"}
MARKS = {"balle_analytic": "o", "balle_bennett": "s"}  # one round only: their look says no number of rounds
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
LOWEST = -10  # where the axis of log10 delta ends


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """One line per curve and number of rounds."""
    rounds = sorted(table["compositions"].unique())
    dashes = {number: DASHES[i % len(DASHES)] for i, number in enumerate(rounds)}
    figure = style.new_figure(3.4)
    axes = figure.subplots()
    for (name, number), curve in groups(table, ["curve", "compositions"], sort=False):
        drawn = curve[np.isfinite(curve["upper"])]
        axes.plot(drawn["eps"], drawn["upper"], **_look(name, dashes[number]))
    axes.set(xlim=(0, table["eps"].max()), ylim=(LOWEST, 0), xlabel="ε of all rounds", ylabel="δ")
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$" if value else "1"))
    axes.grid()
    axes.set_title(_setting(table))
    names = table["curve"].unique()
    legend = [style.line(TYPESET.get(name, LABELS[name]), **_look(name, "-")) for name in names]
    several = [
        style.line(f"{number} round{'s' if number > 1 else ''}", color="#777777", linestyle=dashes[number])
        for number in rounds
    ]
    rows = max(len(legend), len(several))
    for column in (legend, several):  # side by side: what a colour means, and what dashes mean
        column += [style.line(" ", color="none")] * (rows - len(column))
    axes.legend(handles=legend + several, loc="upper right", ncols=2, handlelength=2.6, frameon=True)
    return figure


def _look(name: str, dashes: Any) -> dict[str, Any]:
    """The keywords of a curve's line; ``dashes``: those of its number of rounds."""
    marks: dict[str, Any] = {"marker": MARKS[name], "markersize": 3, "markevery": 4} if name in MARKS else {}
    return {"color": COLOURS[name], "linestyle": dashes, **marks}


def caption(table: pd.DataFrame) -> str:
    """With every parameter."""
    names = list(table["curve"].unique())
    rounds = wording.listing(sorted(int(number) for number in table["compositions"].unique()))
    return (
        f"δ over ε after {rounds} rounds of the shuffle model, as in Figure 1 of Koskela, Heikkilä and"
        " Honkela. Colours are methods, dashes are numbers of rounds.\n\n"
        f"{_setting(table)}. Curves: {'; '.join(LABELS[name] for name in names)}."
        + " The paper does not say how many rounds it plots. The bounds of Balle et al. hold for one round."
        * ("weak" in names)
        + " We did not check which of the two its own figure shows." * ("clones" in names)
    )


def _setting(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    cells = "" if "clones" in set(table["curve"]) else f", k = {first['k']:,.0f}"
    return f"n = {first['n']:,.0f}{cells}, ε₀ = {first['eps0']:.4g}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
