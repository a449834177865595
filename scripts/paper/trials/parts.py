"""The files of trials: which points each one holds. The rules import this, so it imports no library."""

from collections.abc import Mapping
from typing import Any

from scripts.shared.configuration import label

Point = dict[str, Any]  # experiment, eps0, eps, n (a number or "all"), repetitions


def parts_of(dataset: Mapping[str, Any]) -> dict[str, list[Point]]:
    """The points of every file of a dataset's trials, of its section in the configuration.

    A part is one budget, or some consecutive points of the grid. A grid has every n at every eps up to eps0:
    above eps0, delta is 0.
    """
    parts: dict[str, list[Point]] = {}
    for experiment in ("tv", "individual"):
        settings = dataset.get(experiment) or {"budgets": []}
        for pair in settings["budgets"]:
            points = parts.setdefault(label(eps0=pair["eps0"], eps=pair["eps"]), [])
            points += [_point(experiment, pair["eps0"], pair["eps"], n, settings) for n in settings["n"]]
    if grid := dataset.get("grid"):
        budgets = [(eps0, eps) for eps0 in grid["eps0"] for eps in grid["eps"] if eps <= eps0]
        points = [_point("grid", eps0, eps, n, grid) for eps0, eps in budgets for n in grid["n"]]
        size = grid.get("points_per_job") or len(grid["n"])
        for number, start in enumerate(range(0, len(points), size), start=1):
            parts[f"grid-{number}"] = points[start : start + size]
    return parts


def _point(experiment: str, eps0: float, eps: float, n: int | str, settings: Mapping[str, Any]) -> Point:
    point = {"experiment": experiment, "eps0": float(eps0), "eps": float(eps), "n": n}
    return point | {"repetitions": settings["repetitions"]}
