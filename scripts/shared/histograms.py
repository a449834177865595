"""The histograms in results/histograms: one count per cell."""

import numpy as np
import pandas as pd

from scripts.shared.job import StrPath
from tightshuffle.arguments import Integers


def read_histogram(path: StrPath) -> Integers:
    """How many users each cell holds, shape (k,)."""
    return pd.read_csv(path)["count"].to_numpy(dtype=np.int64)
