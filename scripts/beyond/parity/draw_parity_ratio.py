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

# One row per setting, bound and comparison.
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
Papers = Mapping[str, Collection[float]]
TICKS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7)  # in every decade


def drawn_ratios(table: pd.DataFrame, papers: Papers) -> pd.DataFrame:
    """The rows to draw: ratios of two projected estimates, at the first rule of delta, with eps by `upper`.

    ``table`` has the `COLUMNS`. ``papers`` is dataset -> the eps0s at which its setting is the paper's
    (`papers_eps0`). A setting in which both mechanisms have a larger TV error than the uniform histogram is
    left out, for both `METRICS`.

    Two columns differ from the table's. ``limit`` is the limit for many users of the ratio of the estimates
    before projection, as projected ones have no closed form. ``is_papers`` says whether the setting is the
    paper's.
    """
    table = table[table["metric"].isin(list(METRICS)) & (table["bound"] == "upper")]
    table = table[table["delta_rule"] == table["delta_rule"].iloc[0]]

    setting = ["dataset", "n", "eps0"]
    limits = table[table["comparison"] == "unprojected"].set_index([*setting, "metric"])["limit"]
    rows = table[table["comparison"] == "projected"]
    rows = rows.drop(columns="limit").join(limits, on=[*setting, "metric"])

    informative = rows.loc[(rows["metric"] == "tv") & rows["informative"], setting]
    rows = rows.merge(informative, on=setting)
    return rows.assign(is_papers=rows.index.isin(in_papers_settings(rows, papers).index))


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str], papers: Papers) -> Figure:
    """Errors of shuffle+INV over those of the Gaussian, over n: a panel for every metric and dataset.

    ``table`` has the `COLUMNS`. ``titles`` is dataset -> the title of its panels. ``papers`` is dataset ->
    the eps0s at which its setting is the paper's (`papers_eps0`).
    """
    rows = drawn_ratios(table, papers)
    figure = style.new_figure(4.9)
    panels = figure.subplots(len(METRICS), len(titles), sharex="col", sharey="row", squeeze=False)

    for panels_of_metric, (metric, label) in zip(panels, METRICS.items(), strict=True):
        ratios = rows[rows["metric"] == metric]
        with_limit = metric != "tv"
        values = [1.0, *ratios["ratio"]]
        if with_limit:
            values += list(ratios["limit"])
        first = panels_of_metric[0]
        # Some room beside the values, and up to 1.5 at least: small differences shall look small.
        first.set(yscale="log", ylim=(min(values) / 1.06, max([1.5, *values]) * 1.06))
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
    """Draw the ratios of one dataset and metric over n: a line for each eps0, with its name at the end.

    ``rows`` are of `drawn_ratios`. ``with_limit``: also draw the limit for many users, of the paper's
    settings.
    """
    names_at_end = []
    for (eps0, is_papers), line in groups(rows, ["eps0", "is_papers"]):
        look = PAPERS_LINE if is_papers else OTHER_LINE
        line = line.sort_values("n")
        # The paper's settings lie above the others.
        axes.plot(line["n"], line["ratio"], marker="o", zorder=2 + is_papers, **look)
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
    """The legend's entries for those kinds of lines that ``rows``, of `drawn_ratios`, have."""
    entries = []
    if rows["is_papers"].any():
        entries.append(style.line("the paper's settings", marker="o", **PAPERS_LINE))
        if not rows["is_papers"].all():
            entries.append(style.line("other settings", marker="o", **OTHER_LINE))
        entries.append(style.line("closed form, many users", **LIMIT_LINE))
    entries.append(style.line("equal error", color=style.INK, linewidth=1.2))
    return entries


def range_in_words(rows: pd.DataFrame, papers: Papers) -> str:
    """A sentence with the smallest and the largest ratio of both metrics, for the figure's title.

    ``rows`` are of `drawn_ratios`, and ``papers`` is dataset -> the eps0s of the paper's settings. If
    ``papers`` has all of the paper's datasets, the ranges are over its settings, else over all rows.
    """
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
    """The caption of `draw`: the range of the ratios, which errors they compare, and where the others are.

    The arguments are those of `draw`.
    """
    rows = drawn_ratios(table, papers)
    tv = table[table["metric"] == "tv"]
    drawn_delta, *other_deltas = map(_delta_in_words, tv["delta_rule"].dropna().unique())
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
        f" δ = {drawn_delta}, our choice; ε is what the rigorous upper bound guarantees."
    )

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
