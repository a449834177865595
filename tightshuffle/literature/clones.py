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
from tightshuffle.points import Points
from tightshuffle.side import Side

_WIDTH = 1e-6  # relative, of the bracket of the expectation; the result is its upper end
_ULP = 2.0**-52
_MOST_NUMBERS = (
    1500  # numbers m of messages in one sum: a longer one is left to `log_positive_part`
)
_LIKELIEST = 0.9  # c up to which rounding leaves 1 - c enough digits
# -ln of the probability of the first numbers m of messages that are left out, about: below those that are
# summed, and above them. S_m / m is larger for few messages.
DEPTH_BELOW = 60.0
DEPTH_ABOVE = 19.0
_SMALLEST = 1e-290  # of a sum: below, its terms may be no floats
_ERROR = 1e-11  # relative, of a binomial probability and of a binomial tail


def clones(points: Points) -> Floats:
    """log10 delta of the clones' pair (Feldman et al. 2021, Theorem 3.1's proof): an upper bound on delta.

    It is that of one round, (points,), rounded up by 1e-6 of delta. k does not matter.
    """
    return _log10_of_clones(points, -points.eps0)


def stronger_clones(points: Points) -> Floats:
    """log10 delta of the stronger clones' pair (Feldman et al. 2023, Theorem 3.1 with p = 1 / (e^eps0 + 1)).

    An upper bound on delta for k-RR with every k; else as `clones`.
    """
    ln_probability = np.log(2) + scipy.special.log_expit(-points.eps0)
    return _log10_of_clones(points, ln_probability)


def _log10_of_clones(points: Points, ln_probability: Floats) -> Floats:
    """log10 of the bound where each other user hides a clone of the target user with some probability c.

    ``ln_probability`` (points,) is the natural log of c. The result is (points,).
    """
    eps, eps0 = points.eps, points.eps0
    gap = np.maximum(eps0 - eps, 0.0)
    # G is "unit" times e^eps0 - e^eps or 1 - e^(eps + eps0), with unit = 2 / (c (e^eps0 + 1)).
    ln_unit = np.log(2) - ln_probability + scipy.special.log_expit(-eps0)
    # Exponents are added before the exponential: each value is a float where its parts are not.
    gain = np.exp(ln_unit + eps0) * -np.expm1(-gap)
    loss = np.exp(ln_unit + eps + eps0) * np.expm1(-eps - eps0)
    probability = np.exp(ln_probability) / 2
    return log10_delta_of_two_messages(points.users, gain, loss, probability, eps + eps0)


def log10_delta_of_two_messages(
    n: Integers, gain: Floats, loss: Floats, probability: Floats, exponent: Floats
) -> Floats:
    """log10 of E[(G_1 + ... + G_n)_+] / n, rounded up by 1e-6 of it, and at most 0.

    G_i of a message is ``gain`` or ``loss`` < 0, each with ``probability``, or else 0. ``exponent`` >= 0 is
    the largest power of e from which gain and loss were computed, such as eps + eps0: their rounding error
    grows with it. All arguments have the shape of the result. Nothing is checked.
    """
    ulps = 16 + 4 * exponent  # of a few elementary functions, and of e^exponent
    columns = [np.ravel(column).tolist() for column in (n, gain, loss, probability, ulps)]
    ln_sums = np.reshape([ln_of_tails(*point) for point in zip(*columns, strict=True)], np.shape(n))

    # Too many tails, or inexact ones: by a contour integral instead.
    unsettled = ~np.isfinite(ln_sums)
    if unsettled.any():
        values = np.stack([gain, loss], axis=-1)[unsettled]
        probabilities = np.stack([probability, probability], axis=-1)[unsettled]
        distribution = outwards(values, probabilities, Side.UPPER, ulps[unsettled][:, None])
        _, ln_sums[unsettled] = log_positive_part(*distribution, n[unsettled], width=_WIDTH)
    return np.minimum((ln_sums - np.log(n)) / np.log(10), 0.0)[()]


def ln_of_tails(n: int, gain: float, loss: float, probability: float, ulps: float) -> float:
    """Natural log of E[(G_1 + ... + G_n)_+] by binomial tails, rounded up; inf where that is long or inexact.

    Each of the ``n`` messages has the ``gain`` > 0 with ``probability``, the ``loss`` < 0 with the same one,
    or else 0. ``ulps`` are the units in the last place by which these three may be wrong. A number m ~ Bin(n,
    c), c = 2 ``probability``, of messages are not 0. Their sum is positive if t or more of the m have the
    gain. Its positive part has the mean S_m = m / 2 (gain P(B >= t - 1) + loss P(B >= t)), B ~ Bin(m - 1,
    1/2), and the result is ln of the sum of P(m) S_m over the likely m, with bounds for all others.
    """
    c = 2 * probability
    # The likely m, by Chernoff's bounds e^-DEPTH_BELOW below n c, and e^-DEPTH_ABOVE above.
    first = max(1, math.floor(n * c - math.sqrt(2 * DEPTH_BELOW * n * c)))
    last = min(n, math.ceil(n * c + math.sqrt(2 * DEPTH_ABOVE * n * c) + DEPTH_ABOVE))
    if not (gain > 0 and c < _LIKELIEST and last - first < _MOST_NUMBERS):
        return math.inf

    # The differences S_m of two tails; rounding moves t only where S_m is nearly 0.
    m = np.arange(first, last + 1.0)
    larger_gain = gain * (1 + ulps * _ULP)
    smaller_loss = -loss / (1 + ulps * _ULP)
    t = np.floor(m * (smaller_loss / (larger_gain + smaller_loss))) + 1
    tail_from_t_minus_1, tail_from_t = _tail(m - 1, np.stack([t - 1, t]))
    gained = larger_gain * tail_from_t_minus_1
    lost = smaller_loss * tail_from_t
    sums = np.maximum(m / 2 * (gained - lost), 0.0)
    errors = m / 2 * _ERROR * (gained + lost)

    probabilities = _probabilities(first, last, n, c)
    total = float((probabilities * sums).sum())
    error = float((probabilities * errors).sum())

    # What is left out on both sides, from the ratio of neighbours of m P(m).
    upwards = (n - last) * c / (last * (1 - c))  # of m + 1 to m, beyond the last m
    downwards = (first - 1) * (1 - c) / ((n - first + 1) * c)  # of m - 1 to m, before the first m
    if upwards >= 1 or downwards >= 1:
        return math.inf
    error += probabilities[-1] * (sums[-1] + errors[-1]) * upwards / (1 - upwards)
    error += probabilities[0] * first * larger_gain / 2 * downwards / (1 - downwards)
    if not (total > _SMALLEST and error < total * _WIDTH / 4):
        return math.inf

    # The errors of c, through the probabilities of m.
    error_of_c = ulps * _ULP * (last + n * c / (1 - c))
    return math.log(total + error) + error_of_c + 2 * _ERROR


@functools.lru_cache(maxsize=16)
def _probabilities(first: int, last: int, n: int, c: float) -> Floats:
    """Probabilities of first, ..., last for Bin(n, c): the same for every eps."""
    return np.exp(log_binomial_pmf(np.arange(first, last + 1), n, c))


def _tail(trials: Floats, least: Floats) -> Floats:
    """P(B >= least) for B ~ Bin(trials, 1/2)."""
    inside = (least > 0) & (least <= trials)
    a = np.where(inside, least, 1.0)
    b = np.where(inside, trials - least + 1, 1.0)
    return np.where(inside, scipy.special.betainc(a, b, 0.5), least <= 0)
