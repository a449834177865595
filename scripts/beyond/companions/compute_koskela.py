"""delta of several rounds over eps, as in Figure 1 of Koskela, Heikkilä and Honkela: both panels.

A table has a row for every curve, number of rounds and eps. The columns are curve, rounds, n, k, eps0, eps
(of all rounds together) and upper, which is log10 of the bound on delta.
"""

import itertools
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.companions.axes import Axis, rounded_to_10_decimals
from scripts.shared.job import job, write_csv
from tightshuffle.arguments import Floats, OutsideRange, check_eps, check_eps0, check_k, check_n
from tightshuffle.bounds.rounds import ln_delta as ln_delta_of_rounds
from tightshuffle.doors import delta
from tightshuffle.methods import METHODS
from tightshuffle.points import make_points

NumbersOfRounds = Sequence[int]
COLUMNS = ["curve", "rounds", "n", "k", "eps0", "eps", "upper"]
BOUNDS = {  # the figure's name of a curve -> ln of an upper bound on delta of one round
    "strong": METHODS["koskela-strong"].ln_bound,
    # the blanket's bound alone, as in that paper: the method `upper` can be smaller
    "weak": METHODS["privacy-blanket"].ln_bound,
    "clones": METHODS["clones"].ln_bound,
    "stronger-clones": METHODS["stronger-clones"].ln_bound,
}
DOES_NOT_REACH_0 = ("strong",)  # curves that are above 0 at eps = eps0, too


def koskela_fig1a(
    *,
    n: int = 1000,
    k: int = 4,
    gamma: float = 0.25,
    rounds: NumbersOfRounds = (1, 4, 16),
    axis: Axis = (0.05, 4.0, 80),
) -> pd.DataFrame:
    """Upper bounds on delta of shuffled k-RR over eps, as in Figure 1a. The curves are:

    - "strong": for the adversary who knows which of the other users reported at random; all ``rounds``
    - "weak": for the adversary who does not know this; all ``rounds``
    - "balle_analytic": Theorem 3.1 of Balle et al. (2019); one round, only rows where the theorem applies
    - "balle_bennett": Balle et al.'s bound with Bennett's inequality; one round, only rows where it applies

    ``gamma`` is the probability that k-RR reports a uniform value, from which eps0 follows. The paper does
    not state the ``rounds`` that it plots.
    """
    setting: dict[str, Any] = {"n": n, "k": k, "eps0": eps0_of_blanket(gamma, k)}
    eps = rounded_to_10_decimals(np.linspace(*axis))
    curves = composed_curves(("strong", "weak"), rounds, eps, setting)

    with warnings.catch_warnings():
        # The bounds are nan where they do not apply.
        warnings.simplefilter("ignore", OutsideRange)
        analytic = balle_analytic(eps, **setting)
        bennett = delta(eps, method="balle-bennett", log10=True, **setting)
    for name, upper in (("balle_analytic", analytic), ("balle_bennett", bennett)):
        table = _curve_table(name, eps, upper, setting, rounds=1)
        curves.append(table.dropna(subset="upper"))

    return pd.concat(curves, ignore_index=True)


def koskela_fig1b(
    *,
    n: int = 10_000,
    eps0: float = 4,
    rounds: NumbersOfRounds = (1, 2, 3, 4),
    axis: Axis = (0.02, 2.0, 100),
) -> pd.DataFrame:
    """The bounds of the clones and the stronger clones on delta over eps, as in Figure 1b.

    The curves "clones" and "stronger-clones" are the bounds of Feldman et al. of 2021 and of 2023. The bounds
    do not depend on k, which is 2 in the table.
    """
    eps = rounded_to_10_decimals(np.linspace(*axis))
    setting = {"n": n, "k": 2, "eps0": eps0}
    curves = composed_curves(("clones", "stronger-clones"), rounds, eps, setting)
    return pd.concat(curves, ignore_index=True)


def composed_curves(
    curves: Iterable[str], rounds: NumbersOfRounds, eps: Floats, setting: dict[str, Any]
) -> list[pd.DataFrame]:
    """Bounds on delta after several rounds: a table for each of ``curves`` and number of ``rounds``.

    A table has a row for each of ``eps``. ``curves`` are "strong", "weak", "clones" or "stronger-clones", the
    names of `BOUNDS`. ``setting`` has n, k and eps0.
    """
    tables = []
    for curve, number in itertools.product(curves, rounds):
        points = make_points(eps, rounds=number, **setting)
        # Whether the bound of one round is 0 from eps = eps0 on.
        zero_from_eps0 = curve not in DOES_NOT_REACH_0
        # `delta` does not compose the method privacy-blanket, which is the curve "weak".
        ln_upper = ln_delta_of_rounds(BOUNDS[curve], points, zero_from_eps0=zero_from_eps0)
        upper = ln_upper / np.log(10)
        tables.append(_curve_table(curve, eps, upper, setting, rounds=number))
    return tables


def _curve_table(
    name: str, eps: Floats, upper: Floats, setting: dict[str, Any], *, rounds: int
) -> pd.DataFrame:
    """One curve as a table with the columns curve (``name``), rounds, n, k, eps0, eps and upper.

    ``upper`` is log10 of a bound on delta at each ``eps``. ``setting`` has n, k and eps0.
    """
    table = pd.DataFrame({"curve": name, "rounds": rounds, "eps": eps, "upper": upper, **setting})
    return table[COLUMNS]


def eps0_of_blanket(gamma: float, k: int) -> float:
    """The eps0 of that k-RR which reports a uniform value with probability ``gamma``, between 0 and 1.

    gamma = k / (e^eps0 + k - 1) (Balle et al. 2019), and so eps0 = ln(1 + k (1 - gamma) / gamma).
    """
    return math.log1p(k * (1 - gamma) / gamma)


def balle_analytic(eps: Any, *, n: Any, k: Any, eps0: Any) -> Floats:
    """log10 of the upper bound on delta of Theorem 3.1 of Balle et al. (2019), for one round of k-RR.

    It is the analytic bound in Figure 1a of Koskela et al.

    Koskela et al., section 3, state it for eps <= 1 as a condition on gamma, the probability of a
    uniform report: gamma >= max(14 k ln(2 / delta) / ((n - 1) eps^2), 27 k / ((n - 1) eps)). Solved for delta
    this is, with the mean number m = (n - 1) gamma / k of uniform reports per value,

        delta = min(1, 2 e^(-m eps^2 / 14))   where   eps <= 1   and   m eps >= 27.

    All arguments broadcast. The result is nan, with an `OutsideRange` warning, where a condition does not
    hold. Raises ValueError that names a bad argument.
    """
    eps, n, k, eps0 = np.broadcast_arrays(check_eps(eps), check_n(n), check_k(k), check_eps0(eps0))
    uniform_per_value = (n - 1) / (np.expm1(eps0) + k)  # m, as gamma = k / (e^eps0 - 1 + k)
    is_small = eps <= 1
    is_hidden = uniform_per_value * eps >= 27

    failing = []
    if not np.all(is_small):
        failing.append("eps <= 1")
    if not np.all(is_hidden):
        failing.append("gamma >= 27 k / ((n - 1) eps)")
    if failing:
        warnings.warn(
            f"balle_analytic holds only for {' and '.join(failing)}", OutsideRange, stacklevel=2
        )

    ln_delta = np.minimum(0.0, math.log(2) - uniform_per_value * eps**2 / 14)
    return np.where(is_small & is_hidden, ln_delta / math.log(10), np.nan)[()]


if __name__ == "__main__":
    with job() as snakemake:
        write_csv(koskela_fig1a(), snakemake.output.fig1a)
        write_csv(koskela_fig1b(), snakemake.output.fig1b)
