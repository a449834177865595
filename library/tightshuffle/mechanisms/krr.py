"""The mechanism k-RR: its probabilities, the shuffled histogram of n users in O(k), its estimators.

k-RR with local budget eps0 reports the user's value with probability p = e^eps0 / (e^eps0 + k - 1) and each
other value with probability q = 1 / (e^eps0 + k - 1) (Biswas et al., Definition 5). In two steps, with the
"blanket", it is the same distribution: with probability gamma = k q report a uniform value, else the truth.
"""

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    Integers,
    check_eps0,
    check_k,
    check_numbers,
    check_users,
)

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

    Of the users who hold x, Binomial(counts[x], 1 - gamma) report it directly, and the uniform reports of all
    others are multinomial.

    ``counts`` are users per value, (k,) or (repetitions, k). `check_counts` says what they may be, and which
    errors it raises. Returns the number of reports of each value, whole numbers (repetitions, k).
    """
    counts = check_counts(counts, repetitions)
    k = counts.shape[1]
    gamma = k * lie_probability(eps0, k)
    truthful = rng.binomial(counts, 1 - gamma)
    uniform_reports = counts.sum(axis=1) - truthful.sum(axis=1)
    return truthful + rng.multinomial(uniform_reports, np.full(k, 1 / k))


def invert(frequencies: npt.ArrayLike, eps0: float) -> Floats:
    """The unbiased estimate of the true frequencies, (y - q) / (p - q) (Biswas et al., eq. (12)), in O(k).

    y are the ``frequencies`` of the reports, (..., k), with rows that sum to 1. Returns shares of the same
    shape. Estimates may be negative. ValueError for an eps0 below 1e-9, which leaves no information.
    """
    frequencies = check_numbers("frequencies", frequencies)
    k = frequencies.shape[-1]
    # With ratio = (p - q) / q, 1 / q = ratio + k. So (y - q) / (p - q) = (y (ratio + k) - 1) / ratio.
    ratio = _p_minus_q_over_q(eps0)
    return frequencies + (k * frequencies - 1) / ratio


def project_to_simplex(points: npt.ArrayLike) -> Floats:
    """The nearest probability vector in Euclidean distance to each row of finite ``points`` (..., k).

    Returns the same shape, with entries >= 0 and rows that sum to 1. ValueError for NaN or infinity.

    The nearest vector is max(row - threshold, 0) with the threshold at which this sums to 1. It is found from
    the sorted row (Wang and Carreira-Perpinan 2013, the projection cited by the paper). For a k above
    `MOST_SORTED`, the same threshold is found without a sort (Michelot 1986).
    """
    rows = check_numbers("points", points)
    # The projection depends on differences only, and these keep their digits near 0: so subtract each row's
    # maximum. Then the threshold is at least -1, so that values below -2 do not matter.
    with np.errstate(over="ignore"):
        shifted = np.maximum(rows - rows.max(axis=-1, keepdims=True), -2.0)

    k = shifted.shape[-1]
    if k > MOST_SORTED:
        thresholds = [_threshold_without_sort(row) for row in shifted.reshape(-1, k)]
        return np.maximum(shifted - np.reshape(thresholds, (*shifted.shape[:-1], 1)), 0)

    # If the m largest values alone stay positive, the threshold is excess / m: their sum less 1, over m. The
    # right m is the number of values that are above the threshold of their own rank m.
    descending = -np.sort(-shifted, axis=-1)
    excess = np.cumsum(descending, axis=-1) - 1
    ranks = np.arange(1, k + 1)
    positive = np.count_nonzero(descending * ranks > excess, axis=-1, keepdims=True)
    threshold = np.take_along_axis(excess, positive - 1, axis=-1) / positive
    return np.maximum(shifted - threshold, 0)


def _threshold_without_sort(values: Floats) -> float:
    """The threshold for which max(values - threshold, 0) sums to 1, for ``values`` (k,).

    The threshold of all values together, (sum - 1) / k, is too low if some values are not above it. These are
    left out, which raises the threshold of the others, and so on until all that remain are above it.
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

    ``frequencies`` (..., k), the noisy ones, are >= 0, and rows sum to 1. Returns the same shape, with rows
    that sum to 1. ValueError for other frequencies, and for an eps0 below 1e-9.

    Let y be the noisy frequencies of a row, and f the true ones. The update maximises the log-likelihood
    sum_x y_x ln(q + (p - q) f_x), which is concave in f. With c = q / (p - q) = 1 / (e^eps0 - 1), the
    Karush-Kuhn-Tucker conditions give f = max(0, y / level - c), at the level for which f sums to 1. Where
    `invert` gives no negative estimate, this is the same.
    """
    frequencies = check_numbers("frequencies", frequencies)
    sums_to_1 = np.allclose(frequencies.sum(axis=-1), 1, rtol=0, atol=1e-9)
    if not (np.all(frequencies >= 0) and sums_to_1):
        raise ValueError("maximum_likelihood needs frequencies >= 0 that sum to 1 in every row")

    # If the m largest y alone have f > 0, the level is their sum over 1 + m c. The right m is the number of y
    # that have f > 0 at the level of their own rank m.
    c = 1 / _p_minus_q_over_q(eps0)
    descending = -np.sort(-frequencies, axis=-1)
    ranks = np.arange(1, frequencies.shape[-1] + 1)
    levels = np.cumsum(descending, axis=-1) / (1 + ranks * c)
    positive = np.count_nonzero(descending > c * levels, axis=-1, keepdims=True)
    level = np.take_along_axis(levels, positive - 1, axis=-1)
    return np.maximum(frequencies / level - c, 0)


def _p_minus_q_over_q(eps0: float) -> Floats:
    """(p - q) / q = e^eps0 - 1, for the probabilities p of the true value and q of one given other in k-RR.

    ValueError for an ``eps0`` below 1e-9, which would only invert rounding errors.
    """
    if np.any(check_eps0(eps0) < _SMALLEST_EPS0):
        raise ValueError(f"eps0 must be at least {_SMALLEST_EPS0:g} to be inverted; got {eps0}")
    # e^700 is a float, and above that the noise, e^-700 at most, is far below rounding.
    return np.expm1(np.minimum(eps0, 700.0))


def check_counts(values: npt.ArrayLike, repetitions: int = 1) -> Integers:
    """``values``, users per value, as an integer array of the shape (repetitions, k).

    Their own shape is (k,), which is repeated, or (repetitions, k), with k at least 2. ValueError for counts
    that are negative, not whole numbers, or of another shape.
    """
    counts = np.atleast_2d(check_users("counts", values))
    if counts.ndim != 2 or counts.shape[1] < 2 or counts.shape[0] not in (1, repetitions):
        raise ValueError(
            f"counts must have the shape (k,) or ({repetitions}, k), k >= 2; got {counts.shape}"
        )
    return np.broadcast_to(counts, (repetitions, counts.shape[1]))
