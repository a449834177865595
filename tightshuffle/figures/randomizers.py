"""Names and colours of the randomizers, the same in all figures of the study."""

from tightshuffle.figures import style

NAMES = {
    "grr": "k-RR",
    "subset": "subset selection",
    "oue": "OUE",
    "hash": "local hashing",
    "rappor": "RAPPOR",
    "hadamard": "Hadamard",
    "gaussian": "Gaussian",
}
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
