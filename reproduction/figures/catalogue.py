"""Every figure, one row each: what draws it from which files and settings, and what the page calls it.

Rules read this before anything runs, so that it imports no library.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Settings = Mapping[str, Any]
Files = str | Sequence[str]
KINDS = ("png", "pdf", "svg", "txt")  # of the files of a figure; the last is its caption
SHARED = ("scripts/draw_figure.py", "reproduction/figures/tightshuffle.mplstyle")  # code behind all figures
PRIVACY, STUDY = "<results>/privacy", "<results>/study"


class Figure(NamedTuple):
    """A row; ``read``, ``draw`` and ``caption`` of its module get the inputs and settings that they name."""

    name: str  # of its files, without their ending
    section: str  # of the page
    title: str
    short: str  # title, in the page's list of contents
    inputs: Mapping[str, Files]
    settings: Settings
    number: int = 0  # of the paper's figure; 0 where the paper has none
    drawn_by: str = ""  # the module, where it is not called like the figure

    @property
    def module(self) -> str:
        """The module of reproduction.figures that draws it."""
        return self.drawn_by or self.name

    @property
    def code(self) -> tuple[str, ...]:
        """The files that decide how it looks, beside those that they import."""
        return (*SHARED, f"reproduction/figures/{self.module}.py")


def catalogue(
    config: Settings,
    datasets: Mapping[str, Settings],
    papers: Mapping[str, Settings],
    trials: Callable[[str], list[str]],
) -> dict[str, Figure]:
    """A figure's name -> its row, in the order of the page.

    ``datasets`` are those of the configuration in the paper's order, and ``papers`` those of the paper;
    ``trials`` gives the files behind a dataset's boxplots.
    """
    titles = {name: dataset["title"] for name, dataset in datasets.items()}
    cities = {name: dataset for name, dataset in datasets.items() if dataset["kind"] == "gowalla"}
    compared = {name: titles[name] for name, dataset in datasets.items() if "tv" in dataset}
    rows = [
        Figure(
            *("too_small", "overview", "δ by the paper's formula and its true value", "Published and true δ"),
            {"table": f"{PRIVACY}/too_small.csv"},
            {},
        ),
        Figure(
            *("parity_ratio", "parity", "Error of shuffle+INV relative to the Gaussian", "Ratio of errors"),
            {"table": "<results>/parity_ratio.csv"},
            {"titles": compared},
        ),
        Figure(
            *("study_best", "parity", "The best randomizer behind a shuffler", "Best randomizer"),
            {"study": f"{STUDY}/study.csv"},
            {},
        ),
        Figure(
            *("study_ratio", "parity", "Error of every randomizer relative to the Gaussian"),
            "All randomizers",
            {"study": f"{STUDY}/study.csv"},
            {},
        ),
        Figure(
            *("frontier", "parity", "Less error for more messages: k-RR with dummies", "Dummies"),
            {"table": f"{PRIVACY}/frontier.csv"},
            {},
        ),
        Figure(
            *("study_grids", "parity", "Error by the number of cells", "Number of cells"),
            {"table": f"{STUDY}/grids.csv"},
            {"title": titles[config["study"]["grids"]["city"]]},
        ),
        Figure(
            *("study_estimators", "parity", "Error by estimator", "Estimators"),
            {"table": f"{STUDY}/simulation.csv"},
            {"titles": {name: titles[name] for name in papers}},
        ),
        Figure(
            *("audit", "audit", "Audit: measured lower bounds on δ", "Audit"),
            {"table": "<results>/audit.csv"},
            {},
        ),
        Figure(
            *("delta_bounds", "beyond", "δ over ε: published, exact and all bounds", "δ and all bounds"),
            {"table": f"{PRIVACY}/delta_bounds.csv"},
            {},
        ),
        Figure(
            *("gaussian_scale", "beyond", "Noise of the analytic Gaussian mechanism", "Gaussian noise"),
            {"table": f"{PRIVACY}/gaussian_scale.csv"},
            {},
        ),
        Figure(
            *("blanket_regions", "beyond", "Eq. (3) of the authors' blanket paper"),
            "Blanket paper",
            {name: f"{PRIVACY}/blanket_{name}.csv" for name in ("regions", "tightness")},
            {},
        ),
        Figure(
            *("girgis_rdp", "beyond", "Girgis et al.: Rényi differential privacy", "Girgis et al."),
            {"divergences": f"{PRIVACY}/girgis_rdp.csv", "composed": f"{PRIVACY}/girgis_composed.csv"},
            {"deepest": config["girgis_rdp"]["composed"]["deepest"]},
        ),
        Figure(
            *("koskela_fig1a", "beyond", "Koskela et al., Figure 1a: strong and weak adversary"),
            "Koskela et al., 1a",
            {"table": f"{PRIVACY}/koskela_fig1a.csv"},
            {"lowest": config["koskela"]["fig1a"]["lowest"]},
            drawn_by="koskela",
        ),
        Figure(
            *("koskela_fig1b", "beyond", "Koskela et al., Figure 1b: clones", "Koskela et al., 1b"),
            {"table": f"{PRIVACY}/koskela_fig1b.csv"},
            {"lowest": config["koskela"]["fig1b"]["lowest"]},
            drawn_by="koskela",
        ),
        Figure(
            *("fig1_delta_surface", "figures", "δ over ε and ε₀", "Figure 1"),
            {"table": f"{PRIVACY}/delta_surface.csv"},
            {},
            number=1,
            drawn_by="delta_surface",
        ),
        Figure(
            *("fig3_checkins", "figures", "Check-ins of each city", "Figure 3"),
            {
                "histograms": [f"<results>/histograms/{name}.csv" for name in cities],
                "checkins": [f"<results>/checkins/{name}.parquet" for name in cities],
            },
            {
                "titles": [city["title"] for city in cities.values()],
                "boxes": [city["box"] for city in cities.values()],
                "grid": config["gowalla"]["grid"],
            },
            number=3,
            drawn_by="checkins",
        ),
    ]
    if not compared:
        rows = [row for row in rows if row.name != "parity_ratio"]
    if not cities:
        rows = [row for row in rows if row.name != "fig3_checkins"]
    rows += _of_datasets(config, datasets, trials)
    return {row.name: row for row in sorted(rows, key=lambda row: row.number)}


def _of_datasets(
    config: Settings, datasets: Mapping[str, Settings], trials: Callable[[str], list[str]]
) -> list[Figure]:
    """The figures that every dataset may have: boxplots and estimates, at equal privacy and as published.

    Your own datasets begin with equal privacy: the published reading compares nothing.
    """
    delta, protocol = config["parity"]["delta"][0], config["protocol"]
    forms: list[tuple[str, str, str, str, Callable[[str], dict[str, Files]], dict[str, Any]]] = [
        (
            *("parity", "tv", "parity_tv", "Total variation error at equal privacy"),
            lambda name: {"trials": f"<results>/parity/{name}.parquet"},
            {"delta": delta},
        ),
        (
            *("parity_estimates", "estimates", "parity_estimates", "Estimated histograms at equal privacy"),
            lambda name: _cells(name, f"<results>/parity/{name}_estimates.csv"),
            {},
        ),
        (
            *("estimates", "estimates", "estimates", "Estimated histograms"),
            lambda name: _cells(name, f"<results>/estimates/{name}.csv"),
            {"protocol": protocol},
        ),
        (
            *("tv", "tv", "tv", "Total variation error"),
            lambda name: {"trials": trials(name)},
            {"protocol": protocol},
        ),
    ]
    rows = []
    for form, experiment, module, what, inputs, settings in forms:
        for name, dataset in datasets.items():
            if experiment not in dataset:
                continue
            figure = dataset.get("figures", {}).get(experiment, "")  # of the paper: fig2, fig4, ...
            number, title = int(figure.removeprefix("fig") or 0), f"{what}: {dataset['title']}"
            equal = module.startswith("parity")
            rows.append(
                Figure(
                    f"{figure}_{form}_{name}" if figure else f"{form}_{name}",
                    ("parity" if equal else "figures") if figure else "own-figures",
                    title,
                    f"Figure {number}{', equal privacy' * equal}" if figure else title,
                    inputs(name),
                    {"title": dataset["title"], **settings},
                    number,
                    module,
                )
            )
    return rows


def _cells(name: str, estimates: str) -> dict[str, Files]:
    return {"histogram": f"<results>/histograms/{name}.csv", "estimates": estimates}
