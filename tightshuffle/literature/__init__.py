"""Bounds on delta from the literature."""
