"""Curves of the accountants, one module per figure: a section of the config in, a table out."""

from tightshuffle.arguments import check_installed

check_installed("experiments", "pandas")
