"""Colours and markers of the randomizers, the same in all figures of the study."""

from collections.abc import Iterable

from matplotlib.lines import Line2D

from reproduction.figures import style
from reproduction.figures.wording import RANDOMIZERS

COLOURS = {
    "grr": style.COLOURS["shuffle+INV"],
    "subset": "#009E73",
    "oue": "#CC79A7",
    "hash": "#E69F00",
    "rappor": style.COLOURS["shuffle"],
    "hadamard": "#000000",
    "gaussian": style.COLOURS["gaussian"],
}
MARKERS = {
    "grr": "o",
    "subset": "s",
    "oue": "^",
    "hash": "v",
    "rappor": "D",
    "hadamard": "P",
    "gaussian": "X",
}


def legend(names: Iterable[str]) -> list[Line2D]:
    """One entry per randomizer."""
    return [
        Line2D([], [], color=COLOURS[name], marker=MARKERS[name], markersize=3.5, label=RANDOMIZERS[name])
        for name in names
    ]
