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
    """Eq. (3) of the blanket paper beside the deltas that it is to bound: a row for every series, eps and n.

    A ``share`` of the other users hold x0. The column ``series`` has three values. "eps": the eps of ``axis``
    at ``n`` users. "n": ``sizes`` as numbers of users, at each of ``eps_of_sizes``. "S_2": the same sizes,
    each at half of its ln kappa_2, the eps at which the paper's surplus ends.

    The other columns are eps, n, k, eps0 and count (of the other users, who hold x0), the paper's log_kappa_2
    (natural log) and kappa_4, its surplus E_P[S] - e^eps E_Q[S] of the noisy count S of x0, and log10 of:

    - equation_3: the right-hand side of eq. (3)
    - count_forward and count_reverse: delta of the count of x0, for x0 against x1 and the other way around
    - lower and upper: bounds on delta of the whole histogram, for the worst dataset
    """
    users = np.array(sizes)
    kappas_of_sizes = biswas_blanket.kappas(n=users, k=k, eps0=eps0, count=x0_count(share, users))
    points = [("eps", eps, n) for eps in np.geomspace(*axis)]
    points += [("n", eps, size) for eps in eps_of_sizes for size in sizes]
    for log_kappa_2, size in zip(kappas_of_sizes.log_kappa_2, sizes, strict=True):
        points.append(("S_2", log_kappa_2 / 2, size))

    table = pd.DataFrame(points, columns=["series", "eps", "n"])
    table = table.assign(k=k, eps0=eps0, count=x0_count(share, table["n"].to_numpy()))
    eps = table["eps"].to_numpy()
    of_histogram: dict[str, Any] = {name: table[name].to_numpy() for name in ("n", "k", "eps0")}
    of_count = {**of_histogram, "count": table["count"].to_numpy()}

    kappas = biswas_blanket.kappas(**of_count)
    table = table.assign(log_kappa_2=kappas.log_kappa_2, kappa_4=kappas.kappa_4)
    table["equation_3"] = biswas_blanket.log10_equation_3(make_points(eps, **of_histogram))
    table["surplus"] = biswas_blanket.surplus(eps, **of_count)
    for direction in ("forward", "reverse"):
        table[f"count_{direction}"] = count.delta(eps, direction=direction, **of_count)
    table["lower"] = lower(eps, log10=True, **of_histogram)
    table["upper"] = upper(eps, log10=True, **of_histogram)
    return table


def x0_count(share: float, n: npt.ArrayLike) -> Integers:
    """How many of the remaining n - 1 users hold x0: pi(x0) (n - 1), rounded; the shape of ``n``."""
    return np.rint(share * (np.asarray(n) - 1)).astype(int)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(blanket_tightness(), snakemake.output[0])
