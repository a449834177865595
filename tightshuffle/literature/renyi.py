"""Renyi differential privacy of the shuffle model: Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021).

RDP of order lambda > 1 is eps(lambda), in natural logarithms. T rounds have T eps(lambda) (Lemma 2.2). Eq.
(7), as printed, lacks the factor 1 / (lambda - 1), as (lambda - 1) eps(lambda) is convex. Here it has it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_eps, check_eps0, check_n, check_positive
from tightshuffle.points import Points

_LN10 = np.log(10)
# The search for the best order; any order gives a valid delta.
_GROWTH = 1.15  # from one order of the grid to the next
_FARTHER = (
    12  # times the best order so far: until there the grid goes on, as a second valley may follow
)
_ALL_ORDERS = 12  # whole orders between the bounds of the bisection that are then all tried
_LARGEST_ORDER = 2**18  # of the grid: the time of a moment grows with its order


def check_order(order: npt.ArrayLike) -> Floats:
    """``order`` as a float array. ValueError unless every value is finite and > 1."""
    orders = check_positive("order", order)
    if np.any(orders <= 1):
        raise ValueError(f"order must be finite and > 1; got {orders[orders <= 1].flat[0]}")
    return orders


def rdp_upper(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """RDP eps(lambda) of n shuffled reports of any discrete eps0-LDP randomizer: Theorem 3.1.

    It is in natural logarithms. ``order`` lambda > 1, ``n`` users and ``eps0`` are numbers or arrays, which
    broadcast. Between whole orders (lambda - 1) eps(lambda) is linear, eq. (7). A ValueError names a bad
    argument.
    """
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    rdp = np.empty(points[0].shape)
    for index in np.ndindex(rdp.shape):
        lam, users, budget = (array[index].item() for array in points)
        order_below = int(np.floor(lam))
        weight = order_below + 1 - lam  # of this order in eq. (7): 1 for a whole lambda
        rdp[index] = weight * _ln_moment(order_below, users, budget) / (lam - 1)
        if weight < 1:
            rdp[index] += (1 - weight) * _ln_moment(order_below + 1, users, budget) / (lam - 1)
    return rdp[()]


def rdp_to_delta(eps: npt.ArrayLike, order: npt.ArrayLike, rdp: npt.ArrayLike) -> Floats:
    """log10 of the delta at ``eps`` that follows from RDP ``rdp`` of ``order``: Lemma 2.1, second form.

    All broadcast. Every order gives a valid delta, so take the smallest. A ValueError names a bad argument.
    """
    eps = check_eps(eps)
    lam = check_order(order)
    ln_delta = (lam - 1) * (np.asarray(rdp, dtype=float) - eps) + _ln_conversion(lam)
    return np.minimum(ln_delta / _LN10, 0)[()]


def girgis(points: Points) -> Floats:
    """log10 delta of all rounds, by the Renyi differential privacy of the best real order; (points,).

    Of Girgis et al., Theorem 3.1 bounds that of one round, Lemma 2.2 adds rounds up, and Lemma 2.1 gives
    delta. For every eps0-LDP randomizer with discrete reports, so k does not matter. -inf where eps >= rounds
    * eps0.
    """
    moments: dict[tuple[int, float], _Moments] = {}
    ln_deltas = np.full(points.eps.size, -np.inf)
    for index in range(points.eps.size):
        eps = points.eps[index].item()
        n = points.users[index].item()
        eps0 = points.eps0[index].item()
        rounds = points.rounds[index].item()
        if eps < rounds * eps0:
            # Moments do not depend on eps: points with the same n and eps0 share them.
            moments_of_setting = moments.setdefault((n, eps0), _Moments(n, eps0))
            ln_deltas[index] = min(0.0, _best_ln_delta(eps, moments_of_setting, rounds))
    return ln_deltas / _LN10


class _Moments(dict[int, float]):
    """(lambda - 1) eps(lambda) of Theorem 3.1 by whole lambda, for one n and eps0; computed on demand."""

    def __init__(self, n: int, eps0: float) -> None:
        self.n = n
        self.eps0 = eps0

    def __missing__(self, lam: int) -> float:
        self[lam] = _ln_moment(lam, self.n, self.eps0)
        return self[lam]


def _best_ln_delta(eps: float, moments: _Moments, rounds: int) -> float:
    """Natural log of the smallest delta of ``rounds`` rounds at ``eps`` over the real orders lambda > 1.

    ``moments`` has (lambda - 1) eps(lambda) of one round for every whole lambda. delta may have several
    valleys over lambda. A grid finds the deepest one, and a bisection its whole orders. Between two of these,
    by eq. (7), ln delta is linear in lambda plus the conversion of Lemma 2.1. With the ``slope`` of the
    line, the best real order solves slope + log(1 - 1 / lambda) = 0.
    """

    def ln_delta(lam: int) -> float:
        """ln of the delta that the whole order ``lam`` gives, by Lemma 2.1."""
        return rounds * moments[lam] - (lam - 1) * eps + _ln_conversion(lam)

    order = best = 2
    while order <= min(_FARTHER * best, _LARGEST_ORDER):
        order = max(order + 1, int(_GROWTH * order))
        best = min(best, order, key=ln_delta)

    low, high = int(best / _GROWTH), int(best * _GROWTH) + 1
    while high - low > _ALL_ORDERS:
        middle = (low + high) // 2
        if ln_delta(middle + 1) < ln_delta(middle):
            low = middle
        else:
            high = middle + 1

    ln_deltas = [ln_delta(best)]
    for lam in range(max(1, low - 1), high + 1):
        slope = rounds * (moments[lam + 1] - moments[lam]) - eps
        # The root, if it lies between the two orders, else the order next to it.
        real_order = np.clip(-1 / np.expm1(-slope), lam, lam + 1) if slope > 0 else lam + 1
        if real_order > 1:
            on_line = rounds * moments[lam] - (lam - 1) * eps + (real_order - lam) * slope
            ln_deltas.append(on_line + _ln_conversion(real_order))
    return min(ln_deltas)


def _ln_conversion(lam: Any) -> Any:
    """Natural log of (1 - 1 / lambda)^lambda / (lambda - 1), the factor of Lemma 2.1."""
    return lam * np.log1p(-1 / lam) - np.log(lam - 1)


def _ln_moment(lam: int, n: int, eps0: float) -> float:
    """(lambda - 1) eps(lambda) of Theorem 3.1 for the whole order lambda = ``lam`` >= 1; 0 for 1.

    eps(lambda) is the RDP of ``n`` shuffled reports, in natural logarithms. This is ln of 1 plus the
    theorem's terms: the second, those from the third on, and the last one. n bar is the theorem's floor((n -
    1) / (2 e^eps0)) + 1.
    """
    if lam == 1:
        return 0.0
    ln_n_bar = np.log((n - 1) * np.exp(-eps0) // 2 + 1)
    ln_second = _ln_choose(lam, 2) + 2 * np.log(-np.expm1(-eps0)) + eps0 - ln_n_bar
    ln_last = eps0 * lam - (n - 1) * np.exp(-eps0) / 8

    # The terms from the third on, with powers of (e^(2 eps0) - 1)^2 / (2 e^(2 eps0) n bar).
    i = np.arange(3.0, lam + 1)
    ln_ratio = 2 * eps0 + 2 * np.log(-np.expm1(-2 * eps0)) - np.log(2) - ln_n_bar
    ln_terms = _ln_choose(lam, i) + np.log(i) + scipy.special.gammaln(i / 2) + i / 2 * ln_ratio
    ln_sum = scipy.special.logsumexp(np.concatenate([[ln_second, ln_last], ln_terms]))
    return float(np.logaddexp(0, ln_sum))


def _ln_choose(n: int, i: npt.ArrayLike) -> Floats:
    """Natural log of the binomial coefficient n over i."""
    return (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(np.add(i, 1))
        - scipy.special.gammaln(n - np.asarray(i) + 1)
    )
