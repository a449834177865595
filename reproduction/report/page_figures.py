"""The figures as the report's page shows them: picture, words, place on the page, target to rerun."""

import base64
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

SECTIONS = ("overview", "parity", "audit", "figures", "own-figures", "beyond")


def page_figure(
    row: Mapping[str, Any], path: PurePath | str, png: bytes, svg: bytes, caption: str
) -> dict[str, Any]:
    """The page's data on one figure: its row of the catalogue, the .png file's path, its files' contents.

    The page shows the vectors where they are smaller than the pixels, and as a picture, so that names inside
    of two SVG files cannot clash. Raises ValueError that names the file if it is no PNG or SVG file or the
    caption is empty.
    """
    path, title, number = PurePath(path), row["title"], row["number"]
    if png[:8] != b"\x89PNG\r\n\x1a\n" or len(png) < 24:
        raise ValueError(f"{path}: expected a PNG file; draw the figure again")
    if not svg.startswith(b"<?xml") or b"<svg" not in svg:
        raise ValueError(f"{path.with_suffix('.svg')}: expected an SVG file; draw the figure again")
    kind, picture = ("svg+xml", svg) if len(svg) < len(png) else ("png", png)
    width, height = struct.unpack(">II", png[16:24])
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", caption.strip())]
    if not any(paragraphs):
        raise ValueError(f"{path.with_suffix('.txt')}: the caption is empty; draw the figure again")
    return {
        "name": path.stem,
        "section": row["section"],
        "label": f"Figure {number}" if number else "",
        "title": title,
        "short": row["short"],
        "alt": f"{title}. {re.split(r'(?<=[.]) ', paragraphs[0])[0]}",
        "caption": paragraphs,
        "width": width,
        "height": height,
        "data": f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}",
        "pdf": f"results/figures/{path.stem}.pdf",
        "target": f"fig{number}" if number and row["section"] == "figures" else path.as_posix(),
    }


def by_section(figures: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """section -> its figures, as given; all of `SECTIONS`."""
    figures = list(figures)
    return {name: [figure for figure in figures if figure["section"] == name] for name in SECTIONS}
