"""Randomizers and the Gaussian mechanism, the errors of their estimates and the closed forms of these."""
