"""The figures' one style, and the forms that several of them draw.

Colours are those of Okabe and Ito, or the perceptually even viridis.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import matplotlib
import matplotlib.style
import numpy as np
from cycler import cycler
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.shared import font
from tightshuffle.arguments import Floats

# Okabe and Ito's colours, told apart with every common colour vision.
CYCLE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000"]
# Sizes for print at 7 inches, nothing that needs a display or a date.
RC: dict[str, Any] = {
    "font.family": font.FAMILY,
    "font.size": 8,
    "figure.titlesize": 9,
    "figure.labelsize": 8,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "axes.titlesize": 8,
    "axes.titlepad": 4,
    "axes.labelsize": 8,
    "axes.labelpad": 3,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": cycler(color=CYCLE),
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.0,
    "patch.linewidth": 0.6,
    "boxplot.boxprops.linewidth": 0.6,
    "boxplot.whiskerprops.linewidth": 0.6,
    "boxplot.capprops.linewidth": 0.6,
    "boxplot.medianprops.linewidth": 0.9,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "figure.dpi": 220,
    "pdf.fonttype": 42,
    "svg.hashsalt": "tightshuffle",  # names inside depend on the drawing alone
}
WIDTH = 7.0  # inches, the text width of a printed page
COLOURS = {"shuffle": "#56B4E9", "shuffle+INV": "#0072B2", "gaussian": "#D55E00"}
LABELS = {"shuffle": "shuffle", "shuffle+INV": "shuffle+INV", "gaussian": "Gaussian"}
# Of delta of one count, as published and the true one, and of delta of all counts.
PUBLISHED, TRUE, ALL_COUNTS = "#D55E00", "#0072B2", "#009E73"
POWERS = FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$" if value else "1")  # of log10 delta
INK = "#222222"


@contextmanager
def applied() -> Iterator[None]:
    """The style as a context manager or decorator; rcParams are as before when it ends."""
    with matplotlib.style.context(["default", RC]):
        yield


def new_figure(
    height: float,
    *,
    width: float = WIDTH,
    layout: Literal["constrained", "compressed"] = "constrained",
) -> Figure:
    """An empty figure, ``width`` x ``height`` inches, that needs no display and no pyplot state."""
    return Figure(figsize=(width, height), layout=layout)


def line(label: str, **look: Any) -> Line2D:
    """An entry of a legend: a line, or a mark where ``look`` has no line."""
    return Line2D([], [], label=label, **look)


def below(figure: Figure, handles: Sequence[Artist], columns: int | None = None) -> None:
    """Write a legend below all panels of a figure, in one row, or in a number of ``columns``."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns or len(handles))


def log_ticks(axis: Axis, subs: Sequence[float] = (1, 3)) -> None:
    """Number a logarithmic axis at ``subs`` of every decade; with matplotlib's own, labels would overlap."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the names of lines at the right edge of a panel, each beside the end of its line.

    Each of ``ends`` is (y, name, colour): y of the line at this edge, in the unit of the y axis, and the name
    and the colour of the line. Names that would overlap are moved apart, as little as possible. Colours are
    darkened, since small letters need more contrast. Call this when the y axis has its limits.
    """
    # All heights are shares of the panel's height: 0 at its bottom, 1 at its top.
    panels_above_each_other = axes.get_subplotspec().get_gridspec().nrows  # type: ignore[union-attr]
    figure: Any = axes.figure
    inches = 0.7 * figure.get_figheight() / panels_above_each_other  # the panel's height, about
    # Of a line of text: letters of 7 points, 72 of which are an inch, and a quarter of this between lines.
    line_height = 1.25 * 7 / 72 / inches
    to_share = axes.transScale + axes.transLimits  # for any axis, also one that points downwards

    def height_of(end: tuple[float, str, str]) -> float:
        return float(to_share.transform((axes.get_xlim()[1], end[0]))[1])

    # Going up, each name must be above the one below it by at least the height of its own lines of text.
    # shift is the height of a name if every gap is just so large, from 0 for the lowest. So names do not
    # overlap if heights - shift never falls. The closest heights with this property are taken.
    from_below = sorted(ends, key=height_of)
    lines = [0]
    for _, text, _ in from_below[1:]:
        lines.append(1 + text.count("\n"))
    shift = line_height * np.cumsum(lines)
    wanted = np.array([height_of(end) for end in from_below])
    heights = _closest_that_never_fall(wanted - shift) + shift
    heights -= max(0, heights[-1] - 1)  # no name above the panel

    for height, (_, text, colour) in zip(heights, from_below, strict=True):
        look: Any = {"color": tint(colour, 0.7, to="black"), "fontsize": 7, "va": "center"}
        axes.text(1.015, height, text, transform=axes.transAxes, **look)


def _closest_that_never_fall(values: Floats) -> Floats:
    """The numbers (n,) that never fall and have the smallest sum of squared distances from ``values`` (n,).

    By the max-min formula of isotonic regression (Robertson, Wright, Dykstra 1988, section 1.4): number i is
    the largest over s <= i of the smallest over e >= i of the mean of ``values`` from s to e. scipy computes
    the same, but takes a third of a second to import.
    """
    count = len(values)
    rising = []
    for place in range(count):
        smallest_means = []
        for start in range(place + 1):
            means = [values[start : end + 1].mean() for end in range(place, count)]
            smallest_means.append(min(means))
        rising.append(max(smallest_means))
    return np.array(rising)


def tint(colour: str, share: float = 0.4, *, to: str = "white") -> tuple[float, float, float]:
    """A mixture of two colours as (red, green, blue), each from 0 to 1: ``share`` of ``colour``, rest ``to``.

    Faces that are lighter than their edges keep flat boxes readable.
    """
    pairs = zip(to_rgb(colour), to_rgb(to), strict=True)
    red, green, blue = (share * channel + (1 - share) * other for channel, other in pairs)
    return red, green, blue
