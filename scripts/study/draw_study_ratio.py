"""Every randomizer's error over the Gaussian's at equal privacy, over n, one column per k."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style
from scripts.shared.job import job
from scripts.shared.table_files import groups
from scripts.shared.wording import typeset
from scripts.study.looks import COLOURS, LABELS, MARKERS, read_drawn

COLUMNS = ["n", "k", "eps", "delta_rule", "delta", "randomizer", "name", "ratio", "ratio_lower"]
MOST = 4  # columns, and half as many rows, that fit
HIGHEST = 60.0  # of the ratios drawn


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure of those rows: one row per eps, one column per k, one line per randomizer."""
    cells, budgets = _shown(table["k"], MOST), _shown(table["eps"], MOST // 2)
    figure = style.new_figure(0.8 + 1.75 * len(budgets))
    panels = figure.subplots(len(budgets), len(cells), sharex=True, sharey=True, squeeze=False)
    for eps, row in zip(budgets, panels, strict=True):
        for k, axes in zip(cells, row, strict=True):
            here = table[(table["k"] == k) & (table["eps"] == eps)]
            for name, line in groups(here, "randomizer", sort=False):
                look: Any = {"color": COLOURS[name], "linewidth": 1.1, "zorder": 4 if name == "grr" else 3}
                axes.plot(line["n"], line["ratio"], marker=MARKERS[name], markersize=3, **look)
                shade: Any = {"color": COLOURS[name], "alpha": 0.2}
                axes.fill_between(line["n"], line["ratio_lower"], line["ratio"], **shade)
            axes.axhline(1, color=style.INK, linewidth=0.7, zorder=1)
            axes.set(xscale="log", yscale="log", title=f"k = {k:,}, ε = {eps:g}")
            axes.set_ylim(0.6, HIGHEST)
            axes.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
            axes.minorticks_off()
            axes.grid(axis="y")
    for axes in panels[-1]:
        axes.set_xlabel("number of users n")
    figure.supylabel("TV error / TV error of the Gaussian", fontsize=8)
    names = table["randomizer"].unique()
    looks = ({"color": COLOURS[name], "marker": MARKERS[name], "markersize": 3.5} for name in names)
    style.below(figure, [style.line(LABELS[n], **look) for n, look in zip(names, looks, strict=True)], 6)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: what is divided by what, which settings, and how far the bounds are apart."""
    least = table.groupby(["n", "k", "eps"])["ratio"].transform("min")[table["randomizer"] == "grr"]
    near = table["ratio"][least.index] <= 1.001 * least
    open_ = (table["ratio"] / table["ratio_lower"]).groupby(table["randomizer"]).max() - 1
    return (
        "Expected total variation (TV) error of every randomizer behind a shuffler of whole reports, over"
        " that of the central Gaussian mechanism with the same (ε, δ). Above 1 the Gaussian is better."
        " k-RR has the least of these errors, or one within 0.1 % of it, in"
        f" {near.sum()} of the {len(near)} settings with δ = {typeset(table['delta'].iloc[0])}.\n\n"
        "Lines: ε₀ by the rigorous upper bound; the shading goes down to the ratio that the lower bound would"
        f" allow, {100 * open_['grr']:.2g} % for k-RR and at most {100 * open_.max():.2g} %. Uniform data, no"
        " projection, the best m and g; subset selection with m = 1 is k-RR. Not drawn: ratios above"
        f" {HIGHEST:g}, and some k and ε."
    )


def _shown(values: "pd.Series[float]", most: int) -> list[float]:
    """At most so many of the different values, evenly from the first on."""
    different = sorted(values.unique())
    return different[:: -(-len(different) // most)]


if __name__ == "__main__":
    with job() as snakemake:
        table = read_drawn(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
