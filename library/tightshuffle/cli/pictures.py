"""The pictures of `tightshuffle compare --plot` and `tightshuffle design --plot`.

Whoever imports this module imports matplotlib. Equal pictures have equal bytes.
"""

import io
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from tightshuffle.arguments import Floats
from tightshuffle.planning.designs import Design

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "figure.titlesize": 8.5,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 0.9,
    "figure.dpi": 160,
    "svg.hashsalt": "tightshuffle",  # names inside depend on the drawing alone
    "pdf.fonttype": 42,
}
# What a file is not to say of itself: when it was made, and by which version.
_NO_DATE: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}
_WIDTH = 7.2  # inches
_TITLE_COLUMNS = 88  # letters of a title's line
# Okabe and Ito's colours, told apart with every common colour vision; the first is that of the bracket.
_BRACKET = "#0072B2"
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))
_POPULAR, _RARE, _CURATOR = "#0072B2", "#E69F00", "#777777"
_DESIGN_HEIGHT = 0.25  # inches of a line


def draw_bounds(
    eps: Floats, curves: Mapping[str, Floats], *, title: str, asked: Sequence[float] = ()
) -> Figure:
    """log10 of delta over eps by every bound; the bracket between "lower" and "upper" is shaded.

    ``curves`` are log10 delta by the bound's name, each (points,) as ``eps``, with -inf where delta is 0 and
    nan where a bound does not apply. The axis of delta reaches down to the smallest "upper". ``asked`` are
    eps to be marked.
    """
    with _style():
        figure, axes = _panel(4.2, title)
        bottom = _lowest_power(curves)
        upper, lower = curves["upper"], curves["lower"]
        axes.fill_between(
            eps,
            np.maximum(lower, bottom),
            np.maximum(upper, bottom),
            where=~np.isnan(upper),
            color=_BRACKET,
            alpha=0.18,
            linewidth=0,
        )
        handles = []
        for name, look in _looks(curves).items():
            # Where delta is 0, the curve falls below the axis.
            axes.plot(eps, np.maximum(curves[name], bottom - 1), **look)
            if np.isfinite(curves[name]).any():
                handles.append(Line2D([], [], label=name, **look))
            else:
                handles.append(Line2D([], [], label=f"{name}: not here", linestyle="none"))
        for value in asked:
            axes.axvline(value, color="#222222", linewidth=0.8, linestyle=_DASHES[2])

        axes.set(xlim=(eps[0], eps[-1]), ylim=(bottom, 0.0), xlabel="eps", ylabel="delta")
        axes.xaxis.set_major_locator(MaxNLocator(7))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_major_locator(MaxNLocator(9, integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(_power_of_10))
        axes.grid(visible=True)
        figure.legend(handles=handles, loc="outside right upper")
        _fix_layout(figure)
    return figure


def draw_designs(designs: Sequence[Design], *, title: str, share: float) -> Figure:
    """The errors of a popular and of a rare value by every design, a line each, with its bits beside.

    A ``share`` of the users hold the popular value. The axis of errors is logarithmic.
    """
    with _style():
        figure, axes = _panel(1.4 + _DESIGN_HEIGHT * len(designs), title)
        beside: dict[str, Any] = {
            "va": "center",
            "ha": "right",
            "transform": axes.get_yaxis_transform(),
        }
        axes.text(1.13, -1, "bits", **beside)
        for place, design in enumerate(designs):
            _draw_errors(axes, place, design)
            axes.text(1.13, place, _short_number(design.bits_per_user), **beside)

        axes.set_yticks(range(len(designs)), [design.name for design in designs])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(designs) - 0.4, -0.6)  # downwards: the most accurate is at the top
        _set_axis_of_errors(axes, designs)
        axes.grid(visible=True, axis="x")

        held = f"{100 * share:.3g} % of the users"
        mark: dict[str, Any] = {"linestyle": "none", "marker": "o"}
        handles = [
            Line2D([], [], color=_POPULAR, label=f"of a value that {held} hold", **mark),
            Line2D([], [], color=_RARE, label="of a value that nobody holds", markersize=3, **mark),
        ]
        if any(design.reference for design in designs):
            curator = "by a curator, for comparison"
            handles.append(Line2D([], [], color=_CURATOR, label=curator, **mark))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        _fix_layout(figure)
    return figure


def encoded(figure: Figure, kind: str) -> bytes:
    """The figure as the content of a file of this ``kind``: "png", "svg" or "pdf"."""
    content = io.BytesIO()
    with _style():
        figure.savefig(content, format=kind, metadata=_NO_DATE[kind])
    return content.getvalue()


@contextmanager
def _style() -> Iterator[None]:
    """Our style alone, whatever settings of matplotlib the user has."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def _fix_layout(figure: Figure) -> None:
    """Fix the panel's place, rounded: its last digits differ by chance, and with them the bytes."""
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)
    for axes in figure.axes:
        place = np.round(axes.get_position(original=True).bounds, 6)
        axes.set_position(tuple(place), which="original")
    figure.set_layout_engine(None)


def _panel(height: float, title: str) -> tuple[Figure, Axes]:
    """A figure of a ``height`` in inches, without the lines of its title, and its panel."""
    lines = textwrap.wrap(title, _TITLE_COLUMNS)
    figure = Figure(figsize=(_WIDTH, height + 0.14 * len(lines)), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.12)  # between the panel and a legend beside it
    figure.suptitle("\n".join(lines), x=0.015, ha="left")
    return figure, figure.add_subplot()


def _lowest_power(curves: Mapping[str, Floats]) -> float:
    """Where the axis of log10 delta ends: a whole number below the least "upper", at most -1."""
    for values in (curves["upper"], np.concatenate(list(curves.values()))):
        finite = values[np.isfinite(values)]
        if finite.size:
            return min(math.floor(1.01 * float(finite.min())), -1.0)
    return -1.0


def _looks(curves: Mapping[str, Floats]) -> dict[str, dict[str, Any]]:
    """How each bound's line looks, by name, in the order of the legend: from the largest delta downwards.

    The order is that of the last points at which "upper" is above 0. Bounds that do not apply there are last.
    """
    finite = np.flatnonzero(np.isfinite(curves["upper"]))
    last = int(finite[-1]) if finite.size else 0

    def height(name: str) -> float:
        value = float(curves[name][last])
        return -math.inf if math.isnan(value) else value

    looks: dict[str, dict[str, Any]] = {
        "upper": {"color": _BRACKET, "linewidth": 1.8, "zorder": 2},
        "lower": {"color": _BRACKET, "linewidth": 1.2, "zorder": 2, "linestyle": _DASHES[1]},
    }
    others = [name for name in curves if name not in looks]
    for number, name in enumerate(others):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = _DASHES[number // len(_COLOURS) % len(_DASHES)]
        looks[name] = {"color": colour, "linestyle": dashes, "zorder": 3}
    return {name: looks[name] for name in sorted(curves, key=height, reverse=True)}


def _power_of_10(exponent: float, _: Any) -> str:
    return f"$10^{{{exponent:.0f}}}$" if exponent else "1"


def _draw_errors(axes: Axes, place: int, design: Design) -> None:
    """The two errors of a ``design`` as marks at the height ``place``, joined by a line."""
    popular, rare = design.popular_error, design.rare_error
    if not all(map(_can_be_drawn, (popular, rare))):
        texts = [f"{value:.3g}" for value in (popular, rare)]
        text = f"  popular {texts[0]}, rare {texts[1]}"
        axes.text(0, place, text, va="center", transform=axes.get_yaxis_transform())
        return
    colours = (_CURATOR, _CURATOR) if design.reference else (_POPULAR, _RARE)
    axes.plot([rare, popular], [place, place], color="#bbbbbb", zorder=1)
    axes.plot([popular], [place], "o", color=colours[0], markersize=6, zorder=2)
    axes.plot([rare], [place], "o", color=colours[1], markersize=3, zorder=3)


def _can_be_drawn(error: float) -> bool:
    return 0 < error < math.inf


def _set_axis_of_errors(axes: Axes, designs: Sequence[Design]) -> None:
    """A logarithmic axis that shows all errors, with numbers that do not overlap."""
    errors = [error for design in designs for error in (design.popular_error, design.rare_error)]
    drawn = list(filter(_can_be_drawn, errors)) or [1.0]
    smallest, largest = min(drawn) / 1.5, max(drawn) * 1.5
    axes.set(xscale="log", xlim=(smallest, largest), xlabel="mean error of a count, in users")
    subs = (1.0, 2.0, 5.0) if largest < 100 * smallest else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short_number(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _short_number(number: float) -> str:
    """A number with three digits, or whole: 0.0123, 4.5, 12,345, 1.23e+09."""
    return f"{number:,.0f}" if 1000 <= number < 1e7 else f"{number:.3g}"
