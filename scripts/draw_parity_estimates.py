"""One run's estimates at equal (eps, delta) beside the original, in the form of Figures 4 and 5."""

from scripts import draw_estimates
from tightshuffle.figures.parity_words import READING, reading_words
from tightshuffle.figures.shared import write_figure
from tightshuffle.pipeline.job import job

if __name__ == "__main__":
    with job(snakemake):
        title = snakemake.params.title
        histogram, runs = draw_estimates.read_runs(snakemake.input.histogram, snakemake.input.estimates)
        figure = draw_estimates.draw(histogram, runs, title, reading=READING)
        caption = draw_estimates.caption(histogram, runs, title, reading_words(), projected=True)
        write_figure(figure, caption, snakemake.output)
