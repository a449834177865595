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


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """One setting, up to the first eps beyond all that have a bound.

    It is the first one of those with the most runs, of the settings that have an eps below eps0: elsewhere
    delta is 0.
    """
    private = table[table["eps"] < table["eps0"]]
    rows = table.merge(private.iloc[[int(private["runs"].argmax())]][SETTING], on=SETTING)
    last = rows.loc[rows["audited_delta"] > 0, "eps"].max()
    beyond = rows.loc[rows["eps"] > last, "eps"].min()
    return rows[~(rows["eps"] > beyond)]


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure of one setting."""
    rows = drawn(table)
    figure = style.new_figure(3.1, width=5.5)
    axes = figure.add_subplot()
    curve = rows[rows["observes"] == "count"].replace(-np.inf, np.nan)  # delta is 0 from eps0 on
    for column, (_, colour) in LINES.items():
        axes.plot(curve["eps"], curve[column], color=colour, linewidth=2)
    for observes, seen in groups(rows[rows["audited_delta"] > 0], "observes"):
        name, colour = AUDITS[observes]
        label = f"δ is at least this: attack on {name}"
        axes.plot(seen["eps"], np.log10(seen["audited_delta"]), color=colour, label=label, **MARK)
    axes.set(xlabel="ε", ylabel="δ (smaller: more private)", ylim=(None, 0))
    axes.set_title(f"Simulated attack: {wording.setting(rows, *SETTING[:-1])}")
    axes.margins(x=0.03)
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()
    last = curve.dropna(subset=[*LINES]).iloc[-1]
    style.end_labels(axes, [(last[column], *of) for column, of in LINES.items()])
    style.below(figure, axes.get_legend_handles_labels()[0])
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: the attack's bound beside the paper's delta at one eps, and the counts of all settings."""
    rows = drawn(table)
    bound = (
        "A simulated attack on k-RR behind a shuffler shows how large δ is at least (triangles):"
        f" {_smallest_eps(rows)}."
    )
    runs = (
        f"{wording.setting(rows, *SETTING)}; {rows['runs'].iloc[0]:,.0f} runs with either value; without a"
        " triangle, too few."
    )
    settings = len(table[SETTING].drop_duplicates())
    confidence = 100 * table["confidence"].iloc[0]
    counts = (
        f"In all {settings} settings, {_number(table['violated_jointly'])} of {len(table)} bounds exceed the"
        f" paper's δ (with {confidence:g} % confidence for all together), {_number(table['upper_violated'])}"
        " our upper bound."
    )
    return f"{bound} {runs} {counts}"


def _smallest_eps(rows: pd.DataFrame) -> str:
    """The bound and the paper's delta at the smallest eps with a bound on the count's delta.

    The paper's delta need not be below the bound.
    """
    bounded = rows[(rows["observes"] == "count") & (rows["audited_delta"] > 0)].sort_values("eps")
    if bounded.empty:
        return "too few runs for a bound here"
    first = bounded.iloc[0]
    at_least = typeset(first["audited_delta"], side=Side.LOWER)
    printed = typeset(10 ** first["published_log10_delta"])
    return f"at ε = {first['eps']:g} it is {at_least}, and the paper's δ {printed}"


def _number(violated: "pd.Series[bool]") -> str:
    count = violated.sum()
    return str(count) if count else "none"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
