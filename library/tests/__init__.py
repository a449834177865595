"""The tests of the library, which need nothing but an installed `tightshuffle` and test tools."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
