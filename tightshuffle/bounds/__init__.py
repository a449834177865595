"""Bounds on delta that hold for every dataset, or for a dataset that is named."""
