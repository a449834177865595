"""Verdicts on the paper's printed values and statements."""
