"""What the figures on delta-hat share: a panel for every dataset and eps0, and their points in words."""

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

    There is a panel for every dataset and eps0 at the largest n, in the order of the table. At most two
    panels stand side by side. They have titles, and names at their axes: ε at the horizontal one, which is
    logarithmic.

    Parameters
    ----------
    table: its columns are dataset, n, k, eps0, and what the caller draws
    titles: dataset -> its title
    other_inches: height of the part of the figure that is not panels
    ylabel: the name of the vertical axes
    sharey: whether all panels have the same vertical axis
    """
    settings = list(groups(at_largest_n(table), SETTING, sort=False))
    columns = min(2, len(settings))
    rows_of_panels = -(-len(settings) // columns)  # rounded up
    figure = style.new_figure(other_inches + 2.2 * rows_of_panels)
    places = figure.subplots(rows_of_panels, columns, squeeze=False, sharey=sharey).ravel()

    panels = []
    for axes, ((dataset, n, k, eps0), rows) in zip(places, settings, strict=False):
        name = wording.literal(titles.get(dataset, dataset))
        axes.set_title(f"{name}: n = {n:,}, k = {k:,}, ε₀ = {eps0:g}")
        axes.set_xlabel("ε")
        axes.set_xscale("log")
        style.log_ticks(axes.xaxis, subs=(1, 2, 5))
        panels.append((axes, rows))

    # The last row of panels may have an empty place.
    for axes in places[len(settings) :]:
        axes.set_axis_off()
    # The vertical axis is named at the first panel of each row.
    for axes in places[: len(settings) : columns]:
        axes.set_ylabel(ylabel)
    return figure, panels


def at_largest_n(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that figures show: those of the largest n of each dataset and eps0."""
    largest = table.groupby(["dataset", "eps0"])["n"].transform("max")
    return table[table["n"] == largest]


def points_in_words(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Points of a table of delta-hat, for a caption: its datasets, n and eps0, and the rule of the eps."""
    budgets = wording.listing([f"{eps0:g}" for eps0 in sorted(table["eps0"].unique())])
    datasets = []
    for name, rows in groups(table, "dataset", sort=False):
        sizes = wording.listing(sorted(rows["n"].unique().tolist()))
        datasets.append(f"{titles.get(name, name)} (n = {sizes})")
    return (
        f"{wording.listing(datasets)}; ε₀ = {budgets}; ε from where the exact δ̂ is 10⁻² (or half of its"
        " value at ε = 0, where this is smaller) to where it is 10⁻³⁰; one sample of users for each n"
    )
