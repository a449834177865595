"""delta-hat over eps < eps0, as printed and exact, beside a proven bound on delta of the whole histogram."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from scripts.paper.delta.delta_hat_table import SETTING
from scripts.paper.delta.draw_delta_hat import HOW_TO_READ, LINES, panels_of_deltas
from scripts.paper.delta.setting_panels import points_in_words
from scripts.shared import style
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_tables

COLUMNS = [*SETTING, "eps", "published", "exact", "upper"]  # the last three are log10 of deltas
BOUND = ("proven bound, whole histogram", style.ALL_COUNTS)  # label and colour of its line


@style.applied()
def draw(table: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """The figure: a panel for every dataset and eps0 at the largest n, with three deltas as lines over eps.

    The lines are both forms of delta-hat (scripts/paper/delta/draw_delta_hat.py), and a proven bound on the
    delta of the whole histogram. ``table`` has the `COLUMNS`: a row for every dataset, n, k, eps0 and eps.
    ``titles``: dataset -> its title.
    """
    figure, _ = panels_of_deltas(table, titles, {**LINES, "upper": BOUND})
    figure.suptitle(
        "δ̂, the largest δ of one count, and a proven bound on the δ of all counts: ε < ε₀"
    )
    return figure


def caption(table: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """The caption: how far both forms of delta-hat lie below the bound, and what the bound is for.

    The arguments are those of `draw`.
    """
    exact = table["upper"] - table["exact"]  # log10 of the bound over the exact delta-hat
    published = table["upper"] - table["published"]

    distances = (
        f"The exact δ̂ lies {exact.min():.1f} to {exact.max():.1f} orders of magnitude below a proven"
        f" bound on the δ of the whole histogram, and δ̂ as printed {published.min():,.0f} to"
        f" {published.max():,.0f}: {points_in_words(table, titles)}."
    )
    guarantee = (
        "δ̂ is the δ of one count in one dataset, and no guarantee in either form; the bound is one, for all"
        " counts and every dataset."
    )
    return f"{distances} {guarantee} {HOW_TO_READ}"


if __name__ == "__main__":
    with job() as snakemake:
        table = read_tables(snakemake.input, COLUMNS)
        titles = snakemake.params.titles
        write_figure(draw(table, titles), caption(table, titles), snakemake.output)
