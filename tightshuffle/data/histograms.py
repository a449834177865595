"""The histograms in results/histograms: one count per cell."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tightshuffle.data import StrPath


def read_histogram(path: StrPath) -> NDArray[np.int64]:
    """How many users each cell holds, shape (k,)."""
    return pd.read_csv(path)["count"].to_numpy(dtype=np.int64)
