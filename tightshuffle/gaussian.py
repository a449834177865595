"""The analytic Gaussian mechanism (Balle and Wang 2018), as the paper used it."""

import numpy as np
from diffprivlib.mechanisms import GaussianAnalytic


def published_scale(eps, delta, sensitivity):
    """Standard deviation of diffprivlib's ``GaussianAnalytic``, the mechanism of the paper's experiments.

    diffprivlib takes Phi as (1 + erf) / 2, which saturates: for every delta below about 1e-17 it returns
    the same scale, too small for the (eps, delta) asked for. That is part of the published reading.

    Parameters: ``eps`` > 0, 0 < ``delta`` < 1, ``sensitivity`` > 0 (L2), numbers. Returns a float in the
    unit of the sensitivity. Raises ValueError, from diffprivlib, for arguments out of range.
    """
    mechanism = GaussianAnalytic(epsilon=float(eps), delta=float(delta), sensitivity=float(sensitivity))
    return float(np.sqrt(mechanism.variance(0)))
