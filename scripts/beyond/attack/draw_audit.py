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
from tightshuffle.side import Side

LINES = {  # column: name, colour
    "upper_log10_delta": ("all counts:\nupper bound", style.ALL_COUNTS),
    "exact_log10_delta": ("one count:\ntrue value", style.TRUE),
    "published_log10_delta": ("one count:\nthe paper's", style.PUBLISHED),
}
AUDITS = {"histogram": ("all counts", style.ALL_COUNTS), "count": ("one count", style.TRUE)}
SETTING = ["n", "k", "eps0", "count"]
# One row per setting, eps and observer.
COLUMNS = [
    *[*SETTING, "eps", *LINES, "audited_delta", "confidence", "runs", "observes"],
    *["violated", "violated_jointly", "upper_violated"],
]
MARK: dict[str, Any] = {"marker": "^", "markersize": 5, "linestyle": "", "zorder": 3}


def drawn_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of one setting, up to the first eps beyond all that have an audited delta above 0.

    A setting is a combination of `SETTING`. Only those with an eps below eps0 are considered, since delta is
    0 elsewhere. Of these the first with the most runs is taken.
    """
    private = table[table["eps"] < table["eps0"]]
    rows = table.merge(private.iloc[[int(private["runs"].argmax())]][SETTING], on=SETTING)
    last = rows.loc[rows["audited_delta"] > 0, "eps"].max()
    beyond = rows.loc[rows["eps"] > last, "eps"].min()
    return rows[~(rows["eps"] > beyond)]  # all where there is no eps beyond: nan compares false


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """log10 delta over eps in one setting: three claims as lines, the attack's lower bounds as triangles.

    ``table`` has the `COLUMNS`, where -inf is log10 of delta 0. The claims are the columns of `LINES`.
    """
    rows = drawn_rows(table)
    figure = style.new_figure(3.1, width=5.5)
    axes = figure.add_subplot()

    # The claims stand in the rows of either attacker. From eps0 on delta is 0, and no line is drawn.
    claims = rows[rows["observes"] == "count"].replace(-np.inf, np.nan)
    for column, (_, colour) in LINES.items():
        axes.plot(claims["eps"], claims[column], color=colour, linewidth=2)

    for observes, bounds in groups(rows[rows["audited_delta"] > 0], "observes"):
        name, colour = AUDITS[observes]
        label = f"δ is at least this: attack on {name}"
        log10_bounds = np.log10(bounds["audited_delta"])
        axes.plot(bounds["eps"], log10_bounds, color=colour, label=label, **MARK)

    axes.set(xlabel="ε", ylabel="δ (smaller: more private)", ylim=(None, 0))
    axes.set_title(f"Simulated attack: {wording.setting(rows, 'n', 'k', 'eps0')}")
    axes.margins(x=0.03)
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()

    last = claims.dropna(subset=[*LINES]).iloc[-1]
    ends = [(last[column], name, colour) for column, (name, colour) in LINES.items()]
    style.end_labels(axes, ends)
    style.below(figure, axes.get_legend_handles_labels()[0])
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`: the attack's bound at one eps, and how many of all bounds exceed a claim."""
    rows = drawn_rows(table)
    bound = (
        "A simulated attack on k-RR behind a shuffler shows how large δ is at least (triangles):"
        f" {_bound_in_words(rows)}."
    )
    runs = (
        f"{wording.setting(rows, *SETTING)}; {rows['runs'].iloc[0]:,.0f} runs with either value; without a"
        " triangle, too few."
    )
    settings = len(table[SETTING].drop_duplicates())
    confidence = 100 * table["confidence"].iloc[0]
    above_paper = table["violated_jointly"].sum() or "none"
    above_upper = table["upper_violated"].sum() or "none"
    counts = (
        f"In all {settings} settings, {above_paper} of {len(table)} bounds exceed the"
        f" paper's δ (with {confidence:g} % confidence for all together), {above_upper} our upper bound."
    )
    return f"{bound} {runs} {counts}"


def _bound_in_words(rows: pd.DataFrame) -> str:
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
