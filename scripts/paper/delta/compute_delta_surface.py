"""delta of the count of x0 over a grid of eps and eps0, as in Figure 1."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from scripts.paper.delta.theorem_1 import FORMS, log10_delta_of_count
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Floats

Section = Mapping[str, float]  # an axis in the config: start, stop and steps


def delta_surface(n: int, k: int, count: int, eps: Section, eps0: Section) -> pd.DataFrame:
    """log10 delta of the number of reports of one value x0, with a row for every eps and eps0.

    The columns are eps, eps0, n, k, count, and log10 delta in two forms: exact, the true one, and published,
    that of the formula which the paper's Theorem 1 prints. It is -inf where delta is 0.

    The parameters are the config's section delta_surface: n users, k values, how many users beside the target
    user hold x0 (``count``), and the axes of eps and eps0, each with start, stop and steps.
    """
    eps_grid, eps0_grid = np.meshgrid(points(eps), points(eps0), indexing="ij")
    fixed: dict[str, Any] = {"n": n, "k": k, "count": count}
    table = pd.DataFrame({"eps": eps_grid.ravel(), "eps0": eps0_grid.ravel(), **fixed})
    for form in FORMS[::-1]:
        table[form] = log10_delta_of_count(
            eps_grid.ravel(), eps0=eps0_grid.ravel(), form=form, **fixed
        )
    return table


def points(axis: Section) -> Floats:
    """The numbers (steps,) of an axis of the config, evenly spaced from its start to its stop, ends included.

    They are rounded to 10 decimals, so that eps and eps0 of two axes can be equal. There delta is exactly 0.
    """
    values = np.linspace(axis["start"], axis["stop"], int(axis["steps"]))
    # So that 0.1 + 0.1 + 0.1 is 0.3, and the ends are those of the config.
    return np.round(values, 10)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(delta_surface(**snakemake.params.surface), snakemake.output[0])
