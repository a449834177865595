"""The blanket paper (Biswas, Jung, Palamidessi: Tight Differential Privacy Blanket for Shuffle Model).

Its eq. (3) is a valid upper bound on delta for every eps0-LDP randomizer and dataset. The paper looks for
budgets at which it is tight, by equating it to the surplus E_P[S] - e^eps E_Q[S] of the noisy count S of x0.
A difference of expected counts is no tight delta: that is sum_s [P(s) - e^eps Q(s)]_+, positive for every eps
< eps0, while the surplus ends at ln kappa_2, about (e^eps0 - 1) / n. The text credits a lemma of Sommer et
al. for eq. (3); it is Balle et al. 2019, Theorem 5.3.

From the printed definitions follows, for every n, k, count and eps0:

* kappa_4 is meant to separate the two cases of eq. (3), which meet at tanh(eps / 2) = 2 sinh(eps0) e^(-eps0 /
  2); printed is sinh(eps0 / 2). kappa_4 = ln(2 e^eps0 - 1) > eps0, and the corrected one is above eps0, too,
  as 4 cosh(eps0 / 2)^2 > e^(eps0 / 2): where Case 1 begins, delta is 0.
* kappa_2 <= e^eps0 < e^kappa_4, hence S_1 is empty and Theorem 2.3 a) never applies.
* The critical polynomial P has no real root: outside of (1, kappa_2) both its parts are >= 0, and inside P_1
  / P_2 >= 4 (1 + e^-eps0)^2 (e^eps0 + k - 1) > 1. (Its kappa_1 has e^(C n e^-eps0) instead of eq. (3)'s e^(-C
  n e^-eps0), and lacks a factor n; with both corrected its roots lie in (1, kappa_2), where eq. (3) is in
  Case 2.)
* The critical equation H is eq. (3) = surplus in x = tanh(eps / 2), correctly, and has no root either: where
  its quadratic part is negative, x < (e^eps0 - 1) / (2 n), so that the exponent is above -C / 4 and the first
  term more than 20 times the quadratic part. Theorem 2.3 b) never applies.
* Theorems 2.1 and 2.2 hold in one sense only: eq. (3) and delta both tend to 0. Their ratio grows without
  bound: for small eps the exponent of eq. (3) is C / ((1 + e^-eps0)^2 (e^eps0 + k - 1)) of delta's for k >=
  3, and C / (8 cosh(eps0 / 2)^2) of it for k = 2: 11 % at most.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    LARGEST_EXPONENT,
    Floats,
    check_count,
    check_eps,
    check_eps0,
    check_k,
    check_n,
)
from tightshuffle.points import Points

C = -np.expm1(-2.0)  # eq. (3), 1 - e^-2


def ln_blanket(points: Points) -> Floats:
    """ln of the smallest delta that satisfies eq. (3), at most 0: a valid upper bound, far from tight.

    For one round and every eps0-LDP randomizer, (points,); k does not matter. 0 where eq. (3) exceeds 1, as
    for eps = 0. It is not -inf for eps >= eps0, where the true delta is 0: eq. (3) is positive there.
    """
    return np.minimum(0.0, ln_equation_3(points))


def ln_equation_3(points: Points) -> Floats:
    """ln of the right-hand side of eq. (3) as it stands, (points,). May exceed 0, and is inf for eps = 0.

    With C = 1 - e^-2 and spread = e^eps0 - e^-eps0, for n users who do not collude, eq. (3) is

        (e^eps + 1)^2 / (e^eps - 1) spread^2 / (4 n) e^(-C n rate),

    where rate is the smaller one of e^-eps0 (Case 1) and (tanh(eps / 2) / spread)^2 (Case 2).
    """
    eps, n, eps0 = points.eps, points.honest_users, points.eps0
    ln_spread = _ln_spread(eps0)
    with np.errstate(divide="ignore"):
        ln_tanh = np.log(-np.expm1(-eps)) - np.log1p(np.exp(-eps))  # ln tanh(eps / 2)
        # ln((e^eps + 1)^2 / (e^eps - 1)), of which e^eps is taken out, so that nothing overflows
        ln_factor = eps + 2 * np.log1p(np.exp(-eps)) - np.log(-np.expm1(-eps))
    rate = np.exp(np.minimum(-eps0, 2 * (ln_tanh - ln_spread)))
    return ln_factor + 2 * ln_spread - np.log(4 * n) - C * n * rate


@dataclass(frozen=True)
class Kappas:
    """kappa_2 to kappa_4, eqs. (5) to (7). The paper announces eight constants and defines five.

    Arrays of the broadcast shape. ``excess`` is kappa_2 - 1 with all its digits.
    """

    kappa_2: Floats
    excess: Floats
    kappa_3: Floats
    kappa_4: Floats

    @property
    def log_kappa_2(self) -> Floats:
        """ln kappa_2, without cancellation."""
        return np.log1p(self.excess)


def kappas(
    *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike, count: npt.ArrayLike
) -> Kappas:
    """The constants of eqs. (5) to (7) of the blanket paper, as printed; arrays of the broadcast shape.

    ``n`` users hold one of ``k`` values each; ``count`` of the n - 1 users other than the target user hold
    x0, which is the paper's pi(x0) (n - 1). k-RR with local budget ``eps0``, at most 300, reports the true
    value with probability p = e^eps0 / (e^eps0 + k - 1), and one given other value with q = e^-eps0 p. S is
    the number of reports x0, and its expectation is E_P[S] if the target user holds x0, E_Q[S] if not. Then

        kappa_2 = E_P[S] / E_Q[S],    kappa_3 = E_P[S],    kappa_4 = ln(2 e^eps0 - 1).

    A ValueError names a bad argument.
    """
    n = check_n(n)
    eps0 = check_eps0(eps0, LARGEST_EXPONENT)
    n, k, eps0, count = np.broadcast_arrays(n, check_k(k), eps0, check_count(count, n))

    # In units of p: a user who turns to x0 adds p - q, the gain, to the expectation, and E_Q[S] is n q plus
    # count times that.
    q_over_p = np.exp(-eps0)
    gain = -np.expm1(-eps0)
    mean_under_q = n * q_over_p + gain * count
    return Kappas(
        kappa_2=1 + gain / mean_under_q,
        excess=gain / mean_under_q,
        # 1 / p = 1 + (k - 1) q / p
        kappa_3=(mean_under_q + gain) / (1 + (k - 1) * q_over_p),
        # As printed, 2 artanh(1 - e^-eps0).
        kappa_4=eps0 + np.log1p(gain),
    )


def surplus(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
) -> Floats:
    """kappa_3 (kappa_2 - e^eps) / kappa_2 = E_P[S] - e^eps E_Q[S], which the paper equates to eq. (3).

    S is the number of reports x0, under P if the target user holds x0, under Q if not. The result is no
    logarithm, and no delta, as it may be negative. It has the broadcast shape (a float for scalars). Other
    arguments as for `kappas`.
    """
    constants = kappas(n=n, k=k, eps0=eps0, count=count)
    with np.errstate(over="ignore"):
        difference = constants.excess - np.expm1(check_eps(eps))
        return (constants.kappa_3 * difference / constants.kappa_2)[()]


def _ln_spread(eps0: Floats) -> Floats:
    """ln(e^eps0 - e^-eps0)."""
    return eps0 + np.log(-np.expm1(-2 * eps0))
