"""Renyi differential privacy of the shuffle model: Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021).

RDP of order lambda > 1 is eps(lambda), a Renyi divergence in natural logarithms. T rounds have T eps(lambda)
(Lemma 2.2). Eq. (7), as printed, lacks the factor 1 / (lambda - 1), as (lambda - 1) eps(lambda) is convex.
Here it has it.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_eps, check_eps0, check_n, check_positive
from tightshuffle.points import Points

# The search for the best order; any order gives a valid delta.
_GRID_GROWTH = 1.15  # from one order of the grid to the next
# So many times the best order so far, the grid goes on, as a second valley may follow.
_GRID_BEYOND_BEST = 12
_MOST_ORDERS_TRIED = 12  # whole orders between the bounds of the bisection that are then all tried
_LARGEST_ORDER = 2**18  # of the grid: the time of a moment grows with its order


def check_order(order: npt.ArrayLike) -> Floats:
    """``order`` as a float array. ValueError unless every value is finite and > 1."""
    orders = check_positive("order", order)
    if np.any(orders <= 1):
        raise ValueError(f"order must be finite and > 1; got {orders[orders <= 1].flat[0]}")
    return orders


def rdp_upper(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Upper bound on the RDP eps(lambda) of n shuffled reports: Theorem 3.1 of Girgis et al. 2021.

    It holds for any discrete eps0-LDP randomizer. ``order`` lambda > 1, ``n`` users and ``eps0`` are numbers
    or arrays, which broadcast. The result has the broadcast shape (a float for scalars). A ValueError names a
    bad argument.

    The theorem is for whole orders. Between two of them (lambda - 1) eps(lambda) is taken as linear in
    lambda, which bounds it, as it is convex: eq. (7).
    """
    points = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    rdp = np.empty(points[0].shape)
    for index in np.ndindex(rdp.shape):
        lam, users, budget = (array[index].item() for array in points)
        order_below = int(np.floor(lam))
        weight_of_below = order_below + 1 - lam  # 1 for a whole lambda
        # `_ln_moment` is (order - 1) eps(order) of a whole order.
        rdp[index] = weight_of_below * _ln_moment(order_below, users, budget) / (lam - 1)
        if weight_of_below < 1:
            above = _ln_moment(order_below + 1, users, budget)
            rdp[index] += (1 - weight_of_below) * above / (lam - 1)
    return rdp[()]


def ln_delta_of_rdp(eps: npt.ArrayLike, order: npt.ArrayLike, rdp: npt.ArrayLike) -> Floats:
    """ln of the delta at ``eps`` that follows from the RDP ``rdp`` of ``order``: Lemma 2.1, second form.

    delta = e^((lambda - 1) (rdp - eps)) (1 - 1 / lambda)^lambda / (lambda - 1), at most 1, lambda = order.
    ``rdp`` is in natural logarithms. All broadcast. Every order gives a valid delta, so take the smallest. A
    ValueError names a bad argument.
    """
    eps = check_eps(eps)
    lam = check_order(order)
    ln_delta = (lam - 1) * (np.asarray(rdp, dtype=float) - eps) + _ln_conversion(lam)
    return np.minimum(ln_delta, 0.0)[()]


def ln_girgis(points: Points) -> Floats:
    """ln delta of all rounds, by the Renyi differential privacy (RDP) of the best real order; (points,).

    By Girgis et al. 2021: Theorem 3.1 bounds the RDP of one round of the n users who do not collude. By Lemma
    2.2 the RDP of rounds adds up. Lemma 2.1 turns RDP of any order into a delta, of which the smallest is
    taken. The bound holds for every eps0-LDP randomizer with discrete reports, so k does not matter. -inf
    where eps >= rounds eps0, as delta is 0 there.
    """
    ln_deltas = np.full(points.eps.size, -np.inf)
    for index in range(points.eps.size):
        eps = points.eps[index].item()
        n = points.honest_users[index].item()
        eps0 = points.eps0[index].item()
        rounds = points.rounds[index].item()
        if eps < rounds * eps0:
            ln_deltas[index] = min(0.0, _best_ln_delta(eps, _ln_moments(n, eps0), rounds))
    return ln_deltas


class _LnMoments(dict[int, float]):
    """{lambda: (lambda - 1) eps(lambda)} of whole orders, for one n and eps0. Each is computed on demand.

    eps(lambda) is the RDP of Theorem 3.1.
    """

    def __init__(self, n: int, eps0: float) -> None:
        self.n = n
        self.eps0 = eps0

    def __missing__(self, lam: int) -> float:
        self[lam] = _ln_moment(lam, self.n, self.eps0)
        return self[lam]


@functools.lru_cache(maxsize=16)
def _ln_moments(n: int, eps0: float) -> _LnMoments:
    """The moments of one setting. They do not depend on eps, so a search for eps shares them."""
    return _LnMoments(n, eps0)


def _best_ln_delta(eps: float, ln_moments: _LnMoments, rounds: int) -> float:
    """Natural log of the smallest delta of ``rounds`` rounds at ``eps`` over the real orders lambda > 1.

    ``ln_moments`` maps every whole lambda to m(lambda) = (lambda - 1) RDP(lambda) of one round. By Lemma 2.1
    an order gives

        ln delta(lambda) = rounds m(lambda) - (lambda - 1) eps + ln((1 - 1 / lambda)^lambda / (lambda - 1)).

    Over lambda it may have several valleys. A grid finds the deepest one, and a bisection narrows it down to
    a few whole orders. Between two whole orders m is linear, eq. (7), so that the first two terms are a line
    in lambda. With the slope of the line, the derivative of ln delta is slope + ln(1 - 1 / lambda), so that
    ln delta is smallest at lambda = 1 / (1 - e^-slope).
    """

    def ln_delta(lam: int) -> float:
        """ln of the delta that the whole order ``lam`` gives."""
        return rounds * ln_moments[lam] - (lam - 1) * eps + _ln_conversion(lam)

    # The grid goes on while a second valley may follow.
    order = best = 2
    while order <= min(_GRID_BEYOND_BEST * best, _LARGEST_ORDER):
        order = max(order + 1, int(_GRID_GROWTH * order))
        best = min(best, order, key=ln_delta)

    # The valley's whole orders are looked for between the neighbours of the best order on the grid.
    low, high = int(best / _GRID_GROWTH), int(best * _GRID_GROWTH) + 1
    while high - low > _MOST_ORDERS_TRIED:
        middle = (low + high) // 2
        if ln_delta(middle + 1) < ln_delta(middle):
            low = middle
        else:
            high = middle + 1

    # The best real order between lam and lam + 1: where the derivative is 0, or the end next to it. For a
    # slope <= 0 ln delta falls all the way.
    ln_deltas = [ln_delta(best)]
    for lam in range(max(1, low - 1), high + 1):
        slope = rounds * (ln_moments[lam + 1] - ln_moments[lam]) - eps
        real_order = np.clip(-1 / np.expm1(-slope), lam, lam + 1) if slope > 0 else lam + 1
        if real_order > 1:
            on_line = rounds * ln_moments[lam] - (lam - 1) * eps + (real_order - lam) * slope
            ln_deltas.append(on_line + _ln_conversion(real_order))
    return min(ln_deltas)


def _ln_conversion(lam: Any) -> Any:
    """ln((1 - 1 / lambda)^lambda / (lambda - 1)), the factor of Lemma 2.1, for ``lam`` = lambda > 1."""
    return lam * np.log1p(-1 / lam) - np.log(lam - 1)


def _ln_moment(lam: int, n: int, eps0: float) -> float:
    """(lambda - 1) eps(lambda) of Theorem 3.1 for the whole order lambda = ``lam`` >= 1; 0 for 1.

    eps(lambda) bounds the RDP, in natural logarithms, of ``n`` shuffled eps0-LDP reports. With
    n_bar = floor((n - 1) / (2 e^eps0)) + 1, this is the natural log of

        1 + C(lambda, 2) (e^eps0 - 1)^2 / (n_bar e^eps0)
          + sum_(i = 3..lambda) C(lambda, i) i Gamma(i / 2) ratio^(i / 2)
          + e^(eps0 lambda - (n - 1) / (8 e^eps0)),

    where ratio = (e^(2 eps0) - 1)^2 / (2 e^(2 eps0) n_bar) and C is the binomial coefficient.
    """
    if lam == 1:
        return 0.0
    ln_n_bar = np.log((n - 1) * np.exp(-eps0) // 2 + 1)
    ln_second = _ln_choose(lam, 2) + 2 * np.log(-np.expm1(-eps0)) + eps0 - ln_n_bar
    ln_last = eps0 * lam - (n - 1) * np.exp(-eps0) / 8

    i = np.arange(3.0, lam + 1)
    ln_ratio = 2 * eps0 + 2 * np.log(-np.expm1(-2 * eps0)) - np.log(2) - ln_n_bar
    ln_terms = _ln_choose(lam, i) + np.log(i) + scipy.special.gammaln(i / 2) + i / 2 * ln_ratio
    ln_sum = scipy.special.logsumexp(np.concatenate([[ln_second, ln_last], ln_terms]))
    return float(np.logaddexp(0, ln_sum))


def _ln_choose(n: int, i: npt.ArrayLike) -> Floats:
    """Natural log of the binomial coefficient n over i, in the shape of ``i``."""
    return (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(np.add(i, 1))
        - scipy.special.gammaln(n - np.asarray(i) + 1)
    )
