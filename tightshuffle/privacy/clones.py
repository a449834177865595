"""Exact delta of the clones' pairs: Feldman, McMillan, Talwar 2020 and 2023.

Each remaining user hides a clone of the user who differs with some probability. With C ~ Bin(n - 1, chance)
clones, A ~ Bin(C, 1/2) and D ~ Bern(e^eps0 / (e^eps0 + 1)), the shuffled answers are at most as telling as

    (A + D, C - A + 1 - D)  against  (A + 1 - D, C - A + D).

- clones (2020, "Hiding among the clones"): chance = e^-eps0. Valid for every eps0-LDP randomizer, even if
  it is chosen adaptively.
- stronger clones (2023, "Stronger privacy amplification by shuffling"): chance = 2 / (e^eps0 + 1). The
  paper's errata limit its theorem to a class of randomizers. k-RR is safe for every k, which is easy to see:
  with R_x the law of the answers for x, R_x >= (R_0 + R_1) / (e^eps0 + 1) cell by cell (at x0 and x1 the
  right side is q <= R_x, elsewhere 2 q / (e^eps0 + 1) <= q). So each remaining user answers with that chance
  from (R_0 + R_1) / 2 = (S_0 + S_1) / 2, where R_0 and R_1 mix the laws S_0 and S_1, proportional to
  e^eps0 R_0 - R_1 and e^eps0 R_1 - R_0, as e^eps0 : 1 and 1 : e^eps0. How many drew from S_0 and from S_1 is
  the pair; all else is post-processing. (With the smaller chance 2 q, where answers other than x0 and x1 are
  no clones, the counts no longer tell C: that pair, the two counts of renyi_pairs.py, is no upper bound.)

The pair is its own mirror image: both directions have the same delta. Given T = C + 1, the first count is a
with probability Bin(T, 1/2)(a) (2 / T) (d a + (1 - d) (T - a)), d = e^eps0 / (e^eps0 + 1), and

    delta = sum_T Pr[C = T - 1] (2 / T) tanh(eps0 / 2) (1 + e^eps) E[(Bin(T, 1/2) - u T)_+],
    u = (1 + tanh(eps / 2) / tanh(eps0 / 2)) / 2.

The excess falls like exp(-T KL(u || 1/2)), and a binomial tilted by that is a binomial: the T that matter lie
around its mean. What the window leaves out is bounded by Chernoff and added.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from tightshuffle.arguments import Floats, check_eps, check_eps0, check_k, check_n
from tightshuffle.privacy.hockey_stick import log_binomial_excess, log_binomial_pmf

_REACH = 11.0  # standard deviations of the window: beyond them weigh e^-60 before Chernoff's slack
_MARGIN = 60  # further terms, for windows so close to 0 that deviations say little
_FEW = 4000  # terms up to which, or cells short of the largest count below which, nothing is interpolated
_DEGREE = 8  # in T, of the polynomials that interpolate
_MOST_TERMS = 400_000  # above that, some 10^9 users, neighbouring terms share their largest delta


def clones(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of the clones' pair (Feldman et al. 2020, Theorem 3.1's proof): an upper bound on delta.

    Parameters: ``eps``, ``n`` users, ``eps0``, numbers or arrays, which broadcast; ``k`` cells is checked but
    does not matter. Returns log10 delta of the broadcast shape (a float for scalars), -inf where delta is 0
    (eps >= eps0). Up to n = 10^9 exact to 1e-9 of delta; beyond, an upper bound within a few per cent.
    O(sqrt n) terms. Raises ValueError that names a bad argument.
    """
    return _bound(eps, n, k, eps0, lambda budget: -budget)


def stronger_clones(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of the stronger clones' pair (Feldman et al. 2023, Theorem 3.1 with p = 1 / (e^eps0 + 1)).

    An upper bound on delta for k-RR with every k (proof above). Arguments, result and errors as for `clones`.
    """
    return _bound(eps, n, k, eps0, lambda budget: np.log(2) + special.log_expit(-budget))


def _bound(
    eps: npt.ArrayLike,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    log_chance: Callable[[float], float],
) -> Floats:
    values = np.broadcast_arrays(check_eps(eps), check_n(n), check_k(k), check_eps0(eps0))
    result = np.empty(values[0].shape)
    for index in np.ndindex(result.shape):
        point, users, _, budget = (value[index].item() for value in values)
        result[index] = _log_delta(point, users, budget, log_chance(budget))
    return result[()] / np.log(10)


def _log_delta(eps: float, n: int, eps0: float, log_chance: float) -> float:
    """Natural log of delta at one point."""
    if eps >= eps0:
        return -np.inf
    half, half0 = np.tanh(eps / 2), np.tanh(eps0 / 2)
    u = (1 + half / half0) / 2
    short = (half0 - half) / (2 * half0)  # 1 - u
    if short <= 0:
        return -np.inf  # eps differs from eps0 in the last bits only
    # d and e^eps: log of tanh(eps0 / 2) (1 + e^eps), and KL(u || 1/2)
    log_factor = np.log(2) + np.log(half0) + np.logaddexp(0, eps)
    fall = special.xlogy(u, 2 * u) + special.xlogy(short, 2 * short)

    chance, remaining = np.exp(log_chance), n - 1
    log_total = np.logaddexp(np.log(-np.expm1(log_chance)), log_chance - fall)  # of the tilted chances
    tilted = np.exp(log_chance - fall - log_total)
    reach = _REACH * np.sqrt(remaining * tilted * (1 - tilted)) + _MARGIN
    first = max(0, int(remaining * tilted - reach))
    last = min(remaining, int(remaining * tilted + reach) + 1)
    stride = -(-(last - first + 1) // _MOST_TERMS)
    c = np.arange(first, last + 1, stride)
    log_weight = log_binomial_pmf(c, remaining, chance)
    if stride > 1:  # delta given T falls with T: more clones are post-processing
        ends = np.minimum(c + stride - 1, last)
        mode = np.clip(int(n * chance), c, ends)
        at_most = [log_binomial_pmf(count, remaining, chance) for count in (c, ends, mode)]
        log_weight = np.log(stride) + np.max(at_most, axis=0)
    inside = special.logsumexp(log_weight + _log_excess(c + 1.0, u, short) - np.log(c + 1))

    # Given T, the excess over T is at most (1 - u) e^(-T fall): the terms left out are tails of the tilted
    # binomial.
    outside = [_log_tail(remaining, first - 1, tilted), _log_tail(remaining, last + 1, tilted)]
    left_out = np.log(short) - fall + remaining * log_total + special.logsumexp(outside)
    with np.errstate(invalid="ignore"):
        return min(0.0, log_factor + np.logaddexp(inside, left_out))


def _log_excess(t: Floats, u: float, short: float) -> Floats:
    """Natural log of E[(Bin(T, 1/2) - u T)_+] for ascending ``t``; ``short`` is 1 - u.

    With m = ceil(u T) the excess is pmf(m) (X + (m - u T) B), where pmf(m) X = E[(Bin - m)_+] and
    pmf(m) B = Pr[Bin >= m]. X and B change slowly with T and m: for long windows polynomials give their logs.
    """
    if t.size < _FEW or t[0] * short < _FEW:
        return log_binomial_excess(t, u * t)
    nodes = np.polynomial.chebyshev.chebpts1(3 * _DEGREE)
    nodes = np.rint((t[0] + t[-1]) / 2 + nodes * (t[-1] - t[0]) / 2)[:, None]
    m = np.rint(u * nodes) + np.arange(-1, 3)
    pmf = log_binomial_pmf(m, nodes, 0.5)
    moment = np.exp(log_binomial_excess(nodes, m) - pmf)  # X
    tail = np.exp(log_binomial_excess(nodes, m - 1) - pmf) - moment  # B

    def basis(t: Floats, m: Floats) -> Floats:
        scaled = (2 * t - t_ends.sum()) / np.ptp(t_ends)
        return np.polynomial.chebyshev.chebvander2d(scaled, m - u * t, [_DEGREE, 3])

    t_ends = t[[0, -1]]
    matrix = basis(np.broadcast_to(nodes, m.shape), m).reshape(m.size, -1)
    with np.errstate(divide="ignore", invalid="ignore"):  # beyond 10^15 users no digits are left: delta <= 1
        values = np.log(np.stack([moment.ravel(), tail.ravel()], axis=1))
    fit = np.linalg.lstsq(matrix, values, rcond=None)[0]
    m = np.ceil(u * t)
    moment, tail = np.exp(basis(t, m) @ fit).T
    return log_binomial_pmf(m, t, 0.5) + np.log(moment + (m - u * t) * tail)


def _log_tail(trials: int, edge: int, chance: float) -> float:
    """Chernoff's bound on log Pr of Binomial(trials, chance) at ``edge`` or farther from the mean."""
    if edge < 0 or edge > trials:
        return -np.inf
    share = edge / trials
    return -trials * (special.rel_entr(share, chance) + special.rel_entr(1 - share, 1 - chance))
