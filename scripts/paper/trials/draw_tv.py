"""Boxplots of the TV error per n: one panel per budget, with level lines for what hardly depends on n."""

import math
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from scripts.shared import style, wording
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import groups, read_table

COLUMNS = ["eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "value", "uniform"]
DRAWN = [("experiment", "==", "tv"), ("metric", "==", "tv")]  # the rows of trials that are drawn
SIDE_BY_SIDE = 2
PLAIN = "shuffle"
UNIFORM = ("#444444", (0, (3, 2)))  # colour and dashes of the uniform histogram's line


class Panel(NamedTuple):
    """A panel's title and rows; ``levels``: whether plain shuffle and the uniform histogram are drawn."""

    title: str
    rows: pd.DataFrame
    levels: bool = True


def read(trials: Sequence[StrPath]) -> pd.DataFrame:
    """The TV rows of all trial files as one table; ValueError where a file has none."""
    tables = [read_table(path, [*COLUMNS, "experiment"], DRAWN) for path in trials]
    return pd.concat(tables, ignore_index=True)


@style.applied()
def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure of a dataset's trials, whose name is ``title``: a panel for each budget, two in a row.

    A single budget has a second panel, without the level lines.
    """
    panels = _panels(trials)
    heading = f"Total variation (TV) error, {wording.literal(title)}: {_setting(trials)}"
    heading = wording.folded(heading, style.WIDTH, size=9)
    columns = min(SIDE_BY_SIDE, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = style.new_figure(0.3 + 0.15 * heading.count("\n") + 2.3 * lines)
    every = figure.subplots(lines, columns, squeeze=False).ravel()
    for number, (panel, name) in enumerate(zip(panels, _names(panels), strict=True)):
        axes, first = every[number], number // columns * columns
        beside = [_ends(other) for other in panels[first : first + columns] if other.levels == panel.levels]
        _distance_axis(axes, float(np.min(beside)), float(np.max(beside)))  # one scale per row
        _draw(axes, panel)
        axes.set_title(wording.folded(name, style.WIDTH / columns - 0.9))
        axes.set_ylabel("TV error" if number == first else "")
        axes.set_xlabel("number of users n" if number + columns >= len(panels) else "")
    for axes in every[len(panels) :]:
        axes.set_axis_off()
    figure.suptitle(heading)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    """Boxes of shuffle+INV and of the Gaussian, level lines, and the name of each at its right end."""
    boxes = {}
    for name in style.COLOURS:
        rows = panel.rows[panel.rows["mechanism"] == name]
        if name != PLAIN and len(rows):
            boxes[name] = {int(n): part["value"].to_numpy() for n, part in groups(rows, "n")}
    _boxplots(axes, boxes)
    ends = [
        (float(np.median(per_n[max(per_n)])), style.LABELS[name], style.COLOURS[name])
        for name, per_n in boxes.items()
    ]
    for name, (colour, dashes), means in _levels(panel):
        x, y = np.arange(len(means)), means.to_numpy()
        look: Any = {"color": colour, "linestyle": dashes, "linewidth": 1.1, "zorder": 1.5}
        axes.plot([-0.5, *x, len(x) - 0.5], [y[0], *y, y[-1]], **look)
        ends.append((y[-1], f"{name} {wording.significant(y[-1])}", colour))
    style.end_labels(axes, ends)


def _boxplots(axes: Axes, values: Mapping[str, Mapping[int, npt.ArrayLike]]) -> None:
    """Draw grouped boxes: for each n one box per mechanism, numbers of users as labels.

    ``values`` maps mechanism -> {n: values of all repetitions}. Boxes are quartiles, whiskers 1.5
    interquartile ranges. Raises ValueError for a value that is no number.
    """
    sizes = sorted({n for per_n in values.values() for n in per_n})
    slot = 0.84 / len(values)
    for number, (mechanism, per_n) in enumerate(values.items()):
        offset = (number - (len(values) - 1) / 2) * slot
        colour = style.COLOURS[mechanism]
        samples = [np.asarray(per_n[n], float) for n in sizes if n in per_n]
        if not all(np.isfinite(sample).all() for sample in samples):
            raise ValueError(f"{mechanism}: a value is not a finite number; expected distances of at least 0")
        axes.boxplot(
            samples,
            positions=[i + offset for i, n in enumerate(sizes) if n in per_n],
            widths=0.86 * slot,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": style.tint(colour), "edgecolor": colour},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            medianprops={"color": colour, "solid_capstyle": "butt"},
            flierprops={"marker": "o", "markersize": 1.8, "markerfacecolor": colour, "markeredgewidth": 0},
        )
    every = math.ceil(len(sizes) / 7)
    axes.set_xticks(range(0, len(sizes), every), [wording.short_number(n) for n in sizes[::every]])
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    for border in range(1, len(sizes)):  # thin lines between the groups: no box is read at the wrong n
        axes.axvline(border - 0.5, color="#ececec", linewidth=0.5, zorder=0)
    axes.grid(axis="y")


def _distance_axis(axes: Axes, low: float, high: float) -> None:
    """A y axis for distances from ``low`` to ``high``: logarithmic, or linear where one of them is 0."""
    if low <= 0:
        axes.set_ylim(0, 1.08 * high or 1)
        return
    axes.set_yscale("log")
    room = 1.02 * (high / low) ** 0.06
    axes.set_ylim(low / room, high * room)
    logarithmic = LogLocator(subs=(1, 2, 5) if high < 2e3 * low else (1,))
    even = MaxNLocator(6, steps=[1, 2, 5, 10])
    axes.yaxis.set_major_locator(even if high < 6 * low else logarithmic)
    axes.yaxis.set_major_formatter("{x:.12g}")
    axes.yaxis.set_minor_locator(LogLocator(subs=range(2, 10)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _levels(panel: Panel) -> list[tuple[str, tuple[str, Any], "pd.Series[float]"]]:
    """(name, (colour, dashes), mean per n) of plain shuffle and of the uniform histogram."""
    if not panel.levels:
        return []
    plain = panel.rows[panel.rows["mechanism"] == PLAIN].groupby("n")["value"].mean()
    lines = [(PLAIN, (style.COLOURS[PLAIN], "solid"), plain)] if len(plain) else []
    return [*lines, ("uniform", UNIFORM, panel.rows.groupby("n")["uniform"].mean())]


def _ends(panel: Panel) -> tuple[float, float]:
    """The smallest and the largest error that a panel shows."""
    boxed = panel.rows.loc[panel.rows["mechanism"] != PLAIN, "value"]
    shown = pd.concat([boxed, *(means for _, _, means in _levels(panel))])
    return shown.min(), shown.max()


def caption(trials: pd.DataFrame, title: str, protocol: Mapping[str, Any]) -> str:
    """The caption: what a box and a line show; ``protocol`` is that section of the config."""
    uniform = wording.two_digits(trials.groupby("n")["uniform"].mean())
    return (
        f"Total variation (TV) error over the number of users, {title}: {_setting(trials)}."
        " Boxes are quartiles; level lines are means of the shuffled histogram without inversion and of the"
        f" uniform histogram ({uniform}), which ignores the data. {published(protocol)}"
    )


def published(protocol: Mapping[str, Any]) -> str:
    """How the Gaussian was calibrated, for a caption; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"The Gaussian noise{form} has diffprivlib's analytic scale for ε, δ̂ but at least"
        f" {wording.typeset(protocol['delta_floor'])}, and sensitivity {protocol['sensitivity']:g}; the paper"
        " states neither, so both are our choice."
    )


def _panels(trials: pd.DataFrame) -> list[Panel]:
    """One panel per (eps0, eps), ascending, as in Figures 6 and 7; for one budget both panels of Figure 2."""
    budgets = [
        Panel(wording.budget(eps0, eps, rows["delta"]), rows)
        for (eps0, eps), rows in groups(trials, ["eps0", "eps"])
    ]
    if len(budgets) > 1:
        return budgets
    return [budgets[0], Panel("as (a), shuffle+INV and Gaussian only", budgets[0].rows, levels=False)]


def _names(panels: Sequence[Panel]) -> list[str]:
    """The panels' titles, with letters where there are several and letters for all."""
    if not 1 < len(panels) <= len(ascii_lowercase):
        return [panel.title for panel in panels]
    return [f"({letter}) {panel.title}" for letter, panel in zip(ascii_lowercase, panels, strict=False)]


def _setting(trials: pd.DataFrame) -> str:
    repetitions = sorted(trials.groupby(["eps0", "eps", "n", "mechanism"]).size().unique())
    cells = sorted(trials["k"].unique())
    times = "repetition" if repetitions == [1] else "repetitions"
    return f"k = {wording.listing(cells)}, {wording.listing(repetitions)} {times} per box"


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read(snakemake.input)
        text = caption(table, params.title, params.protocol)
        style.write_figure(draw(table, params.title), text, snakemake.output)
