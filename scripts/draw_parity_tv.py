"""Boxplots of the TV distance per n at equal (eps, delta), in the form of the paper's Figures 2, 6 and 7."""

from scripts import draw_tv
from tightshuffle.figures.parity_words import ESTIMATES, READING, budget_words, reading_words
from tightshuffle.figures.shared import read_table, write_figure
from tightshuffle.pipeline.job import job

COLUMNS = [*draw_tv.COLUMNS, "delta_rule", "bound", "estimator"]


def read_rows(path, delta):
    """The TV rows at one fixed delta, eps from the upper bound, as (words, rows) per eps0.

    ``mechanism`` holds the paper's names. Raises ValueError where there are no such rows.
    """
    wanted = [("metric", "==", "tv"), ("bound", "==", "upper"), ("delta_rule", "==", repr(delta))]
    trials = read_table(path, COLUMNS, wanted)
    names = [ESTIMATES.get(pair) for pair in zip(trials["mechanism"], trials["estimator"], strict=True)]
    trials = trials.assign(mechanism=names).dropna(subset="mechanism")
    return trials, [
        (budget_words(eps0, rows["eps"].unique(), rows["delta"].iloc[0]), rows)
        for eps0, rows in trials.groupby("eps0")
    ]


if __name__ == "__main__":
    with job(snakemake):
        title = snakemake.params.title
        rows, budgets = read_rows(snakemake.input.trials, float(snakemake.params.delta))
        figure = draw_tv.draw(rows, title, budgets=budgets, reading=READING)
        write_figure(figure, draw_tv.caption(rows, title, reading_words(), budgets=budgets), snakemake.output)
