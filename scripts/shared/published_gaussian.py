"""The Gaussian mechanism of the paper's experiments, as its library computes it."""

import math


def published_scale(eps: float, delta: float, sensitivity: float) -> float:
    """Standard deviation of diffprivlib's ``GaussianAnalytic``, the mechanism of the paper's experiments.

    diffprivlib computes Phi as (1 + erf) / 2, which saturates: below a delta between 1e-15 and 1e-18, which
    depends on eps, the scale stops growing, and is too small. From 1e-20 to 1e-100 it is constant. This is
    part of the published reading.

    Parameters: ``eps`` > 0, 0 < ``delta`` < 1, ``sensitivity`` > 0 (L2), numbers. Returns a float in the
    unit of the sensitivity. Raises ValueError, from diffprivlib, for arguments out of range.
    """
    from diffprivlib.mechanisms import GaussianAnalytic  # takes a second

    mechanism = GaussianAnalytic(
        epsilon=float(eps), delta=float(delta), sensitivity=float(sensitivity)
    )
    return float(math.sqrt(mechanism.variance(0)))
