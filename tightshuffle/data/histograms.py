"""The histograms in results/histograms: one count per cell."""

import numpy as np
import pandas as pd

from tightshuffle.arguments import Integers
from tightshuffle.data import StrPath


def read_histogram(path: StrPath) -> Integers:
    """How many users each cell holds, shape (k,)."""
    return pd.read_csv(path)["count"].to_numpy(dtype=np.int64)
