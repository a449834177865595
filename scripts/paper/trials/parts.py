"""The files of trials: which points each one holds. The rules import this, so it imports no library."""

from collections.abc import Mapping
from typing import Any

from scripts.shared.configuration import label

Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions


def parts_of(dataset: Mapping[str, Any]) -> dict[str, list[Point]]:
    """The points of every file of a dataset's trials: part of the file's name -> its points.

    A point is an experiment at one eps0, eps and n, with its number of repetitions. A file has the points of
    one budget in the experiments tv and individual, or some consecutive points of the experiment grid.

    ``dataset`` is its section in the configuration. The section of an experiment, which may be missing, has n
    (a list) and repetitions. That of tv and of individual also has budgets (dicts of eps0 and eps), that of
    grid lists of eps0 and eps, and points_per_job, the points of a file. Without it, a file has as many
    points as there are n.
    """
    parts: dict[str, list[Point]] = {}
    for experiment in ("tv", "individual"):
        settings = dataset.get(experiment)
        if not settings:
            continue
        for budget in settings["budgets"]:
            # Both experiments at the same budget are in one file.
            points = parts.setdefault(label(eps0=budget["eps0"], eps=budget["eps"]), [])
            points += _points(experiment, budget["eps0"], budget["eps"], settings)

    grid = dataset.get("grid")
    if grid:
        points = _points_of_grid(grid)
        points_per_job = grid.get("points_per_job")
        if points_per_job is None:
            points_per_job = len(grid["n"])
        for number, start in enumerate(range(0, len(points), points_per_job), start=1):
            parts[f"grid-{number}"] = points[start : start + points_per_job]

    return parts


def _points_of_grid(grid: Mapping[str, Any]) -> list[Point]:
    """The points of the experiment grid: every n at every eps0 and every eps up to eps0.

    Above eps0 there is none, since delta is 0 there. ``grid`` is the experiment's section of the config.
    """
    points = []
    for eps0 in grid["eps0"]:
        for eps in grid["eps"]:
            if eps <= eps0:
                points += _points("grid", eps0, eps, grid)
    return points


def _points(experiment: str, eps0: float, eps: float, settings: Mapping[str, Any]) -> list[Point]:
    """The points of one budget, one for every n. ``settings`` is the experiment's section of the config."""
    points = []
    for n in settings["n"]:
        point = {"experiment": experiment, "eps0": float(eps0), "eps": float(eps), "n": n}
        point["repetitions"] = settings["repetitions"]
        points.append(point)
    return points
