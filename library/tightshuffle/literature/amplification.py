"""Amplification theorems in closed form, as their papers state them.

All hold for the shuffled reports of n users with the same eps0-LDP randomizer, for every dataset; n is the
number of ``users`` who do not collude. Here they are solved for delta. Where a theorem's conditions fail, the
result is nan, with an `OutsideRange` warning that names the condition. For eps >= eps0 it is -inf: delta is
0, as a report alone is (eps0, 0)-DP.
"""

import warnings
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Booleans, Floats, OutsideRange, check_choice
from tightshuffle.points import Points

RANDOMIZERS = ("krr", "generic")
# For a warning's ``stacklevel``: so many calls above `_ln_delta_within` is the line of the user's program
# that calls `tightshuffle.delta`, which calls a theorem.
_CALLS_TO_USERS_LINE = 5


def ln_erlingsson(points: Points) -> Floats:
    """ln delta by Erlingsson et al., "Amplification by shuffling" (SODA 2019); (points,).

    Their statement: for n >= 1000, 0 < eps0 < 1/2 and 0 < delta < 1/100 the shuffled reports are (eps,
    delta)-DP with eps = 12 eps0 sqrt(log(1 / delta) / n).
    """
    eps, n, eps0 = points.eps, points.honest_users, points.eps0
    ln_delta = -n * (eps / (12 * eps0)) ** 2
    conditions = {
        "n >= 1000": n >= 1000,
        "eps0 < 1/2": eps0 < 0.5,
        "delta < 1/100": ln_delta < np.log(0.01),
    }
    return _ln_delta_within("erlingsson", ln_delta, conditions, local=eps >= eps0)


def ln_feldman(points: Points) -> Floats:
    """ln delta by Feldman, McMillan, Talwar, "Hiding among the clones" (2021), Theorem 3.1; (points,).

    Their statement: for delta in (0, 1] with eps0 <= log(n / (16 log(2 / delta))) the shuffled reports are
    (eps, delta)-DP for

        eps = log(1 + 8 tanh(eps0 / 2) (root + share)),
        root = sqrt(share log(4 / delta)),  share = e^eps0 / n.

    Solved for delta, it is at most 1. The condition is that of the theorem; their code has 4 / delta in place
    of 2 / delta, and docs/upstream.md proves that 2 / delta is enough.
    """
    eps, n, eps0 = points.eps, points.honest_users, points.eps0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        share = np.exp(eps0 - np.log(n))
        # Where eps is so small that only a negative root would solve this, the root is 0, and delta 1.
        root = np.maximum(np.expm1(eps) / (8 * np.tanh(eps0 / 2)) - share, 0)
        ln_delta = np.minimum(np.log(4) - root * (root / share), 0)
        conditions = {
            "eps0 <= log(n / (16 log(2 / delta)))": 16 * share * (np.log(2) - ln_delta) <= 1
        }
    return _ln_delta_within("feldman", ln_delta, conditions, local=eps >= eps0)


def ln_balle_hoeffding(points: Points, randomizer: str = "krr") -> Floats:
    """ln delta of the privacy blanket with Hoeffding's inequality; (points,). Balle et al. 2019, sec. 5.

    With gamma and the gain L of `_MomentsOfGain`, -a = 1 - e^eps the mean of L and w the width of its range,

        delta <= E[(L_1 + ... + L_M)_+] / (gamma n),    M ~ Bin(n, gamma),
              <= w^2 / (4 a gamma n) (1 - gamma (1 - e^(-2 a^2 / w^2)))^n,

    by Hoeffding's inequality, integrated over the excess. ``randomizer`` chooses gamma and L
    (`_moments_of_gain`).
    """
    gain = _moments_of_gain(points, randomizer)
    eps, n, gamma = points.eps, points.honest_users, gain.gamma
    with np.errstate(all="ignore"):
        # a / e^eps and w / e^eps, which do not overflow. So ln_delta has eps added.
        a, w = -np.expm1(-eps), gain.width
        fall = -np.expm1(-2 * (a / w) ** 2)
        ln_delta = eps + 2 * np.log(w) - np.log(4 * a * gamma * n) + n * np.log1p(-gamma * fall)
    return _ln_delta_within("balle_hoeffding", ln_delta, {}, local=eps >= points.eps0)


def ln_balle_bennett(points: Points, randomizer: str = "krr") -> Floats:
    """ln delta of the privacy blanket with Bennett's inequality; (points,). Balle et al. 2019, sec. 5.

    It bounds the same mean as `ln_balle_hoeffding`, which explains L, M, gamma, a and ``randomizer``. b is
    the largest value of L, and c a bound on E[L^2]. By Bennett, E[e^(t L)] <= exp(-t a + c / b^2 (e^(t b) - 1
    - t b)). With u = a b / c and phi(u) = (1 + u) log(1 + u) - u it follows that

        E[(L_1 + ... + L_m)_+] <= b / log(1 + u) e^(-m exponent),    exponent = c / b^2 phi(u),
        delta <= b / log(1 + u) ((1 - gamma + gamma e^-exponent)^n - (1 - gamma)^n) / (gamma n),

    as the sum over no report, M = 0, is 0.
    """
    gain = _moments_of_gain(points, randomizer)
    eps, n, gamma = points.eps, points.honest_users, gain.gamma
    with np.errstate(all="ignore"):
        # a / e^eps, b / e^eps and c / e^(2 eps), which do not overflow. So ln_delta has eps added, while u
        # and the exponent are those of a, b and c.
        a, b, c = -np.expm1(-eps), gain.largest, gain.second_moment
        u = a * b / c
        # As phi(u) <= u^2 / 2, it is at most a^2 / (2 c) <= 1 / 2.
        exponent = c / b**2 * _phi(u)

        # With rise = ln((1 - gamma + gamma e^-exponent)^n / (1 - gamma)^n), the difference of the two powers
        # is (1 - gamma)^n (e^rise - 1). ln(e^rise - 1) is the rise from 40 on, to the last digit.
        rise = n * np.log1p(gamma / gain.one_minus_gamma * np.exp(-exponent))
        ln_growth = np.where(rise > 40, rise, np.log(np.expm1(np.minimum(rise, 40))))
        ln_delta = eps + np.log(b / np.log1p(u)) - np.log(gamma * n)
        ln_delta = ln_delta + n * np.log(gain.one_minus_gamma) + ln_growth
    return _ln_delta_within("balle_bennett", ln_delta, {}, local=eps >= points.eps0)


class _MomentsOfGain(NamedTuple):
    """What is known of the gain L of a report y from the blanket; arrays (points,).

    The blanket is the part of the distribution of reports that all values share, gamma its mass, and L = (P(y
    | x0) - e^eps P(y | x1)) / P(y | blanket). The last three are of L / e^eps, which does not overflow.
    """

    gamma: Floats  # the probability that a report comes from the blanket
    one_minus_gamma: Floats  # without cancellation
    largest: Floats  # the largest value of L / e^eps
    width: Floats  # the largest less the smallest value of L / e^eps
    second_moment: Floats  # E[(L / e^eps)^2]


def _moments_of_gain(points: Points, randomizer: str) -> _MomentsOfGain:
    """The `_MomentsOfGain` at every point: exact for the ``randomizer`` "krr", or bounds.

    "krr": the blanket is uniform, gamma = k q, and L = gamma (1 - e^eps) + (1 - gamma) k (1 if y = x0, -e^eps
    if y = x1, else 0). k-RR reports the true value with probability p = 1 / (1 + (k - 1) e^-eps0), and one
    given other value with q = e^-eps0 p. "generic": bounds for any eps0-LDP randomizer, of Lemma 5.2 of Balle
    et al. 2019, where gamma is at least e^-eps0 and ``k`` does not matter.
    """
    check_choice("randomizer", randomizer, RANDOMIZERS)
    eps, k, eps0 = points.eps, points.k, points.eps0
    with np.errstate(over="ignore", invalid="ignore"):
        if randomizer == "generic":
            gamma, one_minus_gamma = np.exp(-eps0), -np.expm1(-eps0)
            largest = np.exp(eps0 - eps) - np.exp(-eps0)
            width = (1 + np.exp(-eps)) * 2 * np.sinh(eps0)
            # E[L^2] / e^eps
            square = np.exp(eps0 + eps) * (1 + np.exp(-2 * eps)) - 2 * gamma * np.exp(-2 * eps0)
            second_moment = square * np.exp(-eps)
            return _MomentsOfGain(gamma, one_minus_gamma, largest, width, second_moment)

        minus_mean = -np.expm1(-eps)  # -E[L / e^eps]
        total = 1 + (k - 1) * np.exp(-eps0)  # 1 / p
        gamma, one_minus_gamma = k * np.exp(-eps0) / total, -np.expm1(-eps0) / total
        # k (p - e^eps q) / e^eps, at y = x0
        largest = -k * np.expm1(eps - eps0) * np.exp(-eps) / total
        width = one_minus_gamma * k * (1 + np.exp(-eps))
        # The square of the part of L that depends on y has the mean (1 - gamma)^2 k (1 + e^(2 eps)).
        square_of_varying_part = one_minus_gamma**2 * k * (1 + np.exp(-2 * eps))
        second_moment = gamma * (2 - gamma) * minus_mean**2 + square_of_varying_part
        return _MomentsOfGain(gamma, one_minus_gamma, largest, width, second_moment)


def _phi(u: Floats) -> Floats:
    """phi(u) = (1 + u) log(1 + u) - u, (points,), for u >= 0. Without cancellation for small u.

    Up to u = 0.1 it is its power series, sum of (-u)^i / (i (i - 1)) from i = 2 on.
    """
    small = np.minimum(u, 0.1)
    i = np.arange(2, 20)  # further terms are below rounding
    series = np.sum((-small[..., None]) ** i / (i * (i - 1)), axis=-1)
    return np.where(u > 0.1, (1 + u) * np.log1p(u) - u, series)


def _ln_delta_within(
    name: str, ln_delta: Floats, conditions: dict[str, Booleans], *, local: Booleans
) -> Floats:
    """ln of the delta that the theorem ``name`` gives, within its conditions; (points,), at most 0.

    ``ln_delta`` is the natural log of the theorem's delta. ``local`` says where eps >= eps0: there a report
    alone is (eps, 0)-DP, and the result is -inf. ``conditions`` is {text of a condition: where it holds}.
    Elsewhere the result is nan where a condition fails, and an `OutsideRange` warning states the failing
    conditions. Without conditions the theorem holds everywhere.
    """
    applies = np.ones(local.shape, dtype=bool)
    failing = []
    for condition, holds in conditions.items():
        applies &= holds
        if not np.all(holds | local):
            failing.append(condition)
    if failing:
        message = f"{name} holds only for {' and '.join(failing)}"
        warnings.warn(message, OutsideRange, stacklevel=_CALLS_TO_USERS_LINE)

    # fmin takes 0 for nan: if eps0 is so large that gamma underflows, the bound is delta <= 1.
    ln_delta_or_nan = np.where(applies, np.fmin(ln_delta, 0.0), np.nan)
    return np.where(local, -np.inf, ln_delta_or_nan)
