"""TV error of shuffle+INV over that of the Gaussian at equal privacy, over n: one panel per dataset."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from scripts.parity.summarise_parity import largest_change_percent
from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.printed import PAPER
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset

# One row per setting, bound and comparison.
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "repetitions", "informative",
]  # fmt: skip
OWN: dict[str, Any] = {"color": "#0072B2", "linewidth": 2.2, "markersize": 3.5}  # the paper's settings
OTHER: dict[str, Any] = {"color": "#9a9a9a", "linewidth": 1, "markersize": 2}
Papers = Mapping[str, Collection[float]]
TICKS = (1, 1.2, 1.5, 2, 2.5, 3, 5, 7)  # in every decade


def shown(table: pd.DataFrame, papers: Papers) -> pd.DataFrame:
    """The drawn rows: TV, both projected, first delta, eps by `upper`; ``own``: is the setting the paper's?

    ``papers``: the datasets all of whose settings are the paper's -> its eps0s (`papers_eps0`). Settings in which both mechanisms do worse than the uniform histogram are left out.
    """
    table = table[table["metric"] == "tv"]
    rows = table[(table["bound"] == "upper") & (table["comparison"] == "projected")]
    rows = rows[(rows["delta_rule"] == rows["delta_rule"].iloc[0]) & rows["informative"]]
    places = zip(rows["dataset"], rows["eps0"], strict=True)
    return rows.assign(own=[eps0 in papers.get(dataset, ()) for dataset, eps0 in places])


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> Figure:
    """The figure of a ratio table; ``titles``: dataset -> title of its panel; ``papers`` as for `shown`."""
    rows = shown(table, papers)
    figure = style.new_figure(2.9)
    panels = figure.subplots(1, len(titles), sharey=True, squeeze=False)[0]
    panels[0].set(yscale="log", ylim=(min([1, *rows["ratio"]]) / 1.06, max([1.5, *rows["ratio"]]) * 1.06))
    style.log_ticks(panels[0].yaxis, TICKS)
    panels[0].set_ylabel("error of shuffling /\nerror of the Gaussian")
    for axes, (dataset, title) in zip(panels, titles.items(), strict=True):
        here, ends = rows[rows["dataset"] == dataset], []
        for (eps0, own), line in groups(here, ["eps0", "own"]):
            look, line = OWN if own else OTHER, line.sort_values("n")
            axes.plot(line["n"], line["ratio"], marker="o", zorder=2 + own, **look)
            ends.append((line["ratio"].iloc[-1], f"ε₀ = {eps0:g}", look["color"]))
        axes.axhline(1, color=style.INK, linewidth=1.2)
        every = table[table["dataset"] == dataset]
        sizes = np.sort(every["n"].unique())
        middle = sizes[np.abs(np.log(sizes**2 / (sizes[0] * sizes[-1]))).argmin()]
        ticks = sorted({sizes[0], middle, sizes[-1]})
        axes.set(xscale="log", xlabel="number of users n")
        axes.set_xticks(ticks, [wording.short_number(n) for n in ticks])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_title(f"{wording.literal(title)}, k = {every['k'].iloc[0]:,.0f}")
        axes.grid(axis="y")
        if ends:
            style.end_labels(axes, ends)
    handles = []
    if rows["own"].any():
        looks = {"the paper's settings": OWN} | ({} if rows["own"].all() else {"other settings": OTHER})
        handles = [style.line(name, marker="o", **look) for name, look in looks.items()]
    style.below(figure, [*handles, style.line("equal error", color=style.INK, linewidth=1.2)])
    figure.suptitle(_verdict(rows, papers), fontsize=10)
    return figure


def _verdict(rows: pd.DataFrame, papers: Papers) -> str:
    """The range over the paper's settings; over all drawn ones, unless all of the paper's are among them."""
    if rows.empty:
        return "At equal privacy neither mechanism beats the uniform histogram"
    whole = set(papers) == set(PAPER)
    ratio = rows.loc[rows["own"] | (not whole), "ratio"]
    where = " in the paper's settings" * whole
    ends = f"{ratio.min():.2f} to {ratio.max():.2f}"
    return f"At equal privacy, shuffling has {ends} times the Gaussian's error{where}"


def caption(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> str:
    """The caption: the verdict, what is divided by what, and where the rest is; arguments as for `draw`."""
    rows = shown(table, papers)
    tv = table[table["metric"] == "tv"]
    first, *others = (_delta(rule) for rule in tv["delta_rule"].dropna().unique())
    change = largest_change_percent(tv)
    repetitions = wording.listing(sorted(rows["repetitions"].unique()))
    return (
        f"{_verdict(rows, papers)}. Total variation (TV) error over the number of users n, both estimates projected,"
        f" means of {repetitions} repetitions, for {wording.listing(titles.values())}. δ = {first}; ε is what"
        " the rigorous upper bound guarantees."
        + f" With the lower bound's ε no ratio changes by more than {change or 0:.1f} %."
        * (change is not None)
        + " Where both do worse than a uniform histogram, nothing is drawn. The table of ratios has every"
        f" setting with its interval, no projection{''.join(f', and δ = {other}' for other in others)} too."
    )


def _delta(rule: str) -> str:
    if rule.startswith("n^"):
        return f"n{rule[2:].translate(wording.SUPERSCRIPTS)}"
    return typeset(float(rule))


if __name__ == "__main__":
    with job() as snakemake:
        given = read_table(snakemake.input[0], COLUMNS), snakemake.params.titles, snakemake.params.papers
        style.write_figure(draw(*given), caption(*given), snakemake.output)
