"""What the papers print and state, and whether it holds."""

from tightshuffle.arguments import check_installed

check_installed("experiments", "pandas")
