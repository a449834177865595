"""Curves of the bounds, one module per figure: from a section of the configuration to a table."""
