"""The style and the plot forms: they draw the values that they get."""

import hashlib
import io
import math
import os
import subprocess
import sys

import matplotlib
import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from reproduction.figures import style
from tests import ROOT
from tests.reproduction.figures.examples import FIGURES

OKABE_ITO = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}

# Machado, Oliveira, Fernandes (2009), severity 1: what a dichromat sees, in linear RGB.
DICHROMATS = {
    "protan": "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998",
    "deutan": "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881",
    "tritan": "1.255528 -0.076749 -0.178779 -0.078411 0.930809 0.147602 0.004733 0.691367 0.303900",
    "common": "1 0 0 0 1 0 0 0 1",
}
DICHROMATS = {name: np.array(text.split(), float).reshape(3, 3) for name, text in DICHROMATS.items()}


def lab(colour, seen):
    """CIELAB coordinates (D65) of a colour after the change that a colour vision makes."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(seen @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def axes_of(figure=None, **kwargs):
    return (figure or style.new_figure(3)).add_subplot(**kwargs)


# Style ----------------------------------------------------------------------------------------


def test_the_style_is_the_same_for_everybody_and_leaves_no_trace():
    with style.applied():
        expected = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "yellow"}):
        before = dict(matplotlib.rcParams)
        with style.applied():
            assert dict(matplotlib.rcParams) == expected
        assert dict(matplotlib.rcParams) == before


def test_all_colours_are_okabe_and_itos():
    with style.applied():
        cycle = {to_hex(colour) for colour in matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]}
    assert cycle == OKABE_ITO
    assert {colour.lower() for colour in style.COLOURS.values()} <= OKABE_ITO


@pytest.mark.parametrize("vision", DICHROMATS)
def test_mechanisms_and_empty_cells_are_told_apart_with_every_colour_vision(vision):
    seen = [lab(colour, DICHROMATS[vision]) for colour in style.COLOURS.values()]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(distances) > 20  # 2.3 is just noticeable
    empty, negative = (lab(style.HEAT(value)[:3], DICHROMATS[vision]) for value in (np.nan, 2.0))
    scale = [lab(colour, DICHROMATS[vision]) for colour in style.HEAT(np.linspace(0, 1, 50))]
    assert min(np.linalg.norm(outside - colour) for outside in (empty, negative) for colour in scale) > 20
    assert np.linalg.norm(empty - negative) > 20
    lightness = [colour[0] for colour in scale]
    assert np.all(np.diff(lightness) < 0)  # more is darker, in print without colours too


# Bytes ----------------------------------------------------------------------------------------


def drawn_boxes():
    """A figure with boxes, a heatmap and points: every kind of artist that the figures use."""
    rng = np.random.default_rng(3)
    figure = style.new_figure(4)
    left, middle, right = figure.subplots(1, 3)
    style.boxplots(left, {name: {10: rng.random(9), 20: rng.random(9)} for name in style.COLOURS})
    grid = (np.arange(4.0), np.arange(3.0))
    image = style.heatmap(middle, grid, np.array([[0, 1, 2], [-1, 5, 9]]), style.count_norm(1, 9))
    style.count_bar(figure, image, middle, "count")
    style.points(right, rng.random(500), rng.random(500))
    return figure


def fingerprints():
    with style.applied():
        figures = drawn_boxes(), FIGURES["delta_surface"].draw()
    return [hashlib.sha256(save(figure)).hexdigest() for figure in figures for save in style.FORMATS.values()]


@pytest.mark.slow
def test_drawing_gives_the_same_bytes_in_any_process():
    code = "from tests.reproduction.figures import test_style as t; print(*t.fingerprints())"
    environment = os.environ | {"PYTHONHASHSEED": "77", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    other = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert other.stdout.split() == fingerprints()


def test_a_pdf_holds_its_fonts_and_no_date():
    figure = style.new_figure(1)
    figure.subplots()
    pdf = style.pdf(figure)
    assert b"CreationDate" not in pdf
    assert b"/FontFile2" in pdf  # TrueType inside: text stays text


# Plot forms -----------------------------------------------------------------------------------


def area(triangles, columns):
    """Total area of triangles on a grid with unit squares."""
    y, x = np.divmod(triangles, columns)
    a, b = (np.stack([x[:, i] - x[:, 0], y[:, i] - y[:, 0]]) for i in (1, 2))
    return np.abs(a[0] * b[1] - a[1] * b[0]).sum() / 2


def test_triangles_fill_exactly_the_drawn_half_with_a_straight_edge():
    eps, eps0 = np.meshgrid(np.arange(7), np.arange(7))
    drawn = eps0 > eps
    triangles = style._triangles(drawn)
    assert drawn.ravel()[triangles].all()
    assert area(triangles, 7) == 5 * 5 / 2  # the triangle (0, 1), (0, 6), (5, 6): no staircase
    assert area(style._triangles(np.ones((4, 6), bool)), 6) == 3 * 5
    for corner in range(4):
        square = np.ones(4, bool)
        square[corner] = False
        assert area(style._triangles(square.reshape(2, 2)), 2) == 0.5


def test_surface_leaves_out_minus_infinity_and_keeps_the_limits():
    eps = eps0 = np.array([1.0, 2.0, 3.0, 4.0])
    values = np.where(np.subtract.outer(eps0, eps) > 0, -5.0, -np.inf)
    with style.applied():
        axes = axes_of(projection="3d")
        drawing = style.surface(axes, eps, eps0, values, limits=(-80, 0))
    assert drawing.get_clim() == (-80, 0)
    assert np.allclose(drawing.get_array(), -5)
    assert np.allclose(axes.get_zlim(), (-80, 0))


def test_surface_without_three_neighbours_says_which_key_to_change():
    values = np.full((3, 3), -np.inf)
    values[2, 0] = -4
    with pytest.raises(ValueError, match="delta_surface"):
        style.surface(axes_of(projection="3d"), np.arange(3), np.arange(3), values, limits=(-10, 0))


def test_boxes_stand_at_their_n_and_show_the_median():
    rng = np.random.default_rng(5)
    values = {name: {1000: rng.random(10), 2000: rng.random(10)} for name in style.COLOURS}
    axes = axes_of()
    style.boxplots(axes, values)
    assert len(axes.patches) == 6
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1k", "2k"]
    levels = {line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1}
    assert {float(np.median(v)) for per_n in values.values() for v in per_n.values()} <= levels
    centres = sorted(patch.get_path().get_extents().x0 for patch in axes.patches)
    assert np.searchsorted(centres, 0.5) == 3  # three boxes left of the border between the two n


def test_many_n_keep_readable_labels():
    axes = axes_of()
    style.boxplots(axes, {"gaussian": {n: [0.1, 0.2] for n in range(1, 41)}})
    assert len(axes.get_xticks()) == 7
    assert len(axes.patches) == 40


def test_a_value_that_is_no_number_is_named():
    with pytest.raises(ValueError, match="gaussian: a value is not"):
        style.boxplots(axes_of(), {"gaussian": {5: [np.nan]}})


def test_distance_axis_is_logarithmic_unless_a_distance_is_zero():
    axes = axes_of()
    style.distance_axis(axes, 0.001, 0.5)
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] < 0.001 < 0.5 < axes.get_ylim()[1]
    axes = axes_of()
    style.distance_axis(axes, 0, 0)
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim() == (0, 1)


def test_heatmap_draws_positive_cells_and_marks_negative_ones():
    values = np.array([[0.0, 2.0, np.nan], [-1.0, 8.0, -0.5]])
    axes = axes_of()
    with style.applied():
        image = style.heatmap(axes, (np.arange(4.0), np.arange(3.0)), values, style.count_norm(1, 8))
    assert np.array_equal(np.ma.getmaskarray(image.get_array()), [[True, False, True], [True, False, True]])
    [marks] = axes.collections
    assert {tuple(mark) for mark in marks.get_offsets().tolist()} == {(0.5, 1.5), (2.5, 1.5)}
    assert to_hex(axes.get_facecolor()) == style.EMPTY


def pixels_of(grid, values, norm, inches=2):
    """A heatmap that fills a whole figure, as pixels (height, width, 3), the first row in the south."""
    figure = style.new_figure(inches, width=inches, layout=None)
    with style.applied():
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        style.heatmap(axes, grid, values, norm)
        png = style.png(figure)
    return matplotlib.image.imread(io.BytesIO(png))[::-1, :, :3]


EVEN, UNEVEN = np.linspace(0, 1, 12), np.linspace(0.2, 1, 12) ** 2


@pytest.mark.parametrize("x", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("y", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_a_cell_has_one_colour_up_to_its_edges(x, y):
    values = np.random.default_rng(8).integers(0, 4, (11, 11)) ** 3.0
    values[3, 4] = np.nan
    norm = style.count_norm(1, 27)
    pixels = pixels_of((x, y), values, norm)
    expected = np.where((values > 0)[..., None], style.HEAT(norm(values))[..., :3], to_rgb(style.EMPTY))
    columns, rows = ((edges - edges[0]) / np.ptp(edges) * len(pixels) for edges in (x, y))
    for row, column in np.ndindex(values.shape):
        inner = (
            slice(math.ceil(edges[i]) + 1, math.floor(edges[i + 1]) - 1)
            for edges, i in ((rows, row), (columns, column))
        )
        cell = pixels[tuple(inner)]
        assert cell.size
        assert np.abs(cell - expected[row, column]).max() < 2 / 255


def test_cells_smaller_than_a_pixel_are_mixed_and_none_is_lost():
    size = 400
    values = np.zeros((size, size))
    values[40, 280], values[240:, :200] = 9, -1
    pixels = pixels_of((np.arange(size + 1.0),) * 2, values, style.count_norm(1, 9), inches=1)
    assert pixels.shape[0] == pixels.shape[1] < size / 3
    coloured = np.abs(pixels - to_rgb(style.EMPTY)).max(axis=-1) > 0.01
    height, width = coloured.shape
    assert coloured[: height // 5, width // 2 :].any()
    assert not coloured[height // 5 : height // 2].any()
    negative = pixels[int(0.7 * height) :, : int(0.4 * width)]
    assert np.abs(negative - to_rgb(style.COLOURS["gaussian"])).max() < 2 / 255


@pytest.mark.parametrize("high", [0, 1, 9984])
def test_the_colour_scale_always_exists(high):
    norm = style.count_norm(1, high)
    assert norm(norm.vmin) == 0
    assert norm(norm.vmax) == 1
    assert norm.vmax >= max(high, 10)


def test_map_has_true_proportions():
    box = (-122.5153, -122.3789, 37.7228, 37.7946)
    axes = axes_of()
    style.map_axes(axes, box)
    # a degree of longitude is cos(latitude) of a degree of latitude; the paper's box is about 12 km x 8 km
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.radians(37.7587)))
    assert style.proportion(box) == pytest.approx(8 / 12, rel=0.01)
    assert axes.get_xlim() == box[:2]
    assert axes.get_ylim() == box[2:]
