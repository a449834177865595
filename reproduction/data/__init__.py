"""Where histograms come from: check-ins, grids, counts files, N(0, 2)."""

import os

from tightshuffle.arguments import check_installed

check_installed("experiments", "pandas", "pyarrow", "requests")

StrPath = str | os.PathLike[str]
