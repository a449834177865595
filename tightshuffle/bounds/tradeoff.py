"""The trade-off curve: how well any attack can distinguish two datasets, from delta at every eps."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.bounds import upper
from tightshuffle.setting import Setting

_POINTS = 400  # values of eps whose lines bound the curve


def tradeoff(alpha: npt.ArrayLike, setting: Setting) -> Floats:
    """A lower bound on the type II error of every test of x0 against x1 with type I error ``alpha``.

    It is at least max(0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)) at every eps (Wasserman and
    Zhou 2010; Dong, Roth and Su 2022, Proposition 3). The bound is the largest over 400 values of eps, by
    `upper`.
    """
    errors = np.asarray(alpha, dtype=float)
    if not np.all((errors >= 0) & (errors <= 1)):
        raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}")
    _, own = setting.one()
    # Dense near 0, where the curve of many users bends.
    eps = own.eps0 * np.concatenate([[0.0], np.geomspace(1e-6, 1, _POINTS - 1)])
    kept = 1 - 10 ** upper.of_one_round(eps, setting)
    lines = np.maximum(kept - np.exp(eps) * errors[..., None], np.exp(-eps) * (kept - errors[..., None]))
    return np.maximum(lines.max(axis=-1) * (1 - 1e-15) - 1e-16, 0.0)[()]
