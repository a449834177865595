"""How bounds and randomizers look: label, colour, dashes, marker. The same in all figures."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from matplotlib.lines import Line2D

from scripts.shared import style


class Bound(NamedTuple):
    """The line of a bound from the literature."""

    label: str
    colour: str
    dashes: tuple[float, ...] = ()  # empty: a solid line

    @property
    def line(self) -> dict[str, Any]:
        """The keywords of matplotlib."""
        return {"color": self.colour, "linestyle": (0, self.dashes or None)}


BOUNDS = {  # by the name of the method
    "balle-bennett": Bound("Balle et al., Bennett", "#009E73"),
    "clones": Bound("clones", "#CC79A7", (4, 1.5)),
    "stronger-clones": Bound("stronger clones", "#CC79A7"),
    "koskela-strong": Bound("Koskela et al., strong", "#000000", (1, 1.2)),
    "girgis": Bound("Girgis et al., RDP", "#000000", (5, 1.5, 1.2, 1.5)),
    "blanket": Bound("blanket paper, eq. (3)", "#E69F00"),
}

LOOKS = {  # randomizers by the key of their name, and the Gaussian: label, colour, marker
    "grr": ("k-RR", "#0072B2", "o"),
    "subset": ("subset selection", "#009E73", "s"),
    "oue": ("OUE", "#CC79A7", "^"),
    "hash": ("local hashing", "#E69F00", "v"),
    "rappor": ("RAPPOR", "#56B4E9", "D"),
    "hadamard": ("Hadamard", "#000000", "P"),
    "gaussian": (style.LABELS["gaussian"], style.COLOURS["gaussian"], "X"),
}
LABELS, COLOURS, MARKERS = ({key: look[i] for key, look in LOOKS.items()} for i in range(3))


def legend(names: Iterable[str]) -> list[Line2D]:
    """One entry per randomizer."""
    return [
        style.line(LABELS[name], color=COLOURS[name], marker=MARKERS[name], markersize=3.5) for name in names
    ]
