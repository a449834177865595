"""TV error over eps < eps0: shuffle+INV beside the Gaussian with each of its noises."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.paper.delta.setting_panels import points_in_words, setting_panels
from scripts.paper.trials.delta_hat_noises import NOISES
from scripts.paper.trials.delta_hat_ratios import points_above_1, ranges_of_ratios
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_tables

COLUMNS = [
    *SETTING, "eps", "noise", "sensitivity", "projected", "gaussian", "shuffle+INV", "ratio",
    "standard_error", "uniform", "repetitions",
]  # fmt: skip
LINES = {  # noise -> name and colour of the Gaussian's line
    "published": ("Gaussian, δ̂ as printed", style.PUBLISHED),
    "diffprivlib": ("Gaussian, diffprivlib's noise", "#CC79A7"),
    "exact": ("Gaussian, δ̂ exact", "#009E73"),
}
UNIFORM = "#444444"  # the colour of the uniform histogram's line


@style.applied()
def draw(trials: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure: a panel for every dataset and eps0 at the largest n, with TV errors as lines over eps.

    TV is total variation. ``trials`` is the table of `run_delta_hat_trials` for all datasets. ``titles``:
    dataset -> its title.
    """
    figure, panels = setting_panels(
        trials, titles, other_inches=0.9, ylabel="TV error", sharey=False
    )
    for axes, rows in panels:
        _draw_panel(axes, rows)

    handles = [style.line("shuffle+INV", color=style.COLOURS["shuffle+INV"])]
    handles.append(style.line("uniform histogram", color=UNIFORM, linestyle=":"))
    for noise in NOISES:
        name, colour = LINES[noise]
        handles.append(style.line(name, color=colour))
    style.below(figure, handles, columns=3)
    figure.suptitle("The paper's protocol where it is defined, ε < ε₀: total variation (TV) error")
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the TV errors at one dataset, n and eps0 over eps, from their ``rows`` of the table.

    A line is the Gaussian with one of its noises, not projected and at the smallest sensitivity. Its band
    reaches over all sensitivities, projected or not. The errors of shuffle+INV and of the uniform histogram
    do not depend on eps, so their lines are level.
    """
    for noise in NOISES:
        _, colour = LINES[noise]
        of_noise = rows[rows["noise"] == noise]
        by_eps = of_noise.groupby("eps")["gaussian"]
        low, high = by_eps.min(), by_eps.max()
        axes.fill_between(low.index, low, high, color=colour, alpha=0.25, linewidth=0)
        line = of_noise[
            ~of_noise["projected"] & (of_noise["sensitivity"] == rows["sensitivity"].min())
        ]
        axes.plot(line["eps"], line["gaussian"], color=colour, marker=".", markersize=3)

    axes.axhline(rows["shuffle+INV"].iloc[0], color=style.COLOURS["shuffle+INV"])
    axes.axhline(rows["uniform"].iloc[0], color=UNIFORM, linestyle=":")
    axes.set_yscale("log")
    style.log_ticks(axes.yaxis, subs=(1, 3))
    axes.grid(axis="y")


def caption(trials: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: how large the Gaussian's error is beside that of shuffle+INV, over which settings.

    The arguments are those of `draw`.
    """
    ranges = ranges_of_ratios(trials)
    printed, library, exact = (ranges[noise] for noise in NOISES)
    smallest_eps = wording.typeset(trials["eps"].min())
    sensitivities = wording.listing([f"{value:.3g}" for value in trials["sensitivity"].unique()])
    points = trials.groupby([*SETTING, "eps"]).ngroups
    repetitions = wording.listing(sorted(trials["repetitions"].unique().tolist()))

    as_printed = (
        f"The Gaussian that honours δ̂ as printed has at least {printed.low:g} times the error of shuffle+INV."
        f" Not projected, its error grows like 1/ε as ε falls: up to {printed.high:g} times here, where the"
        f" smallest ε is {smallest_eps}."
    )
    by_library = (
        f"The Gaussian with the noise that diffprivlib adds has {library.low:g} to {library.high:g} times,"
        f" and the one that honours the exact δ̂ of the same histogram {exact.low:g} to {exact.high:g} times."
    )
    over = (
        f"The ranges hold at once with 95 % confidence, from {repetitions} repetitions, over sensitivities"
        f" {sensitivities}, the Gaussian projected onto the simplex, as shuffle+INV is, or not, as in the"
        f" paper, and {points} points: {points_in_words(trials, titles)}."
    )
    drawn = (
        f"Drawn is the largest n of each dataset. Lines: sensitivity {trials['sensitivity'].min():.3g}, not"
        " projected; bands: all sensitivities, projected or not."
    )
    more_noise = (
        f"An error above 1 means more noise than data: δ̂ as printed leads to one at {points_above_1(trials)}"
        " of the points at every sensitivity, if the Gaussian is not projected."
    )
    return f"{as_printed} {by_library} {over} {drawn} {more_noise}"


if __name__ == "__main__":
    with job() as snakemake:
        titles = snakemake.params.titles
        trials = read_tables(snakemake.input, COLUMNS)
        write_figure(draw(trials, titles), caption(trials, titles), snakemake.output)
