"""How many pairs of steps leave the paper's 10,260 check-ins of Paris?

    python -m reproduction.verification.search_steps FILE        (SNAP's check-ins)

Two families are searched: all steps with five decimals that make 12 and 16 edges,
and a 12th and a 16th of the box, each rounded to 3 to 7 decimals.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import yaml

from reproduction.data.checkins import crop
from reproduction.data.grid import Box, stepped_grid
from tightshuffle.arguments import Floats

PRINTED, ROWS, COLUMNS = 10_260, 12, 16
DECIMALS = range(3, 8)


def hits(
    latitude: Floats, longitude: Floats, box: Box, pairs: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """The pairs of steps (latitude, longitude) whose grid holds `PRINTED` of the points."""
    grids = [stepped_grid(box, *steps) for steps in pairs]
    left = [(latitude <= grid.latitudes[-1]) & (longitude <= grid.longitudes[-1]) for grid in grids]
    return [steps for steps, held in zip(pairs, left, strict=True) if held.sum() == PRINTED]


def families(box: Box) -> dict[str, list[tuple[float, float]]]:
    """The pairs that are searched, by what they are."""
    height, width = box.north - box.south, box.east - box.west
    steps = np.arange(1, 1000) / 1e5
    ends = (box.south, box.north, ROWS), (box.west, box.east, COLUMNS)
    decimals = [[s for s in steps if len(np.arange(low, high, s)) == edges] for low, high, edges in ends]
    rounded = [[round(size, i) for i in DECIMALS] for size in (height / ROWS, width / COLUMNS)]
    return {
        f"five decimals, {ROWS} and {COLUMNS} edges": list(product(*decimals)),
        f"a share of the box with {DECIMALS[0]} to {DECIMALS[-1]} decimals": list(product(*rounded)),
    }


def main(path: str) -> None:
    """Print how many pairs of each family hit, and which."""
    config = yaml.safe_load(Path("config/config.yaml").read_text("utf-8"))
    box = Box(**config["datasets"]["paris"]["box"])
    points, _ = crop(path, {"paris": box}, bad_rows_at_most=0.001)
    for name, pairs in families(box).items():
        found = hits(*points["paris"], box, pairs)
        print(f"{name}: {len(pairs):,} pairs, hits: {[tuple(map(float, pair)) for pair in found]}")


if __name__ == "__main__":
    main(sys.argv[1])
