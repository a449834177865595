"""The randomizer with the least error: a table over n and k, one panel per eps."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch, Rectangle

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import groups
from scripts.shared.wording import typeset
from scripts.study.looks import COLOURS, LABELS, read_drawn

COLUMNS = ["n", "k", "eps", "delta_rule", "delta", "randomizer", "name", "tv", "ratio"]
FULL, PALE = 0.55, 0.18  # of the colours
USELESS = 0.5  # TV error: about that of the uniform histogram on the cities


def best_of(table: pd.DataFrame) -> pd.DataFrame:
    """The row with the least error of every setting; subset selection with m = 1 counts as k-RR."""
    best = table.loc[table.groupby(["n", "k", "eps"])["ratio"].idxmin()]
    return best.assign(randomizer=best["name"].str.partition(":")[0])


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: the colour is the randomizer, the number its error over the Gaussian's."""
    best = best_of(table)
    sizes, cells = sorted(best["n"].unique()), sorted(best["k"].unique())
    budgets = list(groups(best, "eps"))
    rows = -(-len(budgets) // 2)
    figure = style.new_figure(0.7 + rows * (0.5 + 0.23 * len(cells)))
    panels = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(budgets) :]:
        axes.remove()
    for axes, (eps, here) in zip(panels, budgets, strict=False):
        for row in here.to_dict("records"):
            x, y = sizes.index(row["n"]), cells.index(row["k"])
            useful = row["tv"] <= USELESS
            look: Any = {"facecolor": COLOURS[row["randomizer"]], "alpha": FULL if useful else PALE}
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, edgecolor="white", linewidth=1, **look))
            axes.text(x, y, f"{row['ratio']:.2f}", ha="center", va="center", fontsize=7, color=style.INK)
        axes.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(cells) - 0.5), title=f"ε = {eps:g}")
        axes.set_xticks(np.arange(len(sizes)), [wording.short_number(n) for n in sizes])
        axes.set_yticks(np.arange(len(cells)), [f"{k:,}" for k in cells])
        axes.tick_params(length=0)
    for axes in panels[: len(budgets)][-2:]:
        axes.set_xlabel("number of users n")
        axes.tick_params(labelbottom=True)
    figure.supylabel("number of values k", fontsize=8)
    names = [name for name in COLOURS if (best["randomizer"] == name).any()]
    handles: list[Any] = [Patch(facecolor=COLOURS[name], alpha=FULL) for name in names]
    labels = [LABELS[name] + ", m > 1" * (name == "subset") for name in names]
    useless = best[best["tv"] > USELESS]
    pale = [name for name in names if (useless["randomizer"] == name).any()]
    if pale:
        handles.append(tuple(Patch(facecolor=COLOURS[name], alpha=PALE) for name in pale))
        labels.append(f"pale: TV error above {USELESS:g}")
    each = {tuple: HandlerTuple(ndivide=None, pad=0)}
    figure.legend(handles, labels, handler_map=each, loc="outside lower center", ncols=len(handles))
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: what the colours and numbers are, and how often each randomizer is best."""
    best = best_of(table)
    wins = best["randomizer"].value_counts()
    listed = wording.listing([f"{LABELS[str(name)]} in {count}" for name, count in wins.items()])
    return (
        "The randomizer with the least expected total variation (TV) error, of the"
        f" {table['randomizer'].nunique()} that we compared, when whole reports are shuffled: by number of"
        " users n, number of values k and ε. Each number is its error over that of the central Gaussian"
        f" mechanism with the same (ε, δ). Pale: even this error is above {USELESS:g}.\n\n"
        f"δ = {typeset(table['delta'].iloc[0])}, uniform data, no projection. Subset selection and local"
        " hashing have the best m and g; subset selection with m = 1 is k-RR. Best:"
        f" {listed} of the {len(best)} settings. In {(best['tv'] > USELESS).sum()} settings the error is"
        f" above {USELESS:g}."
    )


if __name__ == "__main__":
    with job() as snakemake:
        table = read_drawn(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
