"""Gaussian approximation (central limit theorem) of a shuffled randomizer. Not a bound.

The loss tends to that of mu-Gaussian differential privacy (Dong, Roth and Su 2022) with

    mu^2 = E_w[((R_x0 - R_x1) / w)^2] / n,   w the blanket;   for k-RR mu = sqrt(2) (p - q) / sqrt(n q).

For k-RR with small n q, delta is far larger. docs/theory.md, "Every randomizer", derives it.
"""

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_n
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.randomizers import Randomizer, parse


def gaussian_mu(
    *,
    n: npt.ArrayLike,
    k: int | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
) -> Floats:
    """mu of the Gaussian differential privacy that n shuffled reports tend to, the largest over all pairs.

    mu^2 is the variance of a report's gain (R_x0 - R_x1) / blanket, over n, for a pair of values x0, x1. It
    is that of Gaussian noise with sensitivity / deviation = mu. ``n`` is a number or an array; other
    parameters as for `tightshuffle.upper`. Raises ValueError that names a bad argument.
    """
    if isinstance(randomizer, str):
        randomizer = parse(randomizer, k=k, eps0=eps0)
    variances = []
    for pair in randomizer.pairs():
        gains, probabilities = randomizer.gains(0.0, "blanket", pair)
        variances.append(float(probabilities @ gains**2))
    return np.sqrt(max(variances) / check_n(n))


def gaussian_eps(log10_delta: float, mu: float) -> float:
    """The eps at which Gaussian noise with sensitivity / deviation = ``mu`` has this log10 delta.

    It is 0 if delta is smaller at eps = 0 already. All are numbers.
    """

    def surplus(eps: float) -> float:
        """log10 delta at ``eps``, less its target."""
        return float(log10_delta_of_scale(eps, scale=1 / mu)) - log10_delta

    if surplus(0.0) <= 0:
        return 0.0
    high = mu
    while surplus(high) > 0:
        high *= 2
    return scipy.optimize.brentq(surplus, 0.0, high, xtol=1e-14, rtol=1e-12)
