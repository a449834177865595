"""delta of the count of x0 over a grid of eps and eps0, as in Figure 1."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.printed_formulas import FORMS, delta_of_count
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Floats

Section = Mapping[str, float]  # an axis in the config: start, stop and steps


def delta_surface(n: int, k: int, count: int, eps: Section, eps0: Section) -> pd.DataFrame:
    """log10 delta of the count of x0, published and exact, with a row for every eps and eps0.

    The parameters are the config's section delta_surface.
    """
    eps_grid, eps0_grid = np.meshgrid(points(eps), points(eps0), indexing="ij")
    fixed: dict[str, Any] = {"n": n, "k": k, "count": count}
    table = pd.DataFrame({"eps": eps_grid.ravel(), "eps0": eps0_grid.ravel(), **fixed})
    for form in FORMS[::-1]:
        table[form] = delta_of_count(eps_grid.ravel(), eps0=eps0_grid.ravel(), form=form, **fixed)
    return table


def points(axis: Section) -> Floats:
    """The points of an axis, rounded: the diagonal eps = eps0, from which on delta is 0, is met exactly."""
    values = np.linspace(axis["start"], axis["stop"], int(axis["steps"]))
    # So that 0.1 + 0.1 + 0.1 is 0.3, and the ends are those of the config.
    return np.round(values, 10)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(delta_surface(**snakemake.params.surface), snakemake.output[0])
