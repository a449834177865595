"""The figures' one style, the forms that several draw, and their files: equal figures, equal bytes.

Colours are those of Okabe and Ito, or the perceptually even viridis.
"""

import io
import math
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
from matplotlib.colors import ListedColormap, LogNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from scripts.shared.histograms import Edges
from scripts.shared.job import write_bytes
from tightshuffle.arguments import Floats

Box = tuple[float, float, float, float]  # west, east, south, north, in degrees
# Sizes for print at 7 inches, nothing that needs a display or a date.
RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
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
    # Okabe and Ito's colours, told apart with every common colour vision
    "axes.prop_cycle": cycler(
        color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000"]
    ),
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.5,
    **{f"{axis}tick.labelsize": 7 for axis in "xy"},
    **{f"{axis}tick.major.{name}": value for axis in "xy" for name, value in (("width", 0.6), ("size", 3))},
    **{f"{axis}tick.minor.{name}": value for axis in "xy" for name, value in (("width", 0.4), ("size", 1.5))},
    "lines.linewidth": 1.0,
    "patch.linewidth": 0.6,
    **{f"boxplot.{part}props.linewidth": 0.6 for part in ("box", "whisker", "cap")},
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
# Empty cells: outside of the colour map, so that they cannot look like cells with few users.
EMPTY = "#e4e4e4"
# Many = dark; without viridis' lightest yellow, which is a light grey for people who see no blue. "Over" is
# for negative cells: no count is above the scale's upper end.
HEAT = ListedColormap(matplotlib.colormaps["viridis_r"](np.linspace(0.15, 1, 256)), "heat").with_extremes(
    bad=EMPTY, over=COLOURS["gaussian"]
)
PUBLISHED, TRUE, ALL_COUNTS = "#D55E00", "#0072B2", "#009E73"  # delta of one count, and of all counts
POWERS = FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$" if value else "1")  # of log10 delta
SIGNS_FIT = 100  # rows or columns at most: with more of them, a cell has no room for a minus sign
INK = "#222222"
NO_DATE = {"png": {"Software": None}, "pdf": {"CreationDate": None}, "svg": {"Date": None, "Creator": None}}


@contextmanager
def applied() -> Iterator[None]:
    """The style as a context manager or decorator; rcParams are as before when it ends."""
    with matplotlib.style.context(["default", RC]):
        yield


def new_figure(
    height: float, *, width: float = WIDTH, layout: Literal["constrained", "compressed"] = "constrained"
) -> Figure:
    """An empty figure, ``width`` x ``height`` inches, that needs no display and no pyplot state."""
    return Figure(figsize=(width, height), layout=layout)


def encoded(figure: Figure, kind: str) -> bytes:
    """The figure as a png, pdf or svg file, without a date."""
    buffer = io.BytesIO()
    with applied():
        _settle(figure)
        figure.savefig(buffer, format=kind, metadata=NO_DATE[kind])
    return buffer.getvalue()


def write_figure(figure: Figure, caption: str, files: Any) -> None:
    """Write a figure and its caption; ``files``: the outputs png, pdf, svg and txt of a rule."""
    for kind in ("png", "pdf", "svg"):
        write_bytes(encoded(figure, kind), files[kind])
    write_bytes(f"{caption}\n".encode(), files.txt)


def _settle(figure: Figure) -> None:
    """Lay the figure out and keep that: maps of fixed proportion need several rounds until all fits.

    The last digits of the places depend on addresses in memory, so they are cut: equal figures, equal bytes.
    """
    if engine := figure.get_layout_engine():
        before: Any = np.inf
        for _ in range(8):
            engine.execute(figure)
            places = np.array([axes.get_position(original=True).bounds for axes in figure.axes])
            if np.allclose(places, before, rtol=0, atol=1e-4):
                break
            before = places
        for axes, place in zip(figure.axes, places.round(9), strict=True):
            axes.set_position(tuple(place), which="original")
    figure.set_layout_engine(None)  # "none" would let savefig draw everything twice


def line(label: str, **look: Any) -> Line2D:
    """An entry of a legend: a line, or a mark where ``look`` has no line."""
    return Line2D([], [], label=label, **look)


def below(figure: Figure, handles: Sequence[Artist], columns: int | None = None) -> None:
    """A legend below all panels, in one row or in ``columns``."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns or len(handles))


def log_ticks(axis: Axis, subs: Sequence[float] = (1, 3)) -> None:
    """Number a logarithmic axis at ``subs`` of every decade; with matplotlib's own, labels would overlap."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Name what ends at the right edge, beside it: (y, text, colour); names are moved apart where they meet.

    Call it when the y axis has its limits. The colours are darkened: small letters need more contrast.
    """
    height = axes.get_subplotspec().get_gridspec().nrows  # type: ignore[union-attr]
    figure: Any = axes.figure
    gap = 1.25 * 7 / 72 / (0.7 * figure.get_figheight() / height)
    to_axes = axes.transScale + axes.transLimits  # an axis may point downwards

    def place(end: tuple[float, str, str]) -> float:
        return float(to_axes.transform((axes.get_xlim()[1], end[0]))[1])

    ends = sorted(ends, key=place)
    shift = gap * np.cumsum([0, *(1 + text.count("\n") for _, text, _ in ends[1:])])
    placed = _rising(np.array([place(end) for end in ends]) - shift) + shift
    placed -= max(0, placed[-1] - 1)
    for y, (_, text, colour) in zip(placed, ends, strict=True):
        look: Any = {"color": tint(colour, 0.7, to="black"), "fontsize": 7, "va": "center"}
        axes.text(1.015, y, text, transform=axes.transAxes, **look)


def _rising(values: Floats) -> Floats:
    """The rising values with the least squares from ``values`` (n,): Robertson, Wright, Dykstra 1988, 1.4."""
    # scipy's isotonic regression is the same and takes a third of a second to import
    every = range(len(values))
    means = [[values[i : k + 1].mean() for k in every[i:]] for i in every]
    return np.array([max(min(means[i][j - i :]) for i in every[: j + 1]) for j in every])


def tint(colour: str, share: float = 0.4, *, to: str = "white") -> tuple[float, float, float]:
    """The colour mixed with white: faces lighter than their edges keep flat boxes readable."""
    pairs = zip(to_rgb(colour), to_rgb(to), strict=True)
    red, green, blue = (share * channel + (1 - share) * other for channel, other in pairs)
    return red, green, blue


def count_norm(low: float, high: float) -> LogNorm:
    """The logarithmic colour scale from ``low`` to ``high``: at least one decade, so it always exists."""
    return LogNorm(low, max(high, 10 * low))


def signs_fit(shape: tuple[int, ...]) -> bool:
    """Whether the cells of a heatmap with ``shape`` (rows, columns) have room for a minus sign."""
    return max(shape) <= SIGNS_FIT


def heatmap(axes: Axes, grid: Edges, values: Floats, norm: Any) -> Any:
    """Draw one value per cell as one image; 0 is empty (grey), below 0 is empty with a minus sign.

    ``grid`` is (x edges (c+1,), y edges (r+1,)), ``values`` (r, c) with row 0 in the south; NaN is no cell.
    Values between 0 and the norm's lower end take its lowest colour. Where cells are too small for signs,
    negative ones take the Gaussian's colour. Returns the image, for a colour bar.
    """
    x, y = grid
    axes.set_facecolor(EMPTY)
    negative, shown = values < 0, np.ma.masked_where(~(values > 0), values)
    fine = not signs_fit(values.shape)
    if fine:
        shown[negative] = 10 * norm.vmax
    drawn = axes.pcolorfast(x, y, shown, norm=norm, cmap=HEAT)
    if fine:  # on an even grid a pixel takes the mean colour of its cells: none is lost
        drawn.set(interpolation="auto", interpolation_stage="rgba", resample=True)
    row, column = np.nonzero(negative & (not fine))
    whole: Any = axes.figure
    width = axes.get_position().width * whole.get_figwidth() * 72 / max(values.shape[1], 1)
    place = (x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2
    axes.scatter(*place, marker="_", s=(0.5 * width) ** 2, color=COLOURS["gaussian"], linewidth=0.7)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))  # the marks moved them
    return drawn


def empty() -> Patch:
    return Patch(facecolor=EMPTY, edgecolor="#b0b0b0", linewidth=0.5, label="empty cell")


def map_axes(
    axes: Axes,
    box: Box | None,
    *,
    names: tuple[bool, bool],
    numbers: tuple[bool, bool] = (True, True),
    bins: int = 4,
) -> None:
    """Longitude and latitude on the axes, with true aspect; rows and columns without ``box``.

    ``names`` and ``numbers``: whether the (horizontal, vertical) axis is named, numbered in ``bins``.
    """
    if box:
        axes.set(xlim=box[:2], ylim=box[2:])
    axes.set_aspect(true_aspect(box) if box else "equal")
    labels = ("longitude (°)", "latitude (°)") if box else ("column", "row")
    axes.set(xlabel=labels[0] * names[0], ylabel=labels[1] * names[1])
    axes.tick_params(labelbottom=numbers[0], labelleft=numbers[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(bins, steps=[1, 2, 4, 5, 10], integer=not box))
        axis.set_major_formatter("{x:.2f}" if box else "{x:.0f}")


def proportion(box: Box) -> float:
    """Height over width, on the ground, of a box (west, east, south, north) in degrees."""
    west, east, south, north = box
    return (north - south) / (east - west) * true_aspect(box)


def true_aspect(box: Box) -> float:
    """Length of a degree of latitude over one of longitude in the middle of (west, east, south, north)."""
    return 1 / math.cos(math.radians((box[2] + box[3]) / 2))
