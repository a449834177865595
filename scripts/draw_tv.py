"""Boxplots of the TV distance per n: a row per budget, with plain shuffle (a) and without (b)."""

import pandas as pd

from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.figures.shared import budget_words, read_table, reading_words, row_label, write_figure
from tightshuffle.pipeline.job import job

TV = [("experiment", "==", "tv"), ("metric", "==", "tv")]  # the rows of trials that are drawn
COLUMNS = ["eps0", "eps", "delta", "n", "k", "mechanism", "repetition", "metric", "value"]


def read_trials(paths):
    """The TV rows of all trial files as one table; ValueError where there are none."""
    if not paths:
        raise ValueError(
            "no trials to draw; expected at least one n in the dataset's tv section of the config"
        )
    return pd.concat([read_table(path, [*COLUMNS, "experiment"], TV) for path in paths], ignore_index=True)


@plotting.style()
def draw(trials, title, *, budgets=None, reading="published"):
    """The figure of a dataset's trials (tidy rows, metric tv); ``title`` names the dataset.

    ``budgets``: (words, rows) of each row of panels; None for one per (eps0, eps). ``reading``: how the
    Gaussian was calibrated, for the title.
    """
    budgets = budgets or _budgets(trials)
    figure = plotting.new_figure(0.95 + 1.95 * len(budgets))
    panels = figure.subplots(len(budgets), 2, sharex=True, sharey="col", squeeze=False)
    for row, (budget, rows) in zip(panels, budgets, strict=True):
        for axes, names in zip(row, _columns(trials), strict=True):
            plotting.boxplots(axes, _values(rows, names))
        row[0].set_ylabel(f"{row_label(budget, 1.8)}\nTV distance")
    for axes, names in zip(panels[0], _columns(trials), strict=True):  # one scale for all budgets
        values = trials.loc[trials["mechanism"].isin(names), "value"]
        plotting.distance_axis(axes, values.min(), values.max())
    panels[0, 0].set_title("(a) all three mechanisms")
    panels[0, 1].set_title("(b) without plain shuffle")
    for axes in panels[-1]:
        axes.set_xlabel("number of users n")
    figure.legend(
        handles=[plotting.swatch(name) for name in _columns(trials)[0]], loc="outside lower center", ncols=3
    )
    heading = f"TV distance to the original, {wording.plain(title)}: {_setting(trials)} ({reading})"
    figure.suptitle(wording.folded(heading, plotting.WIDTH, size=9))
    return figure


def caption(trials, title, reading, *, budgets=None):
    """The caption: every parameter, what a box shows, and the ``reading``, a paragraph."""
    budgets = "; ".join(words for words, _ in budgets or _budgets(trials))
    sizes = wording.listing(sorted(trials["n"].unique()))
    return (
        "Total variation (TV) distance between the histogram of n users and its estimate"
        f" from each mechanism, {title}: {_setting(trials)}, n = {sizes}."
        f" Rows: {budgets}. (a) plain shuffle, shuffle+INV and Gaussian; (b) without plain shuffle."
        " Box: quartiles, line: median, whiskers: up to 1.5 times the interquartile range, dots: beyond."
        f"\n\n{reading}"
    )


def _columns(trials):
    """The mechanisms of the two columns of panels: all of them, and those without plain shuffle."""
    present = [name for name in plotting.COLOURS if name in set(trials["mechanism"])]
    unknown = set(trials["mechanism"]) - set(present)
    if unknown:
        raise ValueError(
            f"trials: mechanism {min(unknown)!r} has no colour; expected {', '.join(plotting.COLOURS)}"
        )
    return present, [name for name in present if name != "shuffle"]


def _budgets(trials):
    """(words, rows) for each budget (eps0, eps), ascending."""
    return [
        (budget_words(eps0, eps, rows["delta"]), rows)
        for (eps0, eps), rows in trials.groupby(["eps0", "eps"])
    ]


def _values(rows, mechanisms):
    """mechanism -> {n: values of the repetitions}, the form that the boxplots take."""
    return {
        name: {
            int(n): values.to_numpy() for n, values in rows[rows["mechanism"] == name].groupby("n")["value"]
        }
        for name in mechanisms
    }


def _setting(trials):
    repetitions = sorted(trials.groupby(["eps0", "eps", "n", "mechanism"]).size().unique())
    cells = sorted(trials["k"].unique())
    times = "repetition" if repetitions == [1] else "repetitions"
    return f"k = {wording.listing(cells)} cells, {wording.listing(repetitions)} {times} per box"


if __name__ == "__main__":
    with job(snakemake):
        tv_trials = read_trials(snakemake.input.trials)
        name = snakemake.params.title
        words = caption(tv_trials, name, reading_words(snakemake.params.protocol))
        write_figure(draw(tv_trials, name), words, snakemake.output)
