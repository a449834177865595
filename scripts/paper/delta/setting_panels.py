"""A figure with one panel for every dataset, n and eps0, as the figures on delta-hat have it."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.shared import style, wording
from scripts.shared.table_files import groups


def setting_panels(
    table: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    other_inches: float,
    ylabel: str,
    sharey: bool,
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """A figure with panels in which nothing is drawn yet, and each panel with the rows of ``table`` for it.

    There is a panel for every setting, which is a dataset, n, k and eps0, in the order of the table. At most
    two panels stand side by side. They have titles, and names at their axes: ε at the horizontal one.

    Parameters
    ----------
    table: its columns are dataset, n, k, eps0, and what the caller draws
    titles: dataset -> its title
    other_inches: height of the part of the figure that is not panels
    ylabel: the name of the vertical axes
    sharey: whether all panels have the same vertical axis
    """
    settings = list(groups(table, SETTING, sort=False))
    columns = min(2, len(settings))
    rows_of_panels = -(-len(settings) // columns)  # rounded up
    figure = style.new_figure(other_inches + 2.2 * rows_of_panels)
    places = figure.subplots(rows_of_panels, columns, squeeze=False, sharey=sharey).ravel()

    panels = []
    for axes, ((dataset, n, k, eps0), rows) in zip(places, settings, strict=False):
        name = wording.literal(titles.get(dataset, dataset))
        axes.set_title(f"{name}: n = {n:,}, k = {k:,}, ε₀ = {eps0:g}")
        axes.set_xlabel("ε")
        panels.append((axes, rows))

    # The last row of panels may have an empty place.
    for axes in places[len(settings) :]:
        axes.set_axis_off()
    # The vertical axis is named at the first panel of each row.
    for axes in places[: len(settings) : columns]:
        axes.set_ylabel(ylabel)
    return figure, panels
