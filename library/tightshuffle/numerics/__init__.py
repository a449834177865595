"""Expectations, binomial sums and grids of losses, with every rounding error on a known side."""
