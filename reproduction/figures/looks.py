"""How bounds and randomizers look: label, colour, dashes, marker. The same in all figures."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from matplotlib.lines import Line2D

from reproduction.figures import style


class Bound(NamedTuple):
    """The line of a bound from the literature; ``phrase`` says in captions which bound it is."""

    label: str
    phrase: str
    colour: str
    dashes: tuple[float, ...] = ()  # empty: a solid line

    @property
    def line(self) -> dict[str, Any]:
        """The keywords of matplotlib."""
        return {"color": self.colour, "linestyle": (0, self.dashes or None)}


BOUNDS = {  # by the name of the method
    "balle-bennett": Bound(
        "Balle et al., Bennett", "Balle et al. (2019) by Bennett's inequality for k-RR", "#009E73"
    ),
    "clones": Bound("clones", "Clones (2021), summed exactly", "#CC79A7", (4, 1.5)),
    "stronger-clones": Bound("stronger clones", "Stronger clones (2023), summed exactly", "#CC79A7"),
    "koskela-strong": Bound(
        "Koskela et al., strong", "The strong adversary of Koskela et al.", "#000000", (1, 1.2)
    ),
    "girgis": Bound(
        "Girgis et al., RDP", "Theorem 3.1 of Girgis et al. at its best order", "#000000", (5, 1.5, 1.2, 1.5)
    ),
    "blanket": Bound("blanket paper, eq. (3)", "The blanket paper's eq. (3), cut at 1", "#E69F00"),
}

# Randomizers by the key of their name, and the Gaussian.
LABELS = {
    "grr": "k-RR",
    "subset": "subset selection",
    "oue": "OUE",
    "hash": "local hashing",
    "rappor": "RAPPOR",
    "hadamard": "Hadamard",
    "gaussian": style.LABELS["gaussian"],
}
COLOURS = {
    "grr": "#0072B2",
    "subset": "#009E73",
    "oue": "#CC79A7",
    "hash": "#E69F00",
    "rappor": "#56B4E9",
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
        style.line(LABELS[name], color=COLOURS[name], marker=MARKERS[name], markersize=3.5) for name in names
    ]
