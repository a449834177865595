"""Figures 2, 6 and 7: box plots of the TV error per n, and below them the same boxes enlarged."""

import math
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.paper.trials.calibration_text import calibration_text
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_tables

COLUMNS = [
    "eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "value", "uniform",
    "experiment",
]  # fmt: skip
DRAWN = [("experiment", "==", "tv"), ("metric", "==", "tv")]  # the rows of trials that are drawn
BOX_KEY = ["eps0", "eps", "mechanism", "n"]  # what the repetitions of one box share
MECHANISMS = ["gaussian", "shuffle", "shuffle+INV"]  # in the order of the paper's captions
PAPERS_PANELS_PER_ROW = 2  # of enlarged panels there are three, one per mechanism
PAPERS_HEIGHT, ENLARGED_HEIGHT = 2.3, 1.4  # inches, of the paper's panels and of the enlarged ones


class Panel(NamedTuple):
    """One of the paper's panels."""

    title: str
    rows: pd.DataFrame  # of the trials
    largest_error: float  # at the top of its axis


@style.applied()
def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure: box plots of the total variation (TV) errors of a dataset's trials over n users.

    Above are the paper's panels, with linear axes from 0. Below is a row for every budget (eps0 and eps),
    with one panel per mechanism. They have the same boxes enlarged: errors are in percent above the median of
    their box.

    ``trials`` has a row for every repetition of a mechanism, with the error in the column value. ``title`` is
    that of the dataset.
    """
    panels = _paper_panels(trials)
    budgets = list(groups(deviations(trials), ["eps0", "eps"]))
    papers_rows = math.ceil(len(panels) / PAPERS_PANELS_PER_ROW)
    heights = [PAPERS_HEIGHT] * papers_rows + [ENLARGED_HEIGHT] * len(budgets)
    heading = f"Total variation (TV) error, {wording.literal(title)}: {_setting_in_words(trials)}"
    heading = wording.folded(heading, style.WIDTH, size=9)
    # Inches: 0.15 for each further line of the heading, and 0.5 for the rest of what is no panel.
    figure = style.new_figure(0.5 + 0.15 * heading.count("\n") + sum(heights))
    figure.suptitle(heading)

    # The grid has six columns. In a row of the paper's panels there are two, which take three columns each.
    # In a row of enlarged panels there are three, which take two columns each.
    papers_width = len(MECHANISMS)
    enlarged_width = PAPERS_PANELS_PER_ROW
    grid = figure.add_gridspec(len(heights), papers_width * enlarged_width, height_ratios=heights)
    for number, panel in enumerate(panels):
        row, place = divmod(number, PAPERS_PANELS_PER_ROW)
        axes = figure.add_subplot(grid[row, papers_width * place : papers_width * (place + 1)])
        _draw_panel(axes, panel)
        axes.set_ylabel("TV error" if place == 0 else "")

    for row, (_, errors) in enumerate(budgets, start=papers_rows):
        for place, mechanism in enumerate(MECHANISMS):
            columns = slice(enlarged_width * place, enlarged_width * (place + 1))
            axes = figure.add_subplot(grid[row, columns])
            _draw_enlarged(axes, errors[errors["mechanism"] == mechanism])
            axes.set_ylabel("% above the median" if place == 0 else "")
            axes.set_xlabel("n, and below it the median" if row == len(heights) - 1 else "")

    # The legend shows the colours of each mechanism's boxes.
    handles = []
    for mechanism in MECHANISMS:
        colour = style.COLOURS[mechanism]
        look: Any = {"facecolor": style.tint(colour), "edgecolor": colour}
        handles.append(Patch(label=style.LABELS[mechanism], **look))
    style.below(figure, handles)
    return figure


def deviations(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials with their errors, the column value, in percent above the median of the same box.

    A box has the repetitions of one eps0, eps, mechanism and n. Its median, an error, is in a further column,
    median. Where the median is 0, the value is NaN, and no box is drawn.
    """
    median = trials.groupby(BOX_KEY)["value"].transform("median")
    percent = 100 * (trials["value"] / median - 1)
    return trials.assign(value=percent.where(median > 0), median=median)


def _paper_panels(trials: pd.DataFrame) -> list[Panel]:
    """The panels that the paper has, each with its title, its rows of ``trials`` and its largest error.

    Several budgets (eps0 and eps) have one panel each, rising, as in Figures 6 and 7. All these panels have
    the same axis. A single budget has the two panels of Figure 2: (a) with all mechanisms, and (b) without
    the plain shuffle, on an axis of its own.

    ``trials`` has a row for every repetition of a mechanism, with its error in the column value and the
    Gaussian's delta in the column delta.
    """
    largest_error = trials["value"].max()
    panels = []
    for (eps0, eps), rows in groups(trials, ["eps0", "eps"]):
        panels.append(Panel(wording.budget(eps0, eps, rows["delta"]), rows, largest_error))
    if len(panels) == 1:
        rows = trials[trials["mechanism"] != "shuffle"]
        panels.append(Panel("as (a), Gaussian and shuffle+INV only", rows, rows["value"].max()))

    # Titles begin with letters, (a) and so on, as long as there are letters for all of them.
    if len(panels) > len(ascii_lowercase):
        return panels
    lettered = zip(ascii_lowercase, panels, strict=False)
    return [panel._replace(title=f"({letter}) {panel.title}") for letter, panel in lettered]


def _draw_panel(axes: Axes, panel: Panel) -> None:
    """Draw one of the paper's panels: the boxes of its mechanisms over n, with an axis of errors from 0."""
    width = style.WIDTH / PAPERS_PANELS_PER_ROW  # inches
    _draw_boxes(axes, panel.rows)
    _name_sizes(axes, [wording.short_number(n) for n in sorted(panel.rows["n"].unique())], width)
    axes.set_ylim(0, 1.05 * panel.largest_error or 1)
    axes.set_title(wording.folded(panel.title, width - 0.5))  # less a margin
    axes.set_xlabel("number of users n")


def _draw_enlarged(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the boxes of one mechanism and one budget, enlarged, with n and the median error below each box.

    ``rows`` has a row per repetition. The column value is how many percent its error is above the median
    error of the same n. The column median is this median, the same in all rows with this n.
    """
    width = style.WIDTH / len(MECHANISMS)  # inches
    labels = []
    for n, box in groups(rows, "n"):
        median = wording.significant(box["median"].iloc[0])
        labels.append(f"{wording.short_number(n)}\n{median}")
    _draw_boxes(axes, rows)
    _name_sizes(axes, labels, width)

    first = rows.iloc[0]  # all rows have the same mechanism and budget
    title = f"{style.LABELS[first['mechanism']]}, {wording.pair(first['eps0'], first['eps'])}"
    axes.set_title(wording.folded(title, width - 0.4))  # less a margin


def _draw_boxes(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw for each n one box per mechanism, side by side, of the repetitions' numbers in the column value.

    A box reaches over the quartiles, and its whiskers over at most 1.5 interquartile ranges. On the
    horizontal axis the numbers of users n are equally far apart: the smallest is at 0, the next at 1, etc.

    ``rows`` has a row for every repetition of a mechanism, with the columns mechanism, n and value.
    """
    sizes = sorted(rows["n"].unique())
    mechanisms = [name for name in MECHANISMS if name in set(rows["mechanism"])]
    # The boxes of one n take 0.84 of the distance to the next n, and each mechanism an equal slot of it.
    slot = 0.84 / len(mechanisms)
    for number, mechanism in enumerate(mechanisms):
        offset = (number - (len(mechanisms) - 1) / 2) * slot  # from n to the middle of the slot
        of_mechanism = rows[rows["mechanism"] == mechanism]
        samples = {
            n: repetitions["value"].to_numpy() for n, repetitions in groups(of_mechanism, "n")
        }
        colour = style.COLOURS[mechanism]
        axes.boxplot(
            list(samples.values()),
            positions=[sizes.index(n) + offset for n in samples],
            widths=0.86 * slot,  # the rest of the slot is a gap
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": style.tint(colour), "edgecolor": colour},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            medianprops={"color": colour, "solid_capstyle": "butt"},
            flierprops={
                "marker": "o",
                "markersize": 1.8,
                "markerfacecolor": colour,
                "markeredgewidth": 0,
            },
        )
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    # Thin lines between the groups: no box is read at the wrong n.
    for border in range(1, len(sizes)):
        axes.axvline(border - 0.5, color="#ececec", linewidth=0.5, zorder=0)
    axes.grid(axis="y")


def _name_sizes(axes: Axes, labels: Sequence[str], width: float) -> None:
    """Write the labels of the n below a panel: all of them, or every second one and so on, so that they fit.

    ``labels`` has one text for each n, which may have several lines. ``width`` is that of the panel, in
    inches, with its axis and its margins.
    """
    longest = max(len(line) for label in labels for line in label.splitlines())
    room = 0.03 + 0.062 * longest  # inches that the longest line takes, in letters of 7 points
    step = math.ceil(len(labels) * room / (width - 0.7))
    axes.set_xticks(range(0, len(labels), step), labels[::step])


def caption(trials: pd.DataFrame, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: what a box shows, which panels are ours, and how the Gaussian's noise was chosen.

    ``trials`` has a row for every repetition of a mechanism. Its column uniform is the TV error that the
    uniform histogram has. ``title`` is that of the dataset. ``protocol`` is the config's section on the
    Gaussian's noise, with delta_form, delta_floor and sensitivity.
    """
    uniform = wording.two_digits(trials.groupby("n")["uniform"].mean())  # a range over n, in words
    names = wording.listing([style.LABELS[name] for name in MECHANISMS])

    subject = f"Total variation (TV) error over the number of users, {title}: {_setting_in_words(trials)}."
    boxes = (
        f"At each n the boxes are, from left to right, {names}: quartiles and median, with whiskers up to"
        " 1.5 interquartile ranges and dots beyond."
    )
    small_panels = (
        "The small panels are ours: the same boxes in percent above their median,"
        " which stands below n."
    )
    comparison = f"The uniform histogram, which ignores the data, has the TV error {uniform}."
    return f"{subject} {boxes} {small_panels} {comparison} {calibration_text(protocol)}"


def _setting_in_words(trials: pd.DataFrame) -> str:
    """The number of cells k, and of repetitions per box: 'k = 408, 100 repetitions per box'."""
    repetitions = sorted(trials.groupby(BOX_KEY).size().unique())
    cells = sorted(trials["k"].unique())
    times = "repetition" if repetitions == [1] else "repetitions"
    return f"k = {wording.listing(cells)}, {wording.listing(repetitions)} {times} per box"


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read_tables(snakemake.input, COLUMNS, DRAWN)
        text = caption(table, params.title, params.protocol)
        write_figure(draw(table, params.title), text, snakemake.output)
