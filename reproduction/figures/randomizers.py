"""Labels, colours and markers of the randomizers and the Gaussian, the same in all figures of the study."""

from collections.abc import Iterable

from matplotlib.lines import Line2D

from reproduction.figures import style
from tightshuffle.randomizers import BY_KEY

LABELS = {key: kind.label for key, kind in BY_KEY.items()} | {"gaussian": style.LABELS["gaussian"]}
COLOURS = {key: kind.colour for key, kind in BY_KEY.items()} | {"gaussian": style.COLOURS["gaussian"]}
MARKERS = {key: kind.marker for key, kind in BY_KEY.items()} | {"gaussian": "X"}


def legend(names: Iterable[str]) -> list[Line2D]:
    """One entry per randomizer."""
    return [
        Line2D([], [], color=COLOURS[name], marker=MARKERS[name], markersize=3.5, label=LABELS[name])
        for name in names
    ]
