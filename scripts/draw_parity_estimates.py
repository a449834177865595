"""One run's estimates at equal (eps, delta) beside the original, in the form of Figures 4 and 5."""

import draw_estimates
from _figure import read_table, write_figure
from _job import job
from _parity import READING, reading_words


def read_runs(histogram_path, path):
    """(histogram, runs) as `draw_estimates.draw` takes them, from a table of all runs."""
    histogram = read_table(histogram_path, ["cell", "count"])
    table = read_table(path, ["eps0", "eps", "delta", "n", *draw_estimates.COLUMNS])
    runs = []
    for (eps0, eps, delta, n), rows in table.groupby(["eps0", "eps", "delta", "n"]):
        rows = rows.reset_index(drop=True)
        if not rows["cell"].equals(histogram["cell"]):
            raise ValueError(f"{path}: its cells are not those of {histogram_path}; make both again")
        runs.append({"eps0": eps0, "eps": eps, "n": int(n), "delta": delta, "table": rows})
    return histogram, runs


if __name__ == "__main__":
    with job(snakemake):
        title = snakemake.params.title
        histogram, runs = read_runs(snakemake.input.histogram, snakemake.input.estimates)
        figure = draw_estimates.draw(histogram, runs, title, reading=READING)
        caption = draw_estimates.caption(histogram, runs, title, reading_words(), projected=True)
        write_figure(figure, caption, snakemake.output)
