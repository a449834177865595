"""Where histograms come from: check-ins, grids, counts files, N(0, 2)."""

import os

StrPath = str | os.PathLike[str]
