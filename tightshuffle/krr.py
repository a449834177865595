"""The mechanism k-RR: its probabilities, the shuffled histogram of n users in O(k), its estimators.

k-RR with local budget eps0 reports the user's value with probability p = e^eps0 / (e^eps0 + k - 1) and each
other value with probability q = 1 / (e^eps0 + k - 1) (Biswas et al., Definition 5). In two steps, with the
"blanket", it is the same distribution: with probability gamma = k q report a uniform value, else the truth.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers, check_eps0, check_k, check_users

MOST_SORTED = 2000  # values up to which a projection sorts, as one call for all rows
_SMALLEST_EPS0 = 1e-9  # of an inversion, which divides a rounding error of 1e-16 by about eps0


def truth_probability(eps0: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """p, the probability that k-RR reports the true value. ``eps0`` and ``k`` broadcast."""
    return 1 / (1 + (check_k(k) - 1) * np.exp(-check_eps0(eps0)))


def lie_probability(eps0: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """q, the probability that k-RR reports one given other value. ``eps0`` and ``k`` broadcast."""
    tail = np.exp(-check_eps0(eps0))
    return tail / (1 + (check_k(k) - 1) * tail)


def sample_histogram(
    counts: npt.ArrayLike, eps0: float, rng: "np.random.Generator", repetitions: int = 1
) -> Integers:
    """Draw the shuffled k-RR histogram of a dataset from its exact distribution, in O(k) instead of O(n).

    k-RR reports a uniform value with probability gamma, and else the true one. So of the users who hold x,
    Binomial(counts[x], 1 - gamma) report it directly, and the uniform reports of all others are multinomial.
    `check_counts` says what ``counts`` may be, and which errors it raises. Returns whole numbers
    (repetitions, k).
    """
    counts = check_counts(counts, repetitions)
    k = counts.shape[1]
    gamma = k * lie_probability(eps0, k)
    truthful = rng.binomial(counts, 1 - gamma)
    uniform_reports = counts.sum(axis=1) - truthful.sum(axis=1)
    return truthful + rng.multinomial(uniform_reports, np.full(k, 1 / k))


def invert(frequencies: npt.ArrayLike, eps0: float) -> Floats:
    """The unbiased estimate of the true frequencies, (y - q) / (p - q) (Biswas et al., eq. (12)), in O(k).

    ``frequencies`` has the shape (..., k), with rows that sum to 1. Returns the same shape. Estimates may be
    negative. ValueError for an eps0 below 1e-9, which leaves no information.
    """
    frequencies = np.asarray(frequencies, dtype=float)
    k = frequencies.shape[-1]
    gain = _gain(eps0)
    return frequencies + (k * frequencies - 1) / gain  # p - q = gain q, and 1 / q = gain + k


def project_to_simplex(points: npt.ArrayLike) -> Floats:
    """The nearest probability vector in Euclidean distance, row by row, for finite ``points`` (..., k).

    Sort-and-threshold (Wang and Carreira-Perpinan 2013, the projection cited by the paper). Of more than
    `MOST_SORTED` values, the same threshold without a sort (Michelot 1986). Entries of the result are >= 0,
    and rows sum to 1.
    """
    rows = np.asarray(points, dtype=float)
    if not np.all(np.isfinite(rows)):
        raise ValueError("project_to_simplex needs finite numbers; got NaN or infinity")
    # The projection depends on differences only, which keep their digits near 0. Less the row's maximum, the
    # threshold is at least -1, so that values below -2 do not matter.
    with np.errstate(over="ignore"):
        shifted = np.maximum(rows - rows.max(axis=-1, keepdims=True), -2.0)

    k = shifted.shape[-1]
    if k > MOST_SORTED:
        thresholds = [_threshold(row) for row in shifted.reshape(-1, k)]
        return np.maximum(shifted - np.reshape(thresholds, (*shifted.shape[:-1], 1)), 0)

    descending = -np.sort(-shifted, axis=-1)
    # The m largest values less a threshold sum to 1 at the threshold excess / m. The m that stay positive are
    # those that are above it.
    excess = np.cumsum(descending, axis=-1) - 1
    ranks = np.arange(1, k + 1)
    positive = np.count_nonzero(descending * ranks > excess, axis=-1, keepdims=True)
    threshold = np.take_along_axis(excess, positive - 1, axis=-1) / positive
    return np.maximum(shifted - threshold, 0)


def _threshold(values: Floats) -> float:
    """The threshold at which the positive parts of ``values`` (k,) less the threshold sum to 1.

    Leaving out the values below it raises it, until none is left to be left out.
    """
    remaining_values = values
    while True:
        threshold = float(remaining_values.sum() - 1) / remaining_values.size
        above = remaining_values[remaining_values > threshold]
        if above.size == remaining_values.size:
            return threshold
        remaining_values = above


def maximum_likelihood(frequencies: npt.ArrayLike, eps0: float) -> Floats:
    """The most likely true frequencies given the noisy ones: the limit of the iterative Bayesian update.

    The update is expectation maximisation of sum_x y_x log(q + (p - q) f_x): y are the noisy frequencies, f
    the true ones, and k-RR reports the value with probability p, any other with q. The sum is concave in f.
    So by Karush-Kuhn-Tucker's conditions f = max(0, y / level - c), c = q / (p - q) = 1 / (e^eps0 - 1), at
    the level that makes the sum of f 1. As many of the largest y are kept as stay positive. Where inversion
    gives no negative estimate, both agree.

    ``frequencies`` (..., k) are >= 0, and rows sum to 1. Returns the same shape. ValueError for other
    frequencies, and for an eps0 below 1e-9.
    """
    frequencies = np.asarray(frequencies, dtype=float)
    sums_to_1 = np.allclose(frequencies.sum(axis=-1), 1, rtol=0, atol=1e-9)
    if not (np.all(frequencies >= 0) and sums_to_1):
        raise ValueError("maximum_likelihood needs frequencies >= 0 that sum to 1 in every row")

    c = 1 / _gain(eps0)
    descending = -np.sort(-frequencies, axis=-1)
    ranks = np.arange(1, frequencies.shape[-1] + 1)
    levels = np.cumsum(descending, axis=-1) / (1 + ranks * c)
    positive = np.count_nonzero(descending > c * levels, axis=-1, keepdims=True)
    level = np.take_along_axis(levels, positive - 1, axis=-1)
    return np.maximum(frequencies / level - c, 0)


def _gain(eps0: float) -> Floats:
    """e^eps0 - 1, for an eps0 that can be inverted."""
    if np.any(check_eps0(eps0) < _SMALLEST_EPS0):
        raise ValueError(f"eps0 must be at least {_SMALLEST_EPS0:g} to be inverted; got {eps0}")
    return np.expm1(np.minimum(eps0, 700.0))  # of the noise e^-700 is left


def check_counts(values: npt.ArrayLike, repetitions: int = 1) -> Integers:
    """``values`` (users per value) as an integer array of shape (repetitions, k), from (k,) or this shape.

    ValueError for counts that are negative, not whole numbers, or of another shape.
    """
    counts = np.atleast_2d(np.asarray(values))
    if counts.ndim != 2 or counts.shape[1] < 2 or counts.shape[0] not in (1, repetitions):
        raise ValueError(
            f"counts must have the shape (k,) or ({repetitions}, k), k >= 2; got {counts.shape}"
        )
    return np.broadcast_to(check_users("counts", counts), (repetitions, counts.shape[1]))
