"""The figures in one table: which stage draws each, where the page shows it, its title and its number.

Rules and page read the table. The rules import this, so it imports no library.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

SECTIONS = {  # of the page, in its order: name -> heading. A figure may belong to any of them
    "figures": "The paper's figures",
    "overview": "What we found",
    "values": "Printed values",
    "rerun": "How far apart Figures 2 and 4 to 7 are",
    "delta-hat": "Delta-hat",
    "parity": "At equal privacy",
    "statements": "Statements",
    "own-figures": "Your datasets",
    "attack": "A simulated attack",
    "companion": "Companion papers",
    "methods": "How it works",
    "experts": "For experts",
    "again": "Compute it again",
}

FPS = {3: 1, 4: 2, 5: 2, 6: 3, 7: 3}  # number of a figure of the paper on arXiv -> at FPS 2023
Datasets = Mapping[str, Mapping[str, Any]]  # by name, as the configuration has them


class Row(NamedTuple):
    """A row of the table: a figure, or with ``{dataset}`` in its name one for each dataset that it needs."""

    name: str  # of its files, without their ending
    stage: str
    section: str
    title: str
    number: int = 0  # of the paper's figure on arXiv; 0 where the paper has none
    needs: str = ""  # a key that a dataset must have, or there is nothing to draw
    only_papers: bool = False  # a dataset of your own is not enough


TABLE = (
    Row("fig3_checkins", "data", "figures", "Check-ins of each city", number=3, needs="box"),
    Row("fig1_delta_surface", "delta", "figures", "δ over ε and ε₀", number=1),
    Row(
        "delta_hat",
        "delta",
        "delta-hat",
        "δ̂ where it is not 0: as printed and exact",
        needs="delta_hat",
    ),
    # The configuration has the numbers of the figures of datasets.
    Row("estimates_{dataset}", "trials", "figures", "Estimated histograms", needs="estimates"),
    Row("tv_{dataset}", "trials", "figures", "Total variation error", needs="tv"),
    Row(
        "constants",
        "trials",
        "rerun",
        "What hangs on our two constants",
        needs="tv",
        only_papers=True,
    ),
    Row("log_tv_{dataset}", "trials", "rerun", "The boxes on a logarithmic axis", needs="tv"),
    Row(
        "delta_hat_trials",
        "trials",
        "delta-hat",
        "The paper's protocol where it is defined",
        needs="delta_hat",
    ),
    Row("gaussian_scale", "trials", "experts", "Noise of the analytic Gaussian mechanism"),
    Row("too_small", "bounds", "overview", "δ by the paper's formula and its true value"),
    Row(
        "delta_hat_bound",
        "bounds",
        "delta-hat",
        "δ̂ and a proven bound on the δ of all counts",
        needs="delta_hat",
    ),
    Row("delta_bounds", "bounds", "experts", "δ over ε: published, exact and all bounds"),
    Row("blanket", "companions", "companion", "Eq. (3) of the authors' blanket paper"),
    Row("girgis_rdp", "companions", "companion", "Girgis et al.: Rényi differential privacy"),
    Row(
        "koskela_fig1a",
        "companions",
        "companion",
        "Koskela et al., Figure 1a: strong and weak adversary",
    ),
    Row("koskela_fig1b", "companions", "companion", "Koskela et al., Figure 1b: clones"),
    Row("parity_ratio", "parity", "parity", "shuffle+INV relative to the Gaussian", needs="tv"),
    Row("designs", "study", "parity", "Which design: errors of popular and rare values"),
    Row("audit", "attack", "attack", "Audit: measured lower bounds on δ"),
)


class ShownFigure(NamedTuple):
    """A figure that a run makes."""

    name: str  # of its files, without their ending
    stage: str
    section: str
    title: str
    number: int  # of the paper's figure on arXiv; 0 where the paper has none


def figures_of(datasets: Datasets, papers: Iterable[str]) -> list[ShownFigure]:
    """All figures that a run with these datasets makes, in the order of the table.

    ``datasets`` are the configuration's: name -> its section. ``papers`` are the names of those that are the
    paper's.
    """
    papers = set(papers)
    return [figure for row in TABLE for figure in _figures_of_row(row, datasets, papers)]


def in_page_order(figures: Iterable[ShownFigure]) -> dict[str, ShownFigure]:
    """The figures by name, in the order of the page: by section, then by the number of the paper's figure."""
    places = list(SECTIONS)
    ordered = sorted(figures, key=lambda figure: (places.index(figure.section), figure.number))
    return {figure.name: figure for figure in ordered}


def _figures_of_row(row: Row, datasets: Datasets, papers: set[str]) -> Iterator[ShownFigure]:
    """The figures that a row of `TABLE` stands for: none, one, or one for each dataset.

    A figure may need data: ``row.needs`` is then a key that the section of a dataset must have, such as "tv",
    and with ``row.only_papers`` the dataset must be one of ``papers``, the paper's datasets. A row with
    {dataset} in its name stands for a figure of each dataset that has this. Any other row stands for one
    figure, if it needs no data or if at least one dataset has it.
    """
    suitable = [name for name, dataset in datasets.items() if dataset.get(row.needs)]
    if row.only_papers:
        suitable = [name for name in suitable if name in papers]

    if "{dataset}" in row.name:
        for name in suitable:
            yield _figure_of_dataset(row, name, datasets[name])
    elif suitable or not row.needs:
        yield ShownFigure(row.name, row.stage, row.section, row.title, row.number)


def _figure_of_dataset(row: Row, name: str, dataset: Mapping[str, Any]) -> ShownFigure:
    """The figure of one dataset, of a row of `TABLE` that has a figure for each dataset.

    ``name`` is the dataset's name, and ``dataset`` its section of the configuration. If its key figures says
    that the figure is one of the paper's, the figure's name has this number, such as fig7_tv_paris. A figure
    of ours of the same data has none. Where the key says nothing, the figure belongs to the section of your
    own datasets.
    """
    file = row.name.format(dataset=name)
    title = f"{row.title}: {dataset['title']}"
    paper = dataset.get("figures", {}).get(row.needs)  # fig1 to fig7, or none
    if not paper:
        return ShownFigure(file, row.stage, "own-figures", title, 0)
    if row.section != "figures":
        return ShownFigure(file, row.stage, row.section, title, 0)
    number = int(paper.removeprefix("fig"))
    return ShownFigure(f"{paper}_{file}", row.stage, row.section, title, number)


def targets_of_figures(figures: Iterable[ShownFigure]) -> dict[str, list[str]]:
    """The targets of `make` for the paper's figures: target -> the names of the figures that it makes.

    The targets are fig1 to fig7, as arXiv numbers the figures, and fps1 to fps3, as FPS 2023 does. A figure
    that these settings do not make has no target.
    """
    names: dict[str, list[str]] = {}
    for figure in figures:
        if figure.number:
            names.setdefault(f"fig{figure.number}", []).append(figure.name)
        if figure.number in FPS:
            names.setdefault(f"fps{FPS[figure.number]}", []).append(figure.name)
    return names
