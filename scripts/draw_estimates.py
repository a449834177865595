"""One run's estimates beside the original: heatmaps on one colour scale, or step lines without a grid."""

from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.figures.shared import (
    budget_words,
    grid_edges,
    grid_shape,
    on_a_grid,
    on_a_map,
    on_grid,
    read_table,
    reading_words,
    row_label,
    write_figure,
)
from tightshuffle.mechanisms.metrics import total_variation
from tightshuffle.pipeline.job import job

MECHANISMS = ["gaussian", "shuffle+INV"]
COLUMNS = ["cell", "original", *MECHANISMS]
RUN = ["eps0", "eps", "n", "delta"]  # what a run is, in the order of the rows of panels


def read_runs(histogram_path, path):
    """(histogram, runs) from a table of all runs: a run is a dictionary of eps0, eps, n, delta, its table."""
    histogram = read_table(histogram_path, ["cell", "count"])
    table = read_table(path, [*RUN, *COLUMNS])
    runs = []
    for (eps0, eps, n, delta), rows in table.groupby(RUN):
        rows = rows.reset_index(drop=True)
        if not rows["cell"].equals(histogram["cell"]):
            raise ValueError(f"{path}: its cells are not those of {histogram_path}; make both again")
        runs.append({"eps0": eps0, "eps": eps, "n": int(n), "delta": delta, "table": rows})
    return histogram, runs


@plotting.style()
def draw(histogram, runs, title, *, reading="published"):
    """The figure: a row per budget; original, Gaussian, shuffle+INV as heatmaps or as step lines.

    ``reading``: how the Gaussian was calibrated, for the title.
    """
    heading = _title(histogram, runs, title, reading)
    if on_a_grid(histogram):
        return _maps(histogram, runs, heading)
    return _steps(runs, heading)


def _maps(histogram, runs, heading):
    edges = grid_edges(histogram)
    box = (*edges[0][[0, -1]], *edges[1][[0, -1]])
    proportion = plotting.proportion(box) if on_a_map(histogram) else len(edges[1]) / len(edges[0])
    figure = plotting.new_figure(0.95 + len(runs) * (0.24 + 1.75 * proportion), layout="compressed")
    panels = figure.subplots(len(runs), 3, squeeze=False)
    largest = max(run["table"][COLUMNS[1:]].max(axis=None) for run in runs)
    norm = plotting.count_norm(1 / max(run["n"] for run in runs), largest)
    for number, (row, run) in enumerate(zip(panels, runs, strict=True)):
        for axes, name in zip(row, COLUMNS[1:], strict=True):
            image = plotting.heatmap(axes, edges, on_grid(histogram, run["table"][name]), norm)
            axes.set_title(_panel_title(run, name))
            outer = (number == len(runs) - 1, name == "original")
            if on_a_map(histogram):
                plotting.map_axes(axes, box, names=outer, numbers=outer)
            else:
                plotting.grid_axes(axes, names=outer, numbers=outer)
        label = row_label(_budget(run), 0.1 + 1.75 * proportion)
        row[0].set_ylabel(f"{label}\n{row[0].get_ylabel()}")
    negative = any((run["table"][MECHANISMS] < 0).any(axis=None) for run in runs)
    plotting.count_bar(figure, image, panels, "fraction of users per cell", negative=negative)
    figure.suptitle(heading)
    return figure


def _steps(runs, heading):
    figure = plotting.new_figure(0.9 + 1.7 * len(runs))
    panels = figure.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes, run in zip(panels, runs, strict=True):
        plotting.steps(axes, run["table"]["original"], {name: run["table"][name] for name in MECHANISMS})
        axes.set_title("; ".join(_panel_title(run, name) for name in MECHANISMS))
        axes.set_ylabel(f"{row_label(_budget(run), 1.6)}\nfraction of users")
    panels[-1].set_xlabel("cell")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(heading)
    return figure


def caption(histogram, runs, title, reading, *, projected=False):
    """The caption: every parameter, TV distances, what the colours outside the scale mean, the ``reading``.

    ``projected``: whether the Gaussian's estimates were projected to the simplex, too.
    """
    distances = "; ".join(
        f"{_budget(run)}, n = {run['n']:,}: "
        + ", ".join(f"{plotting.LABELS[name]} {_distance(run, name):.2g}" for name in MECHANISMS)
        for run in runs
    )
    below = [int((run["table"]["gaussian"] < 0).sum()) for run in runs]
    negative = f"{wording.listing(below, at_most=len(below))} of the {len(histogram):,} values are negative"
    treated = f"The Gaussian estimates are drawn as they come, not projected to the simplex: {negative}."
    if projected:
        treated = "Both estimates are projected to the simplex."
    if on_a_grid(histogram):
        negative = "grey with a minus sign."
        if not plotting.signs_fit(grid_shape(histogram)):
            negative = "orange. Where cells are smaller than a pixel, several share one."
        how = (
            "Colours: one logarithmic scale for all panels, from one user's share 1/n up; smaller shares have"
            f" its lowest colour, cells estimated as empty are grey, negative ones {negative}"
        )
    else:
        how = "Grey area: original; lines: estimates."
    return (
        f"Original histogram and one run's estimate from each mechanism, {title}: k = {len(histogram):,}"
        f" cells, one row per budget. Total variation (TV) distance to the original: {distances}. {how}"
        f" {treated}\n\n{reading}"
    )


def _budget(run):
    return budget_words(run["eps0"], run["eps"], run["delta"])


def _distance(run, name):
    return float(total_variation(run["table"][name], run["table"]["original"]))


def _panel_title(run, name):
    return "original" if name == "original" else f"{plotting.LABELS[name]}, TV = {_distance(run, name):.2g}"


def _title(cells, runs, title, reading):
    name, sizes = wording.plain(title), wording.listing(sorted({run["n"] for run in runs}))
    heading = f"Original and estimates, {name}: n = {sizes}, k = {len(cells):,} cells, one run a row"
    return wording.folded(f"{heading} ({reading})", plotting.WIDTH, size=9)


if __name__ == "__main__":
    with job(snakemake):
        name = snakemake.params.title
        cells, run_list = read_runs(snakemake.input.histogram, snakemake.input.estimates)
        words = caption(cells, run_list, name, reading_words(snakemake.params.protocol))
        write_figure(draw(cells, run_list, name), words, snakemake.output)
