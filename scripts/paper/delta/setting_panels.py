"""A figure with one panel for every dataset, n and eps0, as the figures on delta-hat have it."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scripts.paper.delta.compute_delta_hat import SETTING
from scripts.shared import style, wording
from scripts.shared.table_files import groups


def setting_panels(
    table: pd.DataFrame, titles: Mapping[str, str], *, around: float, ylabel: str, sharey: bool
) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """An empty figure, and its panels with the rows of ``table`` that each one shows.

    There is a panel for every dataset, n, k and eps0, in the order of the table, and at most two beside each
    other. Panels have titles and names at their axes, over eps.

    ``titles``: dataset -> its title. ``around``: inches of the figure's height that are not panels.
    ``ylabel``: the name of the vertical axes, which have one scale if ``sharey``.
    """
    settings = list(groups(table, SETTING, sort=False))
    columns = min(2, len(settings))
    lines = -(-len(settings) // columns)  # rounded up
    figure = style.new_figure(around + 2.2 * lines)
    places = figure.subplots(lines, columns, squeeze=False, sharey=sharey).ravel()

    panels = []
    for axes, ((dataset, n, k, eps0), rows) in zip(places, settings, strict=False):
        name = wording.literal(titles.get(dataset, dataset))
        axes.set_title(f"{name}: n = {n:,}, k = {k:,}, ε₀ = {eps0:g}")
        axes.set_xlabel("ε")
        panels.append((axes, rows))

    for axes in places[len(settings) :]:  # the last line may have an empty place
        axes.set_axis_off()
    for axes in places[: len(settings) : columns]:
        axes.set_ylabel(ylabel)
    return figure, panels
