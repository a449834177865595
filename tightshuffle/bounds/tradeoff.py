"""The trade-off curve: how well an attack can tell two datasets apart, from the delta at every eps."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_n
from tightshuffle.bounds.histogram import upper
from tightshuffle.randomizers import Randomizer, parse

_POINTS = 400  # values of eps whose lines bound the curve


def tradeoff(
    alpha: npt.ArrayLike,
    *,
    n: float,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
) -> Floats:
    """A lower bound on the type II error of every test of x0 against x1 with type I error ``alpha``.

    (eps, delta)-differential privacy in both directions keeps it above max(0, 1 - delta - e^eps alpha,
    e^-eps (1 - delta - alpha)) (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 3). The bound is
    the largest of these lines over 400 values of eps, with delta from `histogram.upper`. More values could
    only raise it.

    ``alpha`` in [0, 1], a number or an array; all else as for `histogram.upper`, numbers. Returns the bound,
    of the shape of ``alpha``. Raises ValueError naming a bad argument.
    """
    errors = np.asarray(alpha, dtype=float)
    if not np.all((errors >= 0) & (errors <= 1)):
        raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}")
    if isinstance(randomizer, str):
        own = parse(randomizer, k=k, eps0=eps0)
    else:
        randomizer.own(k, eps0)
        own = randomizer
    # Dense near 0, where the curve of many users bends.
    eps = own.eps0 * np.concatenate([[0.0], np.geomspace(1e-6, 1, _POINTS - 1)])
    kept = 1 - 10 ** upper(eps, n=int(check_n(n)), randomizer=own, colluding=colluding)
    lines = np.maximum(kept - np.exp(eps) * errors[..., None], np.exp(-eps) * (kept - errors[..., None]))
    return np.maximum(lines.max(axis=-1) * (1 - 1e-15) - 1e-16, 0.0)[()]
