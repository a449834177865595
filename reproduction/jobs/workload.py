"""The work that a configuration describes, as plain data: datasets, and the points of each file of trials."""

from collections.abc import Iterable, Mapping
from typing import Any

from reproduction.jobs.settings import Audit, Dataset, Settings

Datasets = Mapping[str, Dataset]  # in the papers' order
Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions
Trials = dict[tuple[str, str], list[Point]]  # (dataset, part) -> the points of one file


def datasets_of(settings: Settings) -> Datasets:
    """The datasets by figure number, then by name; an overlay may change the order in the config."""
    return dict(sorted(settings.datasets.items(), key=lambda item: (item[1].figures.tv or "~", item[0])))


def of_kind(datasets: Datasets, kind: str) -> list[str]:
    """The names of the datasets of a kind (gowalla, normal, counts)."""
    return [name for name, dataset in datasets.items() if dataset.kind == kind]


def having(datasets: Datasets, section: str) -> list[str]:
    """The names of the datasets whose config has a section (tv, individual, estimates, grid)."""
    return [name for name, dataset in datasets.items() if getattr(dataset, section)]


def section(datasets: Datasets, name: str, experiment: str) -> Any:
    """The config's section on one experiment of a dataset; ValueError if it has none."""
    if not (settings := getattr(datasets[name], experiment)):
        raise ValueError(f"datasets.{name}: the config has no section {experiment!r} to run")
    return settings


def label(**numbers: float) -> str:
    """Parameters as part of a file name, for readers only: no code reads them. 4 and 4.0 are the same."""
    return "_".join(f"{name}-{repr(float(value)).removesuffix('.0')}" for name, value in numbers.items())


def trials_of(datasets: Datasets) -> Trials:
    """The points of every file of trials. A part is one budget, or some consecutive points of the grid.

    A grid has every n at every eps up to eps0. Above eps0, delta is 0.
    """
    trials: Trials = {}
    for name, dataset in datasets.items():
        for experiment in ("tv", "individual"):
            settings = getattr(dataset, experiment)
            for pair in settings.budgets if settings else []:
                points = trials.setdefault((name, label(eps0=pair.eps0, eps=pair.eps)), [])
                points += [_point(experiment, pair.eps0, pair.eps, n, settings) for n in settings.n]
        if grid := dataset.grid:
            budgets = [(eps0, eps) for eps0 in grid.eps0 for eps in grid.eps if eps <= eps0]
            points = [_point("grid", eps0, eps, n, grid) for eps0, eps in budgets for n in grid.n]
            size = grid.points_per_job or len(grid.n)
            for number, start in enumerate(range(0, len(points), size), start=1):
                trials[name, f"grid-{number}"] = points[start : start + size]
    return trials


def _point(experiment: str, eps0: float, eps: float, n: int | str, settings: Any) -> Point:
    point = {"experiment": experiment, "eps0": float(eps0), "eps": float(eps), "n": n}
    return point | {"repetitions": settings.repetitions}


def points_of(trials: Trials, name: str, part: str) -> list[Point]:
    """The points of one file of trials; ValueError, listing the existing parts, for any other."""
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
    """One dict per n of a dataset's boxplots: the n, the bounds that give eps, and the fewest repetitions.

    The slow bound ``lower`` is computed at the first and the last n only. Where the dataset's table of
    individual errors has this n, there are at least as many repetitions as in the table, because the error
    of one cell varies more than the sum over all cells.
    """
    sizes, individual = section(datasets, name, "tv").n, datasets[name].individual
    return [
        {
            "n": n,
            "bounds": ["upper", "lower"] if n in (sizes[0], sizes[-1]) else ["upper"],
            "fewest": individual.repetitions if individual and n in individual.n else 0,
        }
        for n in sizes
    ]


def parity_estimates(datasets: Datasets, name: str, delta: float) -> dict[str, Any]:
    """One run's settings for a dataset's heatmaps at equal privacy: their eps0 and n."""
    settings = section(datasets, name, "estimates")
    return {"eps0": sorted({pair.eps0 for pair in settings.budgets}), "n": settings.n, "delta": delta}


def audit_settings(audit: Audit) -> dict[str, dict[str, Any]]:
    """Name of the file with its tallies -> setting of the audit."""
    return {label(**setting.plain("n", "k", "eps0", "count")): setting.plain() for setting in audit.settings}
