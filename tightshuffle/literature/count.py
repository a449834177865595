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
_ROUNDING = 1e-8  # of log10 delta: more than what two computed values are off together
DIRECT_PRODUCTS = 3e7  # products up to which a direct convolution is faster than an FFT
_FAINT = -300.0  # logit below which two of the users do not report x0 together
_NARROWEST = 1e-150  # the least standard deviation, as it is divided by
# 25 digits, more than a float has: for logarithms of decimals, which are slow.
_LOGARITHMS = decimal.Context(25, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def delta(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str = "forward",
) -> Floats:
    """log10 of the exact delta of the noisy count of x0 (no bound for the histogram).

    ``count`` of the n - 1 other users hold x0 (n_x0 of the paper). ``direction`` is "forward" for P against
    Q, as in the paper, "reverse", or "both" for the larger one. delta is exact to 1e-9, relative. Below
    10^-10000 log10 delta is exact to 1e-14, relative.
    """
    return of_moment(eps, n=n, k=k, eps0=eps0, count=count, direction=direction, moment=1)


def of_moment(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
    direction: str,
    moment: int,
) -> Floats:
    """log10 delta of the count of x0 by the loss with that ``moment`` of J: 1 is exact, 2 as printed.

    J is the number of reports of x0 by users who hold another value. Other arguments are those of `delta`.
    Moment 2 is no guarantee. The paper prints no reverse: there its loss is put into eq. (2) with the roles
    of P and Q exchanged.
    """
    check_choice("direction", direction, DIRECTIONS)
    n = check_n(n)
    arguments = np.broadcast_arrays(
        check_eps(eps), n, check_k(k), check_eps0(eps0), check_count(count, n)
    )
    signs = {"forward": (1,), "reverse": (-1,), "both": (1, -1)}[direction]
    ln_deltas = np.empty(arguments[0].shape)
    for index in np.ndindex(ln_deltas.shape):
        point = [argument[index].item() for argument in arguments]
        ln_deltas[index] = max(_ln_delta(*point, power=moment, sign=sign) for sign in signs)
    return ln_deltas[()] / np.log(10)


def ceiling(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    count: npt.ArrayLike,
) -> float:
    """log10 of a closed-form bound on the forward delta, of both forms, if at most ``count`` users hold x0.

    It is 0 where it is trivial. All arguments are numbers, eps0 at most 700. N users who do not hold x0
    report it J ~ Bin(N, q) times, q being the probability of one given other value in k-RR. The loss exceeds
    eps where the mean of J / N given the count exceeds a threshold a. By Jensen's inequality E_Q[(P / Q -
    e^eps)_+] <= (e^eps0 - kappa_2) E[(J / N - a)_+], kappa_2 being the least ratio P / Q. J reaches a N with
    probability at most e^(-N KL(a || q)), by Chernoff's bound.
    """
    n, k = int(check_n(n)), int(check_k(k))
    eps, eps0 = float(check_eps(eps)), float(check_eps0(eps0))
    non_holders = n - int(check_count(count, n))
    if eps >= eps0:
        return -np.inf

    edge = _edge(eps, k, eps0, sign=1)
    assert edge is not None  # e^eps >= 1 >= kappa_2
    logit_q = _logit_lie(k, eps0)
    if edge.threshold <= scipy.special.expit(logit_q):
        return 0.0

    # KL(a || q) with a = threshold and 1 - a = gap
    of_lie = edge.threshold * (np.log(edge.threshold) - scipy.special.log_expit(logit_q))
    of_other_reports = edge.gap * (np.log(edge.gap) - scipy.special.log_expit(-logit_q))
    divergence = of_lie + of_other_reports
    ln_bound = float(eps0 + np.log(edge.span * edge.gap) - non_holders * divergence)
    return min(0.0, ln_bound / np.log(10))


def _ln_delta(eps: float, n: int, k: int, eps0: float, m: int, *, power: int, sign: int) -> float:
    """Natural log of delta of the count S of x0 if ``m`` other users hold x0; -inf where it is 0.

    ``n`` users in all, ``k`` values and ``eps0`` are those of k-RR. ``sign`` is 1 for P against Q, the
    distributions of S if the target user holds x0 and if not, and -1 for the reverse. Under Q, S = X + J,
    with X reports of x0 by the ``m`` users and J by all N others. The loss at S is a function of the mean of
    J^``power`` given S: 1 is exact, 2 is as published. It exceeds eps in a tail of S, over which P - e^eps Q
    is summed. X and J are tilted, their odds times e^theta, until that tail starts at the mean of S.
    """
    if eps >= eps0:
        return -np.inf
    non_holders = int(n - m)  # N
    edge = _edge(eps, k, eps0, sign, non_holders)
    if edge is None:
        return -np.inf

    # With these log odds J has the moment at the edge of the tail. Tilt towards the edge, never away from it:
    # the printed loss can put its edge beyond the mean.
    logit_p = eps0 - np.log(k - 1)  # log of p / (1 - p), p = P(k-RR reports the true value)
    logit_q = _logit_lie(k, eps0)
    if power == 1:
        log_odds = edge.log_threshold - edge.log_gap
    else:
        log_odds = _second_moment_log_odds(edge, non_holders)
    theta = sign * max(0.0, sign * (log_odds - logit_q))
    tilted_p, tilted_q = logit_p + theta, logit_q + theta

    # P - e^eps Q of S = X + J, under the tilt, in units of e^lift, which may be too small for a float.
    first_x, x_masses = _binomial_window(int(m), tilted_p)
    moments = _moments(edge, non_holders, tilted_q, eps0, power)
    surplus = _convolve(x_masses, sign * moments.excess)
    s = first_x + moments.first + np.arange(surplus.size)

    # The tail of S where the loss exceeds eps: the order of growing loss is that of s, or its reverse.
    mean = m * scipy.special.expit(tilted_p) + non_holders * scipy.special.expit(tilted_q)
    deviation = np.sqrt(_variance(m, tilted_p) + _variance(non_holders, tilted_q))
    distance = sign * (s - mean) / max(deviation, _NARROWEST)
    trusted = np.inf if _is_direct(x_masses, moments.excess) else _TRUSTED
    by_loss = slice(None, None, sign)
    tail = _tail(surplus[by_loss], distance[by_loss], trusted)[by_loss]
    if power == 2 and sign == 1:
        # Eq. (6) weighs with P(s), while the printed loss has another denominator.
        weight_of_s = _convolve(x_masses, moments.weight)
        loss_of_s = _convolve(x_masses, moments.loss)
        tail = np.divide(tail * weight_of_s, loss_of_s, out=np.zeros_like(tail), where=tail > 0)

    # Undo the tilt: at s it is e^(theta (s - mean) + divergence). Turn moments into probabilities: times
    # e^eps0 * span, and e^eps in reverse.
    divergence = m * _relative_entropy(logit_p, theta) + non_holders * _relative_entropy(
        logit_q, theta
    )
    with np.errstate(divide="ignore"):
        ln_terms = np.log(tail) - theta * (s - mean)
    ln_factor = eps0 + np.log(edge.span)
    if sign == -1:
        ln_factor = ln_factor + eps
    return min(0.0, scipy.special.logsumexp(ln_terms) + (ln_factor + moments.lift - divergence))


class _Moments(NamedTuple):
    """P(J = j) e^-lift for j = ``first``, first + 1, ..., times three factors that depend on j."""

    first: int
    excess: Floats  # times (J / trials)^power - threshold
    weight: Floats  # times the likelihood ratio P / Q given J = j, over e^eps0
    loss: Floats  # times the printed ratio, over e^eps0
    lift: float


def _moments(edge: "_Edge", trials: int, logit: float, eps0: float, power: int) -> _Moments:
    """P(J = j) times the factors of `_Moments` that make up delta, for J ~ Bin(``trials``, expit(``logit``)).

    J of the N = ``trials`` users who do not hold x0 report it. The loss has this ``power`` of J, and ``edge``
    is the threshold of (J / N)^power above which it exceeds eps. Here lift is 0.
    """
    log_ratio = edge.log_kappa_2 - eps0  # of kappa_2 to e^eps0
    if logit < _FAINT:
        return _faint_moments(edge, trials, logit, log_ratio, power)

    first, distribution = _binomial_window(trials, logit)
    j = first + np.arange(distribution.size)
    # J / N, and its distance to 1 without cancellation
    share, miss = j / trials, (trials - j) / trials
    # (J / N)^power less the threshold, again without cancellation
    if power == 1:
        excess = ((j - edge.nearest) - edge.rest) / trials
    else:
        excess = np.where(share < 0.5, share**2 - edge.threshold, edge.gap - miss * (1 + share))
    weight = math.exp(log_ratio) + edge.span * share
    loss = math.exp(log_ratio) + edge.span * share**2
    return _Moments(
        first, distribution * excess, distribution * weight, distribution * loss, lift=0.0
    )


def _faint_moments(
    edge: "_Edge", trials: int, logit: float, log_ratio: float, power: int
) -> _Moments:
    """`_moments` where J is 0 or 1, as its probability of success, expit(``logit``), is below e^-300.

    Arguments are those of `_moments`, and ``log_ratio`` is ln of kappa_2 / e^eps0, the least likelihood ratio
    over the largest. What belongs to either J may be too small for a float. So all is in units of e^lift, the
    larger one of that probability and the threshold.
    """
    lift = max(logit, edge.log_threshold)
    probability_of_1 = trials * math.exp(logit - lift)
    excess_of_0 = -math.exp(edge.log_threshold - lift)
    excess_of_1 = probability_of_1 * (trials**-power - edge.threshold)
    ratio_of_0 = math.exp(log_ratio - lift)
    weight_of_1 = probability_of_1 * (math.exp(log_ratio) + edge.span / trials)
    loss_of_1 = probability_of_1 * (math.exp(log_ratio) + edge.span / trials**2)
    return _Moments(
        0,
        np.array([excess_of_0, excess_of_1]),
        np.array([ratio_of_0, weight_of_1]),
        np.array([ratio_of_0, loss_of_1]),
        lift,
    )


class _Edge(NamedTuple):
    """Where in (0, 1) the conditional moment of J / N makes the loss exceed eps; logarithms are natural."""

    span: float  # (e^eps0 - kappa_2) / e^eps0
    threshold: float  # of the moment
    gap: float  # 1 - threshold
    log_kappa_2: float
    log_threshold: float
    log_gap: float
    nearest: int  # the whole number next to N threshold
    rest: float  # N threshold - nearest


def _edge(eps: float, k: int, eps0: float, sign: int, trials: int = 1) -> _Edge | None:
    """Where the mean of J / N makes the loss exceed ``eps``, for N = ``trials``; None where it never does so.

    P / Q of an outcome is kappa_2 + (e^eps0 - kappa_2) times that mean, kappa_2 = (k - 1) / (e^eps0 + k - 2):
    the threshold is where this is e^eps, for the loss of P against Q (``sign`` 1), or e^-eps for the reverse
    (-1). It is computed in decimals, with twice the digits that can cancel. Some results are logarithms, as
    e^-eps0 may be too small for a float.
    """
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
        if threshold <= 0:
            return None

        nearest = (trials * threshold).to_integral_value()
        return _Edge(
            span=float(span / largest_ratio),
            threshold=float(threshold),
            gap=float(gap),
            log_kappa_2=float(kappa_2.ln(_LOGARITHMS)),
            log_threshold=float(threshold.ln(_LOGARITHMS)),
            log_gap=float(gap.ln(_LOGARITHMS)),
            nearest=int(nearest),
            rest=float(trials * threshold - nearest),
        )


def _logit_lie(k: int, eps0: float) -> float:
    """log(q / (1 - q)) of q, the probability that k-RR reports one given other value."""
    return -(eps0 + np.log1p((k - 2) * np.exp(-eps0)))


def _second_moment_log_odds(edge: _Edge, trials: int) -> float:
    """The logit of the a at which J ~ Bin(trials, a) has E[J^2] / trials^2 = threshold of the ``edge``.

    a and 1 - a solve quadratic equations, here without cancellation: a is threshold times ``share``, and
    1 - a is gap times ``miss``.
    """
    curve = 1 - 1 / trials
    share = 2 / (1 / trials + math.sqrt(1 / trials**2 + 4 * curve * edge.threshold))
    miss = 2 / (1 + curve + math.sqrt((1 + curve) ** 2 - 4 * curve * edge.gap))
    return edge.log_threshold + math.log(share) - edge.log_gap - math.log(miss)


def _tail(surplus: Floats, distance: Floats, trusted: float) -> Floats:
    """``surplus`` where the loss exceeds eps, else 0; all arrays (outcomes,) are ordered by growing loss.

    ``surplus`` is P - e^eps Q of each outcome, and ``distance`` its distance from the mean in standard
    deviations. The loss crosses eps once. An FFT leaves noise of either sign far from the centre: search and
    tail end at the ``trusted`` number of standard deviations.
    """
    tail = np.where(distance <= trusted, np.maximum(surplus, 0), 0)
    # Strictly: far beyond the crossing the surplus may underflow to 0.
    before_crossing = np.flatnonzero((surplus < 0) & (distance <= trusted / 2))
    if before_crossing.size:
        tail[: before_crossing[-1] + 1] = 0
    return tail


def _variance(trials: int, logit: float) -> float:
    """The variance of Bin(trials, expit(logit))."""
    return trials * scipy.special.expit(logit) * scipy.special.expit(-logit)


def _binomial_window(trials: int, logit: float) -> tuple[int, Floats]:
    """The first of the likely values of Bin(trials, expit(logit)), and the probabilities of all of these.

    There are O(sqrt trials). Each probability follows from its neighbour towards the mode, by their ratio;
    then all are normalised. Factorials would lose digits for many trials.
    """
    mean = trials * scipy.special.expit(logit)
    reach = _REACH * np.sqrt(_variance(trials, logit)) + _MARGIN
    first = max(0, int(mean - reach))
    last = min(trials, int(mean + reach) + 1)
    mode = min(max(int(mean), first), last)
    above = np.arange(mode + 1, last + 1)
    below = np.arange(mode, first, -1)  # each stands for the value before it
    odds = np.exp(np.clip(logit, -700, 700))  # e^700 is a float

    upwards = np.cumprod((trials - above + 1) / above * odds)
    downwards = np.cumprod(below / (trials - below + 1) / odds)
    distribution = np.concatenate([downwards[::-1], [1.0], upwards])
    return first, distribution / distribution.sum()


def _convolve(first: Floats, second: Floats) -> Floats:
    """The full convolution, direct or by an FFT, whichever is faster."""
    if _is_direct(first, second):
        return np.convolve(first, second)
    from scipy import signal  # takes half a second; only many users need it

    return signal.fftconvolve(first, second)


def _is_direct(first: Floats, second: Floats) -> bool:
    """Whether `_convolve` is direct for these arrays: then even its smallest values have the right sign."""
    return float(first.size) * second.size <= DIRECT_PRODUCTS


def _relative_entropy(logit: float, theta: float) -> float:
    """KL(Bernoulli(b) || Bernoulli(a)) of a = expit(logit), b = expit(logit + theta), also for small theta.

    b is a tilted by ``theta``: the odds of 1 are e^theta times those under a. In natural logarithms.
    """
    a = scipy.special.expit(logit)
    if abs(theta) > 0.1:  # else the two terms cancel
        tilted_logit = logit + theta
        ln_ratio_of_1 = scipy.special.log_expit(tilted_logit) - scipy.special.log_expit(logit)
        ln_ratio_of_0 = scipy.special.log_expit(-tilted_logit) - scipy.special.log_expit(-logit)
        tilted_mass_of_1 = scipy.special.expit(tilted_logit)
        tilted_mass_of_0 = scipy.special.expit(-tilted_logit)
        return tilted_mass_of_1 * ln_ratio_of_1 + tilted_mass_of_0 * ln_ratio_of_0

    # With h(x) = (1 + x) log(1 + x) - x it is a h(b / a - 1) + (1 - a) h((1 - b) / (1 - a) - 1).
    shift = np.expm1(theta) / (1 + a * np.expm1(theta))  # (b - a) / (a (1 - a))
    return a * _entropy_term(shift * (1 - a)) + (1 - a) * _entropy_term(-shift * a)


def _entropy_term(x: float) -> float:
    """(1 + x) log(1 + x) - x, by its power series for small x."""
    if abs(x) > 0.1:
        return (1 + x) * np.log1p(x) - x
    i = np.arange(2, 20)
    return np.sum((-x) ** i / (i * (i - 1)))
