"""Bounds on delta, one module per family, all with one signature: ``delta(eps, *, n, k, eps0, ...)``."""
