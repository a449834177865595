"""Gaussian approximation (central limit theorem) of a shuffled randomizer. Not a bound.

The loss tends to that of mu-Gaussian differential privacy (Dong, Roth and Su 2022) with

    mu^2 = E_w[((R_x0 - R_x1) / w)^2] / n,   w the blanket;   for k-RR mu = sqrt(2) (p - q) / sqrt(n q).

For k-RR with small n q, delta is far larger. docs/theory.md, "Every randomizer", derives it.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_n
from tightshuffle.mechanisms.gaussian import ln_delta_of_ratio
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.randomizers import Randomizer, parse


def gaussian_mu(
    *,
    n: npt.ArrayLike,
    k: int | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
) -> Floats:
    """mu of the Gaussian differential privacy that n shuffled reports tend to, the largest over all pairs.

    mu^2 is the variance of a report's gain (R_x0 - R_x1) / blanket, divided by n, for a pair of values x0,
    x1. A Gaussian mechanism with sensitivity / deviation = mu has this mu. ``n``, the number of users, is a
    number or an array, and the result has its shape. Other parameters are as for `tightshuffle.delta`. Raises
    ValueError that names a bad argument.
    """
    if isinstance(randomizer, str):
        randomizer = parse(randomizer, k=k, eps0=eps0)
    variances = []
    for pair in randomizer.pairs():
        gains, probabilities = randomizer.gains(0.0, "blanket", pair)
        variances.append(float(probabilities @ gains**2))
    return np.sqrt(max(variances) / check_n(n))


def gaussian_eps(ln_delta: float, mu: float) -> float:
    """The eps at which the Gaussian mechanism with sensitivity / deviation = ``mu`` has this ln delta.

    It is 0 if ln delta is at most ``ln_delta`` at eps = 0 already.
    """

    def surplus(eps: float) -> float:
        """ln delta of the mechanism at ``eps``, less the target; it falls with eps."""
        return ln_delta_of_ratio(eps, 1 / mu) - ln_delta

    # The root lies between 0 and mu, mu and 2 mu, 2 mu and 4 mu, ...
    interval = interval_with_root(surplus, mu, step=mu, least=0.0)
    assert interval is not None  # the search has no end above
    return least_enough(surplus, *interval, tolerance=1e-15 * interval[1])
