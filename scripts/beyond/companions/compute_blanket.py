"""Eq. (3) of the blanket paper (Biswas, Jung, Palamidessi), which bounds delta, beside the true delta."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from scripts.beyond.companions.axes import Axis
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Integers
from tightshuffle.doors import delta
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
    """Eq. (3) of the blanket paper (Biswas, Jung, Palamidessi), which bounds delta, beside delta of k-RR.

    The table has a row for every point (eps, n), and the column ``series`` says which points these are:

    - "eps": each eps of ``axis``, with ``n`` users; ``axis`` is the smallest eps, the largest, and how many
    - "n": each number of users in ``sizes``, with each eps in ``eps_of_sizes``
    - "S_2": each number of users in ``sizes``, with eps = ln(kappa_2) / 2, which depends on this number

    S is the number of reports x0. P is the world in which the target user holds x0, and Q the one in which
    the target user holds x1. Of the other n - 1 users a ``share`` holds x0. The other columns are:

    - eps, n, k, eps0 and count: how many of the other n - 1 users hold x0
    - log_kappa_2, natural log: ln(E_P[S] / E_Q[S]), and kappa_4 = ln(2 e^eps0 - 1), constants of the paper
    - surplus: E_P[S] - e^eps E_Q[S], which the paper equates to eq. (3); negative above eps = ln kappa_2
    - equation_3: log10 of the right-hand side of eq. (3)
    - count_forward and count_reverse: log10 delta of S, for P against Q and for Q against P
    - lower and upper: log10 of our bounds on delta of the whole histogram, for the worst dataset
    """
    # Points as (series, eps, number of users). The eps of the axis are evenly spaced in their logarithms.
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
    table["equation_3"] = biswas_blanket.ln_equation_3(make_points(eps, **of_histogram)) / np.log(
        10
    )
    table["surplus"] = biswas_blanket.surplus(eps, **of_count)
    for direction in ("forward", "reverse"):
        ln_delta_of_count = count.ln_delta_of_count(eps, direction=direction, **of_count)
        table[f"count_{direction}"] = ln_delta_of_count / np.log(10)
    table["lower"] = delta(eps, method="lower", log10=True, **of_histogram)
    table["upper"] = delta(eps, log10=True, **of_histogram)
    return table


def x0_count(share: float, n: npt.ArrayLike) -> Integers:
    """How many of the n - 1 users other than the target user hold x0, if a ``share`` of them does.

    The result is rounded to whole users and has the shape of ``n``. The paper writes pi(x0) for the share.
    """
    return np.rint(share * (np.asarray(n) - 1)).astype(int)


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(blanket_tightness(), snakemake.output[0])
