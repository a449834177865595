"""Renyi differential privacy of the shuffle model: Girgis, Data, Diggavi, Suresh, Kairouz (CCS 2021).

RDP of order lambda > 1 is eps(lambda), natural logarithms; T rounds have T eps(lambda) (Lemma 2.2). Eq. (7),
as printed, lacks the factor 1 / (lambda - 1), as (lambda - 1) eps(lambda) is convex. Here it has the factor.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_eps, check_eps0, check_n, check_positive
from tightshuffle.points import Points

_LN10 = np.log(10)
# The search for the best order; any order gives a valid delta.
_GROWTH = 1.15  # of the grid
_FARTHER = 12  # how far beyond the best one so far it goes on
_ALL_ORDERS = 12  # whole orders that are all tried
_LARGEST_ORDER = 2**18


def check_order(order: npt.ArrayLike) -> Floats:
    """``order`` as a float array; ValueError unless every value is finite and > 1."""
    orders = check_positive("order", order)
    if np.any(orders <= 1):
        raise ValueError(f"order must be finite and > 1; got {orders[orders <= 1].flat[0]}")
    return orders


def rdp_upper(order: npt.ArrayLike, *, n: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """eps(lambda) of n shuffled reports of any discrete eps0-LDP randomizer: Theorem 3.1.

    ``order`` lambda > 1 (real orders by eq. (7)), ``n`` users and ``eps0`` are numbers or arrays, which
    broadcast. A ValueError names a bad argument.
    """
    values = np.broadcast_arrays(check_order(order), check_n(n), check_eps0(eps0))
    result = np.empty(values[0].shape)
    for index in np.ndindex(result.shape):
        lam, users, budget = (value[index].item() for value in values)
        low = int(np.floor(lam))
        share = low + 1 - lam  # a of eq. (7); for a whole lambda it is 1
        result[index] = share * _log_moment(low, users, budget) / (lam - 1)
        if share < 1:
            result[index] += (1 - share) * _log_moment(low + 1, users, budget) / (lam - 1)
    return result[()]


def rdp_to_delta(eps: npt.ArrayLike, order: npt.ArrayLike, rdp: npt.ArrayLike) -> Floats:
    """log10 of the delta at ``eps`` that follows from RDP ``rdp`` of ``order``: Lemma 2.1, second form.

    All broadcast. Every order gives a valid delta, so take the smallest. A ValueError names a bad argument.
    """
    eps, lam = check_eps(eps), check_order(order)
    ln_delta = (lam - 1) * (np.asarray(rdp, dtype=float) - eps) + _conversion(lam)
    return np.minimum(ln_delta / _LN10, 0)[()]


def girgis(points: Points) -> Floats:
    """log10 delta of all rounds from Theorem 3.1 and Lemmas 2.1 and 2.2, at the best real order; (points,).

    For every eps0-LDP randomizer with discrete reports; k does not matter. -inf where eps >= rounds * eps0.
    """
    moments: dict[tuple[int, float], _Moments] = {}
    ln_deltas = np.full(points.eps.size, -np.inf)
    arguments = (points.eps, points.users, points.eps0, points.rounds)
    for number, (eps, n, eps0, rounds) in enumerate(zip(*(x.tolist() for x in arguments), strict=True)):
        if eps < rounds * eps0:
            moments_of_setting = moments.setdefault((n, eps0), _Moments(n, eps0))
            ln_deltas[number] = min(0.0, _best_ln_delta(eps, moments_of_setting, rounds))
    return ln_deltas / _LN10


class _Moments(dict[int, float]):
    """whole lambda -> (lambda - 1) eps(lambda), computed on demand."""

    def __init__(self, n: int, eps0: float) -> None:
        self.n, self.eps0 = n, eps0

    def __missing__(self, lam: int) -> float:
        self[lam] = _log_moment(lam, self.n, self.eps0)
        return self[lam]


def _best_ln_delta(eps: float, moments: _Moments, rounds: int) -> float:
    """Natural log of the smallest delta over the real orders.

    delta may have several valleys: a grid finds the deepest, then every whole order there is tried. Between
    whole orders, by eq. (7), the best real order solves slope + log(1 - 1 / lambda) = 0.
    """

    def at(lam: int) -> float:
        return rounds * moments[lam] - (lam - 1) * eps + _conversion(lam)

    grid = [2]
    best = 2
    while grid[-1] <= min(_FARTHER * best, _LARGEST_ORDER):
        grid.append(max(grid[-1] + 1, int(_GROWTH * grid[-1])))
        best = min(best, grid[-1], key=at)
    low, high = int(best / _GROWTH), int(best * _GROWTH) + 1
    while high - low > _ALL_ORDERS:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle + 1) < at(middle) else (low, middle + 1)
    log_deltas = [at(best)]
    for lam in range(max(1, low - 1), high + 1):
        slope = rounds * (moments[lam + 1] - moments[lam]) - eps
        order = np.clip(-1 / np.expm1(-slope), lam, lam + 1) if slope > 0 else lam + 1
        if order > 1:
            on_chord = rounds * moments[lam] - (lam - 1) * eps + (order - lam) * slope
            log_deltas.append(on_chord + _conversion(order))
    return min(log_deltas)


def _conversion(lam: Any) -> Any:
    """log of (1 - 1 / lambda)^lambda / (lambda - 1)."""
    return lam * np.log1p(-1 / lam) - np.log(lam - 1)


def _log_moment(lam: int, n: int, eps0: float) -> float:
    """(lambda - 1) eps(lambda) of Theorem 3.1 for a whole lambda; 0 for lambda = 1."""
    if lam == 1:
        return 0.0
    log_users = np.log((n - 1) * np.exp(-eps0) // 2 + 1)  # of n bar
    i = np.arange(3.0, lam + 1)
    # log of (e^(2 eps0) - 1)^2 / (2 e^(2 eps0) n bar)
    ratio = 2 * eps0 + 2 * np.log(-np.expm1(-2 * eps0)) - np.log(2) - log_users
    terms = _log_choose(lam, i) + np.log(i) + scipy.special.gammaln(i / 2) + i / 2 * ratio
    second = _log_choose(lam, 2) + 2 * np.log(-np.expm1(-eps0)) + eps0 - log_users
    last = eps0 * lam - (n - 1) * np.exp(-eps0) / 8
    return float(np.logaddexp(0, scipy.special.logsumexp(np.concatenate([[second, last], terms]))))


def _log_choose(n: int, i: npt.ArrayLike) -> Floats:
    return (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(np.add(i, 1))
        - scipy.special.gammaln(n - np.asarray(i) + 1)
    )
