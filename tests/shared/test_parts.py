"""What the figures share: catalogue, colours, maps, numbers, and errors that name the file."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine

from scripts.beyond.companions import draw_girgis as girgis_rdp
from scripts.beyond.parity import draw_parity_ratio as parity_ratio
from scripts.paper.data import draw_checkins as checkins
from scripts.paper.delta import draw_delta_surface as delta_surface
from scripts.paper.trials import boxes
from scripts.paper.trials import draw_estimates as estimates
from scripts.shared import maps, style, wording
from scripts.shared.figure_files import encoded
from scripts.shared.histograms import grid_edges
from scripts.shared.table_files import read_table, read_tables
from tests.shared.test_figures import BOX, histogram_of_cells

# Colour vision -> what it makes of a colour in linear RGB: the rows of a 3 x 3 matrix, one after another.
# From Machado, Oliveira, Fernandes (2009), severity 1.
DICHROMATS = {
    "protan": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "deutan": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881",
    "tritan": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900",
    "common": "1 0 0 0 1 0 0 0 1",
}


def seen_in_cielab(colour, vision):
    """CIELAB coordinates (D65), lightness first, of a colour as ``vision`` of `DICHROMATS` sees it.

    Distances of these are differences in colour, of which 2.3 is just noticeable. The formulas are those of
    sRGB (IEC 61966-2-1), and CIELAB's without its straight part for very dark colours.
    """
    seen = np.array(DICHROMATS[vision].split(), float).reshape(3, 3)
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ np.clip(seen @ linear, 0, 1) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def smallest_distance(pairs):
    """The smallest difference between the two colours of a pair, in CIELAB: 2.3 is just noticeable."""
    return min(np.linalg.norm(one - other) for one, other in pairs)


def scale_in_cielab(vision):
    """The colours of counts on a map, from the smallest to the largest, as this ``vision`` sees them."""
    return [seen_in_cielab(colour, vision) for colour in maps.HEAT(np.linspace(0, 1, 50))]


@pytest.mark.parametrize("vision", DICHROMATS)
def test_mechanisms_are_told_apart_with_every_colour_vision(vision):
    mechanisms = [seen_in_cielab(colour, vision) for colour in style.COLOURS.values()]
    assert smallest_distance(itertools.combinations(mechanisms, 2)) > 20


@pytest.mark.parametrize("vision", DICHROMATS)
def test_empty_and_negative_cells_are_told_apart_from_counts_and_each_other(vision):
    """`maps.HEAT` gives the colour of an empty cell for NaN, and of a negative cell for a value above 1."""
    empty = seen_in_cielab(maps.HEAT(np.nan)[:3], vision)
    negative = seen_in_cielab(maps.HEAT(2.0)[:3], vision)
    pairs = [(empty, negative)]
    for count in scale_in_cielab(vision):
        pairs += [(empty, count), (negative, count)]
    assert smallest_distance(pairs) > 20


@pytest.mark.parametrize("vision", DICHROMATS)
def test_a_larger_count_is_darker_with_every_colour_vision(vision):
    """Then a map can be read in print without colours, too."""
    lightness = [colour[0] for colour in scale_in_cielab(vision)]
    assert np.all(np.diff(lightness) < 0)


def test_cells_without_a_count_have_no_colour_and_negative_ones_a_minus_sign():
    values = np.array([[0.0, 2.0, np.nan], [-1.0, 8.0, -0.5]])
    axes = style.new_figure(3).subplots()
    edges = np.arange(4.0), np.arange(3.0)  # of squares of side 1
    image = maps.heatmap(axes, edges, values, maps.count_norm(low=1, high=8))
    without_colour = np.ma.getmaskarray(image.get_array())
    assert np.array_equal(without_colour, [[True, False, True], [True, False, True]])
    [minus_signs] = axes.collections
    centres_of_negative_cells = [[0.5, 1.5], [2.5, 1.5]]
    assert sorted(minus_signs.get_offsets().tolist()) == centres_of_negative_cells


def test_a_map_has_the_proportions_of_the_ground():
    """The paper's box of San Francisco is about 12 km wide and 8 km high."""
    west, east, south, north = -122.5153, -122.3789, 37.7228, 37.7946
    height_over_width = maps.proportion((west, east, south, north))
    assert height_over_width == pytest.approx(8 / 12, rel=0.01)


def test_equal_figures_are_equal_bytes_whatever_the_last_digits_of_their_layout(monkeypatch):
    """The solver of the layout orders its constraints by their addresses, which differ from run to run.

    Here the position of every panel gets a relative error of 3e-16, that of a float's last digit, after
    matplotlib has made the layout. The files of all three kinds keep their bytes.
    """

    def saved_files():
        """The bytes of a figure with a row of three panels, as PNG, PDF and SVG."""
        figure = style.new_figure(2)
        for axes in figure.subplots(1, 3):
            axes.plot([0, 1], [0, 3])
        return [encoded(figure, kind) for kind in ("png", "pdf", "svg")]

    first = saved_files()
    execute = ConstrainedLayoutEngine.execute

    def with_noise(engine, figure):
        """Make the layout, and then change x and the width of every panel by the error."""
        execute(engine, figure)
        for axes in figure.axes:
            x, y, width, height = axes.get_position(original=True).bounds
            place = (x * (1 + 3e-16), y, width * (1 - 3e-16), height)
            axes.set_position(place, which="original")
            axes.set_in_layout(True)  # which a position that is set by hand turns off

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", with_noise)
    assert saved_files() == first


def test_a_fine_grid_is_an_image_per_panel_in_a_small_pdf():
    table = pd.DataFrame({"cell": np.arange(1, 90_001), "original": 1 / 90_000, "gaussian": -1e-5})
    runs = [estimates.Run(2, 2, 90_000, 1e-30, table.assign(**{"shuffle+INV": 2e-5}))]
    histogram = histogram_of_cells(rows=300, columns=300)
    pdf = encoded(estimates.draw(estimates.Runs(histogram, runs), "fine"), "pdf")
    assert len(pdf) < 2_000_000  # a path per cell takes 6 MB


def test_numbers_lists_and_row_labels():
    assert [wording.short_number(value) for value in (1500, 2.5e6)] == ["1.5k", "2.5M"]
    assert wording.two_digits([0.41, 0.404, 0.412]) == "0.40 to 0.41"
    assert wording.listing([1, 2000, 3000]) == "1, 2,000 and 3,000"
    assert wording.listing(range(1, 31)) == "1 to 30 (30 values)"
    assert wording.row_label("ε₀ = 2.25, ε = 0.125, δ = 1", 1.3) == "ε₀ = 2.25, ε = 0.125\nδ = 1"


def test_a_grid_with_broken_row_numbers_is_refused():
    cells = histogram_of_cells()
    with pytest.raises(ValueError, match="row must hold whole numbers"):
        grid_edges(cells.assign(row=cells["row"] + 0.5))


def test_a_grid_with_two_cells_at_one_place_is_refused():
    cells = histogram_of_cells(rows=5, columns=6)
    with pytest.raises(ValueError, match="two cells have the same row and column"):
        grid_edges(cells.assign(column=0))


def test_a_grid_whose_rows_go_south_is_refused():
    cells = histogram_of_cells()
    southwards = cells.assign(south=-cells["south"], north=-cells["north"])
    with pytest.raises(ValueError, match="south must rise with row"):
        grid_edges(southwards)


@pytest.fixture
def file_of_cells(tmp_path):
    """A file of the cells 1 and 2 with counts, and the columns label (texts) and low (numbers)."""
    file = tmp_path / "own.csv"
    file.write_text("cell,count,label,low\n1,5,NA,-inf\n2,6,007,\n")
    return file


def test_texts_of_a_table_stay_as_they_are_and_an_empty_number_is_nan(file_of_cells):
    table = read_table(file_of_cells, ["cell", "count"])
    assert table["label"].tolist() == ["NA", "007"]
    assert table["low"].isna().tolist() == [False, True]


def test_estimates_of_other_cells_than_the_histograms_are_refused(file_of_cells, tmp_path):
    file = tmp_path / "estimates.csv"
    file.write_text("eps0,eps,n,delta,cell,original,gaussian,shuffle+INV\n4,4,11,1e-30,7,1,1,1\n")
    with pytest.raises(ValueError, match=r"estimates\.csv: its cells are not those of .*own\.csv"):
        estimates.read(file_of_cells, file)


def test_cells_without_the_columns_of_a_map_are_refused(file_of_cells):
    with pytest.raises(ValueError, match=r"own\.csv: no column 'row'"):
        checkins.read([file_of_cells], ["estimates.csv"], ["Own"], [BOX])


def test_trials_without_a_row_for_the_figure_are_refused(tmp_path):
    file = tmp_path / "own.parquet"
    pd.DataFrame([["individual"] * len(boxes.COLUMNS)], columns=boxes.COLUMNS).to_parquet(file)
    no_rows = r"own\.parquet: no rows with experiment 'tv', metric 'tv'"
    with pytest.raises(ValueError, match=no_rows):
        read_tables([file], boxes.COLUMNS, boxes.DRAWN)


def test_a_surface_of_deltas_that_are_all_0_is_refused():
    log10_deltas = {"eps": [1, 2], "eps0": 1, "published": -np.inf, "exact": -np.inf}
    with pytest.raises(ValueError, match="delta is 0 everywhere"):
        delta_surface.draw(pd.DataFrame(log10_deltas))


def test_theorem_31_is_drawn_as_its_monotone_envelope():
    """By definition: at each order the least bound at this order or a larger one."""
    printed = pd.DataFrame(
        {"eps0": 4.0, "order": [1.5, 2, 4, 8, 16], "girgis": [0.5, 3.0, 2.6, 2.8, 2.7]}
    )
    assert girgis_rdp.envelope(printed)["girgis"].tolist() == [0.5, 2.6, 2.6, 2.7, 2.7]


PAPERS_EPS0 = {"synthetic": [4.0], "san_francisco": [4.0, 6.0], "paris": [4.0, 6.0]}


def table_of_ratios():
    """Ratios of shuffling's error over the Gaussian's: the same six settings for each metric and comparison.

    The ratios for the most popular value are twice those for the TV error.
    """
    settings = pd.DataFrame(
        [
            ("synthetic", 4.0, 1.1, True, "1e-06"),  # the paper's
            ("synthetic", 6.0, 2.5, True, "1e-06"),  # not the paper's eps0
            ("paris", 4.0, 1.4, True, "1e-06"),  # the paper's
            ("paris", 6.0, 0.1, False, "1e-06"),  # not drawn: neither mechanism is useful
            ("mine", 4.0, 9.0, True, "1e-06"),  # not the paper's dataset
            ("synthetic", 4.0, 7.0, True, "n^-1.1"),  # not drawn: the second rule for delta
        ],
        columns=["dataset", "eps0", "ratio", "informative", "delta_rule"],
    ).assign(n=1000, bound="upper", limit=1.5)
    frames = []
    for metric, factor in (("tv", 1), ("most_popular", 2)):
        for comparison in ("unprojected", "projected"):
            ratio = factor * settings["ratio"]
            frames.append(settings.assign(metric=metric, comparison=comparison, ratio=ratio))
    return pd.concat(frames)


@pytest.fixture
def drawn_ratios():
    """The rows of `table_of_ratios` that the figure draws, with the column is_papers."""
    return parity_ratio.drawn_ratios(table_of_ratios(), PAPERS_EPS0)


def test_the_drawn_ratios_are_projected_ones_in_useful_settings(drawn_ratios):
    """Those of the TV error come first. Unprojected ones, of the same numbers, would be there again."""
    is_papers = drawn_ratios["is_papers"]
    assert drawn_ratios.loc[is_papers, "ratio"].tolist() == [1.1, 1.4, 2.2, 2.8]
    assert drawn_ratios.loc[~is_papers, "ratio"].tolist() == [2.5, 9.0, 5.0, 18.0]


def test_the_verdict_is_the_range_of_the_ratios_in_the_papers_settings(drawn_ratios):
    verdict = parity_ratio.range_in_words(drawn_ratios, PAPERS_EPS0)
    tv_error = "At equal privacy (δ = 10⁻⁶), shuffling has 1.10 to 1.40 times the Gaussian's"
    most_popular = "and 2.20 to 2.80 times its error for the most popular value, in settings like"
    assert verdict.startswith(tv_error)
    assert most_popular in verdict


def test_the_verdict_is_the_same_if_a_file_has_the_rules_for_delta_as_numbers(drawn_ratios):
    """As a file has them that lacks the rule n^-1.1."""
    verdict = parity_ratio.range_in_words(drawn_ratios, PAPERS_EPS0)
    numbers = drawn_ratios.assign(delta_rule=1e-6)
    assert parity_ratio.range_in_words(numbers, PAPERS_EPS0) == verdict


def test_without_a_dataset_of_the_papers_the_verdict_is_the_range_of_all_ratios(drawn_ratios):
    verdict = parity_ratio.range_in_words(drawn_ratios, {"paris": [4.0, 6.0]})
    assert "1.10 to 9.00 times" in verdict
    assert "paper" not in verdict
