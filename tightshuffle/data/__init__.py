"""Where histograms come from: check-ins, grids, counts files, N(0, 2)."""
