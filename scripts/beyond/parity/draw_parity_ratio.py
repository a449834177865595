"""Errors of shuffle+INV over those of the Gaussian at equal privacy, over n: one column per dataset.

The first row is for the TV error, the second one for the error of the most popular value.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from scripts.beyond.parity.summarise_parity import largest_change_percent
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.printed import PAPER
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset
from tightshuffle.arguments import Integers

# One row per setting, bound and comparison.
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "limit", "repetitions", "informative",
]  # fmt: skip
PAPERS_LINE: dict[str, Any] = {
    "color": "#0072B2",
    "linewidth": 2.2,
    "markersize": 3.5,
}  # the paper's settings
OTHER: dict[str, Any] = {"color": "#9a9a9a", "linewidth": 1, "markersize": 2}
METRICS = {  # the rows of panels
    "tv": "TV error:\nshuffling / Gaussian",
    "most_popular": "most popular value:\nshuffling / Gaussian",
}
LIMIT: dict[str, Any] = {"color": "#0072B2", "linewidth": 1, "linestyle": ":"}
Papers = Mapping[str, Collection[float]]
TICKS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7)  # in every decade


def shown(table: pd.DataFrame, papers: Papers) -> pd.DataFrame:
    """The rows to draw: ratios of the projected estimates, at the first rule of delta, with eps by `upper`.

    ``papers``: dataset -> the eps0s at which its setting is the paper's (`papers_eps0`). The column
    ``is_papers`` says whether a row has such a setting. The column ``limit`` is the limit for many users of
    the ratio before projection. Settings in which both mechanisms have a larger TV error than the
    uniform histogram are left out, for both metrics.
    """
    table = table[table["metric"].isin(list(METRICS)) & (table["bound"] == "upper")]
    table = table[table["delta_rule"] == table["delta_rule"].iloc[0]]
    setting = ["dataset", "n", "eps0"]
    limits = table[table["comparison"] == "unprojected"].set_index([*setting, "metric"])["limit"]
    rows = table[table["comparison"] == "projected"]
    rows = rows.drop(columns="limit").join(limits, on=[*setting, "metric"])
    useful = rows.loc[(rows["metric"] == "tv") & rows["informative"], setting]
    rows = rows.merge(useful, on=setting)
    places = zip(rows["dataset"], rows["eps0"], strict=True)
    return rows.assign(is_papers=[eps0 in papers.get(dataset, ()) for dataset, eps0 in places])


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> Figure:
    """The figure of a ratio table; ``titles``: dataset -> title of its panel; ``papers`` as for `shown`."""
    rows = shown(table, papers)
    figure = style.new_figure(4.9)
    panels = figure.subplots(len(METRICS), len(titles), sharex="col", sharey="row", squeeze=False)
    for line_of_panels, (metric, label) in zip(panels, METRICS.items(), strict=True):
        ratios = rows[rows["metric"] == metric]
        with_limit = metric != "tv"
        values = [1.0, *ratios["ratio"]]
        if with_limit:
            values += list(ratios["limit"])
        first = line_of_panels[0]
        first.set(yscale="log", ylim=(min(values) / 1.06, max([1.5, *values]) * 1.06))
        style.log_ticks(first.yaxis, TICKS)
        first.set_ylabel(label)
        for axes, dataset in zip(line_of_panels, titles, strict=True):
            _draw_panel(axes, ratios[ratios["dataset"] == dataset], with_limit=with_limit)
    for top, bottom, (dataset, title) in zip(panels[0], panels[-1], titles.items(), strict=True):
        every = table[table["dataset"] == dataset]
        top.set_title(f"{wording.literal(title)}, k = {every['k'].iloc[0]:,.0f}")
        _number_axis(bottom, np.sort(every["n"].unique()))
    style.below(figure, _legend(rows))
    figure.suptitle(wording.folded(range_in_words(rows, papers), style.WIDTH, size=10), fontsize=10)
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame, *, with_limit: bool) -> None:
    """The lines of one dataset and metric, one for each eps0; with the limit of the paper's settings."""
    ends = []
    for (eps0, is_papers), line in groups(rows, ["eps0", "is_papers"]):
        look = PAPERS_LINE if is_papers else OTHER
        line = line.sort_values("n")
        axes.plot(line["n"], line["ratio"], marker="o", zorder=2 + is_papers, **look)
        if is_papers and with_limit:
            axes.axhline(line["limit"].iloc[0], **LIMIT)
        ends.append((line["ratio"].iloc[-1], f"ε₀ = {eps0:g}", look["color"]))
    axes.axhline(1, color=style.INK, linewidth=1.2)
    axes.grid(axis="y")
    if ends:
        style.end_labels(axes, ends)


def _number_axis(axes: Axes, sizes: Integers) -> None:
    """The x axis of a column, for these numbers of users (rising): the ends and the middle as ticks."""
    middle = sizes[np.abs(np.log(sizes**2 / (sizes[0] * sizes[-1]))).argmin()]
    ticks = sorted({sizes[0], middle, sizes[-1]})
    axes.set(xscale="log", xlabel="number of users n")
    axes.set_xticks(ticks, [wording.short_number(n) for n in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend(rows: pd.DataFrame) -> list[Line2D]:
    handles = []
    if rows["is_papers"].any():
        handles.append(style.line("the paper's settings", marker="o", **PAPERS_LINE))
        if not rows["is_papers"].all():
            handles.append(style.line("other settings", marker="o", **OTHER))
        handles.append(style.line("closed form, many users", **LIMIT))
    handles.append(style.line("equal error", color=style.INK, linewidth=1.2))
    return handles


def range_in_words(rows: pd.DataFrame, papers: Papers) -> str:
    """The ranges of both ratios in a sentence, for the title.

    They are over the paper's settings if ``papers`` has all of its datasets, else over all drawn rows.
    """
    if rows.empty:
        return "At equal privacy neither mechanism beats the uniform histogram"
    where = ""
    if set(papers) == set(PAPER):
        rows = rows[rows["is_papers"]]
        where = ", in settings like the paper's"
    tv = _span(rows.loc[rows["metric"] == "tv", "ratio"])
    popular = _span(rows.loc[rows["metric"] == "most_popular", "ratio"])
    delta = _delta(rows["delta_rule"].iloc[0])
    return (
        f"At equal privacy (δ = {delta}), shuffling has {tv} times the Gaussian's total variation error,"
        f" and {popular} times its error for the most popular value{where}"
    )


def _span(ratios: "pd.Series[float]") -> str:
    return f"{ratios.min():.2f} to {ratios.max():.2f}"


def caption(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> str:
    """The caption: the verdict, what is divided by what, and where the rest is; arguments as for `draw`."""
    rows = shown(table, papers)
    tv = table[table["metric"] == "tv"]
    first, *others = (_delta(rule) for rule in tv["delta_rule"].dropna().unique())
    repetitions = wording.listing(sorted(rows["repetitions"].unique()))

    sentences = [f"{range_in_words(rows, papers)}."]
    if set(papers) == set(PAPER):
        sentences.append("Settings like the paper's have its data, n and ε₀.")
    sentences.append(
        "Above: total variation (TV) error, over all values."
        " Below: error of the one value that most users of the dataset hold."
    )
    if rows["is_papers"].any():
        sentences.append("Dotted: its closed form for many users, before projection.")
    sentences.append(
        f"Both estimates are projected; means of {repetitions} repetitions, for"
        f" {wording.listing(titles.values())}."
        f" δ = {first}, our choice; ε is what the rigorous upper bound guarantees."
    )
    change = largest_change_percent(tv)
    if change is not None:
        sentences.append(
            f"With the lower bound's ε no TV ratio changes by more than {change:.1f} %."
        )
    sentences.append(
        "Where both have a larger TV error than a uniform histogram, nothing is drawn."
    )
    other_deltas = "".join(f", and δ = {other}" for other in others)
    sentences.append(
        "The table of ratios has every setting with its interval, the ten most popular values, no projection"
        f"{other_deltas} too."
    )
    return " ".join(sentences)


def _delta(rule: str | float) -> str:
    """The column's rule for delta, typeset; a column without any power of n is read as numbers."""
    text = str(rule)
    if text.startswith("n^"):
        return f"n{text[2:].translate(wording.SUPERSCRIPTS)}"
    return typeset(float(text))


if __name__ == "__main__":
    with job() as snakemake:
        given = (
            read_table(snakemake.input[0], COLUMNS),
            snakemake.params.titles,
            snakemake.params.papers,
        )
        write_figure(draw(*given), caption(*given), snakemake.output)
