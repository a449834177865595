"""TV error over eps < eps0: shuffle+INV beside the Gaussian with delta-hat as printed and exact."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.paper.delta.setting_panels import setting_panels
from scripts.paper.trials.delta_hat_ratios import FORMS, gaussian_ratios
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_tables

COLUMNS = [*SETTING, "eps", "form", "log10_delta", "mechanism", "repetition", "value", "uniform"]
# By the form of delta-hat: names of the Gaussian's lines, and how they are drawn.
LINE_NAMES = {"published": "Gaussian, δ̂ as printed", "exact": "Gaussian, δ̂ exact"}
LINE_STYLES = {"published": "dashed", "exact": "solid"}
UNIFORM = "#444444"  # the colour of the uniform histogram's line


@style.applied()
def draw(trials: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure: a panel for every dataset, n and eps0, with total variation (TV) errors as lines over eps.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them. The Gaussian's noise is chosen for eps and delta-hat, once by the
    formula that the paper's Theorem 1 prints ("published") and once by the true deltas ("exact"). So the
    Gaussian has two lines. The other lines are shuffle+INV and the uniform histogram.

    ``trials`` has a row for every repetition of a mechanism, with the columns dataset, n, k, eps0, mechanism,
    eps, form (of delta-hat), value (the TV error) and uniform (that of the uniform histogram). ``titles``:
    dataset -> its title.
    """
    figure, panels = setting_panels(
        trials, titles, other_inches=0.8, ylabel="TV error", sharey=False
    )
    for axes, rows in panels:
        _draw_panel(axes, rows)

    # The legend: shuffle+INV, the Gaussian with both forms of delta-hat, and the uniform histogram.
    gaussian = style.COLOURS["gaussian"]
    handles = [style.line("shuffle+INV", color=style.COLOURS["shuffle+INV"])]
    for form in FORMS:
        handles.append(style.line(LINE_NAMES[form], color=gaussian, linestyle=LINE_STYLES[form]))
    handles.append(style.line("uniform histogram", color=UNIFORM, linestyle=":"))
    style.below(figure, handles)
    figure.suptitle("The paper's protocol where it is defined, ε < ε₀: total variation (TV) error")
    return figure


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the TV errors at one dataset, n and eps0 over eps, with means as lines and quartiles as bands.

    The Gaussian's noise is chosen for eps and delta-hat, the paper's delta. It has a line for each form of
    delta-hat: "published", by the formula that the paper prints, and "exact", by the true deltas. The errors
    of shuffle+INV and of the uniform histogram do not depend on eps, so their lines are level.

    ``rows`` has one repetition of a mechanism per row, with the columns mechanism, value (the TV error) and
    uniform (the TV error of the uniform histogram). The rows of the Gaussian also have eps and form.
    """
    gaussian = rows[rows["mechanism"] == "gaussian"]
    for form, points in groups(gaussian, "form"):
        by_eps = points.groupby("eps")["value"]
        mean = by_eps.mean()
        colour = style.COLOURS["gaussian"]
        axes.plot(mean.index, mean, color=colour, linestyle=LINE_STYLES[form])
        lower, upper = by_eps.quantile(0.25), by_eps.quantile(0.75)
        axes.fill_between(lower.index, lower, upper, color=style.tint(colour), linewidth=0)

    inverted = rows.loc[rows["mechanism"] == "shuffle+INV", "value"]
    colour = style.COLOURS["shuffle+INV"]
    axes.axhline(inverted.mean(), color=colour)
    low, high = float(inverted.quantile(0.25)), float(inverted.quantile(0.75))
    axes.axhspan(low, high, color=style.tint(colour), linewidth=0)
    axes.axhline(rows["uniform"].iloc[0], color=UNIFORM, linestyle=":")
    axes.set_yscale("log")
    style.log_ticks(axes.yaxis, subs=(1, 2, 5))
    axes.grid(axis="y")


def caption(trials: pd.DataFrame, sensitivity: float) -> str:
    """The caption: how large the Gaussian's error is beside that of shuffle+INV, and what is drawn.

    Every value that users hold has a delta at eps: that of releasing only the number of its reports.
    delta-hat is the largest of them. The Gaussian's noise is chosen for eps and delta-hat, in the form
    "published" (by the formula that the paper prints) or "exact" (by the true deltas).

    ``trials`` has a row for every repetition of a mechanism, with its TV error. ``sensitivity`` is that of
    the Gaussian.
    """
    # A ratio is the Gaussian's mean TV error divided by that of shuffle+INV.
    ratios_by_form = gaussian_ratios(trials).groupby("form")["ratio"]
    printed = ratios_by_form.get_group("published")
    exact = ratios_by_form.get_group("exact")
    repetitions = wording.listing(sorted(trials.groupby(SETTING)["repetition"].max().unique()))

    as_printed = (
        f"With δ̂ as printed, the Gaussian has {printed.min():.1f} to {printed.max():,.0f} times the error of"
        " shuffle+INV"
    )
    reason = (
        "the comparison turns round, because a δ̂ that is far too small asks for far too much noise."
    )
    exactly = f"With the exact δ̂ of the same histogram it has {exact.min():.2f} to {exact.max():.1f} times."
    lines = f"Lines are means of {repetitions} repetitions on one sample of n users, bands their quartiles."
    projected = "As in the paper, only shuffle+INV is projected onto the simplex."
    noise = (
        f"The noise has the exact analytic scale for (ε, δ̂) and sensitivity {sensitivity:g}, which is our"
        " choice."
    )
    above_1 = "An error above 1 means more noise than data."
    return f"{as_printed}: {reason} {exactly} {lines} {projected} {noise} {above_1}"


if __name__ == "__main__":
    with job() as snakemake:
        settings = snakemake.params.settings
        trials = read_tables(snakemake.input, COLUMNS)
        figure = draw(trials, settings["titles"])
        write_figure(figure, caption(trials, settings["sensitivity"]), snakemake.output)
