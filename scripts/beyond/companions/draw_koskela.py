"""delta of several rounds over eps, as in Figure 1 of Koskela, Heikkilä and Honkela."""

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
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {  # curve -> label, look; others stay in the table
    "strong": ("strong adversary", {"color": "#D55E00", "linewidth": 1.6}),
    "weak": ("weak adversary", {"color": "#0072B2", "linewidth": 1.6}),
    "balle_analytic": ("Balle et al., Theorem 3.1", {"color": style.INK, "linestyle": "--"}),
    "stronger-clones": ("stronger clones, 2/($e^{ε_0}$+1)", {"color": "#0072B2", "linewidth": 1.6}),
    "clones": ("clones as stated, $e^{-ε_0}$: {} rounds", {"color": "#D55E00", "linestyle": "--"}),
}
MOST_ROUNDS_ONLY = "clones"  # with fewer rounds it would lie on lines of the stronger clones
UNNUMBERED = ("balle_analytic", MOST_ROUNDS_ONLY)  # one line each: for one round, for the most
# log10 delta at which the axis ends, and at which the number of rounds is written on a line.
LOWEST, NUMBERED = (-10, -7)


def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``table`` that are drawn: those of the curves in `LOOKS` with a finite log10 delta.

    Of the curve `MOST_ROUNDS_ONLY`, the clones, only the rows of the largest number of rounds are kept.
    """
    is_drawn = table["curve"].isin(list(LOOKS)) & np.isfinite(table["upper"])
    has_most_rounds = table["rounds"] == table["rounds"].max()
    return table[is_drawn & (has_most_rounds | (table["curve"] != MOST_ROUNDS_ONLY))]


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """Upper bounds on delta over eps, log10 delta upwards: a line for every curve and number of rounds.

    ``table`` has a row per curve, number of rounds and eps (of all rounds together). Its column upper is
    log10 of the bound. A curve is one of the bounds in `LOOKS`, which has its label and its look (colour and
    style of the line). The number of rounds is written on the line, where the line is at log10 delta =
    `NUMBERED`, but not on the curves `UNNUMBERED`.
    """
    rows = drawn_rows(table)
    figure = style.new_figure(3.2, width=5.5)
    axes = figure.subplots()
    for (curve, rounds), line in groups(rows, ["curve", "rounds"], sort=False):
        _, look = LOOKS[curve]
        axes.plot(line["eps"], line["upper"], **look)
        if curve not in UNNUMBERED:
            # The eps at which the line is at log10 delta = NUMBERED. np.interp needs a rising x, and log10
            # delta falls with eps, hence both minus signs.
            eps = np.interp(-NUMBERED, -line["upper"], line["eps"])
            box: Any = {"facecolor": "white", "edgecolor": "none", "pad": 1}
            axes.text(eps, NUMBERED, f"{rounds}", ha="center", va="center", fontsize=7, bbox=box)

    axes.set(xlim=(0, table["eps"].max()), ylim=(LOWEST, 0), xlabel="ε of all rounds", ylabel="δ")
    axes.set_title(f"{_setting_in_words(table)}; numbers: rounds")
    axes.yaxis.set_major_formatter(style.POWERS)
    axes.grid()

    entries = []
    for curve, (label, look) in LOOKS.items():
        if curve in set(rows["curve"]):
            # Only the label of the curve MOST_ROUNDS_ONLY has braces.
            label = label.replace("{}", str(int(table["rounds"].max())))
            entries.append(style.line(label, **look))
    style.below(figure, entries)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`: the numbers of rounds, which bound is the smaller one, and n, k and eps0.

    It also says what the paper leaves open. Figure 1b of the paper has the curves of the clones and the
    stronger clones, Figure 1a those of the strong and the weak adversary. So ``table`` is that of Figure 1b
    if it has a curve "clones".
    """
    rounds = wording.listing(sorted(int(number) for number in table["rounds"].unique()))
    subject = f"δ over ε after {rounds} rounds, as in Figure 1 of Koskela, Heikkilä and Honkela."
    if "clones" in set(table["curve"]):
        verdict = (
            "The stronger clones give a smaller δ than the clones that the paper states."
            " We did not check which of the two its own figure shows."
        )
    else:
        verdict = (
            "An adversary who knows less (weak) gets a much smaller δ than the strong one, and both are far"
            " below the analytic bound of Balle et al. for one round."
            " The paper does not say how many rounds it plots. For the strong adversary we take the joint"
            " distribution of two counts: the two binomials that its eq. (3.1) prints give another curve."
        )
    return f"{subject} {verdict} {_setting_in_words(table)}."


def _setting_in_words(table: pd.DataFrame) -> str:
    """'n = 1,000, k = 4, ε₀ = 2.565', without k in Figure 1b, as the clones' bounds do not depend on k."""
    first = table.iloc[0]
    cells = "" if "clones" in set(table["curve"]) else f", k = {first['k']:,.0f}"
    return f"n = {first['n']:,.0f}{cells}, ε₀ = {first['eps0']:.4g}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
