"""Every figure, one row each: what draws it from which files and settings, and what the page calls it.

Rules read this before anything runs, so that it imports no library.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Settings = Mapping[str, Any]
Files = str | Sequence[str]
KINDS = ("png", "pdf", "svg", "txt")  # of the files of a figure; the last is its caption
SHARED = ("scripts/draw_figure.py", "reproduction/figures/tightshuffle.mplstyle")  # code behind all figures


class Figure(NamedTuple):
    """A row; ``read``, ``draw`` and ``caption`` of its module get the inputs and settings that they name."""

    name: str  # of its files, without their ending
    section: str  # of the page
    title: str
    short: str  # title, in the page's list of contents
    inputs: Mapping[str, Files]  # of the results folder
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


TITLES = {  # of what is no dataset's own: section of the page, title, short title
    "too_small": ("overview", "δ by the paper's formula and its true value", "Published and true δ"),
    "parity_ratio": ("parity", "Error of shuffle+INV relative to the Gaussian", "Ratio of errors"),
    "study_best": ("parity", "The best randomizer behind a shuffler", "Best randomizer"),
    "study_ratio": ("parity", "Error of every randomizer relative to the Gaussian", "All randomizers"),
    "audit": ("audit", "Audit: measured lower bounds on δ", "Audit"),
    "delta_bounds": ("beyond", "δ over ε: published, exact and all bounds", "δ and all bounds"),
    "gaussian_scale": ("beyond", "Noise of the analytic Gaussian mechanism", "Gaussian noise"),
    "blanket_regions": ("beyond", "Eq. (3) of the authors' blanket paper", "Blanket paper"),
    "girgis_rdp": ("beyond", "Girgis et al.: Rényi differential privacy", "Girgis et al."),
    "koskela_fig1a": ("beyond", "Koskela et al., Figure 1a: strong and weak adversary", "Koskela et al., 1a"),
    "koskela_fig1b": ("beyond", "Koskela et al., Figure 1b: clones", "Koskela et al., 1b"),
    "fig1_delta_surface": ("figures", "δ over ε and ε₀", "Figure 1"),
    "fig3_checkins": ("figures", "Check-ins of each city", "Figure 3"),
}
TABLES: dict[str, dict[str, str]] = {  # what they are drawn from, where it is not privacy/NAME.csv
    "parity_ratio": {"table": "parity_ratio.csv"},
    "study_best": {"study": "study/study.csv"},
    "study_ratio": {"study": "study/study.csv"},
    "audit": {"table": "audit.csv"},
    "blanket_regions": {name: f"privacy/blanket_{name}.csv" for name in ("regions", "tightness")},
    "girgis_rdp": {"divergences": "privacy/girgis_rdp.csv", "composed": "privacy/girgis_composed.csv"},
    "fig1_delta_surface": {"table": "privacy/delta_surface.csv"},
}
DRAWN_BY = {"koskela_fig1a": "koskela", "koskela_fig1b": "koskela"}
DRAWN_BY |= {"fig1_delta_surface": "delta_surface", "fig3_checkins": "checkins"}
# What a dataset may have, in the page's order: name, section of its configuration, module, title. Your own
# datasets begin with equal privacy: the published reading compares nothing.
FORMS = (
    ("parity", "tv", "parity_tv", "Total variation error at equal privacy"),
    ("parity_estimates", "estimates", "parity_estimates", "Estimated histograms at equal privacy"),
    ("estimates", "estimates", "estimates", "Estimated histograms"),
    ("tv", "tv", "tv", "Total variation error"),
)


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
    settings: dict[str, dict[str, Any]] = {
        "parity_ratio": {"titles": compared},
        "fig3_checkins": {
            "titles": [city["title"] for city in cities.values()],
            "boxes": [city["box"] for city in cities.values()],
            "grid": config["gowalla"]["grid"],
        },
    }
    files: dict[str, dict[str, Any]] = TABLES | {
        "fig3_checkins": {
            "histograms": [f"histograms/{name}.csv" for name in cities],
            "checkins": [f"checkins/{name}.parquet" for name in cities],
        }
    }
    rows = []
    for name, texts in TITLES.items():
        if (name == "parity_ratio" and not compared) or (name == "fig3_checkins" and not cities):
            continue
        inputs = _in_results(files.get(name, {"table": f"privacy/{name}.csv"}))
        number = int(name[3]) if name.startswith("fig") else 0
        rows.append(Figure(name, *texts, inputs, settings.get(name, {}), number, DRAWN_BY.get(name, "")))
    rows += _of_datasets(config, datasets, trials)
    return {row.name: row for row in sorted(rows, key=lambda row: row.number)}


def _in_results(files: Mapping[str, Files]) -> dict[str, Files]:
    return {
        key: f"<results>/{file}" if isinstance(file, str) else [f"<results>/{one}" for one in file]
        for key, file in files.items()
    }


def _of_datasets(
    config: Settings, datasets: Mapping[str, Settings], trials: Callable[[str], list[str]]
) -> list[Figure]:
    """The figures that every dataset may have: boxplots and estimates, at equal privacy and as published."""
    rows = []
    for form, experiment, module, what in FORMS:
        equal = form.startswith("parity")
        for name, dataset in datasets.items():
            if experiment not in dataset:
                continue
            figure = dataset.get("figures", {}).get(experiment, "")  # of the paper: fig2, fig4, ...
            number, title = int(figure.removeprefix("fig") or 0), f"{what}: {dataset['title']}"
            if experiment == "estimates":
                runs = f"parity/{name}_estimates.csv" if equal else f"estimates/{name}.csv"
                inputs = _in_results({"histogram": f"histograms/{name}.csv", "estimates": runs})
            else:
                inputs = (
                    _in_results({"trials": f"parity/{name}.parquet"}) if equal else {"trials": trials(name)}
                )
            settings = {} if equal else {"protocol": config["protocol"]}
            if module == "parity_tv":
                settings = {"delta": config["parity"]["delta"][0]}
            section = ("parity" if equal else "figures") if figure else "own-figures"
            short = f"Figure {number}{', equal privacy' * equal}" if figure else title
            stem = f"{figure}_{form}_{name}" if figure else f"{form}_{name}"
            given = {"title": dataset["title"], **settings}
            rows.append(Figure(stem, section, title, short, inputs, given, number, module))
    return rows
