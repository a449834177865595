"""delta of the whole histogram for the conjectured worst dataset: (a, 0, n - 1 - a, 0, ..., 0).

Of the remaining users a hold x0, none hold x1, and all who do not hold x0 hold ONE third value x2
(docs/worst_case.md has the evidence, and what is proved). ``tight`` is the largest delta over a. It is exact
if the conjecture holds, and always a lower bound, as each of these datasets can occur.

**One a.** Let G be the distribution of (N0, N2), how many remaining users report x0 and x2. Each of them
reports one of the k - 2 other values with probability (k - 2) q, whatever the user holds. For the histogram
of all n users with N0, N2 and M = n - N0 - N2 other reports, N1 of them x1, and y = e^eps0 - 1,

    P / q = (y + 1) G(N0 - 1, N2) + G(N0, N2 - 1) + (k - 2) G(N0, N2)
    Q / q =         G(N0 - 1, N2) + G(N0, N2 - 1) + (k - 2) G(N0, N2) (1 + y N1 / M)

times the probabilities Bin(M, 1 / (k - 2)) of N1, which are the same under both. P - e^eps Q falls with N1,
so the sum over N1 goes up to a threshold and is read from a table.

**Any depth.** The computation uses a distribution tilted by e^(lambda . reports), under which the outcomes
that make up delta are typical: lambda minimises the relative entropy among all tilts with
E_P e^lambda = e^eps E_Q e^lambda for one report. The tilted G then needs a small absolute error only, and
comes from its Fourier transform on a grid, of which some thousand points are not 0.

**Safe side.** Any set of outcomes gives a lower bound. Outcomes are left out if they are too unlikely, or if
the error bound of G exceeds what they add; that error bound, times its weight, is subtracted.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import (
    LARGEST_EXPONENT,
    Floats,
    Integers,
    check_at_most,
    check_count,
    check_eps,
    check_eps0,
    check_k,
    check_n,
)
from tightshuffle.numerics.binomial import log_binomial_pmf
from tightshuffle.setting import LARGEST_N_OF_TIGHT

_PERIOD = 50.0  # -log of the probability that G leaves one period of the grid
_BELL = 55.0  # -log of the Fourier transform's size from which on it counts as 0
_REACH = 6.5  # standard deviations of the tilted distribution inside the window
_MARGIN = 30  # and further values, for lopsided distributions
_ROUNDING = 1e-14  # of the largest value of G
_FEW = 64  # users up to which every a is tried
_EVENLY = 12  # parts of 0..n - 1 at whose ends delta is computed
_DOUBT = 3.0  # natural log by which the factor of e^-entropy may vary unnoticed
_SAFETY = 1e-10  # of delta, for the sums and the table
_HUGE = 1e200
_STEEPEST = 50.0  # tilt, under which nearly all reports are the same


def tight(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 of the largest delta found over the datasets (a, 0, n - 1 - a, 0, ..., 0).

    It is a rigorous lower bound on delta of the worst dataset. If the conjecture of docs/worst_case.md holds,
    it is exact, to the precision of the search over a. For up to 64 users the search tries every a. For more
    users it tries about 24, evenly spaced and next to both ends, and then the neighbours of the best one at
    ever smaller distances. For very small delta there are many local maxima in a, which differ by at most 1
    in log10; the search may then miss the largest.

    Parameters
    ----------
    eps, n, k, eps0 : numbers or arrays, which broadcast. ``n`` users in all, at most 100,000; ``k`` values,
        at least 3 (for k = 2 see `binary`); eps0 at most 300.

    Returns
    -------
    log10 delta, an array of the broadcast shape (a float for scalars); -inf where eps >= eps0.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    points = _points(eps, n, k, eps0, 0)
    result = np.full(points[0].shape, -np.inf)
    for index in np.ndindex(result.shape):
        e, users, values, e0, _ = (point[index].item() for point in points)
        if e < e0:
            result[index] = _largest(e, users, values, e0)
    return result[()] / np.log(10)


def one_third_value(
    eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike, count: npt.ArrayLike
) -> Floats:
    """log10 delta of the whole histogram, P against Q, if ``count`` of the remaining users hold x0.

    All remaining users without x0 hold one third value. The result is rounded down: by about 1e-10 of delta
    if delta is above 1e-10, by up to 1e-6 of it far below. Other parameters, shape and errors as for `tight`.
    """
    points = _points(eps, n, k, eps0, count)
    result = np.full(points[0].shape, -np.inf)
    for index in np.ndindex(result.shape):
        e, users, values, e0, a = (point[index].item() for point in points)
        if e < e0:
            result[index] = _ln_delta(e, users, values, e0, a)
    return result[()] / np.log(10)


def _points(
    eps: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike, count: npt.ArrayLike
) -> list[npt.NDArray[Any]]:
    n, k, eps0 = check_n(n), check_k(k), check_eps0(eps0, LARGEST_EXPONENT)
    check_at_most("n", n, LARGEST_N_OF_TIGHT)
    if np.any(k < 3):
        raise ValueError(f"k must be at least 3 for a third value to exist; got {k.min()}")
    return list(np.broadcast_arrays(check_eps(eps), n, k, eps0, check_count(count, n)))


# --- the search over a -------------------------------------------------------------------------------------


def _largest(eps: float, n: int, k: int, eps0: float) -> float:
    remaining = n - 1
    if n <= _FEW:
        return max(_ln_delta(eps, n, k, eps0, a) for a in range(n))
    tilts: dict[int, _Tilt] = {}
    seen: dict[int, float] = {}

    def entropy(a: int) -> float:
        if a not in tilts:
            tilts[a] = _tilt(eps, n, k, eps0, a)
        return tilts[a].entropy

    def look(a: int) -> float:
        # delta is e^-entropy times a factor that varies little with a: an a whose entropy is too large is
        # skipped.
        if a not in seen:
            hope = max((value + entropy(b) for b, value in seen.items() if value > -np.inf), default=np.inf)
            if hope + _DOUBT - entropy(a) < max(seen.values(), default=-np.inf):
                return -np.inf
            seen[a] = _ln_delta(eps, n, k, eps0, a)
        return seen[a]

    # With few reports x1, delta goes up and down with a: evenly spaced a find a large one.
    near = np.unique(np.geomspace(1, remaining / 2, 6).astype(int))
    evenly = np.linspace(0, remaining, _EVENLY + 1).astype(int)
    best = max(
        sorted({*near.tolist(), *(remaining - near).tolist(), *evenly.tolist()}, key=entropy), key=look
    )
    step = max(1, remaining // (2 * _EVENLY))
    while step >= max(1, remaining // 400):
        better = max((a for a in (best - step, best + step) if 0 <= a <= remaining), key=look)
        if look(better) > look(best):
            best = better
        else:
            step //= 2
    return look(best)


# --- the tilt ----------------------------------------------------------------------------------------------


class _Tilt(NamedTuple):
    """The exponents for one report x0, x1, x2 (0 for all other values), and n times the relative entropy."""

    x0: float
    x1: float
    x2: float
    entropy: float


def _tilt(eps: float, n: int, k: int, eps0: float, a: int) -> _Tilt:
    gain, others = math.expm1(eps0), k - 3
    up, down = -math.expm1(-eps - eps0) * math.exp(eps), math.expm1(eps) * math.exp(-eps0)
    log_scale = math.log(-math.expm1(eps - eps0))

    def complete(free: list[float]) -> tuple[float, float, float]:
        """The tilt of x0 that puts the likelihood ratio of one report at e^eps."""
        x1, x2 = (min(max(x, -_STEEPEST), _STEEPEST) for x in (*free, 0.0)[:2])
        return math.log(up * math.exp(x1) + down * (math.exp(x2) + others)) - log_scale, x1, x2

    def entropy(free: Floats) -> float:
        x0, x1, x2 = complete(free.tolist())
        total = 0.0
        for users, own0, own2 in ((a, gain, 0.0), (n - 1 - a, 0.0, gain)):
            w0, w1, w2 = (1 + own0) * math.exp(x0), math.exp(x1), (1 + own2) * math.exp(x2)
            mass = w0 + w1 + w2 + others
            total += users * ((w0 * x0 + w1 * x1 + w2 * x2) / mass - math.log(mass / (gain + k)))
        return total

    # x1, and x2 unless there is no other value: then only differences of the exponents matter.
    start = np.array([-eps / 2, 0.0])[: 2 if k > 3 else 1]
    simplex = np.vstack([start, start + 0.2 * np.eye(start.size)])
    options = {"xatol": 1e-4, "fatol": 1e-6, "initial_simplex": simplex}
    found = scipy.optimize.minimize(entropy, start, method="Nelder-Mead", options=options)
    return _Tilt(*complete(found.x.tolist()), float(found.fun))


# --- delta of one dataset ----------------------------------------------------------------------------------


def _ln_delta(eps: float, n: int, k: int, eps0: float, a: int) -> float:
    """Natural log, rounded down, of delta if a remaining users hold x0 and n - 1 - a hold x2."""
    x0, x1, x2, _ = _tilt(eps, n, k, eps0, a)
    gain, e = math.expm1(eps0), math.expm1(eps)
    elsewhere = math.exp(x1) + (k - 3)
    # Weights in units of q. Rows: users who hold x0, x2; columns: reports x0, x2, elsewhere.
    weights = np.array(
        [[math.exp(x0 + eps0), math.exp(x2), elsewhere], [math.exp(x0), math.exp(x2 + eps0), elsewhere]]
    )
    masses = weights.sum(axis=1)
    probabilities = weights / masses[:, None]
    users = np.array([a, n - 1 - a])
    mean, variances = users @ probabilities, users @ (probabilities * (1 - probabilities))
    # Two coordinates of the reports: of N0 and N2 the one that varies less, and M.
    one = int(variances[0] > variances[1])
    low, high = (
        np.clip(f(mean + side * (_REACH * np.sqrt(variances) + _MARGIN)), 0, n).astype(int)[[one, 2]]
        for f, side in ((np.floor, -1), (np.ceil, 1))
    )
    distribution, wrong = _distribution(users, probabilities[:, [one, 2]], low - 1, high)
    # Of the remaining users: as many reports as in all, one less of the coordinate, one less elsewhere.
    same, fewer, outside = distribution[1:, 1:], distribution[:-1, 1:], distribution[1:, :-1]
    head, m = np.arange(low[0], high[0] + 1)[:, None], np.arange(low[1], high[1] + 1)[None]
    zeros, twos = (n - m - head, head) if one else (head, n - m - head)

    # P - e^eps Q = surplus - slope N1, in tilted units, where the user's own report counts e^tilt.
    unit = math.log(elsewhere / (k - 2))
    own0, own2 = -math.expm1(eps - eps0) * math.exp(x0 + eps0 - unit), e * math.exp(x2 - unit)
    surplus = own0 * (same if one else fewer) - own2 * (fewer if one else same) - e * (k - 2) * outside
    per_report = math.exp(eps) * gain * (k - 2) / np.maximum(m, 1)
    slope = per_report * outside
    centre = mean[2] * math.exp(x1) / elsewhere  # of N1
    if k == 3:
        top, log_probability = m, -x1 * (m - centre)
        value = surplus - slope * m
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            threshold = np.where(m == 0, 0.0, np.where(slope > 0, surplus / slope, -1.0))
        top, room, log_probability = _lower_tail(threshold, m, x1, k, centre)
        value = np.where(m == 0, surplus, slope * room)
    value = value - wrong * (own0 + own2 + e * (k - 2) + per_report * top)
    kept = (zeros >= 0) & (twos >= 0) & (value > 0)  # not where it is nan
    if not np.any(kept):
        return -np.inf
    weight = log_probability - x0 * (zeros - mean[0]) - x2 * (twos - mean[1])
    logs = np.log(value[kept]) + weight[kept]
    parts: list[float] = [*(users * np.log(masses / (gain + k))), unit - math.log(gain + k)]
    parts += [-x0 * mean[0], -x2 * mean[1], -x1 * centre]
    error = _SAFETY + 1e-15 * float(np.sum(np.abs(parts)))
    return min(0.0, float(scipy.special.logsumexp(logs)) + math.fsum(parts) - error)


def _distribution(
    users: Integers, probabilities: Floats, low: Integers, high: Integers
) -> tuple[Floats, float]:
    """The distribution of two coordinates of the reports, from low to high, and a bound on its error.

    ``probabilities`` (2, 2): that a user who holds x0, x2 (rows) reports in either coordinate (columns).
    """
    rest = 1 - probabilities.sum(axis=1)
    both = float(users @ (probabilities[:, 0] * probabilities[:, 1]))
    single = users @ (probabilities * rest[:, None])
    mean, variance = users @ probabilities, users @ (probabilities * (1 - probabilities))
    reach = _PERIOD / 3 + np.sqrt((_PERIOD / 3) ** 2 + 2 * _PERIOD * variance)  # Bernstein's inequality
    periods = [scipy.fft.next_fast_len(int(length) + 3) for length in np.minimum(2 * reach, users.sum() + 1)]
    periods = [
        max(period, int(end - start) + 2) for period, start, end in zip(periods, low, high, strict=True)
    ]
    angles = []
    for axis, period in enumerate(periods):
        u = 2 * np.pi * np.arange(period // 2 + 1) / period
        versine = 2 * np.sin(u / 2) ** 2
        # |E e^(iuX + iwY)| <= exp(-single_X (1 - cos u) - single_Y (1 - cos w) - both (1 - cos(u - w))); the
        # smallest exponent over all w.
        other = single[1 - axis] + both
        root = np.sqrt(np.maximum(other**2 - 2 * single[1 - axis] * both * versine, 0))
        angles.append(u[single[axis] * versine + other - root <= _BELL])
    first = angles[0].size
    indices = np.arange(first)
    if first > periods[0] // 2:
        indices = np.arange(periods[0])
    else:
        indices = np.concatenate([indices, np.arange(periods[0] - first + 1, periods[0])])
    signed = np.where(indices > periods[0] // 2, indices - periods[0], indices)
    u, w = (2 * np.pi * signed / periods[0])[:, None], angles[1][None]

    transform = np.zeros((u.size, w.size), dtype=complex)
    for count, (x, y) in zip(users, probabilities, strict=True):
        lack = 2 * x * np.sin(u / 2) ** 2 + 2 * y * np.sin(w / 2) ** 2
        across = x * np.sin(u) + y * np.sin(w)
        with np.errstate(divide="ignore"):
            modulus = 0.5 * np.log1p(np.maximum(lack**2 - 2 * lack + across**2, -1))
        turn = np.arctan2(across, 1 - lack) - x * u - y * w
        if count:
            transform += count * (modulus + 1j * turn)
    transform = np.exp(transform.conj() - 1j * (u * (mean[0] - low[0]) + w * (mean[1] - low[1])))
    sizes = high - low + 1
    padded = np.zeros((periods[0], w.size), dtype=complex)
    padded[indices] = transform
    distribution = scipy.fft.irfft(scipy.fft.ifft(padded, axis=0)[: sizes[0]], n=periods[1], axis=1)[
        :, : sizes[1]
    ]
    distribution[np.arange(low[0], high[0] + 1) < 0] = 0
    distribution[:, np.arange(low[1], high[1] + 1) < 0] = 0
    largest = 2 * float(np.abs(transform).sum()) / (periods[0] * periods[1])
    phase = 4e-16 * float(users.sum()) * (angles[0][-1] + angles[1][-1])
    return distribution, largest * (_ROUNDING + phase) + math.exp(-_BELL) + 4 * math.exp(-_PERIOD)


def _lower_tail(
    threshold: Floats, m: Integers, x1: float, k: int, centre: float
) -> tuple[Integers, Floats, Floats]:
    """Three arrays for N1 ~ Bin(m, 1 / (k - 2)), of the shape of ``threshold``, in tilted units.

    The highest N1 counted; E[threshold - N1 | N1 <= that], nan where none is; log Pr[N1 <= that].
    """
    reach = 1.2 * _REACH * math.sqrt(centre + 1) + _MARGIN
    first, last = max(0, math.floor(centre - reach)), min(int(m.max()), math.ceil(centre + reach))
    j = np.arange(first, last + 1)
    trials = m.ravel()
    probability = math.exp(x1) / (math.exp(x1) + (k - 3))
    # Ratios of neighbouring terms p(j - 1) / p(j), beside the weight.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = j[:, None] / (trials - j[:, None] + 1) * math.exp(x1) * ((1 - probability) / probability)
    ratio[trials - j[:, None] < 0] = 1
    log_term = log_binomial_pmf(first, trials, probability) - x1 * (first - centre)
    share = np.ones(trials.size)  # Pr[<= j] / p(j)
    room = np.zeros(trials.size)  # E[j - N1 | <= j]
    shares, rooms = np.empty((2, *ratio.shape))
    for i in range(j.size):
        if i:
            below = np.minimum(share * ratio[i], _HUGE)  # a smaller value is on the safe side
            room = (room + 1) * below / (1 + below)
            share = 1 + below
        shares[i], rooms[i] = share, room
    logs = np.log(shares)
    logs[1:] -= np.cumsum(np.log(ratio[1:]), axis=0)
    logs += log_term
    highest = np.maximum(np.minimum(threshold, np.minimum(m, last)), -1.0)
    top = np.floor(np.nan_to_num(highest, nan=-1.0)).astype(int)
    counted = top >= first
    top = np.where(counted, top, first)
    place = top - first, np.broadcast_to(np.arange(trials.size), top.shape)
    return top, np.where(counted, rooms[place] + threshold - top, np.nan), logs[place]
