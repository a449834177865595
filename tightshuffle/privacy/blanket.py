"""The blanket paper (Biswas, Jung, Palamidessi: Tight Differential Privacy Blanket for Shuffle Model).

Its eq. (3) is the Hoeffding bound of Balle et al. 2019 (their Theorem 5.3; the text credits a lemma of
Sommer et al.) for any eps0-LDP randomizer: a valid upper bound on delta for every dataset of the others, in
both directions. It knows neither k nor the data, hence it is not the tight delta of anything. The paper
looks for budgets at which it is tight, by equating it to

    surplus = E_P[S] - e^eps E_Q[S] = kappa_3 (kappa_2 - e^eps) / kappa_2,

where S is the noisy count of x0, P its law when the user holds x0 and Q when not. A difference of expected
counts is no tight delta: that is the sum of max(0, P(s) - e^eps Q(s)), positive for all eps < eps0, while
the surplus ends at ln kappa_2, about (e^eps0 - 1) / n.

What the printed definitions come to, for every n, k, count and eps0 (tests check each line):

* kappa_4 is meant to part eq. (3)'s two cases, which meet at tanh(eps / 2) = 2 sinh(eps0) e^(-eps0 / 2);
  printed is sinh(eps0 / 2). `case_border` is the corrected one. kappa_4 = ln(2 e^eps0 - 1) > eps0, and the
  corrected one is above eps0 too, as 4 cosh^2(eps0 / 2) > e^(eps0 / 2): where Case 1 begins, the true
  delta is 0 already.
* kappa_2 <= e^eps0 < e^kappa_4, hence S_1 is empty and Theorem 2.3 a) never applies.
* The critical polynomial P has no real root: outside of (1, kappa_2) both its parts are >= 0, and inside
  P_1 / P_2 >= 4 (1 + e^-eps0)^2 (e^eps0 + k - 1) > 1. (Its kappa_1 has e^(+C n e^-eps0) in the place of
  eq. (3)'s e^(-C n e^-eps0), and a factor n is missing; with both put right its roots lie in
  (1, kappa_2), where eq. (3) is in Case 2.)
* The critical equation H is eq. (3) = surplus in x = tanh(eps / 2), correctly, and has no root either:
  where its quadratic part is negative, x < (e^eps0 - 1) / (2 n), so that the exponent is above -C / 4 and
  the first term more than 20 times the quadratic part. Theorem 2.3 b) never applies.
* Theorems 2.1 and 2.2 hold in one sense only: eq. (3) and delta both tend to 0. Their ratio grows without
  bound: for small eps the exponent of eq. (3) is C / ((1 + e^-eps0)^2 (e^eps0 + k - 1)) of delta's for
  k >= 3, and C / (8 cosh^2(eps0 / 2)) of it for k = 2: 11 % at most.
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from tightshuffle.arguments import check_count, check_eps, check_eps0, check_k, check_n

C = -np.expm1(-2.0)  # eq. (3), 1 - e^-2
_LARGEST = 300  # eps0 of which the constants' squares are floats


def blanket(eps, *, n, k, eps0):
    """log10 of the smallest delta that satisfies eq. (3), at most 0: a valid upper bound, far from tight.

    Parameters
    ----------
    eps, n, k, eps0 : numbers or arrays, which broadcast. ``n`` users in all; ``k`` cells is checked but
        does not matter: eq. (3) holds for every eps0-LDP randomizer.

    Returns
    -------
    log10 delta, an array of the broadcast shape (a float for scalars). 0 where eq. (3) exceeds 1 and says
    nothing, as for eps = 0. Not -inf for eps >= eps0, where the true delta is 0: eq. (3) does not see that.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    return np.minimum(0.0, equation_3(eps, n=n, k=k, eps0=eps0))


def equation_3(eps, *, n, k, eps0):
    """log10 of the right-hand side of eq. (3) as it stands, which may exceed 1; inf for eps = 0.

    Arguments, shape and errors as for `blanket`.
    """
    eps, n, _, eps0 = np.broadcast_arrays(check_eps(eps), check_n(n), check_k(k), check_eps0(eps0))
    log_spread = _log_spread(eps0)
    with np.errstate(divide="ignore"):
        log_odds = np.log(-np.expm1(-eps)) - np.log1p(np.exp(-eps))  # log tanh(eps / 2)
        # (e^eps + 1)^2 / (e^eps - 1), of which e^eps is taken out
        log_first = eps + 2 * np.log1p(np.exp(-eps)) - np.log(-np.expm1(-eps))
    rate = np.exp(np.minimum(-eps0, 2 * (log_odds - log_spread)))  # Case 1, Case 2
    return (log_first + 2 * log_spread - np.log(4 * n) - C * n * rate)[()] / np.log(10)


def case_border(eps0):
    """eps from which on eq. (3) is in Case 1, what kappa_4 should be; inf where it never is."""
    eps0 = check_eps0(eps0)
    border = np.exp(_log_spread(eps0) - eps0 / 2)  # e^(-eps0 / 2) (e^eps0 - e^-eps0)
    with np.errstate(divide="ignore"):
        return 2 * np.arctanh(np.minimum(border, 1.0))


@dataclass(frozen=True)
class Kappas:
    """kappa_1 to kappa_5, eqs. (4) to (8); the paper announces eight constants and defines five.

    Arrays of the broadcast shape. ``log_kappa_1`` is natural, since kappa_1 overflows for large n;
    ``excess`` is kappa_2 - 1 with all its digits.
    """

    log_kappa_1: np.ndarray
    kappa_2: np.ndarray
    excess: np.ndarray
    kappa_3: np.ndarray
    kappa_4: np.ndarray
    kappa_5: np.ndarray

    @property
    def log_kappa_2(self):
        """ln kappa_2, without cancellation."""
        return np.log1p(self.excess)


def kappas(*, n, k, eps0, count):
    """The constants of eqs. (4) to (8), as printed.

    ``n`` users in all, ``k`` cells; ``count`` of the other n - 1 users hold x0: the paper's pi(x0) (n - 1).
    Numbers or arrays, which broadcast; eps0 up to 300. Raises ValueError naming the argument out of range.
    """
    n = check_n(n)
    n, k, eps0, count = np.broadcast_arrays(n, check_k(k), check_eps0(eps0), check_count(count, n))
    if np.any(eps0 > _LARGEST):
        raise ValueError(f"eps0 must be at most {_LARGEST}, or kappa_5 overflows; got {eps0.max()}")
    inverse, gain = np.exp(-eps0), -np.expm1(-eps0)
    expected = n * inverse + gain * count  # E_Q[S] in units of p = e^eps0 / (e^eps0 + k - 1)
    return Kappas(
        log_kappa_1=2 * _log_spread(eps0) + C * n * inverse - np.log(4),
        kappa_2=1 + gain / expected,
        excess=gain / expected,
        kappa_3=(expected + gain) / (1 + (k - 1) * inverse),
        kappa_4=eps0 + np.log1p(gain),  # 2 artanh(1 - e^-eps0) = ln(2 e^eps0 - 1)
        kappa_5=np.sinh(eps0) ** 2 / n,
    )


def surplus(eps, *, n, k, eps0, count):
    """kappa_3 (kappa_2 - e^eps) / kappa_2: what the paper equates to eq. (3), not a delta; may be negative.

    E_P[S] - e^eps E_Q[S] of the noisy count S of x0. Not a logarithm. Other arguments as for `kappas`.
    """
    constants = kappas(n=n, k=k, eps0=eps0, count=count)
    with np.errstate(over="ignore"):
        return (constants.kappa_3 * (constants.excess - np.expm1(check_eps(eps))) / constants.kappa_2)[()]


def critical_polynomial(x, *, n, k, eps0, count):
    """P(x) of Definition 2.1 divided by kappa_1 kappa_2 (x = e^eps), which overflows for large n.

    Signs and roots are those of P. Numbers or arrays, which broadcast.
    """
    weight, excess = _scaled(kappas(n=n, k=k, eps0=eps0, count=count))
    y = np.asarray(x, dtype=float) - 1
    return ((y + 2) ** 2 - weight * (excess - y) * y)[()]


def critical_polynomial_roots(*, n, k, eps0, count):
    """The real roots of P, shape (..., 2), ascending; nan where there are none: always (see the module)."""
    weight, excess = _scaled(kappas(n=n, k=k, eps0=eps0, count=count))
    # (1 + w) y^2 + (4 - w e) y + 4 with y = x - 1; its discriminant is w times this one
    discriminant = weight * excess**2 - 8 * excess - 16
    root = np.sqrt(weight * np.where(discriminant >= 0, discriminant, np.nan))
    middle = weight * excess - 4
    return 1 + np.stack([middle - root, middle + root], axis=-1) / (2 * (1 + weight))[..., None]


def critical_equation(x, *, n, k, eps0, count):
    """H(x) of Definition 2.2 (x = tanh(eps / 2)); numbers or arrays, which broadcast."""
    height, rate, square, slope = _critical_terms(kappas(n=n, k=k, eps0=eps0, count=count))
    x = np.asarray(x, dtype=float)
    return (height * np.exp(-rate * x**2) + x * (square * x - slope))[()]


def critical_equation_roots(*, n, k, eps0, count):
    """The roots of H in (0, 1), shape (..., 2), ascending; nan where there are none: always."""
    terms = np.broadcast_arrays(*_critical_terms(kappas(n=n, k=k, eps0=eps0, count=count)))
    roots = np.full((*terms[0].shape, 2), np.nan)
    for index in np.ndindex(terms[0].shape):
        roots[index] = _roots(*(term[index].item() for term in terms))
    return roots


@dataclass(frozen=True)
class TightSets:
    """S_1 and S_2 of Theorem 2.3 as (low, high), None where empty, and whether its two conditions hold.

    ``s_1`` is closed, ``s_2`` open. ``promised_1``: kappa_4 < ln kappa_2(x) for all x, and P has a real root
    in [e^kappa_4, kappa_2(x)); ``promised_2``: H has a root in (0, mu).
    """

    s_1: tuple[float, float] | None
    s_2: tuple[float, float] | None
    promised_1: bool
    promised_2: bool


def tight_sets(others, *, eps0):
    """The sets of budgets for which Theorem 2.3 promises that eq. (3) is tight, for one dataset.

    Parameters
    ----------
    others : whole numbers, shape (k,): how many of the other users hold each cell, pi(x) (n - 1)
    eps0 : a number

    Returns
    -------
    TightSets. Conditions on P and H are asked of every x, since each x has its own kappa_2 and kappa_3.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    others = np.asarray(others)
    if others.ndim != 1 or others.size < 2:
        raise ValueError(f"others must be one histogram of shape (k,), k >= 2; got shape {others.shape}")
    if not np.all((others >= 0) & (others == np.floor(others))):
        raise ValueError(f"others must be whole numbers >= 0; got {others.min()} to {others.max()}")
    setting = {"n": int(others.sum()) + 1, "k": others.size, "eps0": eps0, "count": others}
    constants = kappas(**setting)
    ends, border = constants.log_kappa_2, constants.kappa_4
    s_1 = (float(border.max()), float(ends.min()))
    s_2 = (0.0, float(min(border.min(), ends.min())))
    roots = critical_polynomial_roots(**setting)
    low, high = np.exp(border)[:, None], constants.kappa_2[:, None]
    inside = (roots >= low) & (roots < high)  # False for nan
    mu = np.tanh(s_2[1] / 2)
    return TightSets(
        s_1=s_1 if s_1[0] <= s_1[1] else None,
        s_2=s_2 if s_2[1] > 0 else None,
        promised_1=bool(np.all(border < ends) and np.all(inside.any(axis=1))),
        promised_2=bool(np.all((critical_equation_roots(**setting) < mu).any(axis=1))),
    )


def _log_spread(eps0):
    """log(e^eps0 - e^-eps0)."""
    return eps0 + np.log(-np.expm1(-2 * eps0))


def _scaled(constants):
    """kappa_3 / (kappa_1 kappa_2), and kappa_2 - 1."""
    log_weight = np.log(constants.kappa_3) - constants.log_kappa_1 - constants.log_kappa_2
    return np.exp(log_weight), constants.excess


def _critical_terms(constants):
    """H(x) = height e^(-rate x^2) + x (square x - slope)."""
    return (
        2 * constants.kappa_5 * constants.kappa_2,
        C / (4 * constants.kappa_5),
        constants.kappa_3 * (constants.kappa_2 + 1),
        constants.kappa_3 * constants.excess,
    )


def _roots(height, rate, square, slope):
    """Roots in (0, slope / square), outside of which H is positive: two of them, or nan.

    There H falls first, and while rate x^2 < 3/2 its second derivative grows: one minimum.
    """
    end = slope / square

    def value(x):
        return height * np.exp(-rate * x**2) + x * (square * x - slope)

    def derivative(x):
        return -2 * height * rate * x * np.exp(-rate * x**2) + 2 * square * x - slope

    bottom = end if derivative(end) <= 0 else optimize.brentq(derivative, 0.0, end, xtol=1e-15 * end)
    if value(bottom) > 0:
        return np.nan, np.nan
    return tuple(optimize.brentq(value, *edges, xtol=1e-15 * end) for edges in ((0.0, bottom), (bottom, end)))
