"""The files of trials: which points each one holds. The rules import this, so it imports no library."""

from collections.abc import Mapping
from typing import Any

from scripts.shared.configuration import label

Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions


def parts_of(dataset: Mapping[str, Any]) -> dict[str, list[Point]]:
    """The points of every file of a dataset's trials. ``dataset`` is its section in the configuration.

    A file has one budget, or some consecutive points of the grid.
    """
    parts: dict[str, list[Point]] = {}
    for experiment in ("tv", "individual"):
        settings = dataset.get(experiment)
        if not settings:
            continue
        for budget in settings["budgets"]:
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
    """Every n at every eps0, and at every eps up to eps0: above eps0, delta is 0."""
    points = []
    for eps0 in grid["eps0"]:
        for eps in grid["eps"]:
            if eps <= eps0:
                points += _points("grid", eps0, eps, grid)
    return points


def _points(experiment: str, eps0: float, eps: float, settings: Mapping[str, Any]) -> list[Point]:
    """The points of one budget, one for every n of the experiment's ``settings``."""
    points = []
    for n in settings["n"]:
        point = {"experiment": experiment, "eps0": float(eps0), "eps": float(eps), "n": n}
        point["repetitions"] = settings["repetitions"]
        points.append(point)
    return points
