"""The axes of the curves in the figures of the companion papers."""

import numpy as np

from tightshuffle.arguments import Floats

# Start, stop (both are points of the axis) and number of points: arguments of np.linspace, np.geomspace.
Axis = tuple[float, float, int]


def rounded_to_10_decimals(values: Floats) -> Floats:
    """The values to 10 decimals, so that 0.1 + 0.1 + 0.1 is 0.3 and the ends are those of the axis."""
    return np.round(values, 10)
