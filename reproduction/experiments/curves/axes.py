"""The axes of the curves, as the config writes them: ``{start, stop, steps}``, both ends included."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tightshuffle.arguments import Floats

Section = Mapping[str, Any]  # of the config


def linear_axis(axis: Section) -> Floats:
    """``steps`` evenly spaced values, shape (steps,)."""
    return np.linspace(axis["start"], axis["stop"], axis["steps"])


def log_axis(axis: Section) -> Floats:
    """``steps`` values with evenly spaced logarithms, shape (steps,)."""
    return np.geomspace(axis["start"], axis["stop"], axis["steps"])


def rounded(values: Floats) -> Floats:
    """To 10 decimals: 0.1 + 0.1 + 0.1 is 0.3, and the ends are exactly what the config says."""
    return np.round(values, 10)
