"""All figures: nothing clipped, nothing too small, no text over another."""

import io

import matplotlib.image
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from reproduction.figures import style
from tests.reproduction.figures.examples import FIGURES


def cases():
    """Every figure once, and its variants (with a comma in their name) for make check."""
    return [pytest.param(name, marks=[pytest.mark.slow] * ("," in name)) for name in FIGURES]


@pytest.fixture(scope="module", params=cases())
def figure(request):
    drawing = FIGURES[request.param].draw()
    drawing.png = style.png(drawing)
    return drawing


def texts(figure):
    """Texts that are seen, with their boxes in pixels."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    for axes in figure.axes:  # tick labels outside of an axis' limits are not drawn
        for axis in (axes.xaxis, axes.yaxis):
            drawn = {tick.label1 for tick in axis._update_ticks()}
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            hidden = {label for tick in ticks for label in (tick.label1, tick.label2)} - drawn
            shown = [text for text in shown if text not in hidden]
    return [(text, text.get_window_extent(renderer)) for text in shown]


def test_nothing_is_clipped_and_every_text_is_large_enough(figure):
    image = matplotlib.image.imread(io.BytesIO(figure.png))[..., :3]
    border = [image[0], image[-1], image[:, 0], image[:, -1]]
    assert all((side == 1).all() for side in border)  # nothing touches the edge
    sizes = {text.get_text(): text.get_fontsize() for text, _ in texts(figure)}
    assert len(sizes) > 8
    assert min(sizes.values()) >= 7, sizes


def test_no_two_texts_overlap_and_all_are_inside(figure):
    if hasattr(figure.axes[0], "zaxis"):
        pytest.skip("3-D axes place their labels while they are drawn")
    seen = texts(figure)
    clashes = [
        (a.get_text(), b.get_text()) for i, (a, x) in enumerate(seen) for b, y in seen[:i] if x.overlaps(y)
    ]
    assert clashes == []
    page = figure.bbox
    outside = [
        text.get_text()
        for text, box in seen
        if box.x0 < 0 or box.y0 < 0 or box.x1 > page.width or box.y1 > page.height
    ]
    assert outside == []
