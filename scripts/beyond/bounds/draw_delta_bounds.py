"""delta over eps by every bound: the paper's and the true delta of a count, and bounds for every dataset."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import groups, read_table

SETTING = ["n", "k", "eps0", "count"]
LITERATURE = "#6f6f6f"
BOUNDS = {  # valid for every dataset: column -> name, dashes
    "balle_bennett": ("Balle et al.", "-"),
    "clones": ("clones", "--"),
    "stronger_clones": ("stronger clones", "-"),
    "koskela_strong": ("Koskela et al., strong", ":"),
    "girgis": ("Girgis et al.", "-."),
    "blanket": ("blanket paper", "--"),
}
OURS = {  # column -> name, colour
    "upper": ("all counts: upper", style.ALL_COUNTS),
    "exact": ("one count: true", style.TRUE),
    "published": ("one count: paper", style.PUBLISHED),
}
WEAK = "privacy_blanket"  # Balle et al., Lemma 5.3: Koskela et al.'s weak adversary; not drawn, see `caption`
# One row per setting and eps; log10 delta, -inf for 0.
COLUMNS = ["setting", "eps", *SETTING, *OURS, "lower", *BOUNDS, WEAK]
FLOOR = -20  # of log10 delta: nobody needs a smaller delta


def drawn(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of the first setting, and of the last if there are several."""
    settings = [rows for _, rows in groups(table, "setting")]
    return [settings[0], *settings[1:][-1:]]


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A panel for each drawn setting, up to where our bound reaches the floor."""
    figure, settings = style.new_figure(3.1), drawn(table)
    for axes, rows in zip(
        figure.subplots(1, len(settings), squeeze=False)[0], settings, strict=True
    ):
        _draw_setting(axes, rows)
    figure.axes[0].set_ylabel("δ (smaller: more private)")
    return figure


def _draw_setting(axes: Axes, rows: pd.DataFrame) -> None:
    eps = rows["eps"].to_numpy()
    # The last eps if our bound stays above the floor.
    end = float(np.interp(-FLOOR, -rows["upper"], eps))
    ends = []

    def draw_line(column: str, label: str, look: dict[str, Any]) -> None:
        line = np.maximum(rows[column].to_numpy(), 10 * FLOOR)
        axes.plot(eps, line, **look)
        last = float(np.interp(end, eps, line))
        if last < FLOOR - 1:
            label += " ↓"
        ends.append((max(last, FLOOR), label, look["color"]))

    for column, (label, dashes) in BOUNDS.items():
        draw_line(column, label, {"color": LITERATURE, "linestyle": dashes})
    for column, (label, colour) in OURS.items():
        draw_line(column, label, {"color": colour, "linewidth": 2.2})

    axes.fill_between(eps, 10 * FLOOR, rows["lower"].clip(10 * FLOOR), color="#f1f1f1", linewidth=0)
    words = "for all counts:\nsome dataset\nviolates this"
    axes.text(0.18, 0.04, words, transform=axes.transAxes, color="#555555")
    axes.set(
        xlim=(eps[0], end), ylim=(FLOOR, 0), xlabel="ε", title=wording.setting(rows, *SETTING[:-1])
    )
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()
    style.end_labels(axes, ends)


def caption(table: pd.DataFrame) -> str:
    """The caption: what the green line is, and how far the grey ones and the paper's delta are from it."""
    lines = (
        "Bounds on δ for every dataset: upper (green) beside other bounds of the literature (grey)."
    )
    upper = (
        "Upper is the privacy blanket of Balle et al. (2019, Lemma 5.3) before any inequality, for k-RR the"
        " weak adversary of Koskela et al. (2021), where this is the smaller one, and else a bound of one"
        " value. So the grey line of Koskela et al. is their strong adversary only."
    )
    one_count = (
        "The paper's δ of one count lies deep in the shaded area: as a guarantee for all counts, some dataset"
        " violates it. The true δ of one count may lie there, as it is no such guarantee."
    )
    apart = (
        "Orders of magnitude by which the smallest grey line exceeds upper, by which the weak adversary"
        " exceeds it, and our lower bound the paper's δ, at all ε:"
        f" {'; '.join(_orders_apart(rows) for rows in drawn(table))}."
    )
    return f"{lines} {upper} {one_count} {apart}"


def _orders_apart(rows: pd.DataFrame) -> str:
    """The three distances in one setting."""
    smallest = _span(rows[list(BOUNDS)].min(axis=1) - rows["upper"])
    weak = _span(rows[WEAK] - rows["upper"])
    paper = _span(rows["lower"] - rows["published"])
    return f"{wording.setting(rows, *SETTING)}: {smallest}, {weak} and {paper}"


def _span(values: "pd.Series[float]") -> str:
    """'0.8 to 14': the range of the finite values."""
    values = values[np.isfinite(values)]
    ends = values.min(), values.max()
    return " to ".join(f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}" for value in ends)


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
