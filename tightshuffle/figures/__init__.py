"""How figures look."""

from tightshuffle.arguments import check_installed

check_installed("pipeline", "matplotlib", "pandas")
