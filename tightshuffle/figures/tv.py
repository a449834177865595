"""Boxplots of the TV distance per n: one row per budget, with plain shuffle (a) and without (b)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tightshuffle.figures import calibration, style, wording
from tightshuffle.figures.tables import File, groups, read_table

TITLE = "Total variation distance"
COLUMNS = ["eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "value"]
DRAWN = [("experiment", "==", "tv"), ("metric", "==", "tv")]  # the rows of trials that are drawn
Budgets = list[tuple[str, pd.DataFrame]]  # a budget as text, and its rows: one row of panels


def read(trials: Sequence[File]) -> pd.DataFrame:
    """The TV rows of all trial files as one table; ValueError where there are none."""
    if not trials:
        raise ValueError(
            "no trials to draw; expected at least one n in the dataset's tv section of the config"
        )
    return pd.concat(
        [read_table(path, [*COLUMNS, "experiment"], DRAWN) for path in trials], ignore_index=True
    )


def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure of a dataset's trials (one row per repetition, metric tv); ``title`` names the dataset."""
    return draw_budgets(_budgets(trials), title, calibration.AS_PUBLISHED)


def caption(trials: pd.DataFrame, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: every parameter and what a box shows; ``protocol`` is that section of the config."""
    return caption_of_budgets(_budgets(trials), title, calibration.published(protocol))


@style.applied()
def draw_budgets(budgets: Budgets, title: str, calibrated: str) -> Figure:
    """The figure with a row of panels per budget; ``calibrated`` says how the Gaussian was, for the title."""
    trials = pd.concat([rows for _, rows in budgets])
    figure = style.new_figure(0.95 + 1.95 * len(budgets))
    panels = figure.subplots(len(budgets), 2, sharex=True, sharey="col", squeeze=False)
    columns = _columns(trials)
    for row, (budget, rows) in zip(panels, budgets, strict=True):
        for axes, mechanisms in zip(row, columns, strict=True):
            style.boxplots(axes, _values(rows, mechanisms))
        row[0].set_ylabel(f"{wording.row_label(budget, 1.8)}\nTV distance")
    for axes, mechanisms in zip(panels[0], columns, strict=True):  # one scale for all budgets
        values = trials.loc[trials["mechanism"].isin(mechanisms), "value"]
        style.distance_axis(axes, values.min(), values.max())
    panels[0, 0].set_title("(a) all three mechanisms")
    panels[0, 1].set_title("(b) without plain shuffle")
    for axes in panels[-1]:
        axes.set_xlabel("number of users n")
    figure.legend(handles=[style.swatch(name) for name in columns[0]], loc="outside lower center", ncols=3)
    heading = f"TV distance to the original, {wording.plain(title)}: {_setting(trials)} ({calibrated})"
    figure.suptitle(wording.folded(heading, style.WIDTH, size=9))
    return figure


def caption_of_budgets(budgets: Budgets, title: str, paragraph: str) -> str:
    """The caption of `draw_budgets`; ``paragraph`` says how the Gaussian was calibrated."""
    trials = pd.concat([rows for _, rows in budgets])
    sizes = wording.listing(sorted(trials["n"].unique()))
    return (
        "Total variation (TV) distance between the histogram of n users and its estimate"
        f" from each mechanism, {title}: {_setting(trials)}, n = {sizes}."
        f" Rows: {'; '.join(budget for budget, _ in budgets)}."
        " (a) plain shuffle, shuffle+INV and Gaussian; (b) without plain shuffle."
        " Boxes show quartiles, lines medians; whiskers reach up to 1.5 times the interquartile range, dots"
        " lie beyond."
        f"\n\n{paragraph}"
    )


def _columns(trials: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The mechanisms of the two columns of panels: all of them, and those without plain shuffle."""
    present = [name for name in style.COLOURS if name in set(trials["mechanism"])]
    unknown = set(trials["mechanism"]) - set(present)
    if unknown:
        raise ValueError(
            f"trials: mechanism {min(unknown)!r} has no colour; expected {', '.join(style.COLOURS)}"
        )
    return present, [name for name in present if name != "shuffle"]


def _budgets(trials: pd.DataFrame) -> Budgets:
    """One row of panels per (eps0, eps), ascending."""
    return [
        (wording.budget(eps0, eps, rows["delta"]), rows)
        for (eps0, eps), rows in groups(trials, ["eps0", "eps"])
    ]


def _values(rows: pd.DataFrame, mechanisms: Sequence[str]) -> dict[str, dict[int, NDArray[np.float64]]]:
    """mechanism -> {n: values of the repetitions}, the form that the boxplots take."""
    return {
        name: {int(n): part["value"].to_numpy() for n, part in groups(rows[rows["mechanism"] == name], "n")}
        for name in mechanisms
    }


def _setting(trials: pd.DataFrame) -> str:
    repetitions = sorted(trials.groupby(["eps0", "eps", "n", "mechanism"]).size().unique())
    cells = sorted(trials["k"].unique())
    times = "repetition" if repetitions == [1] else "repetitions"
    return f"k = {wording.listing(cells)} cells, {wording.listing(repetitions)} {times} per box"
