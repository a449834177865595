"""delta of the count of x0 (Biswas et al., Definition 11 and Theorem 1, corrected).

With ``count`` other users at x0, N = n - count and J the reports of x0 by users who hold another value,

    P(s) / Q(s) = kappa_2 + (e^eps0 - kappa_2) E[J | S = s] / N,                 (Theorem 1, corrected)
    e^{v_s}     = kappa_2 + (e^eps0 - kappa_2) E[J^2 | S = s] / N^2.             (Theorem 1, as printed)

The printed loss is never larger: docs/theory.md, "The count of one value".

Both losses grow with s, so delta is a sum over a tail. X = S - J and J are tilted (a tilted binomial is a
binomial) until the edge of the tail is the mean of X + J: all sums are well scaled, and windows of O(sqrt n)
suffice. The factor exp(-m KL(p' || p) - N KL(q' || q)) is kept as a logarithm.
"""

import decimal
import math
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import (
    DIRECTIONS,
    Floats,
    check_choice,
    check_count,
    check_eps,
    check_eps0,
    check_k,
    check_n,
)

_REACH = 12.0  # standard deviations of a window: what is left out weighs less than exp(-72)
_MARGIN = 80  # further values of a window, for very lopsided distributions
_TRUSTED = 8.0  # standard deviations within which an FFT's noise is far below the signal
DIRECT_PRODUCTS = 3e7  # products up to which a direct convolution is faster than an FFT
_FAINT = -300.0  # logit below which two of the users do not report x0 together
_NARROWEST = 1e-150  # the least standard deviation, as it is divided by
# 25 digits, more than a float has: for logarithms of decimals, which are slow.
_CONTEXT_OF_LOGARITHMS = decimal.Context(25, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def ln_delta_of_count(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str = "forward",
) -> Floats:
    """ln of the exact delta of the noisy count of x0 (no bound for the histogram).

    ``count`` of the n - 1 other users hold x0 (n_x0 of the paper). ``direction`` is "forward" for P against
    Q, as in the paper, "reverse", or "both" for the larger one. delta is exact to 1e-9, relative. Below
    10^-10000 ln delta is exact to 1e-14, relative.
    """
    return ln_delta_by_moment(eps, n=n, k=k, eps0=eps0, count=count, direction=direction, moment=1)


def ln_delta_by_moment(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str,
    moment: int,
) -> Floats:
    """ln delta of the noisy count of x0, with the privacy loss computed from one moment of J.

    The noisy count is the number of reports x0, and J is how many of these come from users who do not hold
    x0. ``moment`` 1 takes the loss from the mean of J given the noisy count: delta is exact. ``moment`` 2
    takes it from the mean of J^2, as printed in the paper: that delta is no guarantee. The paper prints no
    reverse. There its loss is put into eq. (2) with the roles of P and Q exchanged.

    Other arguments are those of `ln_delta_of_count`. All but ``direction`` and ``moment`` broadcast, to the
    shape of the result (a float for scalars). A ValueError names a bad argument.
    """
    check_choice("direction", direction, DIRECTIONS)
    n = check_n(n)
    arguments = np.broadcast_arrays(
        check_eps(eps), n, check_k(k), check_eps0(eps0), check_count(count, n)
    )
    # The sign of `_ln_delta`: 1 for P against Q, -1 for Q against P.
    signs = {"forward": (1,), "reverse": (-1,), "both": (1, -1)}[direction]

    ln_deltas = np.empty(arguments[0].shape)
    for index in np.ndindex(ln_deltas.shape):
        point = [argument[index].item() for argument in arguments]
        ln_deltas[index] = max(_ln_delta(*point, power=moment, sign=sign) for sign in signs)
    return ln_deltas[()]


def ln_ceiling(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
) -> float:
    """ln of a closed-form upper bound on the forward delta, if at most ``count`` users hold x0.

    The bound holds for the exact delta and for the one with the paper's printed loss. The result is -inf for
    eps >= eps0, and 0 where the bound is trivial. All arguments are single numbers, eps0 at most 700.

    The noisy count is the number of reports x0, with the distribution P if the target user holds x0, and Q if
    not. J ~ Bin(N, q) counts the reports x0 of the N = n - count users who do not hold x0. q is the
    probability that k-RR reports one given other value, and kappa_2 the least likelihood ratio P / Q. The
    loss exceeds eps where the mean of J / N, given the noisy count, exceeds a threshold a in (0, 1).

    By Jensen's inequality, delta = E_Q[(P / Q - e^eps)_+] <= (e^eps0 - kappa_2) E[(J / N - a)_+]. Here
    J / N - a is at most 1 - a. By Chernoff's bound, J reaches a N with probability at most
    e^(-N KL(a || q)) if a > q. So the bound is (e^eps0 - kappa_2) (1 - a) e^(-N KL(a || q)).
    """
    n, k = int(check_n(n)), int(check_k(k))
    eps, eps0 = float(check_eps(eps)), float(check_eps0(eps0))
    non_holders = n - int(check_count(count, n))
    if eps >= eps0:
        return -np.inf

    edge = _find_edge(eps, k, eps0, sign=1)
    # As e^eps >= 1 >= kappa_2, there is an edge.
    assert edge is not None
    a = edge.threshold
    logit_q = _logit_of_q(k, eps0)
    # Chernoff's bound needs a threshold above the mean of J / N.
    if a <= scipy.special.expit(logit_q):
        return 0.0

    # KL(a || q) = a ln(a / q) + (1 - a) ln((1 - a) / (1 - q)).
    divergence_of_x0 = a * (np.log(a) - scipy.special.log_expit(logit_q))
    divergence_of_others = edge.gap * (np.log(edge.gap) - scipy.special.log_expit(-logit_q))
    divergence = divergence_of_x0 + divergence_of_others
    ln_bound = float(eps0 + np.log(edge.span * edge.gap) - non_holders * divergence)
    return min(0.0, ln_bound)


def _ln_delta(eps: float, n: int, k: int, eps0: float, m: int, *, power: int, sign: int) -> float:
    """Natural log of delta at ``eps`` of S, the number of reports x0 of shuffled k-RR; -inf where delta is 0.

    ``n`` users hold one of ``k`` values each. ``eps0`` is the local budget. ``m`` of the n - 1 users other
    than the target user hold x0. P is the distribution of S if the target user holds x0, and Q if not. Under
    Q, S = X + J: X ~ Bin(m, p) counts reports x0 of the m holders of x0, and J ~ Bin(N, q) those of the other
    N = n - m users, with the target user. `krr` has p and q.

    With kappa_2 = (1 - p) / (1 - q), the likelihood ratio of P to Q at s is

        ratio(s) = kappa_2 + (e^eps0 - kappa_2) E[(J / N)^power | S = s].

    ``power`` 1 is exact: this is P(s) / Q(s). ``power`` 2 is what the paper prints for it. ``sign`` 1 gives
    delta of P against Q, the sum of P(s) (1 - e^eps / ratio(s)) over the s with ratio(s) > e^eps. ``sign`` -1
    gives delta of Q against P, the sum of Q(s) (1 - e^eps ratio(s)) over the s with ratio(s) < e^-eps.

    As the ratio grows with s, these s are a tail of S. Its terms may be too small for floats. So X and J are
    tilted: the odds of every report x0 are multiplied by e^theta, such that the tail starts near the mean of
    S. At the end the tilt is undone in logarithms.
    """
    if eps >= eps0:
        return -np.inf
    # The edge's threshold is the E[(J / N)^power | S = s] at which ratio(s) is e^eps, or e^-eps for sign -1.
    # None if the ratio never gets there.
    non_holders = int(n - m)  # N
    edge = _find_edge(eps, k, eps0, sign, non_holders)
    if edge is None:
        return -np.inf

    # ln_odds is the log odds of a report x0 at which E[(J / N)^power] is the threshold, the edge of the tail.
    # Tilt towards the edge, never away from it: the printed loss can put its edge beyond the mean.
    logit_p = eps0 - np.log(k - 1)  # ln(p / (1 - p))
    logit_q = _logit_of_q(k, eps0)  # ln(q / (1 - q))
    if power == 1:
        ln_odds = edge.ln_threshold - edge.ln_gap
    else:
        ln_odds = _ln_odds_of_second_moment(edge, non_holders)
    theta = sign * max(0.0, sign * (ln_odds - logit_q))
    tilted_p, tilted_q = logit_p + theta, logit_q + theta

    # The surplus at s is sign (E[(J / N)^power | S = s] - threshold) Q(s), under the tilt. It is the
    # convolution of the masses of X with those of J, times (j / N)^power - threshold, the excess.
    first_x, x_masses = _likely_binomial_masses(int(m), tilted_p)
    j_masses = _weighted_masses_of_j(edge, non_holders, tilted_q, eps0, power)
    surplus = _convolve(x_masses, sign * j_masses.excess)
    s = first_x + j_masses.first + np.arange(surplus.size)

    # The tail of S where the loss exceeds eps. The loss grows with s, and falls with s for sign -1: a slice
    # with that step puts s in the order of growing loss, and back. A convolution by FFT is only trusted near
    # the mean.
    mean = m * scipy.special.expit(tilted_p) + non_holders * scipy.special.expit(tilted_q)
    variance = _binomial_variance(m, tilted_p) + _binomial_variance(non_holders, tilted_q)
    distance = sign * (s - mean) / max(np.sqrt(variance), _NARROWEST)
    trusted = np.inf if _is_direct(x_masses, j_masses.excess) else _TRUSTED
    by_loss = slice(None, None, sign)
    tail = _keep_beyond_crossing(surplus[by_loss], distance[by_loss], trusted)[by_loss]
    if power == 2 and sign == 1:
        # Eq. (6) is the sum of P(s) (1 - e^eps / printed ratio): the exact P(s), over the printed ratio.
        exact_of_s = _convolve(x_masses, j_masses.exact_ratio)
        printed_of_s = _convolve(x_masses, j_masses.printed_ratio)
        tail = np.divide(tail * exact_of_s, printed_of_s, out=np.zeros_like(tail), where=tail > 0)

    # Undo the tilt: tilted masses are e^(theta (s - mean) + divergence) times those of S.
    divergence_of_x = m * _divergence_of_tilt(logit_p, theta)
    divergence_of_j = non_holders * _divergence_of_tilt(logit_q, theta)
    divergence = divergence_of_x + divergence_of_j
    with np.errstate(divide="ignore"):
        ln_terms = np.log(tail) - theta * (s - mean)

    # The surplus times e^eps0 - kappa_2 = e^eps0 span is P(s) - e^eps Q(s), or, for sign -1, with another
    # factor e^eps, Q(s) - e^eps P(s).
    ln_factor = eps0 + np.log(edge.span)
    if sign == -1:
        ln_factor = ln_factor + eps
    return min(0.0, scipy.special.logsumexp(ln_terms) + (ln_factor + j_masses.ln_unit - divergence))


class _MassesOfJ(NamedTuple):
    """P(J = j) times three factors that depend on j, in units of e^``ln_unit``, for successive j.

    Each array is for j = ``first``, first + 1, ..., and has the shape (values of j,). J counts reports x0 of
    N users who do not hold x0. Likelihood ratios are those of a target user who holds x0 to one who does not.
    """

    first: int
    excess: Floats  # P(J = j) times (j / N)^power - threshold
    exact_ratio: Floats  # P(J = j) times the likelihood ratio given J = j, over e^eps0
    printed_ratio: Floats  # P(J = j) times the ratio that the paper prints, over e^eps0
    ln_unit: float


def _weighted_masses_of_j(
    edge: "_Edge", trials: int, logit: float, eps0: float, power: int
) -> _MassesOfJ:
    """P(J = j) for the likely j, times each of three factors; J ~ Bin(N, expit(``logit``)), N = ``trials``.

    J counts reports x0 of the N users who do not hold x0. The factors, arrays over j, are

        excess:         (j / N)^power - threshold, where the loss exceeds eps if its mean is positive,
        exact_ratio:    (kappa_2 + (e^eps0 - kappa_2) j / N) / e^eps0, the likelihood ratio given J = j,
        printed_ratio:  the same with (j / N)^2, as the paper prints it.

    ``edge`` has the threshold, ln kappa_2 and the span (e^eps0 - kappa_2) / e^eps0. The masses are in units
    of e^ln_unit, which is 1 here, unless all j but 0 are extremely unlikely.
    """
    ln_least_ratio = edge.ln_kappa_2 - eps0  # ln(kappa_2 / e^eps0)
    if logit < _FAINT:
        return _weighted_masses_of_faint_j(edge, trials, logit, ln_least_ratio, power)

    first, masses = _likely_binomial_masses(trials, logit)
    j = first + np.arange(masses.size)
    share = j / trials
    miss = (trials - j) / trials  # 1 - share, without cancellation

    # share^power - threshold, without cancellation. As gap is 1 - threshold, for power 2 it is also
    # gap - (1 - share^2), and 1 - share^2 = miss (1 + share).
    if power == 1:
        excess = ((j - edge.nearest_j) - edge.rest_of_j) / trials
    else:
        excess = np.where(share < 0.5, share**2 - edge.threshold, edge.gap - miss * (1 + share))
    exact_ratio = math.exp(ln_least_ratio) + edge.span * share
    printed_ratio = math.exp(ln_least_ratio) + edge.span * share**2
    return _MassesOfJ(
        first, masses * excess, masses * exact_ratio, masses * printed_ratio, ln_unit=0.0
    )


def _weighted_masses_of_faint_j(
    edge: "_Edge", trials: int, logit: float, ln_least_ratio: float, power: int
) -> _MassesOfJ:
    """P(J = 0) and P(J = 1), each times the factors excess, exact_ratio and printed_ratio.

    J ~ Bin(N, expit(``logit``)), N = ``trials``, counts reports x0 of users who do not hold x0. Here the
    probability expit(logit) of one such report is below e^-300, so that P(J = 0) is 1, P(J = 1) is N e^logit,
    and other J do not matter. The factors at j are (j / N)^power - threshold, with the threshold of the
    ``edge``; kappa_2 / e^eps0 + span j / N; and the same with (j / N)^2. ``ln_least_ratio`` is
    ln(kappa_2 / e^eps0). All may be too small for floats. So the results are in units of e^ln_unit, the
    larger one of e^logit and the threshold.
    """
    ln_unit = max(logit, edge.ln_threshold)
    probability_of_1 = trials * math.exp(logit - ln_unit)

    excess_of_0 = -math.exp(edge.ln_threshold - ln_unit)
    excess_of_1 = probability_of_1 * (trials**-power - edge.threshold)
    ratio_of_0 = math.exp(ln_least_ratio - ln_unit)
    exact_ratio_of_1 = probability_of_1 * (math.exp(ln_least_ratio) + edge.span / trials)
    printed_ratio_of_1 = probability_of_1 * (math.exp(ln_least_ratio) + edge.span / trials**2)
    return _MassesOfJ(
        0,
        np.array([excess_of_0, excess_of_1]),
        np.array([ratio_of_0, exact_ratio_of_1]),
        np.array([ratio_of_0, printed_ratio_of_1]),
        ln_unit,
    )


class _Edge(NamedTuple):
    """The threshold of E[(J / N)^power | S = s] where the loss is eps, and what belongs to it.

    J of the N users who do not hold x0 report it, and S is the number of all reports x0. kappa_2 is the least
    likelihood ratio of S. Logarithms are natural.
    """

    span: float  # (e^eps0 - kappa_2) / e^eps0
    threshold: float  # in (0, 1)
    gap: float  # 1 - threshold, without cancellation
    ln_kappa_2: float
    ln_threshold: float
    ln_gap: float
    nearest_j: int  # the whole number next to N threshold
    rest_of_j: float  # N threshold - nearest_j


def _find_edge(eps: float, k: int, eps0: float, sign: int, trials: int = 1) -> _Edge | None:
    """The threshold of the mean of J / N at which the loss is ``eps``; None where it never exceeds eps.

    J of the N = ``trials`` users who do not hold x0 report it; "mean" is that given the number of all reports
    x0. The likelihood ratio, of a target user who holds x0 to one who does not, is

        kappa_2 + (e^eps0 - kappa_2) mean,    kappa_2 = (k - 1) / (e^eps0 + k - 2).

    At the threshold it is e^eps for ``sign`` 1, as the loss is its logarithm, and e^-eps for ``sign`` -1,
    where the roles are exchanged. eps is below eps0. Some results are logarithms, as e^-eps0 may be too small
    for a float.
    """
    # 50 digits are left after all differences: small eps0, or eps next to eps0, cancel digits_lost, here
    # taken twice.
    digits_lost = -math.log10(min(eps0, 1.0)), -math.log10((eps0 - eps) / eps0)
    digits = 50 + 2 * math.ceil(max(0.0, *digits_lost)) + len(str(k)) + len(str(trials))
    context = decimal.Context(digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    with decimal.localcontext(context):
        largest_ratio = Decimal(eps0).exp()
        ratio = (Decimal(eps) * sign).exp()
        kappa_2 = (k - 1) / (largest_ratio + k - 2)
        span = largest_ratio - kappa_2
        threshold = (ratio - kappa_2) / span
        gap = (largest_ratio - ratio) / span
        # No ratio is below kappa_2, so with sign -1 a loss above -ln kappa_2 does not occur.
        if threshold <= 0:
            return None

        nearest_j = (trials * threshold).to_integral_value()
        return _Edge(
            span=float(span / largest_ratio),
            threshold=float(threshold),
            gap=float(gap),
            ln_kappa_2=float(kappa_2.ln(_CONTEXT_OF_LOGARITHMS)),
            ln_threshold=float(threshold.ln(_CONTEXT_OF_LOGARITHMS)),
            ln_gap=float(gap.ln(_CONTEXT_OF_LOGARITHMS)),
            nearest_j=int(nearest_j),
            rest_of_j=float(trials * threshold - nearest_j),
        )


def _logit_of_q(k: int, eps0: float) -> float:
    """ln(q / (1 - q)) of q = 1 / (e^eps0 + k - 1), with which k-RR reports one given other value."""
    return -(eps0 + np.log1p((k - 2) * np.exp(-eps0)))


def _ln_odds_of_second_moment(edge: _Edge, trials: int) -> float:
    """ln(a / (1 - a)) of the a at which J ~ Bin(N, a) has E[J^2] / N^2 = threshold, N = ``trials``.

    ``edge`` has the threshold and gap = 1 - threshold. As E[J^2] / N^2 = a / N + curve a^2 with
    curve = 1 - 1 / N, a and 1 - a solve quadratic equations. Their solutions without cancellation are
    a = ``share`` threshold and 1 - a = ``miss`` gap.
    """
    curve = 1 - 1 / trials
    share = 2 / (1 / trials + math.sqrt(1 / trials**2 + 4 * curve * edge.threshold))
    miss = 2 / (1 + curve + math.sqrt((1 + curve) ** 2 - 4 * curve * edge.gap))
    return edge.ln_threshold + math.log(share) - edge.ln_gap - math.log(miss)


def _keep_beyond_crossing(surplus: Floats, distance: Floats, trusted: float) -> Floats:
    """``surplus`` for the outcomes whose loss exceeds eps, and 0 for all others; shape (outcomes,).

    Both arrays are ordered by growing loss. ``surplus`` is P - e^eps Q of each outcome up to a factor, so it
    is negative before the loss crosses eps, which it does once, and positive after. ``distance`` is how far
    each outcome is from the mean, in standard deviations, positive towards larger losses. Far from the mean
    an FFT leaves noise of either sign. So outcomes beyond ``trusted`` standard deviations become 0, and the
    crossing is looked for up to half of that.
    """
    tail = np.where(distance <= trusted, np.maximum(surplus, 0), 0)
    # Strictly: far beyond the crossing the surplus may underflow to 0.
    before_crossing = np.flatnonzero((surplus < 0) & (distance <= trusted / 2))
    if before_crossing.size:
        tail[: before_crossing[-1] + 1] = 0
    return tail


def _binomial_variance(trials: int, logit: float) -> float:
    """The variance of Bin(trials, expit(logit))."""
    return trials * scipy.special.expit(logit) * scipy.special.expit(-logit)


def _likely_binomial_masses(trials: int, logit: float) -> tuple[int, Floats]:
    """The smallest of the likely values of Bin(trials, expit(logit)), and the probabilities of all of them.

    The likely values are successive whole numbers: those within 12 standard deviations and 80 of the mean.
    Their probabilities, (values,), are normalised to a sum of 1. Each one follows from its neighbour towards
    the mode, by their ratio. Factorials would lose digits for many trials.
    """
    mean = trials * scipy.special.expit(logit)
    reach = _REACH * np.sqrt(_binomial_variance(trials, logit)) + _MARGIN
    first = max(0, int(mean - reach))
    last = min(trials, int(mean + reach) + 1)
    mode = min(max(int(mean), first), last)
    odds = np.exp(np.clip(logit, -700, 700))  # clipped so that e^logit is a positive float

    # P(j) / P(j - 1) = (trials - j + 1) / j odds, from the mode's neighbour up to the last value.
    above = np.arange(mode + 1, last + 1)
    upwards = np.cumprod((trials - above + 1) / above * odds)
    # P(j - 1) / P(j), the inverse, for j from the mode down to first + 1.
    below = np.arange(mode, first, -1)
    downwards = np.cumprod(below / (trials - below + 1) / odds)
    relative_to_mode = np.concatenate([downwards[::-1], [1.0], upwards])
    return first, relative_to_mode / relative_to_mode.sum()


def _convolve(first: Floats, second: Floats) -> Floats:
    """The full convolution of two arrays (a,) and (b,), of shape (a + b - 1,); direct or by a faster FFT."""
    if _is_direct(first, second):
        return np.convolve(first, second)
    from scipy import signal  # takes half a second; only many users need it

    return signal.fftconvolve(first, second)


def _is_direct(first: Floats, second: Floats) -> bool:
    """Whether `_convolve` is direct for these arrays: then even its smallest values have the right sign."""
    return float(first.size) * second.size <= DIRECT_PRODUCTS


def _divergence_of_tilt(logit: float, theta: float) -> float:
    """KL(Bernoulli(b) || Bernoulli(a)) in natural logarithms; a = expit(logit), b = expit(logit + theta).

    So b is a tilted by ``theta``: the odds of 1 are e^theta times those under a. The divergence,
    b ln(b / a) + (1 - b) ln((1 - b) / (1 - a)), keeps its digits also for small theta, where it is computed
    as a h(b / a - 1) + (1 - a) h((1 - b) / (1 - a) - 1) with h(x) = (1 + x) ln(1 + x) - x, `_entropy_term`.
    """
    a = scipy.special.expit(logit)
    if abs(theta) > 0.1:  # else the two terms with b nearly cancel
        tilted_logit = logit + theta
        ln_ratio_of_1 = scipy.special.log_expit(tilted_logit) - scipy.special.log_expit(logit)
        ln_ratio_of_0 = scipy.special.log_expit(-tilted_logit) - scipy.special.log_expit(-logit)
        tilted_mass_of_1 = scipy.special.expit(tilted_logit)
        tilted_mass_of_0 = scipy.special.expit(-tilted_logit)
        return tilted_mass_of_1 * ln_ratio_of_1 + tilted_mass_of_0 * ln_ratio_of_0

    # With shift = (b - a) / (a (1 - a)), b / a - 1 is shift (1 - a), and (1 - b) / (1 - a) - 1 is -shift a.
    shift = np.expm1(theta) / (1 + a * np.expm1(theta))
    return a * _entropy_term(shift * (1 - a)) + (1 - a) * _entropy_term(-shift * a)


def _entropy_term(x: float) -> float:
    """(1 + x) ln(1 + x) - x for x > -1, by its power series, sum of (-x)^i / (i (i - 1)), for small x."""
    if abs(x) > 0.1:
        return (1 + x) * np.log1p(x) - x
    i = np.arange(2, 20)  # further terms are below rounding
    return np.sum((-x) ** i / (i * (i - 1)))
