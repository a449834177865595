"""A certified bracket of log E[(G_1 + ... + G_n)_+], for independent G with finitely many values, at any n.

Every hockey-stick divergence of the shuffle model here is such an expectation (see `privacy_blanket`). The
number of summands may also be a sum of independent binomial and Poisson numbers (`cover`). A contour
integral is summed by the trapezoid rule; its five errors (smoothing, aliasing, truncation, skipped nodes,
rounding) are bounded, each to the safe side (`contour` has the proofs). Few combinations of values are summed
one by one (`box`).
"""

from tightshuffle.numerics.positive_part.bracket import log_positive_part, tilted_copies
from tightshuffle.numerics.positive_part.outwards import outwards

__all__ = ["log_positive_part", "outwards", "tilted_copies"]
