"""The audit over eps at one setting: lower bounds on delta from runs of the protocol, beside three deltas."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset
from tightshuffle.numerics.side import Side

LINES = {  # column of log10 delta -> name, colour
    "upper_log10_delta": ("all counts:\nupper bound", style.ALL_COUNTS),
    "exact_log10_delta": ("one count:\ntrue value", style.TRUE),
    "published_log10_delta": ("one count:\nthe paper's", style.PUBLISHED),
}
# What the attacker sees -> name, colour.
AUDITS = {"histogram": ("all counts", style.ALL_COUNTS), "count": ("one count", style.TRUE)}
SETTING = ["n", "k", "eps0", "count"]
# One row per setting, eps and attacker (column observes: "count" or "histogram").
COLUMNS = [
    *[*SETTING, "eps", *LINES, "audited_delta", "confidence", "runs", "observes"],
    *["violated", "violated_jointly", "upper_violated"],
]
TRIANGLES: dict[str, Any] = {"marker": "^", "markersize": 5, "linestyle": "", "zorder": 3}


def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the one setting (n, k, eps0, count) that is drawn, up to an eps just beyond the triangles.

    It is the first setting with the most runs of those that have an eps below eps0, since delta is 0 from
    eps = eps0 on. A triangle is an audited_delta, the attack's lower bound on delta, above 0. The last eps is
    the smallest one beyond all triangles.
    """
    below_eps0 = table[table["eps"] < table["eps0"]]
    most_runs = below_eps0.iloc[[int(below_eps0["runs"].argmax())]]
    rows = table.merge(most_runs[SETTING], on=SETTING)
    last_triangle = rows.loc[rows["audited_delta"] > 0, "eps"].max()
    last_eps = rows.loc[rows["eps"] > last_triangle, "eps"].min()
    return rows[~(rows["eps"] > last_eps)]  # all rows if last_eps is nan, which compares false


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A figure of log10 delta over eps in one setting: three lines, and the attack's bounds as triangles.

    The lines are our upper bound on delta of the histogram for every dataset, the true delta of the count of
    x0, and the delta of this count by Theorem 1 as printed. A triangle is a lower bound on delta by the
    simulated attack (audited_delta), of an attacker who sees all counts or one who sees the count of x0.

    ``table`` has the `COLUMNS`, with a row for each setting, eps and attacker. The setting that is drawn is
    the first one with the most runs (`drawn_rows`).
    """
    rows = drawn_rows(table)
    figure = style.new_figure(3.1, width=5.5)
    axes = figure.add_subplot()

    # Either attacker's rows have the same three deltas. From eps0 on delta is 0, its log10 is -inf, and no
    # line is drawn.
    deltas = rows[rows["observes"] == "count"].replace(-np.inf, np.nan)
    for column, (_, colour) in LINES.items():
        axes.plot(deltas["eps"], deltas[column], color=colour, linewidth=2)

    # An attacker with too few runs has the bound 0, which is not drawn.
    for observes, bounds in groups(rows[rows["audited_delta"] > 0], "observes"):
        name, colour = AUDITS[observes]
        label = f"δ is at least this: attack on {name}"
        log10_bounds = np.log10(bounds["audited_delta"])
        axes.plot(bounds["eps"], log10_bounds, color=colour, label=label, **TRIANGLES)

    # The y axis has log10 delta, and its labels are powers of ten.
    axes.set(xlabel="ε", ylabel="δ (smaller: more private)", ylim=(None, 0))
    axes.set_title(f"Simulated attack: {wording.setting(rows, 'n', 'k', 'eps0')}")
    axes.margins(x=0.03)
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()

    # The name of a line stands at its right end, at the last eps where all three deltas are above 0.
    last = deltas.dropna(subset=[*LINES]).iloc[-1]
    ends = [(last[column], name, colour) for column, (name, colour) in LINES.items()]
    style.end_labels(axes, ends)
    style.below(figure, axes.get_legend_handles_labels()[0])
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`, three sentences: the attack's lower bound on delta, its runs, and a count.

    The bound is that of the drawn setting at its smallest eps with a bound above 0, beside the paper's delta.
    The count is over all rows of ``table``: how many lower bounds exceed the delta that the paper's Theorem 1
    prints, and how many exceed our upper bound on delta.
    """
    rows = drawn_rows(table)
    bound = (
        "A simulated attack on k-RR behind a shuffler shows how large δ is at least (triangles):"
        f" {_first_bound_in_words(rows)}."
    )

    # Runs with each of the target user's two values. At an eps without a triangle they are too few for a
    # lower bound above 0.
    runs = rows["runs"].iloc[0]
    setting = (
        f"{wording.setting(rows, *SETTING)}; {runs:,.0f} runs with either value; without a"
        " triangle, too few."
    )

    settings = len(table[SETTING].drop_duplicates())
    confidence = 100 * table["confidence"].iloc[0]  # percent
    of_count = table.loc[table["observes"] == "count", "violated_jointly"]
    of_histogram = table.loc[table["observes"] == "histogram", "violated_jointly"]
    above_upper = table["upper_violated"].sum() or "none"
    count = (
        f"In all {settings} settings, the paper's δ is exceeded by {of_count.sum()} of {len(of_count)} bounds"
        f" from the count alone and {of_histogram.sum()} of {len(of_histogram)} from the whole histogram"
        f" (with {confidence:g} % confidence for all together), our upper bound by {above_upper}."
    )
    return f"{bound} {setting} {count}"


def _first_bound_in_words(rows: pd.DataFrame) -> str:
    """'at ε = 0.1 it is 0.002, and the paper's δ 10⁻⁵', at the smallest eps with a bound above 0.

    The bound is that of the attack on the count of x0, rounded down. It need not exceed the paper's delta.
    """
    bounded = rows[(rows["observes"] == "count") & (rows["audited_delta"] > 0)].sort_values("eps")
    if bounded.empty:
        return "too few runs for a bound here"
    first = bounded.iloc[0]
    at_least = typeset(first["audited_delta"], side=Side.LOWER)
    printed = typeset(10 ** first["published_log10_delta"])
    return f"at ε = {first['eps']:g} it is {at_least}, and the paper's δ {printed}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
