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
