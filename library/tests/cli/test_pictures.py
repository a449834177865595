"""`compare --plot` and `design --plot`: what is drawn, that all of it can be read, and the files."""

import errno
import itertools
import math
import os
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.text import Text

import tightshuffle
from tests.cli.calls import json_answer, refusal, text_answer
from tightshuffle.cli import commands, pictures
from tightshuffle.cli.layout import setting_in_words
from tightshuffle.methods import METHODS
from tightshuffle.planning.designs import Design

COMPARE = "compare --n 200 --k 8 --eps0 1"
OF_OUE = f"{COMPARE} --randomizer oue"  # four bounds
DESIGN = "design --n 1000 --k 8 --eps 1 --delta 1e-3"


@pytest.fixture
def drawn(monkeypatch):
    """A list that gets every figure that a command draws. To save time, all has few points."""
    figures = []

    def keep(figure, kind):
        figures.append(figure)
        return kind.encode()

    monkeypatch.setattr(pictures, "encoded", keep)
    monkeypatch.setattr(commands, "_POINTS_OF_PICTURE", 17)
    monkeypatch.setattr(commands, "_POINTS_OF_JSON", 5)
    return figures


def curves_of(figure):
    """{name of a bound: (eps, log10 delta)} of a comparison's figure, by the colours of its legend."""
    [axes], [legend] = figure.axes, figure.legends
    names = {
        look(handle): text.get_text()
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
    }
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
    return {names[look(line)]: line.get_data() for line in lines if look(line) in names}


def look(line):
    return line.get_color(), line.get_linestyle(), line.get_linewidth()


def test_a_comparison_has_every_bound_and_the_bracket(tmp_path, drawn):
    """The eps are those from 0 to where `upper` is 1e-12, and delta is that of `tightshuffle.delta`."""
    path = tmp_path / "bounds.PNG"
    answer = json_answer(f"{COMPARE} --plot {path}")
    assert answer.pop("plot") == str(path)
    assert answer == json_answer(COMPARE)
    assert path.read_text() == "png"

    curves = curves_of(drawn[0])
    applies = {name for name, of in answer["methods"].items() if set(of["log10_delta"]) != {None}}
    assert curves.keys() == applies
    for name in ("lower", "upper", "stronger-clones"):
        eps, log10_delta = curves[name]
        assert (eps[0], eps[-1]) == (0, answer["eps"][-1])
        # The last points, below the axis, are cut to its end.
        expected = tightshuffle.delta(eps, n=200, k=8, eps0=1.0, method=name, log10=True)
        bottom = drawn[0].axes[0].get_ylim()[0]
        np.testing.assert_allclose(log10_delta, np.maximum(expected, bottom - 1), rtol=1e-12)

    [band] = drawn[0].axes[0].collections
    [outline] = [band_path.vertices for band_path in band.get_paths()]
    for name in ("lower", "upper"):
        eps, log10_delta = curves[name]
        points = {(x, max(y, bottom)) for x, y in zip(eps, log10_delta, strict=True)}
        assert points <= {tuple(vertex) for vertex in outline.tolist()}


@pytest.mark.parametrize(
    ("asked", "ends", "marked"),
    [
        pytest.param("--eps 0.2", (0, 0.4), [0.2], id="one: in the middle"),
        pytest.param("--eps 0.8", (0, 1), [0.8], id="one: up to eps0"),
        pytest.param("--eps 3", (0, 3), [3], id="one above eps0"),
        pytest.param("--eps 0.1:0.5:3", (0.1, 0.5), [], id="several: the ends"),
    ],
)
def test_the_axis_of_eps_is_around_the_eps_that_are_asked_for(tmp_path, drawn, asked, ends, marked):
    text_answer(f"{OF_OUE} {asked} --plot {tmp_path}/a.svg")
    [axes] = drawn[0].axes
    assert axes.get_xlim() == ends
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("eps", "delta")
    found = [line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert found == marked


def test_the_axis_of_eps_0_ends_where_upper_is_small(tmp_path, drawn):
    text_answer(f"{OF_OUE} --eps 0 --plot {tmp_path}/a.svg")
    assert drawn[0].axes[0].get_xlim() == (0, json_answer(OF_OUE)["eps"][-1])


def test_a_curve_falls_below_the_axis_where_delta_is_0(tmp_path, drawn):
    text_answer(f"{OF_OUE} --eps 0.5:1.5:3 --plot {tmp_path}/a.svg")
    eps, log10_delta = curves_of(drawn[0])["upper"]
    bottom = drawn[0].axes[0].get_ylim()[0]
    assert np.all((log10_delta < bottom) == (eps >= 1))


def test_a_legend_goes_downwards_as_the_curves_do_and_ends_with_what_does_not_apply():
    eps = np.linspace(0, 1, 3)
    curves = {
        "lower": np.array([-1.0, -2.0, -9.0]),
        "upper": np.array([-1.0, -2.0, -8.0]),
        "nothing": np.full(3, np.nan),
        "loose": np.array([0.0, -0.5, -1.0]),
    }
    figure = pictures.draw_bounds(eps, curves, title="a title")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["loose", "upper", "lower", "nothing: not here"]
    assert figure.axes[0].get_ylim() == (-9, 0)  # the least upper, less 1 % of it


def test_designs_have_their_errors_and_bits(tmp_path, drawn):
    path = tmp_path / "designs.pdf"
    answer = json_answer(f"{DESIGN} --plot {path}")
    assert answer["plot"] == str(path)
    assert path.read_text() == "pdf"
    designs = answer["designs"]
    [axes] = drawn[0].axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [design["name"] for design in designs]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first one is at the top
    marks = {
        (line.get_markersize(), place): x
        for line in axes.get_lines()
        for x, place in [(line.get_xdata()[0], line.get_ydata()[0])]
        if line.get_marker() == "o"
    }
    for place, design in enumerate(designs):
        assert marks[6, place] == design["popular_error"]
        assert marks[3, place] == design["rare_error"]
    bits = [text.get_text() for text in axes.texts[1:]]
    assert [float(text.replace(",", "")) for text in bits] == pytest.approx(
        [design["bits_per_user"] for design in designs], rel=5e-3
    )
    assert "10 % of the users" in drawn[0].legends[0].get_texts()[0].get_text()


def design_called(name, **changes):
    fields = dict.fromkeys(
        ("error", "rare_error", "popular_error", "messages_per_user", "bits_per_user"), 1.0
    )
    fields |= {"eps_if_it_fails": 1.0, "trust": "nobody", "parameters": "", **changes}
    return Design(name, **fields)


def test_an_error_that_is_no_number_above_0_is_written():
    designs = [design_called("useless", popular_error=math.inf), design_called("k-RR")]
    figure = pictures.draw_designs(designs, title="", share=0.1)
    texts = [text.get_text().strip() for text in figure.axes[0].texts]
    assert "popular inf, rare 1" in texts
    assert len([line for line in figure.axes[0].get_lines() if line.get_marker() == "o"]) == 2


def assert_can_be_read(figure):
    """All texts are within the figure, and no two of them overlap."""
    figure.draw_without_rendering()
    boxes = {}
    for text in figure.findobj(Text):
        words = text.get_text().strip()
        if words and text.get_visible():
            boxes[words, id(text)] = text.get_window_extent()
    # The first and last number of an axis that has more than it shows are outside of the panel, not drawn.
    panel = figure.axes[0].get_window_extent().padded(2)
    ticks = [*figure.axes[0].get_xticklabels(), *figure.axes[0].get_yticklabels()]
    for tick in ticks:
        x, y = tick.get_window_extent().get_points().mean(axis=0)
        inside = panel.x0 <= x <= panel.x1 or panel.y0 <= y <= panel.y1
        if not inside:
            boxes.pop((tick.get_text().strip(), id(tick)), None)
    for words, box in boxes.items():
        assert box.x0 >= 0, words
        assert box.y0 >= 0, words
        assert box.x1 <= figure.bbox.x1, words
        assert box.y1 <= figure.bbox.y1, words
    for (words, box), (other_words, other) in itertools.combinations(boxes.items(), 2):
        assert not box.padded(-0.5).overlaps(other.padded(-0.5)), (words, other_words)


# Names of bounds that are drawn, as many as a comparison of k-RR has.
NAMES = [
    "lower",
    "upper",
    *(name for name in METHODS if name not in ("lower", "upper", "count-exact")),
]


def curves_down_to(log10_delta):
    """Made-up curves, one per bound: "upper" falls to 10^``log10_delta``, and all others lie above."""
    shares = np.linspace(0, 1, 30)
    curves = {
        name: log10_delta * shares**2 / (1 + place / 3) for place, name in enumerate(NAMES[1:])
    }
    return {"lower": 1.3 * curves["upper"], **curves, "erlingsson": np.full(30, np.nan)}


@pytest.mark.parametrize(
    ("last_eps", "log10_delta", "setting"),
    [
        (0.07, -12.0, {"n": 100_000, "k": 408, "eps0": 4.0}),
        (1.6e-10, -12.0, {"n": 10, "k": 2, "eps0": 1e-8}),
        (4.0, -0.3, {"n": 5, "k": 2, "eps0": 2.0}),
        (0.24, -300.0, {"n": 10**7, "eps0": 1.0, "randomizer": "file"}),
        (49.9, -1_300_000.0, {"n": 10**12, "k": 2, "eps0": 50.0, "randomizer": "subset:1"}),
        (
            0.00089,
            -12.0,
            {
                "n": 10**9,
                "k": 10**7,
                "eps0": 2.42193,
                "randomizer": "unary:0.123456789012345:0.0123456789012345",
                "colluding": 330_000_000,
                "participation": 0.12345678,
            },
        ),
    ],
)
def test_every_text_of_a_comparison_can_be_read(last_eps, log10_delta, setting):
    curves = curves_down_to(log10_delta)
    eps = np.linspace(0, last_eps, 30)
    title = f"delta over eps by every bound: {setting_in_words(setting)}"
    assert_can_be_read(pictures.draw_bounds(eps, curves, title=title, asked=[last_eps / 2]))


@pytest.mark.parametrize(
    ("rare", "popular", "bits"),
    [(1.9, 80.0, 123_456.7), (5.1, 5.2, 1e12), (3e-7, 2e9, 8.0), (0.1, 1.1, 9_999_999.0)],
)
def test_every_text_of_designs_can_be_read(rare, popular, bits):
    designs = [
        design_called("Poisson dummies, from devices", rare_error=rare, popular_error=popular),
        design_called("k-RR", rare_error=popular, popular_error=popular, bits_per_user=bits),
    ]
    assert_can_be_read(pictures.draw_designs(designs, title="(eps = 1)", share=0))


def test_many_designs_with_long_names_can_be_read():
    designs = [
        design_called(
            f"a design with the number {number} and a long name", bits_per_user=10.0**number
        )
        for number in range(25)
    ]
    title = " ".join(["a long title"] * 20)
    assert_can_be_read(pictures.draw_designs(designs, title=title, share=1 / 3))


FEW = {"lower": np.array([-2.0, -4.0]), "upper": np.array([-1.0, -3.0])}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: pictures.draw_bounds(np.array([0.0, 1.0]), FEW, title="a title"),
        lambda: pictures.draw_designs([design_called("k-RR")], title="a title", share=0.1),
    ],
    ids=["bounds", "designs"],
)
def test_equal_pictures_have_equal_bytes(draw):
    """Whatever settings of matplotlib the user has."""
    other_settings = {"axes.facecolor": "red", "font.size": 20, "svg.hashsalt": "other"}
    figure = draw()
    with mpl.rc_context(other_settings):
        other_figure = draw()
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        first = pictures.encoded(figure, kind)
        with mpl.rc_context(other_settings):
            second = pictures.encoded(other_figure, kind)
        assert first == second
        assert first.startswith(start)
        assert not re.search(rb"CreationDate|dc:date|Matplotlib v|Software", first)


@pytest.mark.parametrize(
    "line", ["compare --n 0 --k 8 --eps0 1", "design --n 0 --k 8 --eps 1 --delta 1e-6"]
)
def test_a_file_is_refused_before_anything_is_computed(tmp_path, line):
    """n = 0 would be refused, too, where it is computed."""
    ending = "--plot must be a file that ends in one of .png, .svg, .pdf; got 'a.gif'"
    assert refusal(f"{line} --plot a.gif") == ending
    assert refusal(f"{line} --plot png") == ending.replace("a.gif", "png")
    missing = tmp_path / "none/a.png"
    assert refusal(f"{line} --plot {missing}") == f"{missing}: its folder does not exist"
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert refusal(f"{line} --plot {folder}") == f"{folder}: this is a folder"
    assert refusal(f"{line} --plot {tmp_path}/a.png").startswith("n must be")
    assert os.listdir(tmp_path) == ["folder.png"]


@pytest.mark.usefixtures("drawn")
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "a.svg"
    path.write_text("old")

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", fail)
    assert refusal(f"{OF_OUE} --plot {path}") == f"{path}: No space left on device"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.svg"]
