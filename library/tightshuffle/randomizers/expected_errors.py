"""Expected errors of unbiased estimates before projection, for any histogram.

An estimate of a value's share is a shifted and scaled count: how many reports support the value. Its expected
absolute error is that of a sum of binomial numbers, one of the users who hold the value and one of all other
users. `errors` and `errors_of_count` compute it exactly.

The closed forms for k-RR below take errors as normal. For k-RR, inverted (Biswas et al., eq. (12)), the
estimate of a share f has the variance

    (f p (1 - p) + (1 - f) q (1 - q)) / (n (p - q)^2),

the Gaussian's is (sigma / n)^2. The mean absolute value of a normal variable is its standard deviation times
sqrt(2 / pi). This is exact for the Gaussian, and for k-RR, by the central limit theorem, to about 1 / (n q).
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_eps0, check_k, check_n
from tightshuffle.mechanisms.krr import lie_probability, truth_probability
from tightshuffle.numerics.binomial_sum import mean_absolute_deviation
from tightshuffle.randomizers.base import Randomizer, SupportRandomizer

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)  # of Gauss-Legendre quadrature on [-1, 1]
_STEPS = 8  # of the integral of the largest error, each with all nodes
_LAST_EXPONENT = 40  # that integral ends where its integrand is at most e^-40
_SIZES_AT_A_TIME = 10_000  # rows of an array, which bounds the memory


def krr_deviation(
    share: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike
) -> Floats:
    """Standard deviation of the inverted k-RR estimate of the ``share`` f (0 to 1) of n users at one value.

    It is sqrt((f p (1 - p) + (1 - f) q (1 - q)) / n) / (p - q), a share, too. k-RR with local budget ``eps0``
    reports the true value, one of ``k``, with probability p, and one given other value with probability q.
    All arguments broadcast. Raises ValueError that names a bad argument.
    """
    n, k, eps0 = check_n(n), check_k(k), check_eps0(eps0)
    share = np.asarray(share, dtype=float)
    # In units of q no difference of near numbers occurs for small eps0: p - q is the gap, p is gap + 1, 1 - p
    # is k - 1, and 1 - q is gap + k - 1.
    gap = np.expm1(eps0)
    summed = share * (gap + 1) * (k - 1) + (1 - share) * (gap + k - 1)
    return np.sqrt(summed / n) / gap


def mean_absolute(deviation: npt.ArrayLike, bias: npt.ArrayLike = 0.0) -> Floats:
    """E|X| of a normal variable X with standard ``deviation`` > 0 and mean ``bias``, which broadcast."""
    deviation = np.asarray(deviation, dtype=float)
    bias = np.asarray(bias, dtype=float)
    z = bias / deviation
    spread = np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2)
    return deviation * (spread + z * (1 - 2 * scipy.special.ndtr(-z)))


class Reporters(NamedTuple):
    """So many ``users`` who are alike, and the probabilities that the report of one supports a value.

    A user who holds the value has the probability ``p``, another one ``q``. ``p_complement`` and
    ``q_complement`` are 1 - p and 1 - q.
    """

    users: int
    p: float
    q: float
    p_complement: float
    q_complement: float


def errors(randomizer: Randomizer, shares: npt.ArrayLike, *, n: npt.ArrayLike) -> Floats:
    """Expected absolute error of every value's unbiased estimate of its share, (..., k).

    ``shares`` (..., k) of ``n`` (...) users hold the values. If all values have the same share, ``shares``
    may be a number (not for a randomizer given by a matrix). Half the sum over the values is the expected
    total variation distance. Errors are those of `errors_of_count`; for a randomizer given by a matrix they
    are taken as normal, by the central limit theorem.
    """
    variances = randomizer.variance(shares, n)
    if not isinstance(randomizer, SupportRandomizer):
        return mean_absolute(np.sqrt(variances))

    shares = np.broadcast_to(np.asarray(shares, dtype=float), variances.shape)
    all_users = check_n(n)
    expected = np.empty(variances.shape)
    for index in np.ndindex(all_users.shape):
        users = int(all_users[index])
        reporters = Reporters(
            users,
            randomizer.p_star,
            randomizer.q_star,
            randomizer.p_complement,
            randomizer.q_complement,
        )
        of_count = errors_of_count(np.atleast_1d(shares[index]), [reporters])
        expected[index] = of_count.reshape(shares[index].shape) / users
    return np.asarray(expected / randomizer.support_difference)


def errors_of_count(
    shares: Floats,
    groups: Sequence[Reporters],
    *,
    dummies: Sequence[tuple[float, float]] = (),
    poisson_mean: float = 0.0,
) -> Floats:
    """Expected absolute error of how many reports support a value, in reports, exact; (v,).

    ``shares`` (v,) of the users of each of the ``groups`` hold the values. ``dummies`` are pairs of a number
    and a probability: each of so many dummies supports the value with this probability. So does a Poisson
    number of others, of mean ``poisson_mean``. All reports are independent.

    Where a share of the users is no whole number, the result is the mean of the errors at the whole numbers
    beside it, weighted so that the mean of these is the share. On uniform data that is the mean error of all
    values, if their numbers of users are as equal as whole numbers can be.
    """
    different, places = np.unique(shares, return_inverse=True)
    users = np.array([float(group.users) for group in groups])
    holders = different[:, None] * users
    whole = np.floor(holders)
    fractions = holders - whole
    # A group's holders are rounded up below their fraction, and down above it. Between two of these levels,
    # all stays the same; (shares, 2 + groups).
    levels = np.sort(np.pad(fractions, ((0, 0), (1, 0))), axis=1)
    levels = np.pad(levels, ((0, 0), (0, 1)), constant_values=1.0)

    _, p, q, p_complement, q_complement = np.array(groups).T
    numbers, supports = np.array(dummies, dtype=float).reshape(-1, 2).T
    of_dummies = np.broadcast_to(numbers, (len(different), len(numbers)))
    probabilities = np.concatenate([p, q, supports])
    complements = np.concatenate([p_complement, q_complement, 1 - supports])
    expected = np.zeros(len(different))
    for low, high in itertools.pairwise(levels.T):
        rounded = whole + (fractions > low[:, None])
        trials = np.concatenate([rounded, users - rounded, of_dummies], axis=1)
        deviations = mean_absolute_deviation(trials, probabilities, complements, poisson_mean)
        expected += (high - low) * deviations
    return expected[places]


def largest_error(deviations: npt.ArrayLike) -> float:
    """E max |X_i| of independent normal X_i of mean 0 and standard ``deviations`` (k,), some of them > 0.

    For correlated variables, such as the errors of most randomizers, this is an upper bound (Sidak 1967). The
    errors of the unary encodings are independent.
    """
    # Equal deviations are treated as one, with their count.
    sizes, counts = np.unique(np.asarray(deviations, dtype=float), return_counts=True)
    positive = sizes > 0
    sizes = sizes[positive]
    counts = counts[positive]

    # E max = int_0^inf P(some |X_i| > t) dt. The integrand falls from 1 to 0 within a short range. So there
    # are several steps of Gauss-Legendre quadrature, with all nodes t (nodes,) in a row.
    last_t = sizes[-1] * np.sqrt(2 * np.log(2 * counts.sum()) + 2 * _LAST_EXPONENT)
    edges = np.linspace(0, last_t, _STEPS + 1)
    t = (edges[:-1, None] + np.diff(edges)[:, None] * (_NODES + 1) / 2).ravel()

    # ln P(all |X_i| <= t), the sum of ln(1 - P(|X_i| > t)), some deviations at a time.
    ln_all_below = np.zeros(len(t))
    for rows in np.array_split(np.arange(len(sizes)), -(-len(sizes) // _SIZES_AT_A_TIME)):
        above = scipy.special.erfc(t / (np.sqrt(2) * sizes[rows, None]))
        ln_all_below += counts[rows] @ np.log1p(-above)
    some_above = -np.expm1(ln_all_below)
    step = np.diff(edges)[0]
    return float(some_above @ np.tile(_WEIGHTS, _STEPS) * step / 2)


def krr_errors(shares: npt.ArrayLike, *, n: int, eps0: float) -> Floats:
    """Expected absolute error of every value's inverted k-RR estimate, (k,). ``shares`` (k,) sum to 1."""
    return mean_absolute(krr_deviation(shares, n=n, k=np.size(shares), eps0=eps0))


def plain_errors(shares: npt.ArrayLike, *, n: int, eps0: float) -> Floats:
    """Expected absolute error of every value's share in the noisy histogram of k-RR, not inverted; (k,).

    ``shares`` f (k,) of the ``n`` users sum to 1. k-RR reports the true value with probability p, and one
    given other value with q. So the noisy share has the bias (p - q) f + q - f.
    """
    shares = np.asarray(shares, dtype=float)
    k = len(shares)
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    deviation = krr_deviation(shares, n=n, k=k, eps0=eps0) * (p - q)
    return mean_absolute(deviation, (p - q - 1) * shares + q)


def gaussian_errors(k: int, *, n: int, sigma: npt.ArrayLike) -> Floats:
    """Expected absolute error of every value's share, (k,), of counts with Gaussian noise, over ``n`` users.

    ``sigma`` is the standard deviation of each count's noise, in users.
    """
    return np.full(k, mean_absolute(np.asarray(sigma) / n))


def noise_ratios(shares: npt.ArrayLike, eps0: float) -> Floats:
    """Limit, as n grows, of every value's ratio of expected errors: inverted k-RR over Gaussian mechanism.

    Both are equally private in that limit. For a value of share f the ratio is

        sqrt(1 - q + f (p (1 - p) - q (1 - q)) / q),

    where k-RR reports the true value with probability p, and one given other value with probability q. The
    mean of the ratios is the limit of the ratio of expected total variation distances. ``shares`` (k,) sum to
    1. Returns shape (k,). Source: docs/theory.md, "Equal privacy".
    """
    shares = np.asarray(shares, dtype=float)
    k = len(shares)
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    return np.asarray(np.sqrt(1 - q + shares * (p * (1 - p) / q - (1 - q))))
