"""Eq. (3) of the blanket paper with the true delta.

``share`` of the other users hold x0: pi(x0).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.beyond.companions.axes import Axis
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Integers
from tightshuffle.guarantee import lower, upper
from tightshuffle.literature import biswas_blanket, count
from tightshuffle.points import make_points


def blanket_tightness(
    *,
    n: int = 100,
    k: int = 10,
    share: float = 0.1,
    eps0: float = 0.5,
    axis: Axis = (0.001, 2.0, 45),
    sizes: Sequence[int] = (10, 30, 100, 300, 1000),
    eps_of_sizes: Sequence[float] = (0.05, 0.2),
) -> pd.DataFrame:
    """log10 delta by eq. (3), of the count of x0 and of the whole histogram.

    The column ``series`` says over what: "eps" (the axis) at ``n``, "n" (``sizes``) at ``eps_of_sizes``, or
    "S_2" for eps = ln(kappa_2) / 2 at every size.
    """
    users = np.array(sizes)
    middle = (
        biswas_blanket.kappas(n=users, k=k, eps0=eps0, count=x0_count(share, users)).log_kappa_2 / 2
    )
    points = [("eps", eps, n) for eps in np.geomspace(*axis)]
    points += [("n", eps, size) for eps in eps_of_sizes for size in sizes]
    points += [("S_2", eps, size) for eps, size in zip(middle, sizes, strict=True)]
    table = pd.DataFrame(points, columns=["series", "eps", "n"])
    table = table.assign(k=k, eps0=eps0, count=x0_count(share, table["n"].to_numpy()))
    eps, held = table["eps"].to_numpy(), table["count"].to_numpy()
    setting: dict[str, Any] = {name: table[name].to_numpy() for name in ("n", "k", "eps0")}
    constants = biswas_blanket.kappas(count=held, **setting)
    table = table.assign(log_kappa_2=constants.log_kappa_2, kappa_4=constants.kappa_4)
    table["equation_3"] = biswas_blanket.log10_equation_3(make_points(eps, **setting))
    table["surplus"] = biswas_blanket.surplus(eps, count=held, **setting)
    for direction in ("forward", "reverse"):
        table[f"count_{direction}"] = count.delta(eps, count=held, direction=direction, **setting)
    # of the whole histogram, for every dataset
    return table.assign(
        lower=lower(eps, log10=True, **setting), upper=upper(eps, log10=True, **setting)
    )


def x0_count(share: float, n: npt.ArrayLike) -> Integers:
    """How many of the remaining n - 1 users hold x0: pi(x0) (n - 1), rounded; the shape of ``n``."""
    return np.rint(share * (np.asarray(n) - 1)).astype(int)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(blanket_tightness(), snakemake.output[0])
