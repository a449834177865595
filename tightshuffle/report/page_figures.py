"""The figures as the report's page shows them: picture, words, place on the page, target to rerun."""

import base64
import re
from pathlib import Path

from tightshuffle.report import verdicts as report

FORMS = {  # form of a figure's file name: its title; the longer names first
    "delta_surface": "δ over ε and ε₀",
    "checkins": "Check-ins of both cities",
    "tv": "Total variation distance",
    "estimates": "Estimated histograms",
    "parity_estimates": "Estimated histograms at equal privacy",
    "parity": "Total variation distance at equal privacy",
}
ALONE = {  # figures with a name of their own, in the page's order: title, short title, section
    "parity_ratio": ("Error of shuffle+INV over error of the Gaussian", "Ratio of errors", "parity"),
    "audit": ("Audit: δ shown on the real protocol", "Audit", "audit"),
    "delta_bounds": ("δ over ε: published, true, and every bound", "δ and all bounds", "beyond"),
    "gaussian_scale": ("Scale of the analytic Gaussian over δ", "Gaussian scale", "beyond"),
    "blanket_regions": ("The blanket paper: where eq. (3) is called tight", "Blanket paper", "beyond"),
    "girgis_rdp": ("Girgis et al.: Rényi differential privacy", "Girgis et al.", "beyond"),
    "koskela_fig1a": (
        "Koskela et al., Figure 1a: strong and weak adversary", "Koskela et al., 1a", "beyond",
    ),
    "koskela_fig1b": ("Koskela et al., Figure 1b: clones", "Koskela et al., 1b", "beyond"),
}  # fmt: skip
SECTIONS = ("parity", "audit", "figures", "own-figures", "beyond")
NAME = re.compile(rf"(?:fig(\d+)_)?({'|'.join(sorted(FORMS, key=len, reverse=True))})(?:_(.+))?")


def read_figure(path, datasets):
    """What the page needs of one figure; its caption stands in the .txt file of the same name."""
    path = Path(path)
    data = path.read_bytes()
    try:
        width, height = report.png_size(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    caption = path.with_suffix(".txt").read_text(encoding="utf-8").strip()
    if not caption:
        raise ValueError(f"{path.with_suffix('.txt')}: the caption is empty; draw the figure again")
    number, words = None, ALONE.get(path.stem, (path.stem, path.stem, "beyond"))
    if path.stem not in ALONE and (found := NAME.fullmatch(path.stem)):
        number, form, dataset = found.groups()
        words = _words_of_form(number, form, datasets.get(dataset, {}).get("title", dataset))
    title, short, section = words
    first_sentence = " ".join(re.split(r"(?<=[.])\s+", caption)[0].split())
    return {
        "name": path.stem,
        "section": section,
        "label": f"Figure {number}" if number else "",
        "title": title,
        "short": short,
        "alt": f"{title}. {first_sentence}",
        "caption": [" ".join(part.split()) for part in re.split(r"\n\s*\n", caption)],
        "width": width,
        "height": height,
        "data": base64.b64encode(data).decode("ascii"),
        "pdf": f"../figures/{path.stem}.pdf",
        "target": f"fig{number}" if number and section == "figures" else path.as_posix(),
    }


def _words_of_form(number, form, name):
    """Title, short title and section of a form of figure that every dataset may have."""
    title = FORMS[form] + (f": {name}" if name else "")
    if form.startswith("parity"):
        return title, f"Figure {number}, equal privacy" if number else title, "parity"
    return title, f"Figure {number}" if number else title, "figures" if number else "own-figures"


def by_section(figures):
    """The figures of each of `SECTIONS`, in the order of `ALONE`, then as given: section -> figures."""
    places = {name: place for place, name in enumerate(ALONE)}
    figures = sorted(figures, key=lambda figure: places.get(figure["name"], len(places)))
    return {name: [figure for figure in figures if figure["section"] == name] for name in SECTIONS}
