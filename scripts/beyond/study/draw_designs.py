"""Which design: error over messages per user, one panel per guarantee."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

SETTING = ["n", "k", "eps", "delta", "rounds"]
COLUMNS = [*SETTING, "name", "users_per_value", "messages_per_user", "reference"]
LOOKS = {  # design -> colour, marker; a reference has a line
    "k-RR": ("#0072B2", "o"),
    "k-RR with dummies": ("#0072B2", "D"),
    "RAPPOR, sums only": ("#56B4E9", "s"),
    "OUE, sums only": ("#CC79A7", "^"),
    "Poisson dummies, from devices": ("#E69F00", "v"),
    "dummies of the best law": ("#009E73", "P"),
    "central Gaussian": ("#D55E00", "-"),
    "central geometric": (style.INK, ":"),
}


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: a mark per design, a line per central mechanism, which has no messages of its own."""
    settings = list(groups(table, SETTING, sort=False))
    figure = style.new_figure(3.1)
    panels = figure.subplots(1, len(settings), squeeze=False)[0]
    for axes, (setting, here) in zip(panels, settings, strict=True):
        for name, messages, error, reference in zip(
            *(here[column] for column in ("name", "messages_per_user", "users_per_value", "reference")),
            strict=True,
        ):
            colour, mark = LOOKS[name]
            if reference:
                axes.axhline(error, color=colour, linestyle=mark, linewidth=1, zorder=1)
            else:
                axes.plot(messages, error, color=colour, marker=mark, markersize=6, clip_on=False, zorder=3)
        n, k, eps, delta, rounds = setting
        most = max(here["messages_per_user"].max(), 1.2)
        axes.set(xscale="log", yscale="log", xlim=(most**-0.06, most**1.08))
        low, high = here["users_per_value"].min(), here["users_per_value"].max()
        axes.set_ylim(low / 1.25, high * 1.25)
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            axis.set_major_locator(FixedLocator(_ticks(*ends)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_locator(NullLocator())
        axes.set_title(
            f"n = {wording.short_number(n)}, k = {k:,}\n"
            f"ε = {eps:g}, δ = {wording.typeset(delta)}, {rounds} round{'s' * (rounds > 1)}"
        )
        axes.grid(axis="y")
        axes.set_xlabel("messages per user")
    panels[0].set_ylabel("error of a value's count (users)")
    shown = [name for name in LOOKS if (table["name"] == name).any()]
    lines = set(table.loc[table["reference"].astype(bool), "name"])
    style.below(figure, [_entry(name, name in lines) for name in shown], 4)
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption: what is on the axes, and what the picture shows."""
    krr = []
    for _, here in groups(table, SETTING, sort=False):
        error = here.set_index("name")["users_per_value"]
        krr.append(error["k-RR"] / error[~here["reference"].to_numpy(bool)].min())
    return (
        f"The error of k-RR without dummies is {wording.two_digits(krr)} times that of the best design: mean"
        " error of how many users hold a value, over messages per user and round, every design at its best"
        " parameters for the same (ε, δ) of all rounds together; uniform data, no projection. Lines: a"
        " curator who sees all values (geometric noise has δ = 0). A report for sums is one message of k"
        " bits. Without local noise (Poisson dummies, dummies of the best law) nothing is left if the"
        " shuffler fails."
    )


def _entry(name: str, line: bool) -> Line2D:
    colour, mark = LOOKS[name]
    look: Any = {"linestyle": mark} if line else {"linestyle": "none", "marker": mark}
    return style.line(name, color=colour, **look)


def _ticks(low: float, high: float) -> list[float]:
    """A few round numbers of a short logarithmic axis."""
    steps: tuple[float, ...] = (1, 2, 5)
    if high / low < 4:
        steps = (1, 1.2, 1.5, 2, 3, 5, 7) if high / low > 1.3 else (1, 1.05, 1.1, 1.15, 1.2)
    every = [step * 10.0**power for power in range(-4, 9) for step in steps]
    return [tick for tick in every if low <= tick <= high]


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
