"""The figures' one font, and which letters it can write."""

import functools
from collections.abc import Set
from pathlib import Path

FAMILY = "DejaVu Sans"  # comes with matplotlib, so figures have the same bytes on every machine


def writable(text: str) -> str:
    """The text as it is. Raises ValueError, with the letters, if the font lacks some of them.

    A figure would have a box in the place of each.
    """
    if text.isascii():
        return text
    missing = "".join(dict.fromkeys(letter for letter in text if ord(letter) not in _letters()))
    if missing:
        raise ValueError(f"has letters that the figures' font, {FAMILY}, lacks: {missing}")
    return text


@functools.cache
def _letters() -> Set[int]:
    """The code points of the letters that the font has."""
    # Few texts need this, and the import takes a third of a second, in each job anew.
    import matplotlib
    from matplotlib.ft2font import FT2Font

    return (
        FT2Font(Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf")).get_charmap().keys()
    )
