"""The boxes of Figures 2, 6 and 7 on a logarithmic axis, where equal ratios are equally far apart."""

import math

import pandas as pd
from matplotlib.figure import Figure

from scripts.paper.trials.boxes import (
    COLUMNS,
    DRAWN,
    PANELS_PER_ROW,
    add_legend,
    draw_boxes,
    heading,
    setting_in_words,
)
from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_tables


@style.applied()
def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure: box plots of the total variation (TV) errors of a dataset's trials over n users.

    Every budget (eps0 and eps) has a panel, and all panels have the same axis.

    ``trials`` has a row for every repetition of a mechanism, with the error in the column value. ``title`` is
    that of the dataset.
    """
    budgets = list(groups(trials, ["eps0", "eps"]))
    columns = min(PANELS_PER_ROW, len(budgets))
    rows = math.ceil(len(budgets) / columns)
    figure = style.new_figure(0.5 + 3.0 * rows)
    figure.suptitle(heading(trials, title))
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    width = style.WIDTH / columns  # inches
    for number, ((eps0, eps), of_budget) in enumerate(budgets):
        axes = panels[number]
        draw_boxes(axes, of_budget, width)
        axes.set_title(wording.folded(wording.budget(eps0, eps, of_budget["delta"]), width - 0.5))
        axes.set_ylabel("TV error" if number % columns == 0 else "")
    for unused in panels[len(budgets) :]:
        unused.remove()
    # An error of 0, of a histogram that an estimate meets exactly, has no place on a logarithmic axis.
    if (trials["value"] > 0).any():
        panels[0].set_yscale("log")
        style.log_ticks(panels[0].yaxis)
    add_legend(figure)
    return figure


def caption(trials: pd.DataFrame, title: str) -> str:
    """The caption: what differs from the figure with a linear axis. The arguments are those of `draw`."""
    subject = f"Total variation (TV) error, {title}: {setting_in_words(trials)}."
    return f"{subject} Here equal ratios of errors are equally far apart."


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read_tables(snakemake.input, COLUMNS, DRAWN)
        write_figure(draw(table, params.title), caption(table, params.title), snakemake.output)
