"""Maximum likelihood by expectation maximisation, for any randomizer whose reports can be listed."""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats

GAP = 1e-4
STEPS = 3000


def expectation_maximisation(frequencies: npt.ArrayLike, matrix: npt.ArrayLike) -> Floats:
    """The maximum-likelihood shares of the values, by the iterative Bayesian update.

    Each step multiplies every share by the mean of R_x(y) / P(y) over the reports y. The mean log-likelihood
    is concave; it is within (largest of these means - 1) of its maximum, and steps end when that is below
    1e-4 everywhere, or after 3,000. `krr.maximum_likelihood` is the closed form for k-RR.

    Parameters
    ----------
    frequencies : of each report, shape (..., reports), >= 0, each row summing to 1
    matrix : R_x(y), shape (reports, k); columns sum to 1

    Returns
    -------
    shares, shape (..., k), >= 0, rows sum to 1.
    """
    observed, probabilities = np.asarray(frequencies, dtype=float), np.asarray(matrix, dtype=float)
    shares = np.full((*observed.shape[:-1], probabilities.shape[1]), 1 / probabilities.shape[1])
    for _ in range(STEPS):
        expected = shares @ probabilities.T
        gain = np.divide(observed, expected, out=np.zeros_like(observed), where=observed > 0) @ probabilities
        if gain.max() - 1 < GAP:
            break
        shares = shares * gain
    return shares
