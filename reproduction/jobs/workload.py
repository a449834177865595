"""What a configuration asks for, as plain data: datasets, the points of every file of trials."""

from collections.abc import Iterable, Mapping
from typing import Any

Config = Mapping[str, Any]
Datasets = dict[str, dict[str, Any]]  # name -> the config's section, in the papers' order
Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions
Trials = dict[tuple[str, str], list[Point]]  # (dataset, part) -> the points of one file

EXPERIMENTS = ("tv", "individual", "grid")  # those that make trials


def datasets_of(config: Config) -> Datasets:
    """The datasets by figure number, then by name; an overlay may change the order in the config."""
    datasets = config["datasets"]
    names = sorted(datasets, key=lambda name: (datasets[name].get("figures", {}).get("tv", "~"), name))
    return {name: datasets[name] for name in names}


def of_kind(datasets: Datasets, kind: str) -> list[str]:
    """The names of the datasets of a kind (gowalla, normal, counts)."""
    return [name for name, dataset in datasets.items() if dataset["kind"] == kind]


def having(datasets: Datasets, section: str) -> list[str]:
    """The names of the datasets whose config has a section (tv, individual, estimates, grid)."""
    return [name for name, dataset in datasets.items() if section in dataset]


def section(datasets: Datasets, name: str, experiment: str) -> dict[str, Any]:
    """The config's section on one experiment of a dataset; ValueError if it has none."""
    if experiment not in datasets[name]:
        raise ValueError(f"datasets.{name}: the config has no section {experiment!r} to run")
    settings: dict[str, Any] = datasets[name][experiment]
    return settings


def grids_of(datasets: Datasets, name: str) -> dict[str, Any]:
    """The config's settings on a city's cells: its box and grids."""
    return {key: value for key, value in datasets[name].items() if key in ("box", "uniform", "stepped")}


def label(**numbers: float) -> str:
    """Parameters in a file's name: for readers, nothing reads them back. 4 and 4.0 are the same."""
    return "_".join(f"{name}-{repr(float(value)).removesuffix('.0')}" for name, value in numbers.items())


def trials_of(datasets: Datasets) -> Trials:
    """The points of every file of trials; a part is one budget, or a run of consecutive points of the grid.

    A grid has every n at every eps up to eps0, beyond which delta is 0.
    """
    trials: Trials = {}
    for name, dataset in datasets.items():
        for experiment in ("tv", "individual"):
            settings = dataset.get(experiment, {"budgets": []})
            for eps0, eps in [(budget["eps0"], budget["eps"]) for budget in settings["budgets"]]:
                points = trials.setdefault((name, label(eps0=eps0, eps=eps)), [])
                points += _points(experiment, [(eps0, eps)], settings)
        if settings := dataset.get("grid"):
            budgets = [(eps0, eps) for eps0 in settings["eps0"] for eps in settings["eps"] if eps <= eps0]
            points = _points("grid", budgets, settings)
            size = settings.get("points_per_job", len(settings["n"]))
            for number, start in enumerate(range(0, len(points), size), start=1):
                trials[name, f"grid-{number}"] = points[start : start + size]
    return trials


def _points(experiment: str, budgets: Iterable[tuple[float, float]], settings: Config) -> list[Point]:
    repetitions = settings["repetitions"]
    return [
        {"experiment": experiment, "eps0": float(eps0), "eps": float(eps), "n": n, "repetitions": repetitions}
        for eps0, eps in budgets
        for n in settings["n"]
    ]


def points_of(trials: Trials, name: str, part: str) -> list[Point]:
    """The points of one file of trials; ValueError with the parts that there are."""
    if (name, part) not in trials:
        parts = ", ".join(part for dataset, part in trials if dataset == name) or "none"
        raise ValueError(f"{name}_{part}: no such trials in the config; those of {name}: {parts}")
    return trials[name, part]


def files_of_trials(trials: Trials, experiments: Iterable[str], names: Iterable[str]) -> list[str]:
    """The files, without their folder, that hold points of these experiments on these datasets."""
    wanted = set(names), set(experiments)
    return [
        f"{name}_{part}.parquet"
        for (name, part), points in trials.items()
        if name in wanted[0] and wanted[1].intersection(point["experiment"] for point in points)
    ]


def parity_sizes(datasets: Datasets, name: str) -> list[dict[str, Any]]:
    """The n of a dataset's boxplots, the bounds that give eps there, and the fewest repetitions.

    At the first and the last n also ``lower``, which takes the longest. At an n of its table of individual
    errors as many repetitions as the table has: a cell's error varies more than the sum over all cells.
    """
    sizes, individual = section(datasets, name, "tv")["n"], datasets[name].get("individual", {"n": []})
    ends = (sizes[0], sizes[-1])
    return [
        {
            "n": n,
            "bounds": ["upper", "lower"] if n in ends else ["upper"],
            "fewest": individual["repetitions"] if n in individual["n"] else 0,
        }
        for n in sizes
    ]


def parity_estimates(datasets: Datasets, name: str, delta: float) -> dict[str, Any]:
    """One run's settings for a dataset's heatmaps at equal privacy: their eps0 and n."""
    settings = section(datasets, name, "estimates")
    return {
        "eps0": sorted({budget["eps0"] for budget in settings["budgets"]}),
        "n": settings["n"],
        "delta": delta,
    }


def audit_settings(audit: Config) -> dict[str, dict[str, Any]]:
    """Name of the file with its tallies -> setting of the audit."""
    names = ("n", "k", "eps0", "count")
    return {label(**{name: setting[name] for name in names}): setting for setting in audit["settings"]}
