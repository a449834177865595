"""The files of a figure and its caption: equal figures have equal bytes."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style
from scripts.shared.job import job, write_bytes
from scripts.shared.table_files import read_table

NO_DATE = {  # what a file is not to say of itself: when it was made, and by which version
    "png": {"Software": None},
    "pdf": {"CreationDate": None},
    "svg": {"Date": None, "Creator": None},
}


def encoded(figure: Figure, kind: str) -> bytes:
    """The figure as a png, pdf or svg file, without a date."""
    buffer = io.BytesIO()
    with style.applied():
        _fix_layout(figure)
        figure.savefig(buffer, format=kind, metadata=NO_DATE[kind])
    return buffer.getvalue()


def write_figure(figure: Figure, caption: str, files: Any) -> None:
    """Write a figure and its caption. ``files`` are the outputs png, pdf, svg and txt of a rule."""
    for kind in ("png", "pdf", "svg"):
        write_bytes(encoded(figure, kind), files[kind])
    write_bytes(f"{caption}\n".encode(), files.txt)


def run_figure_job(
    columns: Sequence[str],
    draw: Callable[[pd.DataFrame], Figure],
    caption: Callable[[pd.DataFrame], str],
) -> None:
    """Run the job of a rule that draws one table: read it, draw it, and write the figure and its caption.

    ``columns`` are those that the table must have.
    """
    with job() as snakemake:
        table = read_table(snakemake.input[0], columns)
        write_figure(draw(table), caption(table), snakemake.output)


def _fix_layout(figure: Figure) -> None:
    """Lay the panels of a figure out, once and for all: no later drawing moves them.

    Maps have a fixed proportion, so the layout is repeated until the panels move by at most 1e-4 of the
    figure. Then the places of the panels are rounded to 9 decimals: their last digits depend on addresses in
    memory, and equal figures shall have equal bytes.
    """
    if engine := figure.get_layout_engine():
        before: Any = np.inf
        for _ in range(8):  # rounds at most
            engine.execute(figure)
            # Left edge, bottom, width and height of each panel, as shares of the figure.
            places = np.array([axes.get_position(original=True).bounds for axes in figure.axes])
            if np.allclose(places, before, rtol=0, atol=1e-4):
                break
            before = places
        for axes, place in zip(figure.axes, places.round(9), strict=True):
            axes.set_position(tuple(place), which="original")
    figure.set_layout_engine(None)  # the engine "none" would let savefig draw everything twice
