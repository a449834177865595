"""The figures as the report's page shows them: picture, words, place on the page, target to rerun."""

import base64
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from reproduction.figures import (
    audit,
    band,
    blanket_regions,
    checkins,
    delta_bounds,
    delta_surface,
    estimates,
    gaussian_scale,
    girgis_rdp,
    koskela,
    parity_estimates,
    parity_ratio,
    parity_tv,
    study_best,
    study_estimators,
    study_grids,
    study_ratio,
    tv,
)

FORMS = {  # form of a figure's file name: the module that draws it
    "delta_surface": delta_surface,
    "checkins": checkins,
    "tv": tv,
    "estimates": estimates,
    "parity_estimates": parity_estimates,
    "parity": parity_tv,
}
STUDY: dict[str, Any] = {
    "best": study_best,
    "ratio": study_ratio,
    "grids": study_grids,
    "estimators": study_estimators,
}
ALONE = {  # figures with a name of their own, in the page's order: title, short title, section
    "parity_ratio": (parity_ratio.TITLE, parity_ratio.SHORT_TITLE, "parity"),
    **{f"study_{name}": (module.TITLE, module.SHORT_TITLE, "parity") for name, module in STUDY.items()},
    "audit": (audit.TITLE, audit.SHORT_TITLE, "audit"),
    "delta_bounds": (delta_bounds.TITLE, delta_bounds.SHORT_TITLE, "beyond"),
    "band": (band.TITLE, band.SHORT_TITLE, "beyond"),
    "gaussian_scale": (gaussian_scale.TITLE, gaussian_scale.SHORT_TITLE, "beyond"),
    "blanket_regions": (blanket_regions.TITLE, blanket_regions.SHORT_TITLE, "beyond"),
    "girgis_rdp": (girgis_rdp.TITLE, girgis_rdp.SHORT_TITLE, "beyond"),
    **{
        f"koskela_fig1{panel}": (
            f"{koskela.TITLE}{panel}: {curves}",
            f"{koskela.SHORT_TITLE}{panel}",
            "beyond",
        )
        for panel, curves in koskela.PANELS.items()
    },
}
SECTIONS = ("parity", "audit", "figures", "own-figures", "beyond")
NAME = re.compile(rf"(?:fig(\d+)_)?({'|'.join(sorted(FORMS, key=len, reverse=True))})(?:_(.+))?")


def page_figure(
    path: PurePath | str, png: bytes, svg: bytes, caption: str, datasets: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What the page needs of one figure: the .png file's path, both files' bytes, its caption, the datasets.

    The page shows the vectors where they are smaller than the pixels, and as a picture, so that names inside
    of two SVG files cannot clash. ``datasets`` are the config's. Raises ValueError that names the file if it
    is no PNG or SVG file or the caption is empty.
    """
    path = PurePath(path)
    if png[:8] != b"\x89PNG\r\n\x1a\n" or len(png) < 24:
        raise ValueError(f"{path}: expected a PNG file; draw the figure again")
    if not svg.startswith(b"<?xml") or b"<svg" not in svg:
        raise ValueError(f"{path.with_suffix('.svg')}: expected an SVG file; draw the figure again")
    kind, picture = ("svg+xml", svg) if len(svg) < len(png) else ("png", png)
    width, height = struct.unpack(">II", png[16:24])
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", caption.strip())]
    if not any(paragraphs):
        raise ValueError(f"{path.with_suffix('.txt')}: the caption is empty; draw the figure again")
    number, titles = None, ALONE.get(path.stem, (path.stem, path.stem, "beyond"))
    if path.stem not in ALONE and (match := NAME.fullmatch(path.stem)):
        number, form, dataset = match.groups()
        titles = _titles_of_form(number, form, datasets.get(dataset, {}).get("title", dataset))
    title, short, section = titles
    return {
        "name": path.stem,
        "section": section,
        "label": f"Figure {number}" if number else "",
        "title": title,
        "short": short,
        "alt": f"{title}. {re.split(r'(?<=[.]) ', paragraphs[0])[0]}",
        "caption": paragraphs,
        "width": width,
        "height": height,
        "data": f"data:image/{kind};base64,{base64.b64encode(picture).decode('ascii')}",
        "pdf": f"results/figures/{path.stem}.pdf",
        "target": f"fig{number}" if number and section == "figures" else path.as_posix(),
    }


def _titles_of_form(number: str | None, form: str, name: str | None) -> tuple[str, str, str]:
    """Title, short title and section of a form of figure that every dataset may have."""
    title = FORMS[form].TITLE + (f": {name}" if name else "")
    if not number:
        return title, title, "own-figures"
    if form.startswith("parity"):
        return title, f"Figure {number}, equal privacy", "parity"
    return title, f"Figure {number}", "figures"


def by_section(figures: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """section -> its figures, in the order of `ALONE`, then as given; all of `SECTIONS`.

    Your own datasets begin with what is drawn at equal privacy: the published reading compares nothing.
    """
    places = {name: place for place, name in enumerate(ALONE)}
    last = len(places) + 1

    def place(figure: dict[str, Any]) -> int:
        published = figure["section"] == "own-figures" and not figure["name"].startswith("parity")
        return places.get(figure["name"], last if published else last - 1)

    figures = sorted(figures, key=place)
    return {name: [figure for figure in figures if figure["section"] == name] for name in SECTIONS}
