"""The axes of the curves: their two ends, both included, and the number of points."""

import numpy as np

from tightshuffle.arguments import Floats

Axis = tuple[float, float, int]  # start, stop, steps: the arguments of np.linspace and np.geomspace


def rounded(values: Floats) -> Floats:
    """The values to 10 decimals, so that 0.1 + 0.1 + 0.1 is 0.3 and the ends are those of the axis."""
    return np.round(values, 10)
