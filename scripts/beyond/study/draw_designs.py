"""Which design: the errors of a popular and of a rare value, one panel per guarantee."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

SETTING = ["n", "k", "eps", "delta", "rounds"]
COLUMNS = [*SETTING, "share", "name", "rare_error", "popular_error", "bits_per_user", "reference"]
DESIGNS = [  # from the top, by whom one has to trust
    "k-RR",
    "k-RR with dummies",
    "Poisson dummies, from devices",
    "dummies of the best law",
    "OUE, sums only",
    "RAPPOR, sums only",
    "noise of aggregators",
    "central Gaussian",
    "central geometric",
]
RARE, POPULAR, REFERENCE = "#56B4E9", "#0072B2", "#777777"
ROOM = 12.0  # times the largest error: the column of bits


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: a row per design, the same axes in all panels."""
    settings = list(groups(table, SETTING, sort=False))
    figure = style.new_figure(3.2)
    panels = figure.subplots(1, len(settings), sharex=True, sharey=True, squeeze=False)[0]
    errors = table[["rare_error", "popular_error"]]
    smallest, largest = float(errors.to_numpy().min()), float(errors.to_numpy().max())

    for axes, (setting, rows) in zip(panels, settings, strict=True):
        _draw_panel(axes, rows.set_index("name"))
        n, k, eps, delta, rounds = setting
        unit = "rounds" if rounds > 1 else "round"
        title = f"n = {wording.short_number(n)}, k = {k:,}\n"
        title += f"ε = {eps:g}, δ = {wording.typeset(delta)}, {rounds} {unit}"
        axes.set_title(title)
        axes.text(largest * ROOM / 1.3, -0.8, "bits", ha="right", va="center", fontsize=7)
        for name, bits in zip(rows["name"], rows["bits_per_user"], strict=True):
            place = DESIGNS.index(name)
            axes.text(
                largest * ROOM / 1.3, place, f"{bits:,.0f}", ha="right", va="center", fontsize=7
            )
        axes.set(xscale="log", xlim=(smallest / 1.5, largest * ROOM))
        style.log_ticks(axes.xaxis, (1,))
        axes.grid(axis="x")
        axes.set_xlabel("error of a value's count (users)")

    panels[0].set_yticks(range(len(DESIGNS)), DESIGNS)
    panels[0].set_ylim(len(DESIGNS) - 0.4, -1.4)
    marks = {"linestyle": "none", "marker": "o", "markersize": 4.5}
    entries = [
        style.line(f"held by {table['share'].iloc[0]:.0%} of the users", color=POPULAR, **marks),
        style.line("held by nobody", color=RARE, **marks),
        style.line("a curator's, for comparison", color=REFERENCE, **marks),
    ]
    style.below(figure, entries)
    return figure


def _draw_panel(axes: Axes, designs: pd.DataFrame) -> None:
    """Two marks per design, joined by a line; a curator's errors are equal and have a mark of their own."""
    for name, design in designs.iterrows():
        place = DESIGNS.index(str(name))
        rare, popular = design["rare_error"], design["popular_error"]
        rare_colour, colour = (REFERENCE, REFERENCE) if design["reference"] else (RARE, POPULAR)
        axes.plot([rare, popular], [place, place], color=rare_colour, linewidth=1.5, zorder=2)
        axes.plot([rare], [place], "o", color=rare_colour, markersize=4.5, zorder=3)
        axes.plot([popular], [place], "o", color=colour, markersize=4.5, zorder=4)


def caption(table: pd.DataFrame) -> str:
    """The caption: what is on the axes, and what the picture shows."""
    popular, rare = [], []
    for _, rows in groups(table, SETTING, sort=False):
        used = rows[~rows["reference"].to_numpy(bool)].set_index("name")
        krr = used.loc["k-RR"]
        popular.append(krr["popular_error"] / used["popular_error"].min())
        rare.append(krr["rare_error"] / used["rare_error"].min())

    ratios = (
        f"The error of k-RR without dummies is {wording.two_digits(popular)} times that of the best design"
        f" for a value that {table['share'].iloc[0]:.0%} of the users hold, and"
        f" {wording.two_digits(rare)} times for a value that nobody holds: mean error of how many users hold"
        " it, every design at its best parameters for the same (ε, δ) of all rounds together; no projection."
    )
    marks = (
        "Where only one mark is seen, both errors are equal."
        " Bits are per user and round, dummies included."
    )
    trust = (
        "Nothing is left without local noise (dummies alone, noise of aggregators) if the trusted party"
        " fails."
    )
    return f"{ratios} {marks} {trust}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
