"""Where histograms come from: check-ins, grids, counts files, N(0, 2)."""

from tightshuffle.arguments import check_installed

check_installed("experiments", "pandas", "pyarrow", "requests")
