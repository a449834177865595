"""The audit over eps: lower bounds on delta from runs of the protocol, beside published, exact and upper."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.job import job
from scripts.shared.table_files import read_table
from scripts.shared.wording import percent, typeset

COUNT, HISTOGRAM = "#D55E00", "#0072B2"  # colours of what is observed: the count of x0, all counts
LINES: dict[str, dict[str, Any]] = {  # column -> look
    "upper_log10_delta": {"label": "upper bound, every dataset", "color": HISTOGRAM},
    "exact_log10_delta": {"label": "count of x₀, exact", "color": COUNT, "linestyle": (0, (4, 1.5))},
    "published_log10_delta": {"label": "count of x₀, published", "color": COUNT, "linewidth": 2.2},
}
AUDITS = {"histogram": HISTOGRAM, "count": COUNT}
SETTING = ["n", "k", "eps0", "count"]
# One row per setting, eps and observer.
COLUMNS = [
    *[*SETTING, "eps", *LINES, "audited_delta", "confidence", "runs", "observes"],
    *["violated", "violated_jointly", "upper_violated"],
]
TICK: dict[str, Any] = {"marker": "_", "markersize": 11, "markeredgewidth": 2.2, "linestyle": ""}


def drawn(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first setting of those with the most runs."""
    first = table.iloc[[int(table["runs"].argmax())]][SETTING]
    return table.merge(first, on=SETTING)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure of one setting; orders of magnitude below 1 on a logarithmic axis, downwards."""
    rows = drawn(table)
    figure = style.new_figure(3.6, width=5.5)
    axes = figure.add_subplot()
    curve = rows[rows["observes"] == "count"]
    finite = -curve[[*LINES]].replace(-np.inf, np.nan)  # delta is 0 from eps0 on
    for name, look in LINES.items():
        axes.plot(curve["eps"], finite[name], **look)
    for observes, colour in AUDITS.items():
        seen = rows[(rows["audited_delta"] > 0) & (rows["observes"] == observes)]
        label = f"attack on the {'count of x₀' if observes == 'count' else observes}: at least"
        axes.plot(seen["eps"], -np.log10(seen["audited_delta"]), color=colour, label=label, **TICK)
    most = max(1.0, finite.to_numpy(float)[np.isfinite(finite)].max())
    axes.set(xscale="log", yscale="log", ylim=(1.7 * most, 0.5))
    axes.set(xlabel="ε", ylabel=wording.DELTA_AXIS, title=wording.setting(rows, *SETTING[:-1]))
    style.log_ticks(axes.xaxis)
    style.log_ticks(axes.yaxis, text=style.ORDERS)
    axes.grid()
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: the setting that is drawn, and how many bounds of all settings contradict which delta."""
    rows = drawn(table)
    seen = rows[(rows["observes"] == "count") & (rows["audited_delta"] > 0)].sort_values("eps")
    example = "".join(
        f" At ε = {row['eps']:g}: published {typeset(10 ** row['published_log10_delta'])}, shown at least"
        f" {typeset(row['audited_delta'], round_up=False)}, exact {typeset(10 ** row['exact_log10_delta'])}."
        for row in seen.head(1).to_dict("records")
    )
    above, joint, upper = (
        str(table[name].sum() or "none") for name in ("violated", "violated_jointly", "upper_violated")
    )
    return (
        "Lower bounds on δ from a simulated attack on k-RR behind a shuffler (ticks), beside the published δ,"
        " the exact δ and the upper bound. A tick above the published line shows that the published δ is too"
        " small.\n\n"
        f"{wording.setting(rows, *SETTING)}; {rows['runs'].iloc[0]:,.0f} runs with either user;"
        f" {percent(table['confidence'].iloc[0], 6)} confidence for each bound. No tick: too few runs for so"
        f" small a δ.{example}\n\n"
        f"In all {len(table[SETTING].drop_duplicates())} settings, {above} of {len(table)} bounds exceed the"
        f" published δ; {joint} still do if all must hold at once with this confidence. The upper bound for"
        f" every dataset is exceeded by {upper}."
    )


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        style.write_figure(draw(table), caption(table), snakemake.output)
