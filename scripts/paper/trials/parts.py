"""The files of trials: which points each one holds. The rules import this, so it imports no library."""

from collections.abc import Mapping
from typing import Any

from scripts.shared.configuration import label

Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions


def points_of_parts(dataset: Mapping[str, Any]) -> dict[str, list[Point]]:
    """The points of every file of a dataset's trials: name of the part -> the points in its file.

    The trials of a dataset are split into parts, and each part is one file, whose name ends with that of the
    part. A point is a dict of experiment, eps0, eps, n and repetitions. The parts are

    - one for every budget, named after its eps0 and eps: the points of the experiments tv and individual;
    - grid-1, grid-2 and so on: the points of the experiment grid, the same number in each but the last.

    ``dataset`` is its section in the configuration. It has up to three sections: tv, individual and grid.
    Each of them has n (a list of numbers of users) and repetitions. tv and individual also have budgets, a
    list of dicts of eps0 and eps. grid has lists of eps0 and eps, and may have points_per_job, the number of
    points in a part. Without it, a part has as many points as there are n.
    """
    parts: dict[str, list[Point]] = {}
    for experiment in ("tv", "individual"):
        settings = dataset.get(experiment)
        if not settings:
            continue
        for budget in settings["budgets"]:
            part = label(eps0=budget["eps0"], eps=budget["eps"])
            # The other experiment may have this part already.
            points = parts.setdefault(part, [])
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
