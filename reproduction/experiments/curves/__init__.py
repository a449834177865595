"""Curves of the accountants, one module per figure: a section of the config in, a table out."""
