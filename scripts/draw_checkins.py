"""Figure 3: the check-ins of each city as points and as counts per cell, on one colour scale."""

from string import ascii_lowercase

from tightshuffle.figures import style as plotting
from tightshuffle.figures import wording
from tightshuffle.figures.shared import grid_edges, grid_shape, on_grid, read_table, write_figure
from tightshuffle.pipeline.job import job

CELLS = ["cell", "count", "row", "column", "south", "north", "west", "east"]
POINTS = ["latitude", "longitude", "spread"]


def read_cities(titles, boxes, histograms, points):
    """One dictionary per city: title, box (west, east, south, north), histogram and points tables."""
    if not titles:
        raise ValueError("no city to draw; expected at least one dataset of kind gowalla in the config")
    return [
        {
            "title": title,
            "box": tuple(box[side] for side in ("west", "east", "south", "north")),
            "histogram": read_table(histogram, CELLS),
            "points": read_table(places, POINTS),
        }
        for title, box, histogram, places in zip(titles, boxes, histograms, points, strict=True)
    ]


@plotting.style()
def draw(cities):
    """The figure: one column per city, points above, counts per cell below."""
    width = 4.4 if len(cities) == 1 else max(plotting.WIDTH, 3.2 * len(cities))
    widths = [1 / plotting.proportion(city["box"]) for city in cities]  # all panels equally high
    height = (width - 0.85 - 0.45 * len(cities)) / sum(widths)
    figure = plotting.new_figure(1.5 + 2 * height, width=width)
    panels = figure.subplots(2, len(cities), squeeze=False, width_ratios=widths)
    norm = plotting.count_norm(1, max(city["histogram"]["count"].max() for city in cities))
    for number, city in enumerate(cities):
        top, bottom = panels[:, number]
        places, counts = city["points"], on_grid(city["histogram"], city["histogram"]["count"])
        plotting.points(top, places["longitude"].to_numpy(), places["latitude"].to_numpy())
        heading = [f"{_letter(number)} {wording.plain(city['title'])}: {len(places):,} check-ins"]
        heading += ["spread inside their cells: only counts are bundled"] * bool(places["spread"].any())
        space = height * widths[number] + 0.4
        top.set_title("\n".join(wording.folded(line, space) for line in heading))
        image = plotting.heatmap(bottom, grid_edges(city["histogram"]), counts, norm)
        cells = f"{counts.shape[1]} × {counts.shape[0]} cells"
        heading = f"{_letter(len(cities) + number)} {wording.plain(city['title'])}: {cells}"
        bottom.set_title(wording.folded(heading, space))
        for axes in (top, bottom):
            plotting.map_axes(axes, city["box"], names=(axes is bottom, number == 0))
    plotting.count_bar(figure, image, panels[1, :], "check-ins per cell")
    return figure


def caption(cities, grid):
    """The caption: boxes, grids (``grid`` is published or stepped), totals, colours, spread points."""
    letters = [_letter(number) for number in range(2 * len(cities))]
    spread = [city["title"] for city in cities if city["points"]["spread"].any()]
    largest = max(city["histogram"]["count"].max() for city in cities)
    how = (
        f" The points of {' and '.join(spread)} are spread at random inside their cells, because only"
        " counts per cell are bundled with the project."
        if spread
        else ""
    )
    return (
        f"Gowalla check-ins. {', '.join(letters[: len(cities)])}: single check-ins;"
        f" {', '.join(letters[len(cities) :])}: counts per cell ({grid} grid)."
        f" {' '.join(_city_words(city) for city in cities)}"
        f" Colours: logarithmic, one scale from 1 to {largest:,}; cells without check-ins are grey."
        f" Degrees are drawn with their true proportion at the middle latitude.{how}"
    )


def _city_words(city):
    west, east, south, north = city["box"]
    counts = city["histogram"]
    rows, columns = grid_shape(counts)
    return (
        f"{city['title']}: latitude {_degrees(south)} to {_degrees(north)},"
        f" longitude {_degrees(west)} to {_degrees(east)},"
        f" {columns} × {rows} cells, {(counts['count'] > 0).sum()} of them not empty,"
        f" {counts['count'].sum():,} check-ins in the cells, {len(city['points']):,} in the box."
    )


def _degrees(value):
    return f"{value:.9g}".replace("-", "−")


def _letter(number):
    return f"({ascii_lowercase[number % 26]})"


if __name__ == "__main__":
    with job(snakemake):
        inputs, params = snakemake.input, snakemake.params
        city_list = read_cities(params.titles, params.boxes, inputs.histograms, inputs.checkins)
        write_figure(draw(city_list), caption(city_list, params.grid), snakemake.output)
