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
from scripts.shared.findings import in_papers_settings
from scripts.shared.job import job
from scripts.shared.printed import PAPER
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset
from tightshuffle.arguments import Integers

# One row per setting, bound (which gives eps), comparison (of which estimates) and metric (of which error).
# ratio is the mean error of shuffled k-RR over that of the Gaussian, limit its closed form for many users.
COLUMNS = [
    "dataset", "n", "k", "eps0", "delta_rule", "bound", "eps", "comparison", "metric",
    "ratio", "limit", "repetitions", "informative",
]  # fmt: skip
# The lines of the paper's settings, of others, and of the ratio's limit for many users.
PAPERS_LINE: dict[str, Any] = {"color": "#0072B2", "linewidth": 2.2, "markersize": 3.5}
OTHER_LINE: dict[str, Any] = {"color": "#9a9a9a", "linewidth": 1, "markersize": 2}
LIMIT_LINE: dict[str, Any] = {"color": "#0072B2", "linewidth": 1, "linestyle": ":"}
METRICS = {  # the rows of panels
    "tv": "TV error:\nshuffling / Gaussian",
    "most_popular": "most popular value:\nshuffling / Gaussian",
}
# Dataset -> the eps0s of the paper's own settings of this dataset.
Papers = Mapping[str, Collection[float]]
TICKS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7)  # in every decade


def drawn_ratios(table: pd.DataFrame, papers: Papers) -> pd.DataFrame:
    """The rows that are drawn: the error of shuffle+INV over that of the Gaussian, both projected.

    ``table`` has the `COLUMNS`. Its metrics are "tv" (total variation error) and "most_popular" (error of the
    value that most users hold). Drawn are the ratios of projected estimates, where our upper bound gives eps,
    for the first way to choose delta (delta_rule). If both mechanisms have a larger TV error than the uniform
    histogram in a setting (dataset, n, eps0), the setting is left out, for both metrics.

    The result has the table's columns, and two differ. ``limit`` is the limit of the ratio for many users
    before projection, as projected estimates have no closed form. ``is_papers`` is new: whether the dataset
    and eps0 are among the ``papers``.
    """
    table = table[table["metric"].isin(list(METRICS)) & (table["bound"] == "upper")]
    table = table[table["delta_rule"] == table["delta_rule"].iloc[0]]

    setting = ["dataset", "n", "eps0"]
    limits = table[table["comparison"] == "unprojected"].set_index([*setting, "metric"])["limit"]
    rows = table[table["comparison"] == "projected"]
    rows = rows.drop(columns="limit").join(limits, on=[*setting, "metric"])

    # In an informative setting at least one of the mechanisms beats the uniform histogram.
    informative = rows.loc[(rows["metric"] == "tv") & rows["informative"], setting]
    rows = rows.merge(informative, on=setting)
    return rows.assign(is_papers=rows.index.isin(in_papers_settings(rows, papers).index))


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> Figure:
    """A figure of the ratio of errors, shuffle+INV over the Gaussian at equal privacy, over n users.

    A panel has a line for each eps0. The lower row also has the ratio's limit for many users.

    ``table`` has the `COLUMNS`, of which `drawn_ratios` takes the rows to draw. ``titles`` is dataset -> the
    title of its panels.
    """
    rows = drawn_ratios(table, papers)
    figure = style.new_figure(4.9)
    panels = figure.subplots(len(METRICS), len(titles), sharex="col", sharey="row", squeeze=False)

    for panels_of_metric, (metric, label) in zip(panels, METRICS.items(), strict=True):
        ratios = rows[rows["metric"] == metric]
        with_limit = metric != "tv"
        # All that is drawn in this row of panels, which share their y axis: the line at 1, too.
        heights = [1.0, *ratios["ratio"]]
        if with_limit:
            heights += list(ratios["limit"])
        first = panels_of_metric[0]
        # 6 % of room below and above. The axis goes up to 1.5 at least: small differences shall look small.
        first.set(yscale="log", ylim=(min(heights) / 1.06, max([1.5, *heights]) * 1.06))
        style.log_ticks(first.yaxis, TICKS)
        first.set_ylabel(label)
        for axes, dataset in zip(panels_of_metric, titles, strict=True):
            _draw_panel(axes, ratios[ratios["dataset"] == dataset], with_limit=with_limit)

    for top, bottom, (dataset, title) in zip(panels[0], panels[-1], titles.items(), strict=True):
        rows_of_dataset = table[table["dataset"] == dataset]
        top.set_title(f"{wording.literal(title)}, k = {rows_of_dataset['k'].iloc[0]:,.0f}")
        _set_axis_of_users(bottom, np.sort(rows_of_dataset["n"].unique()))

    style.below(figure, _legend_entries(rows))
    figure.suptitle(wording.folded(range_in_words(rows, papers), style.WIDTH, size=10), fontsize=10)
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame, *, with_limit: bool) -> None:
    """Draw the ratio of errors of one dataset and metric over n: a line for each eps0, named at its end.

    ``rows`` have the columns eps0, n, ratio (the error of shuffle+INV over that of the Gaussian), limit (of
    the ratio for many users) and is_papers (whether the paper has this dataset and eps0). The lines of the
    paper's settings look stronger. ``with_limit`` says whether they also get a dotted line at their limit. A
    thin line at 1 shows equal errors.
    """
    names_at_end = []  # height, name, colour
    for (eps0, is_papers), line in groups(rows, ["eps0", "is_papers"]):
        look = PAPERS_LINE if is_papers else OTHER_LINE
        line = line.sort_values("n")
        layer = 3 if is_papers else 2  # lines of the paper's settings lie above the others
        axes.plot(line["n"], line["ratio"], marker="o", zorder=layer, **look)
        if is_papers and with_limit:
            axes.axhline(line["limit"].iloc[0], **LIMIT_LINE)
        names_at_end.append((line["ratio"].iloc[-1], f"ε₀ = {eps0:g}", look["color"]))
    axes.axhline(1, color=style.INK, linewidth=1.2)
    axes.grid(axis="y")
    if names_at_end:
        style.end_labels(axes, names_at_end)


def _set_axis_of_users(axes: Axes, sizes: Integers) -> None:
    """Set the x axis of a column of panels, for numbers of users ``sizes`` (rising).

    The ticks are the ends, and the size that is nearest to their geometric mean.
    """
    middle = sizes[np.abs(np.log(sizes**2 / (sizes[0] * sizes[-1]))).argmin()]
    ticks = sorted({sizes[0], middle, sizes[-1]})
    axes.set(xscale="log", xlabel="number of users n")
    axes.set_xticks(ticks, [wording.short_number(n) for n in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend_entries(rows: pd.DataFrame) -> list[Line2D]:
    """The legend's entries for those kinds of lines that the ``rows`` of `drawn_ratios` give.

    The kinds are settings of the paper (column is_papers), other settings, and the limit of the ratio for
    many users, which is drawn for the paper's settings only. The line of equal errors is always there.
    """
    entries = []
    if rows["is_papers"].any():
        entries.append(style.line("the paper's settings", marker="o", **PAPERS_LINE))
        if not rows["is_papers"].all():
            entries.append(style.line("other settings", marker="o", **OTHER_LINE))
        entries.append(style.line("closed form, many users", **LIMIT_LINE))
    entries.append(style.line("equal error", color=style.INK, linewidth=1.2))
    return entries


def range_in_words(rows: pd.DataFrame, papers: Papers) -> str:
    """A sentence for the figure's title: the range of shuffling's error over the Gaussian's.

    It has two ranges: of the total variation error, and of the error of the most popular value. ``rows`` are
    those of `drawn_ratios`, each with a ratio of errors, its metric ("tv" or "most_popular"), delta_rule, and
    is_papers (whether the paper has this dataset and eps0). ``papers`` is dataset -> the paper's eps0s, for
    those of the paper's datasets that this run has. If they are all three of `PAPER`, the ranges are over the
    paper's settings. Else they are over all rows.
    """
    # Settings in which neither mechanism beats the uniform histogram are not in ``rows``.
    if rows.empty:
        return "At equal privacy neither mechanism beats the uniform histogram"
    where = ""
    if set(papers) == set(PAPER):
        rows = rows[rows["is_papers"]]
        where = ", in settings like the paper's"

    ratios = rows.groupby("metric")["ratio"]
    low = ratios.min()
    high = ratios.max()
    delta = _delta_in_words(rows["delta_rule"].iloc[0])
    return (
        f"At equal privacy (δ = {delta}), shuffling has {low['tv']:.2f} to {high['tv']:.2f} times"
        " the Gaussian's total variation error, and"
        f" {low['most_popular']:.2f} to {high['most_popular']:.2f} times"
        f" its error for the most popular value{where}"
    )


def caption(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> str:
    """The caption of `draw`: the ranges of the ratios, which errors they compare, and what is not drawn.

    The arguments are those of `draw`. The table has more rows than are drawn: other ways to choose delta, eps
    by our lower bound, other metrics and estimates. Some sentences are left out if their subject is not in
    it.
    """
    rows = drawn_ratios(table, papers)
    tv = table[table["metric"] == "tv"]
    # The first way to choose delta is drawn.
    drawn_delta, *other_deltas = map(_delta_in_words, tv["delta_rule"].unique())
    repetitions = wording.listing(sorted(rows["repetitions"].unique()))

    sentences = [f"{range_in_words(rows, papers)}."]
    if set(papers) == set(PAPER):  # the ranges are over the paper's settings
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
    )
    sentences.append(
        f"δ = {drawn_delta}, our choice; ε is what the rigorous upper bound guarantees."
    )

    # How much the ratios depend on which bound gives eps. None if the table has one bound only.
    change = largest_change_percent(tv)
    if change is not None:
        sentences.append(
            f"With the lower bound's ε no TV ratio changes by more than {change:.1f} %."
        )
    sentences.append(
        "Where both have a larger TV error than a uniform histogram, nothing is drawn."
    )
    and_other_deltas = "".join(f", and δ = {delta}" for delta in other_deltas)
    sentences.append(
        "The table of ratios has every setting with its interval, the ten most popular values, no projection"
        f"{and_other_deltas} too."
    )
    return " ".join(sentences)


def _delta_in_words(rule: str | float) -> str:
    """'10⁻⁶' for 1e-6, 'n⁻¹·⁵' for "n^-1.5": a delta, or a power of n, from the column delta_rule.

    A column without any power of n is read as numbers.
    """
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
