"""delta from its logarithm."""

import numpy as np

from tightshuffle.arguments import Floats


def delta_of_log10(log10_delta: Floats, side: int) -> Floats:
    """10 to the power ``log10_delta``, from 0 to 1, rounded up (``side`` 1), down (-1) or to nearest (0).

    0 only for -inf if rounded up, however small the power is.
    """
    logs = np.asarray(log10_delta, dtype=float)
    # Powers lose units in the last place in proportion to the exponent; below 1e-307 a unit is 5e-324.
    unit = np.where((-np.inf < logs) & (logs < -307), 1e-323, 0.0)
    return np.clip(np.power(10.0, logs) * (1 + 1e-12 * side) + side * unit, 0.0, 1.0)
