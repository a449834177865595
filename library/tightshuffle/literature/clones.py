"""Exact delta of the clones' pairs: Feldman, McMillan, Talwar 2021 and 2023.

Each other user hides a clone of the target user with probability c. With C ~ Bin(n - 1, c) clones,
A ~ Bin(C, 1/2) and D ~ Bern(e^eps0 / (e^eps0 + 1)), the shuffled reports reveal at most as much as

    (A + D, C - A + 1 - D)  against  (A + 1 - D, C - A + D).

- clones (2021): c = e^-eps0, for every eps0-LDP randomizer, even if it is chosen adaptively.
- stronger clones (2023): c = 2 / (e^eps0 + 1). The paper's errata limit its theorem to a class of
  randomizers.

k-RR belongs to this class for every k. *Proof.* With R_0 and R_1 the distributions of reports of x0 and x1,
R_x >= (R_0 + R_1) / (e^eps0 + 1): at x0 and x1 the right side is q <= R_x, elsewhere 2 q / (e^eps0 + 1) <= q.
So another user reports with probability c from (R_0 + R_1) / 2 = (S_0 + S_1) / 2, where R_0 and R_1 mix the
distributions S_0 ~ e^eps0 R_0 - R_1 and S_1 ~ e^eps0 R_1 - R_0 as e^eps0 : 1 and 1 : e^eps0. How many drew
from S_0 and from S_1 is the pair; all else is post-processing. With the smaller c = 2 q, reports other than
x0 and x1 are no clones, and the counts do not determine C: the pair of these two counts is no upper bound.

The pair is its own mirror image. It is the distribution of n messages, n - 1 of them independent, 0 and 1
with probability c / 2 each, so delta is E[(G_1 + ... + G_n)_+] / n, as in `privacy_blanket`, and G is 2 / (c
(e^eps0 + 1)) times e^eps0 - e^eps, 1 - e^(eps + eps0) or 0.

S_m = E[(G_1 + ... + G_m)_+] of m messages that are not 0 is a difference of two binomial tails. With A of
them at the gain g and all others at the loss -l, the sum is positive from some A = t on, and

    S_m = m / 2 (g P(B >= t - 1) - l P(B >= t)),  B ~ Bin(m - 1, 1/2).

So for few messages E[(G_1 + ... + G_n)_+] is a sum over m ~ Bin(n, c). Numbers m far from the mean are left
out: S_m is at most m S_1, and S_m / m falls with m, so both ends are at most geometric series of m P(m).
"""

import functools
import math

import numpy as np
import scipy

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.binomial import log_binomial_pmf
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.numerics.side import Side
from tightshuffle.points import Points

_WIDTH = 1e-6  # relative, of the bracket of the expectation; the result is its upper end
_ULP = 2.0**-52
# Numbers m of messages in one sum: a longer one is left to `log_positive_part`.
_MOST_NUMBERS = 1500
# Probability of a message other than 0, up to which rounding leaves 1 - c enough digits.
_LARGEST_C = 0.9
# -ln of the probability of the first numbers m of messages that are left out, about: below those that are
# summed, and above them. S_m / m is larger for few messages.
DEPTH_BELOW = 60.0
DEPTH_ABOVE = 19.0
_SMALLEST_SUM = 1e-290  # of a sum: below, its terms may be no floats
_ERROR_OF_MASS = 1e-11  # relative, of a binomial probability and of a binomial tail


def ln_clones(points: Points) -> Floats:
    """ln delta of the clones' pair (Feldman et al. 2021, Theorem 3.1's proof): an upper bound on delta.

    It is that of one round, (points,), rounded up by 1e-6 of delta. k does not matter.
    """
    return _ln_delta_of_clones(points, -points.eps0)


def ln_stronger_clones(points: Points) -> Floats:
    """ln delta of the stronger clones' pair (Feldman et al. 2023, Theorem 3.1 with p = 1 / (e^eps0 + 1)).

    An upper bound on delta for k-RR with every k; else as `ln_clones`.
    """
    ln_probability = np.log(2) + scipy.special.log_expit(-points.eps0)
    return _ln_delta_of_clones(points, ln_probability)


def _ln_delta_of_clones(points: Points, ln_probability: Floats) -> Floats:
    """ln delta of the pair in which each user hides a clone with probability c; (points,).

    ``ln_probability`` (points,) is the natural log of c. A clone is a report that looks like the target
    user's, of x0 or of x1, with equal chances. delta is E[(G_1 + ... + G_n)_+] / n of the n users who do not
    collude. The gain G of one of them is, with unit = 2 / (c (e^eps0 + 1)),

        unit (e^eps0 - e^eps)          with probability c / 2, "gain",
        unit (1 - e^(eps + eps0)) < 0  with probability c / 2, "loss",
        0                              otherwise.

    Where eps >= eps0, no value is positive, and the result is -inf.
    """
    eps, eps0 = points.eps, points.eps0
    gap = np.maximum(eps0 - eps, 0.0)
    ln_unit = np.log(2) - ln_probability + scipy.special.log_expit(-eps0)
    # Exponents are added before the exponential: each value is a float where its parts are not.
    gain = np.exp(ln_unit + eps0) * -np.expm1(-gap)
    loss = np.exp(ln_unit + eps + eps0) * np.expm1(-eps - eps0)
    probability = np.exp(ln_probability) / 2
    return ln_delta_of_two_valued_gain(points.honest_users, gain, loss, probability, eps + eps0)


def ln_delta_of_two_valued_gain(
    n: Integers, gain: Floats, loss: Floats, probability: Floats, exponent: Floats
) -> Floats:
    """ln of delta = E[(G_1 + ... + G_n)_+] / n of independent G_i, rounded up by 1e-6 of delta; at most 0.

    Each G_i, the gain of one of ``n`` reports, is ``gain`` with ``probability``, ``loss`` < 0 with the same
    probability, and else 0. ``exponent`` >= 0 is the largest x of all e^x from which gain and loss were
    computed, such as eps + eps0: their rounding error grows with it. All arguments have the shape of the
    result. Nothing is checked.
    """
    # By so many units in the last place gain, loss and probability may be wrong: 16 for a few elementary
    # functions, and 4 per unit of the exponent for e^exponent.
    ulps = 16 + 4 * exponent
    columns = [np.ravel(column).tolist() for column in (n, gain, loss, probability, ulps)]
    points = zip(*columns, strict=True)
    ln_means = np.reshape([ln_positive_part_by_tails(*point) for point in points], np.shape(n))

    # inf where tails are too many or too inexact: there a contour integral brackets the mean. `outwards`
    # first moves the distribution by its rounding errors, to a larger mean.
    unsettled = ~np.isfinite(ln_means)
    if unsettled.any():
        values = np.stack([gain, loss], axis=-1)[unsettled]
        probabilities = np.stack([probability, probability], axis=-1)[unsettled]
        distribution = outwards(values, probabilities, Side.UPPER, ulps[unsettled][:, None])
        _, ln_upper = log_positive_part(*distribution, n[unsettled], width=_WIDTH)
        ln_means[unsettled] = ln_upper
    return np.minimum(ln_means - np.log(n), 0.0)[()]


def ln_positive_part_by_tails(
    n: int, gain: float, loss: float, probability: float, ulps: float
) -> float:
    """Natural log of E[(G_1 + ... + G_n)_+] by binomial tails, rounded up; inf where that is long or inexact.

    Each of the ``n`` independent G_i is ``gain`` with ``probability``, ``loss`` < 0 with the same
    probability, and else 0. ``ulps`` is by how many units in the last place these three may be wrong.

    With c = 2 probability, m ~ Bin(n, c) of the G_i are not 0. The sum of these m is positive if at least t
    of them are gains, where t depends on m. With B ~ Bin(m - 1, 1/2), its positive part has the mean

        S_m = m / 2 (gain P(B >= t - 1) + loss P(B >= t)).

    The result is ln of the sum of P(m) S_m over the likely m, plus bounds for all other m and for rounding.
    It is inf if there are too many likely m, if these bounds are not small, if the sum is too small for
    floats, or if gain is not positive.
    """
    c = 2 * probability
    # The likely m. The others have the probability e^-DEPTH_BELOW below, e^-DEPTH_ABOVE above, about, by
    # Chernoff's bounds.
    first = max(1, math.floor(n * c - math.sqrt(2 * DEPTH_BELOW * n * c)))
    last = min(n, math.ceil(n * c + math.sqrt(2 * DEPTH_ABOVE * n * c) + DEPTH_ABOVE))
    if not (gain > 0 and c < _LARGEST_C and last - first < _MOST_NUMBERS):
        return math.inf

    # S_m for each m, with gain and loss moved up by their rounding errors. `smaller_loss` is positive. Its
    # own rounding moves t only where S_m is nearly 0.
    m = np.arange(first, last + 1.0)
    larger_gain = gain * (1 + ulps * _ULP)
    smaller_loss = -loss / (1 + ulps * _ULP)
    t = np.floor(m * (smaller_loss / (larger_gain + smaller_loss))) + 1
    tail_from_t_minus_1, tail_from_t = _fair_tail_mass(m - 1, np.stack([t - 1, t]))
    gained = larger_gain * tail_from_t_minus_1
    lost = smaller_loss * tail_from_t
    sums = np.maximum(m / 2 * (gained - lost), 0.0)
    # By so much S_m may be wrong, as both tails are.
    errors = m / 2 * _ERROR_OF_MASS * (gained + lost)

    probabilities = _binomial_masses(first, last, n, c)
    total = float((probabilities * sums).sum())
    error = float((probabilities * errors).sum())

    # The other m, on both sides: geometric series of m P(m), with the ratio of m + 1 to m from the last m on,
    # and of m - 1 to m from the first m on, as S_m / m falls with m and is at most gain / 2. Both ratios are
    # below 1, as n c lies between the first m and the last, and not next to them.
    upwards = (n - last) * c / (last * (1 - c))
    downwards = (first - 1) * (1 - c) / ((n - first + 1) * c)
    error += probabilities[-1] * (sums[-1] + errors[-1]) * upwards / (1 - upwards)
    error += probabilities[0] * first * larger_gain / 2 * downwards / (1 - downwards)
    if not (total > _SMALLEST_SUM and error < total * _WIDTH / 4):
        return math.inf

    # What an error of c does to ln P(m), at most. _ERROR_OF_MASS is that of P(m) as computed.
    error_of_c = ulps * _ULP * (last + n * c / (1 - c))
    return math.log(total + error) + error_of_c + 2 * _ERROR_OF_MASS


@functools.lru_cache(maxsize=16)
def _binomial_masses(first: int, last: int, n: int, c: float) -> Floats:
    """P(M = m) of M ~ Bin(n, c) for m = first, ..., last. The cache helps, as these do not depend on eps."""
    return np.exp(log_binomial_pmf(np.arange(first, last + 1), n, c))


def _fair_tail_mass(trials: Floats, least: Floats) -> Floats:
    """P(B >= ``least``) for B ~ Bin(``trials``, 1/2), arrays that broadcast; 1 or 0 outside of 1..trials."""
    inside = (least > 0) & (least <= trials)
    a = np.where(inside, least, 1.0)
    b = np.where(inside, trials - least + 1, 1.0)
    return np.where(inside, scipy.special.betainc(a, b, 0.5), least <= 0)
