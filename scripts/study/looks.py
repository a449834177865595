"""How randomizers look: label, colour, marker, the same in all figures; and the rows that are drawn."""

from collections.abc import Sequence

import pandas as pd

from scripts.shared.job import StrPath
from scripts.shared.table_files import read_table

LOOKS = {  # randomizers by the key of their name, and the Gaussian: label, colour, marker
    "grr": ("k-RR", "#0072B2", "o"),
    "subset": ("subset selection", "#009E73", "s"),
    "oue": ("OUE", "#CC79A7", "^"),
    "hash": ("local hashing", "#E69F00", "v"),
    "rappor": ("RAPPOR", "#56B4E9", "D"),
    "hadamard": ("Hadamard", "#000000", "P"),
    "gaussian": ("Gaussian", "#D55E00", "X"),
}
LABELS, COLOURS, MARKERS = ({key: look[i] for key, look in LOOKS.items()} for i in range(3))


def read_drawn(study: StrPath, columns: Sequence[str]) -> pd.DataFrame:
    """The study's rows with its first rule of delta."""
    table = read_table(study, columns)
    return table[table["delta_rule"] == table["delta_rule"].iloc[0]]
