"""Amplification theorems in closed form, as their papers state them.

All hold for the shuffled reports of n users with the same eps0-LDP randomizer, for every dataset. Here they
are solved for delta. Where a theorem's conditions fail, the result is nan, with an `OutsideRange` warning
that names the condition. For eps >= eps0, delta is 0: each report is (eps0, 0)-DP already.
"""

import warnings
from typing import NamedTuple

import numpy as np

from tightshuffle.arguments import Booleans, Floats, OutsideRange, check_choice
from tightshuffle.points import Points

RANDOMIZERS = ("krr", "generic")
_LN10 = np.log(10)
_USERS_LINE = 6  # calls above `_log10_delta`, from a theorem to who calls `tightshuffle.delta`


def erlingsson(points: Points) -> Floats:
    """log10 delta of Erlingsson et al., "Amplification by shuffling" (SODA 2019).

    Their statement: for n >= 1000, 0 < eps0 < 1/2 and 0 < delta < 1/100 the shuffled reports are
    (eps, delta)-DP with eps = 12 eps0 sqrt(log(1 / delta) / n).
    """
    eps, n, eps0 = points.eps, points.users, points.eps0
    ln_delta = -n * (eps / (12 * eps0)) ** 2
    conditions = {
        "n >= 1000": n >= 1000,
        "eps0 < 1/2": eps0 < 0.5,
        "delta < 1/100": ln_delta < np.log(0.01),
    }
    return _log10_delta("erlingsson", ln_delta, conditions, local=eps >= eps0)


def feldman(points: Points) -> Floats:
    """log10 delta of Feldman, McMillan, Talwar, "Hiding among the clones" (2021), Theorem 3.1, closed form.

    For delta in (0, 1] with eps0 <= log(n / (16 log(2 / delta))) the shuffled reports are (eps, delta)-DP
    with eps <= log(1 + tanh(eps0 / 2) (8 sqrt(e^eps0 log(4 / delta) / n) + 8 e^eps0 / n)). Below the eps of
    delta = 1 the result is delta = 1. Their code's condition has 4 / delta; docs/upstream.md proves that 2 /
    delta is enough.
    """
    eps, n, eps0 = points.eps, points.users, points.eps0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        share = np.exp(eps0 - np.log(n))  # e^eps0 / n
        # sqrt(e^eps0 log(4 / delta) / n), from the theorem's eps
        root = np.maximum(np.expm1(eps) / (8 * np.tanh(eps0 / 2)) - share, 0)
        ln_delta = np.minimum(np.log(4) - root * (root / share), 0)
        conditions = {
            "eps0 <= log(n / (16 log(2 / delta)))": 16 * share * (np.log(2) - ln_delta) <= 1
        }
    return _log10_delta("feldman", ln_delta, conditions, local=eps >= eps0)


def balle_hoeffding(points: Points, randomizer: str = "krr") -> Floats:
    """log10 delta of the privacy blanket with Hoeffding's inequality (Balle et al., CRYPTO 2019, section 5).

    delta <= E[(L_1 + ... + L_M)_+] / (gamma n), M ~ Bin(n, gamma): gamma is the probability that a report
    comes from the blanket, and L, with mean -a = 1 - e^eps, the likelihood of such a report for x0 less e^eps
    times that for x1, over that under the blanket. With w the width of L's range, integrating Hoeffding's
    inequality over the excess gives

        delta <= w^2 / (4 a gamma n) (1 - gamma (1 - e^(-2 a^2 / w^2)))^n.

    ``randomizer`` chooses gamma and L. "krr" means those of k-RR, and "generic" their bounds for any eps0-LDP
    randomizer (Lemma 5.2), where ``k`` does not matter.
    """
    blanket = _blanket_moments(points, randomizer)
    eps, n, gamma, width = points.eps, points.users, blanket.gamma, blanket.width
    with np.errstate(all="ignore"):
        a = -np.expm1(-eps)  # over e^eps as all of L, so that nothing overflows
        fall = -np.expm1(-2 * (a / width) ** 2)
        ln_delta = eps + 2 * np.log(width) - np.log(4 * a * gamma * n) + n * np.log1p(-gamma * fall)
    return _log10_delta("balle_hoeffding", ln_delta, {}, local=eps >= points.eps0)


def balle_bennett(points: Points, randomizer: str = "krr") -> Floats:
    """log10 delta of the privacy blanket with Bennett's inequality (Balle et al., CRYPTO 2019, section 5).

    As in `balle_hoeffding`, delta <= E[(L_1 + ... + L_M)_+] / (gamma n), M ~ Bin(n, gamma), and L has the
    mean -a = 1 - e^eps. Instead of its range this uses its largest value b and a bound c on E[L^2]. As
    E[e^(t L)] <= exp(-t a + c / b^2 (e^(t b) - 1 - t b)), E[(L_1 + ... + L_m)_+] is at most
    b / log(1 + a b / c) e^(-m c / b^2 phi(a b / c)), phi(u) = (1 + u) log(1 + u) - u. The mean of that over
    M >= 1 is the bound.
    """
    blanket = _blanket_moments(points, randomizer)
    eps, n, b, c = points.eps, points.users, blanket.largest, blanket.second_moment
    with np.errstate(all="ignore"):
        u = -np.expm1(-eps) * b / c  # a b / c: a and b are over e^eps, and c over e^(2 eps)
        exponent = c / b**2 * _phi(u)
        # E[x^M; M >= 1] = (1 - gamma + gamma x)^n - (1 - gamma)^n with x = e^-exponent. As phi(u) <= u^2 / 2,
        # the exponent is at most a^2 / (2 c) <= 1 / 2.
        gain = n * np.log1p(blanket.gamma / blanket.truthful * np.exp(-exponent))
        # ln(e^gain - 1), which from 40 on is the gain, to the last digit.
        ln_growth = np.where(gain > 40, gain, np.log(np.expm1(np.minimum(gain, 40))))
        ln_delta = eps + np.log(b / np.log1p(u)) - np.log(blanket.gamma * n)
        ln_delta = ln_delta + n * np.log(blanket.truthful) + ln_growth
    return _log10_delta("balle_bennett", ln_delta, {}, local=eps >= points.eps0)


class _BlanketMoments(NamedTuple):
    """gamma, 1 - gamma, and of L / e^eps the largest value, the width of the range and the second moment."""

    gamma: Floats
    truthful: Floats
    largest: Floats
    width: Floats
    second_moment: Floats


def _blanket_moments(points: Points, randomizer: str) -> _BlanketMoments:
    """The moments of L under the blanket: those of k-RR ("krr"), or bounds for any randomizer ("generic").

    gamma is the probability that a report comes from the blanket. L compares the likelihoods of such a report
    for two values (`balle_hoeffding`). L / e^eps does not overflow for large eps.
    """
    check_choice("randomizer", randomizer, RANDOMIZERS)
    eps, k, eps0 = points.eps, points.k, points.eps0
    with np.errstate(over="ignore", invalid="ignore"):
        if randomizer == "generic":
            gamma, truthful = np.exp(-eps0), -np.expm1(-eps0)
            largest = np.exp(eps0 - eps) - np.exp(-eps0)
            width = (1 + np.exp(-eps)) * 2 * np.sinh(eps0)
            square = np.exp(eps0 + eps) * (1 + np.exp(-2 * eps)) - 2 * gamma * np.exp(-2 * eps0)
            second_moment = square * np.exp(-eps)
            return _BlanketMoments(gamma, truthful, largest, width, second_moment)

        minus_mean = -np.expm1(-eps)  # -E[L / e^eps]
        total = 1 + (k - 1) * np.exp(-eps0)  # 1 / p of k-RR
        gamma, truthful = k * np.exp(-eps0) / total, -np.expm1(-eps0) / total
        largest = -k * np.expm1(eps - eps0) * np.exp(-eps) / total
        width = truthful * k * (1 + np.exp(-eps))
        second_moment = gamma * (2 - gamma) * minus_mean**2 + truthful**2 * k * (
            1 + np.exp(-2 * eps)
        )
        return _BlanketMoments(gamma, truthful, largest, width, second_moment)


def _phi(u: Floats) -> Floats:
    """(1 + u) log(1 + u) - u without cancellation for small u."""
    small = np.minimum(u, 0.1)
    i = np.arange(2, 20)
    series = np.sum((-small[..., None]) ** i / (i * (i - 1)), axis=-1)
    return np.where(u > 0.1, (1 + u) * np.log1p(u) - u, series)


def _log10_delta(
    name: str, ln_delta: Floats, conditions: dict[str, Booleans], *, local: Booleans
) -> Floats:
    """log10 of the delta that the theorem ``name`` gives, from its natural log; (points,), at most 0.

    It is -inf where eps0-LDP alone is enough (``local``), and else nan where one of the ``conditions`` (their
    text -> where they hold) fails. An `OutsideRange` warning states those that fail.
    """
    applies = np.ones(local.shape, dtype=bool)
    failing = []
    for condition, holds in conditions.items():
        applies &= holds
        if not np.all(holds | local):
            failing.append(condition)
    if failing:
        warnings.warn(
            f"{name} holds only for {' and '.join(failing)}", OutsideRange, stacklevel=_USERS_LINE
        )

    # fmin: if eps0 is so large that gamma underflows, the bound is delta <= 1.
    log10_delta = np.where(applies, np.fmin(ln_delta, 0) / _LN10, np.nan)
    return np.where(local, -np.inf, log10_delta)
