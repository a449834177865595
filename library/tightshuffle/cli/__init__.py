"""The command `tightshuffle`."""
