"""delta and its logarithms: natural ones inside of the package, to base 10 at its doors."""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.numerics.side import Side

LN10 = math.log(10)  # ln delta over log10 delta


def delta_of_log10(log10_delta: Floats, side: Side | None) -> Floats:
    """10 to the power ``log10_delta``, from 0 to 1, rounded to its ``side``. None is the nearest float.

    Rounded up, it is 0 only for -inf, however small the power is.
    """
    direction = {Side.UPPER: 1, Side.LOWER: -1, None: 0}[side]
    logs = np.asarray(log10_delta, dtype=float)
    # Powers lose units in the last place in proportion to the exponent; below 1e-307 a unit is 5e-324.
    unit = np.where((-np.inf < logs) & (logs < -307), 1e-323, 0.0)
    return np.clip(np.power(10.0, logs) * (1 + 1e-12 * direction) + direction * unit, 0.0, 1.0)
