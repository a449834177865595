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
GREY = "#6f6f6f"  # of the literature's bounds
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
# One row per setting (numbered) and eps; log10 delta, -inf for 0.
COLUMNS = ["setting", "eps", *SETTING, *OURS, "lower", *BOUNDS, WEAK]
LOWEST_LOG10_DELTA = -20  # of the y axis: nobody needs a smaller delta


def rows_of_panels(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of the first setting, and of the last if there are several: a panel for each."""
    settings = [rows for _, rows in groups(table, "setting")]
    return [settings[0], *settings[1:][-1:]]


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """A figure of log10 delta over eps by every bound: a panel for the first and for the last setting.

    ``table`` has the `COLUMNS`: a row for every setting and eps, with log10 of the deltas.
    """
    figure = style.new_figure(3.1)
    settings = rows_of_panels(table)
    panels = figure.subplots(1, len(settings), squeeze=False)[0]
    for axes, rows in zip(panels, settings, strict=True):
        _draw_setting(axes, rows)
    panels[0].set_ylabel("δ (smaller: more private)")
    return figure


def _draw_setting(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw log10 delta over eps in one setting: nine lines, each with its name at its right end.

    ``rows`` has a row for each eps (rising) and a column of log10 delta for each line. Six grey lines are
    bounds of the literature for every dataset (`BOUNDS`). Three coloured lines (`OURS`) are our upper bound
    for every dataset, the true delta of the count of x0, and the delta of this count by Theorem 1 as printed.

    The y axis ends below at `LOWEST_LOG10_DELTA`. The x axis ends where our upper bound reaches this, or else
    at the last eps. The area below our lower bound is shaded: as a guarantee for every dataset, such a delta
    is too small.
    """
    eps = rows["eps"].to_numpy()
    # The eps of the end. `interp` needs rising numbers, and log10 delta falls.
    end = float(np.interp(-LOWEST_LOG10_DELTA, -rows["upper"], eps))
    far_below = 10 * LOWEST_LOG10_DELTA  # instead of -inf, to which no line can be drawn
    names_at_end: list[tuple[float, str, str]] = []  # height, name, colour

    def draw_line(column: str, name: str, look: dict[str, Any]) -> None:
        log10_delta = np.maximum(rows[column].to_numpy(), far_below)
        axes.plot(eps, log10_delta, **look)
        at_end = float(np.interp(end, eps, log10_delta))
        if at_end < LOWEST_LOG10_DELTA - 1:  # the line has clearly left the panel
            name += " ↓"
        names_at_end.append((max(at_end, LOWEST_LOG10_DELTA), name, look["color"]))

    for column, (name, dashes) in BOUNDS.items():
        draw_line(column, name, {"color": GREY, "linestyle": dashes})
    for column, (name, colour) in OURS.items():
        draw_line(column, name, {"color": colour, "linewidth": 2.2})

    axes.fill_between(eps, far_below, rows["lower"].clip(far_below), color="#f1f1f1", linewidth=0)
    words = "for all counts:\nsome dataset\nviolates this"
    # Near the lower left corner, in shares of the panel's width and height.
    axes.text(0.18, 0.04, words, transform=axes.transAxes, color="#555555")
    axes.set(xlim=(eps[0], end), ylim=(LOWEST_LOG10_DELTA, 0), xlabel="ε")
    axes.set_title(wording.setting(rows, "n", "k", "eps0"))
    axes.yaxis.set(major_locator=MultipleLocator(5), major_formatter=style.POWERS)
    axes.grid()
    style.end_labels(axes, names_at_end)


def caption(table: pd.DataFrame) -> str:
    """The caption of `draw`: what the lines are, and how far they are apart in each panel.

    For each panel it has the setting and three ranges over all eps. They are numbers of orders of magnitude:
    of the smallest grey line over our upper bound, of the weak adversary of Koskela et al. over our upper
    bound, and of our lower bound over the paper's delta of one count.
    """
    lines = (
        "Bounds on δ for every dataset: upper (green) beside other bounds of the literature (grey)."
    )
    # `tightshuffle.delta` is the smaller one of two bounds: the privacy blanket, which is the weak adversary
    # (`WEAK`, not drawn), and the bound of `tightshuffle.bounds.single_value`.
    upper = (
        "Upper is the privacy blanket of Balle et al. (2019, Lemma 5.3) before any inequality, for k-RR the"
        " weak adversary of Koskela et al. (2021), where this is the smaller one, and else a bound of one"
        " value. So the grey line of Koskela et al. is their strong adversary only."
    )
    one_count = (
        "The paper's δ of one count lies deep in the shaded area: as a guarantee for all counts, some dataset"
        " violates it. The true δ of one count may lie there, as it is no such guarantee."
    )
    distances = "; ".join(_orders_apart_in_words(rows) for rows in rows_of_panels(table))
    apart = (
        "Orders of magnitude by which the smallest grey line exceeds upper, by which the weak adversary"
        f" exceeds it, and our lower bound the paper's δ, at all ε: {distances}."
    )
    return f"{lines} {upper} {one_count} {apart}"


def _orders_apart_in_words(rows: pd.DataFrame) -> str:
    """'n = 100, k = 10, ε₀ = 2, n_x₀ = 80: 0.8 to 14, 0.0 to 1.2 and 4.0 to 23': a setting and three ranges.

    They are numbers of orders of magnitude, from the smallest to the largest over all eps: of the smallest
    bound of the literature (`BOUNDS`) over our upper bound, of the weak adversary (`WEAK`) over our upper
    bound, and of our lower bound over the paper's delta. ``rows`` are of one setting and have log10 delta.
    """
    smallest = _range_in_words(rows[list(BOUNDS)].min(axis=1) - rows["upper"])
    weak = _range_in_words(rows[WEAK] - rows["upper"])
    paper = _range_in_words(rows["lower"] - rows["published"])
    return f"{wording.setting(rows, *SETTING)}: {smallest}, {weak} and {paper}"


def _range_in_words(values: "pd.Series[float]") -> str:
    """'0.8 to 14': the smallest and the largest finite value."""
    values = values[np.isfinite(values)]
    ends = values.min(), values.max()
    return " to ".join(f"{value:,.0f}" if abs(value) >= 10 else f"{value:.1f}" for value in ends)


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)
