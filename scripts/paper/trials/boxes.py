"""Box plots of the total variation (TV) errors of a dataset's trials: what both figures of them share."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from scripts.paper.trials.calibration_text import calibration_text
from scripts.shared import style, wording
from scripts.shared.table_files import groups

COLUMNS = [
    "eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "value", "uniform",
    "experiment",
]  # fmt: skip
DRAWN = [("experiment", "==", "tv"), ("metric", "==", "tv")]  # the rows of trials that are drawn
BOX_KEY = ["eps0", "eps", "mechanism", "n"]  # what the repetitions of one box share
MECHANISMS = ["gaussian", "shuffle", "shuffle+INV"]  # in the order of the paper's captions
PANELS_PER_ROW = 2  # as in the paper


def heading(trials: pd.DataFrame, title: str) -> str:
    """The title of a figure, in lines that fit: the dataset's ``title`` and the settings of its trials."""
    text = f"Total variation (TV) error, {wording.literal(title)}: {setting_in_words(trials)}"
    return wording.folded(text, style.WIDTH, size=9)


def draw_boxes(axes: Axes, rows: pd.DataFrame, width: float) -> None:
    """Draw for each n one box per mechanism, side by side, of the repetitions' errors in the column value.

    A box reaches over the quartiles, and its whiskers over at most 1.5 interquartile ranges. On the
    horizontal axis the numbers of users n are equally far apart: the smallest is at 0, the next at 1, etc.

    ``rows`` has a row for every repetition of a mechanism, with the columns mechanism, n and value. ``width``
    is that of the panel, in inches, with its axis and its margins.
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
    _name_sizes(axes, [wording.short_number(n) for n in sizes], width)
    axes.set_xlabel("number of users n")


def _name_sizes(axes: Axes, labels: Sequence[str], width: float) -> None:
    """Write the labels of the n below a panel: all of them, or every second one and so on, so that they fit.

    ``width`` is that of the panel, in inches, with its axis and its margins.
    """
    room = 0.03 + 0.062 * max(
        map(len, labels)
    )  # inches of the longest label, in letters of 7 points
    step = math.ceil(len(labels) * room / (width - 0.7))
    axes.set_xticks(range(0, len(labels), step), labels[::step])


def add_legend(figure: Figure) -> None:
    """Write the legend below a figure: the colours of each mechanism's boxes."""
    handles = []
    for mechanism in MECHANISMS:
        colour = style.COLOURS[mechanism]
        look: Any = {"facecolor": style.tint(colour), "edgecolor": colour}
        handles.append(Patch(label=style.LABELS[mechanism], **look))
    style.below(figure, handles)


def caption(trials: pd.DataFrame, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: what a box shows, and how the Gaussian's noise was chosen.

    ``trials`` has a row for every repetition of a mechanism. Its column uniform is the TV error that the
    uniform histogram has. ``title`` is that of the dataset. ``protocol`` is the config's section on the
    Gaussian's noise, with delta_form, delta_floor and sensitivity.
    """
    uniform = wording.two_digits(trials.groupby("n")["uniform"].mean())  # a range over n, in words
    names = wording.listing([style.LABELS[name] for name in MECHANISMS])

    subject = (
        f"Total variation (TV) error over the number of users, {title}: {setting_in_words(trials)}."
    )
    boxes = (
        f"At each n the boxes are, from left to right, {names}: quartiles and median, with whiskers up to"
        " 1.5 interquartile ranges and dots beyond."
    )
    comparison = f"The uniform histogram, which ignores the data, has the TV error {uniform}."
    return f"{subject} {boxes} {comparison} {calibration_text(protocol)}"


def setting_in_words(trials: pd.DataFrame) -> str:
    """The number of cells k, and of repetitions per box: 'k = 408, 100 repetitions per box'."""
    repetitions = sorted(trials.groupby(BOX_KEY).size().unique())
    cells = sorted(trials["k"].unique())
    times = "repetition" if repetitions == [1] else "repetitions"
    return f"k = {wording.listing(cells)}, {wording.listing(repetitions)} {times} per box"
