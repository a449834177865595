"""Which design: one row per design, its error on one scale for all guarantees, its messages beside it."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullLocator

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

SETTING = ["n", "k", "eps", "delta", "rounds"]
COLUMNS = [*SETTING, "name", "users_per_value", "messages_per_user", "reference"]
COLOURS = {  # design -> colour, in the order of the rows
    "k-RR": "#0072B2",
    "k-RR with dummies": "#0072B2",
    "RAPPOR, sums only": "#56B4E9",
    "OUE, sums only": "#CC79A7",
    "Poisson dummies, from devices": "#E69F00",
    "dummies of the best law": "#009E73",
}
REFERENCES: dict[str, dict[str, Any]] = {  # a curator who sees all values -> its line
    "central Gaussian": {"color": "#D55E00", "linestyle": "-"},
    "central geometric": {"color": style.INK, "linestyle": ":"},
}


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A panel per guarantee: a mark per design with its messages, and a line per central mechanism."""
    names = [name for name in COLOURS if (table["name"] == name).any()]
    settings = list(groups(table, SETTING, sort=False))
    figure = style.new_figure(2.9)
    panels = figure.subplots(1, len(settings), squeeze=False, sharex=True, sharey=True)[0]
    for axes, (setting, designs) in zip(panels, settings, strict=True):
        _draw_panel(axes, designs.set_index("name"), names)
        n, k, eps, delta, rounds = setting
        times = "1 round" if rounds == 1 else f"{rounds} rounds"
        axes.set_title(
            f"n = {wording.short_number(n)}, k = {k:,}\nε = {eps:g}, δ = {wording.typeset(delta)}, {times}"
        )

    first = panels[0]
    first.set(xscale="log", yticks=range(len(names)), ylim=(len(names) - 0.5, -0.5))
    first.set_yticklabels(names)
    low, high = table["users_per_value"].min(), table["users_per_value"].max()
    first.set_xlim(low / 1.4, 2.5 * high)  # with room for the last number
    style.log_ticks(first.xaxis, subs=(1, 3))
    first.xaxis.set_minor_locator(NullLocator())
    middle = panels[len(panels) // 2]
    middle.set_xlabel("error of a value's count (users); numbers: messages per user")
    drawn = [name for name in REFERENCES if (table["name"] == name).any()]
    style.below(figure, [style.line(name, **REFERENCES[name]) for name in drawn])
    return figure


def _draw_panel(axes: Axes, designs: pd.DataFrame, names: list[str]) -> None:
    """One guarantee; ``designs`` by name, ``names`` of the rows from above."""
    errors = designs["users_per_value"].to_dict()
    for place, name in enumerate(names):
        if name in errors:
            error, messages = errors[name], designs["messages_per_user"][name]
            axes.plot(error, place, color=COLOURS[name], marker="o", markersize=6, zorder=3)
            look: Any = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
            number = axes.annotate(f"{messages:.3g}", (error, place), **look)
            number.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    for name, look in REFERENCES.items():
        if name in errors:
            axes.axvline(errors[name], linewidth=1, zorder=1, **look)
    axes.grid(axis="both")


def caption(table: pd.DataFrame) -> str:
    """The caption: what is on the axes, and what the picture shows."""
    krr = []
    for _, designs in groups(table, SETTING, sort=False):
        error = designs.set_index("name")["users_per_value"]
        krr.append(error["k-RR"] / error[~designs["reference"].to_numpy(bool)].min())

    verdict = f"The error of k-RR without dummies is {wording.two_digits(krr)} times that of the best design."
    axes = (
        "Marks: mean error of how many users hold a value, and beside it the messages per user and round,"
        " every design at its best parameters for the same (ε, δ) of all rounds together; uniform data, no"
        " projection."
    )
    lines = "Lines: a curator who sees all values (geometric noise has δ = 0)."
    trust = (
        "A report for sums is one message of k bits. Without local noise (Poisson dummies, dummies of the"
        " best law) nothing is left if the shuffler fails."
    )
    return f"{verdict} {axes} {lines} {trust}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
