"""The sections of the page and the order of its figures. The rules import this, so it imports no library."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Texts = tuple[str, str]  # section of the page, title
SECTIONS = {  # of the page, in its order: name -> heading. A figure may belong to any of them
    "figures": "The paper's figures",
    "delta-hat": "Delta-hat, and our two constants",
    "overview": "What we found",
    "values": "Printed values",
    "parity": "At equal privacy",
    "statements": "Statements",
    "own-figures": "Your datasets",
    "attack": "A simulated attack",
    "companion": "Companion papers",
    "methods": "How it works",
    "experts": "For experts",
    "again": "Compute it again",
}

FPS = {3: 1, 4: 2, 5: 2, 6: 3, 7: 3}  # number of a figure of the paper on arXiv: its number at FPS 2023


class Shown(NamedTuple):
    """A figure of the page."""

    name: str  # of its files, without their ending
    section: str
    title: str
    number: int  # of the paper's figure on arXiv; 0 where the paper has none


def in_page_order(figures: Mapping[str, Texts]) -> dict[str, Shown]:
    """Name -> figure, by section, then by the number of the paper's figure, then as given."""
    numbers = {name: int(name[3]) if name[:3] == "fig" and name[3:4].isdigit() else 0 for name in figures}
    shown = [Shown(name, *texts, numbers[name]) for name, texts in figures.items()]
    places = list(SECTIONS)
    shown.sort(key=lambda figure: (places.index(figure.section), figure.number))
    return {figure.name: figure for figure in shown}


def targets_of_figures(figures: Mapping[str, Shown]) -> dict[str, list[str]]:
    """fig1 to fig7, as arXiv numbers the paper's figures, and fps1 to fps3, as FPS 2023 does: the names.

    A figure that these settings do not make has no target.
    """
    names: dict[str, list[str]] = {}
    for figure in figures.values():
        if figure.number:
            names.setdefault(f"fig{figure.number}", []).append(figure.name)
        if figure.number in FPS:
            names.setdefault(f"fps{FPS[figure.number]}", []).append(figure.name)
    return names


def of_datasets(
    datasets: Mapping[str, Mapping[str, Any]], form: str, experiment: str, title: str, section: str
) -> dict[str, Texts]:
    """The figures, called ``form``, of every dataset whose configuration has the experiment (tv, estimates).

    The paper's number of a figure is in its name. Your own datasets have none, and a section of their own.
    """
    figures = {}
    for name, dataset in datasets.items():
        if dataset.get(experiment):
            paper = (dataset.get("figures") or {}).get(experiment)
            file, where = (f"{paper}_{form}_{name}", section) if paper else (f"{form}_{name}", "own-figures")
            figures[file] = (where, f"{title}: {dataset['title']}")
    return figures
