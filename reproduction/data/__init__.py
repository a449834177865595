"""The sources of the histograms: check-ins, grids, sub-cells, N(0, 2)."""

import os

StrPath = str | os.PathLike[str]
