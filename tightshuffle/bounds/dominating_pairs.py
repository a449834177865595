"""The pairs of distributions that dominate shuffled k-RR in every round, outcome by outcome.

Koskela, Heikkila and Honkela bound n_c rounds by n_c independent draws of one pair (P, Q). In each of the
pairs here, an outcome is (n1, n2) and N. n1 and n2 are the numbers of reports x0 and x1 that hide the user's
report. N does not depend on the user's report. Given N and T = n1 + n2, with n1 ~ Bin(T, 1/2),

    P = scale (n1 + ratio n2 + offset),   Q = scale (n2 + ratio n1 + offset)   times that probability.

==================  ==============================  ==============  =========  ================
pair                N                               T given N       ratio      offset
==================  ==============================  ==============  =========  ================
strong (3.1)        1 + Bin(n - 1, 2 gamma / k)     N               0          0
weak (3.2 to 3.4)   1 + Bin(n - 1, gamma)           Bin(N, 2 / k)   0          N / (e^eps0 - 1)
clones (4.1, 4.2)   1 + Bin(n - 1, e^-eps0)         N               e^-eps0    0
stronger-clones     1 + Bin(n - 1, 2/(e^eps0 + 1))  N               e^-eps0    0
==================  ==============================  ==============  =========  ================

with gamma = k / (e^eps0 + k - 1) and scale such that P is a distribution. We read the paper as follows: (3.1)
is the joint distribution of (N1 + 1, N2) against (N1, N2 + 1), since its two binomials alone are not what the
adversary sees; in (3.2) the n_i sum to B + 1, so that the blanket's term is gamma (B + 1) / k; and (4.1)
needs 1 - Delta in the other component (Feldman et al., whom it quotes, have it), without which delta is far
larger.

Exchanging n1 and n2 exchanges P and Q: all pairs are mirror images, so both directions have the same delta.

One more blanket report, or clone, is post-processing: the pair given N dominates the pair given N + 1. So a
block of values of N may be replaced by its smallest in an upper and by its largest in a lower estimate.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.binomial import log_binomial_pmf

PAIRS = ("strong", "weak", "clones", "stronger-clones")
_BATCH = 2**19  # outcomes at a time: about 50 MB


class Rows(NamedTuple):
    """Outcomes by (N, T): one row each, all arrays of shape (r,), probabilities as natural logs.

    ``short`` is N - T: how many reports are neither x0 nor x1. ``largest`` is the largest loss, which only
    outcomes without x1 and with T = N have. ``log_left_out`` bounds what P has outside of these rows and of
    the windows that `outcomes` puts on n1; -inf where nothing is left out.
    """

    log_weight: Floats  # probability of the row under the base distribution
    total: Integers  # T
    short: Integers
    offset: Floats
    log_scale: Floats
    log_ratio: float
    largest: float
    log_left_out: float

    @property
    def gap(self) -> float:
        """1 - ratio."""
        return -math.expm1(self.log_ratio)

    @property
    def ratio(self) -> float:
        """The pair's ratio; see the table."""
        return math.exp(self.log_ratio)


def rows(pair: str, n: int, k: int, eps0: float, *, depth: float, blocks: int, round_up: bool) -> Rows:
    """The rows of a pair that weigh at least about e^-``depth``, with N in at most ``blocks`` blocks."""
    probability, log_ratio = _probability_and_log_ratio(pair, k, eps0)
    first, last = (int(end) for end in window(n - 1, probability, depth))
    starts = _block_starts(first, last, n - 1, probability, blocks)
    ends = np.append(starts[1:] - 1, last)
    log_probabilities = log_binomial_pmf(np.arange(first, last + 1), n - 1, probability)
    peak = log_probabilities.max()
    with np.errstate(divide="ignore"):
        log_block = np.log(np.add.reduceat(np.exp(log_probabilities - peak), starts - first)) + peak
    # Far out the unit of that sum is too large: the block's largest term times its length is enough there.
    floor = np.maximum.reduceat(log_probabilities, starts - first)
    if round_up:
        floor = floor + np.log(ends - starts + 1)
    log_block = np.where(log_block > peak - 600, log_block, floor)
    known = 1 + (starts if round_up else ends)

    if pair == "weak":
        low, high = window(known, 2 / k, depth + log_block)
        row, total = _ragged(low, high)
        complete = bool(np.all((low == (known if k == 2 else 0)) & (high == known)))  # k = 2: T is N
        log_weight = log_block[row] + log_binomial_pmf(total, known[row], 2 / k)
        known = known[row]
        offset = known * np.exp(-eps0) / -np.expm1(-eps0)
        log_scale = _log_truthful(k, eps0) + math.log(k) - np.log(known)
        log_most = _log_truthful(k, eps0) + math.log(k) - math.log(-math.expm1(-eps0))  # k p
    else:
        total, log_weight, complete = known, log_block, True
        offset = np.zeros(known.size)
        log_scale = math.log(2) - math.log1p(math.exp(log_ratio)) - np.log(known)
        log_most = math.log(2)
    possible = log_weight > -np.inf
    kept = possible & (log_weight >= -depth)
    complete = complete and first == 0 and last == n - 1 and bool(np.all(kept == possible))
    complete = complete and not np.any(window(total[kept], 0.5, depth + log_weight[kept])[0])
    # Each window leaves out at most 2 e^-depth of the base distribution, each dropped row e^-depth.
    left_out = -np.inf if complete else log_most + math.log(2 + 2 * starts.size + 3 * total.size) - depth
    short, largest = known - total, math.inf if pair == "strong" else eps0
    return Rows(
        log_weight[kept],
        total[kept],
        short[kept],
        offset[kept],
        log_scale[kept],
        log_ratio,
        largest,
        left_out,
    )


def typical_spread(pair: str, n: int, k: int, eps0: float) -> float:
    """The size of the privacy loss under P: its standard deviation given a typical T, at most 1 or eps0."""
    probability, log_ratio = _probability_and_log_ratio(pair, k, eps0)
    known = 1 + (n - 1) * probability
    total, offset = known, 0.0
    if pair == "weak":
        total, offset = known * 2 / k, known * math.exp(-eps0) / -math.expm1(-eps0)
    return min(math.tanh(-log_ratio / 2) * math.sqrt(total) / (total / 2 + offset), eps0, 1.0)


def outcome_count(pair: str, n: int, k: int, eps0: float, depth: float) -> tuple[float, int]:
    """About how many outcomes `outcomes` gives for one value of N, and how many values N has."""
    probability, _ = _probability_and_log_ratio(pair, k, eps0)
    first, last = window(n - 1, probability, depth)
    known = 1 + (n - 1) * probability
    total, totals = known, 1.0
    if pair == "weak":
        total, totals = known * 2 / k, float(np.diff(window(known, 2 / k, depth))[0]) + 1
    return 0.6 * totals * (float(np.diff(window(total, 0.5, depth))[0]) + 1), int(last - first + 1)


def outcomes(rows: Rows, depth: float) -> Iterator[tuple[Floats, Floats]]:
    """Batches (loss, natural log of P) of the outcomes in ``rows``; an infinite loss where Q has nothing."""
    low, high = window(rows.total, 0.5, depth + rows.log_weight)
    # The distribution of n1 depends on T only: it is computed once, in the widest window that a row asks for,
    # and up to T / 2, for it is symmetric.
    totals, which = np.unique(rows.total, return_inverse=True)
    lowest = totals // 2
    np.minimum.at(lowest, which, low)
    index, values = _ragged(lowest, totals // 2)
    table = np.concatenate(
        [
            log_binomial_pmf(values[i : i + _BATCH], totals[index[i : i + _BATCH]], 0.5)
            for i in range(0, values.size, _BATCH)
        ]
    )
    position = np.concatenate([[0], np.cumsum(totals // 2 - lowest + 1)])[:-1] - lowest
    position = position[which]
    ends = np.cumsum(high - low + 1)
    begin = 0
    while begin < ends.size:
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _BATCH, side="right")))
        row, n1 = _ragged(low[begin:end], high[begin:end])
        row += begin
        n2 = rows.total[row] - n1
        under_q = n2 + rows.ratio * n1 + rows.offset[row]
        with np.errstate(divide="ignore"):
            loss = np.log1p(rows.gap * (n1 - n2) / np.where(under_q > 0, under_q, 1.0))
            log_mass = np.log(n1 + rows.ratio * n2 + rows.offset[row])
        log_mass += (rows.log_weight + rows.log_scale)[row] + table[position[row] + np.minimum(n1, n2)]
        loss = np.where(under_q > 0, loss, np.inf)
        yield loss, log_mass
        begin = end


def largest_finite_loss(rows: Rows, depth: float) -> float:
    """A bound on the finite losses, of either sign, that `outcomes` gives."""
    low, _ = window(rows.total, 0.5, depth + rows.log_weight)
    low = low + (rows.offset == 0) * (low == 0) * (rows.ratio == 0)  # n2 = 0 is an infinite loss
    high = np.maximum(rows.total - low, low)
    under_q = low + rows.ratio * high + rows.offset
    return float(np.max(np.log1p(rows.gap * (high - low) / under_q)))


def window(trials: npt.ArrayLike, probability: float, depth: npt.ArrayLike) -> tuple[Integers, Integers]:
    """First and last value beyond which Binomial(trials, probability) has at most 2 e^-depth (Bernstein)."""
    depth, trials = np.maximum(depth, 0.0), np.asarray(trials)
    mean = trials * probability
    reach = depth / 3 + np.sqrt(depth**2 / 9 + 2 * depth * mean * (1 - probability))
    reach = reach if probability < 1 else 0 * reach
    low = np.maximum(np.ceil(mean - reach), 0).astype(np.int64)
    high = np.minimum(np.floor(mean + reach), trials).astype(np.int64)
    return low, np.maximum(high, low)


def _probability_and_log_ratio(pair: str, k: int, eps0: float) -> tuple[float, float]:
    tail = math.exp(-eps0)
    return {
        "strong": (2 * tail / (1 + (k - 1) * tail), -math.inf),
        "weak": (k * tail / (1 + (k - 1) * tail), -math.inf),
        "clones": (tail, -eps0),
        "stronger-clones": (2 * tail / (1 + tail), -eps0),
    }[pair]


def _log_truthful(k: int, eps0: float) -> float:
    """log(1 - gamma)."""
    return math.log(-math.expm1(-eps0)) - math.log1p((k - 1) * math.exp(-eps0))


def _block_starts(first: int, last: int, trials: int, probability: float, blocks: int) -> Integers:
    """First values of at most ``blocks`` blocks that cover first..last, finest around the mean."""
    if last - first < blocks:
        return np.arange(first, last + 1)
    mean, unit = trials * probability, 1.5 * math.sqrt(trials * probability * (1 - probability))
    places = np.linspace(math.asinh((first - mean) / unit), math.asinh((last + 1 - mean) / unit), blocks + 1)
    starts = np.floor(mean + unit * np.sinh(places[:-1])).astype(np.int64)
    return np.unique(np.clip(starts, first, last))


def _ragged(low: Integers, high: Integers) -> tuple[Integers, Integers]:
    """All integers of the ranges low..high (both included), and the index of the range each is from."""
    lengths = high - low + 1
    index = np.repeat(np.arange(lengths.size), lengths)
    before = np.cumsum(lengths) - lengths
    return index, np.arange(index.size) - (before - low)[index]
