"""The numbers that texts state about the check-ins."""

from dataclasses import dataclass

from scripts.shared.findings import Results


@dataclass(frozen=True)
class CheckinsOfParis:
    """How many check-ins lie on either grid of Paris."""

    box: int  # on the uniform grid, which fills the printed box
    stepped: int


def checkins_of_paris(results: Results) -> CheckinsOfParis:
    """The check-ins of Paris on both of its grids. Raises KeyError if the totals lack one of them."""
    checkins = results["totals"].set_index(["dataset", "grid"])["checkins"]
    return CheckinsOfParis(box=checkins["paris", "uniform"], stepped=checkins["paris", "stepped"])
