"""Figures 2, 6 and 7: box plots of the TV error over n, with the paper's panels and linear axes."""

import math
from string import ascii_lowercase
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from scripts.paper.trials.boxes import (
    COLUMNS,
    DRAWN,
    PANELS_PER_ROW,
    add_legend,
    caption,
    draw_boxes,
    heading,
)
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_tables


class Panel(NamedTuple):
    """One of the paper's panels."""

    title: str
    rows: pd.DataFrame  # of the trials
    largest_error: float  # at the top of its axis


@style.applied()
def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure: box plots of the total variation (TV) errors of a dataset's trials over n users.

    ``trials`` has a row for every repetition of a mechanism, with the error in the column value. ``title`` is
    that of the dataset.
    """
    panels = _paper_panels(trials)
    rows = math.ceil(len(panels) / PANELS_PER_ROW)
    figure = style.new_figure(0.5 + 2.5 * rows)
    figure.suptitle(heading(trials, title))
    width = style.WIDTH / PANELS_PER_ROW  # inches
    for number, panel in enumerate(panels):
        axes = figure.add_subplot(rows, PANELS_PER_ROW, number + 1)
        draw_boxes(axes, panel.rows, width)
        axes.set_ylim(0, 1.05 * panel.largest_error or 1)
        axes.set_title(wording.folded(panel.title, width - 0.5))  # less a margin
        axes.set_ylabel("TV error" if number % PANELS_PER_ROW == 0 else "")
    add_legend(figure)
    return figure


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


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read_tables(snakemake.input, COLUMNS, DRAWN)
        text = caption(table, params.title, params.protocol)
        write_figure(draw(table, params.title), text, snakemake.output)
