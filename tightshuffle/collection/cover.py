"""delta of one report among a random number of reports that are drawn from one distribution.

The target user's report is one of J; the other J - 1 reports come from a distribution u, whoever sends them.
J - 1 is a sum of independent numbers, Binomial and Poisson (`Cover`). For independent gains G,

    delta = sum_j P(J = j) delta_j,    delta_j = E[(G_1 + ... + G_j)_+] / j,
    G = (R_x0(y) - e^eps R_x1(y)) / u(y),    y drawn from u.

A smaller J gives an upper bound. For many reports 1 / J = int e^(-J x) dx: docs/theory.md, "Collections".
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from tightshuffle.arguments import Floats
from tightshuffle.numerics.binomial import log_binomial_pmf
from tightshuffle.numerics.positive_part import log_positive_part, tilted_copies

_FEW = 192  # reports that are summed one by one
_RARE = 1e-9  # probability of numbers of reports that count as one: a larger number hides the user better
_UNLIKELY = 45.0  # -log of what the quadrature leaves to its last term
_NODES = 24  # of the quadrature
_ULP = 2.0**-52
_NODES_ULPS = 400.0  # what wrong nodes and weights of the quadrature, and its sum, may cost
_OPERATIONS = 3.0  # units in the last place that a share under the tilt may be wrong by


@dataclass(frozen=True)
class Cover:
    """How many reports hide the user's own: the sum of independent Binomial(n, share), or Poisson(n) numbers.

    ``n`` (parts,): trials of a binomial number, or the mean of a Poisson one; ``shares`` (parts,): the
    probability of a trial, or 0 for Poisson. `of` leaves out parts that are always 0.
    """

    n: Floats
    shares: Floats

    @staticmethod
    def of(binomial: list[tuple[float, float]], poisson: float = 0.0) -> "Cover":
        """The cover of these (trials, probability), and of a Poisson number of this mean."""
        parts = [(n, share) for n, share in binomial if n > 0 and share > 0]
        if poisson > 0:
            parts.append((poisson, 0.0))
        return Cover(*np.array(parts, float).reshape(-1, 2).T)

    @property
    def mean(self) -> float:
        """The expected number of reports."""
        return float(self.n @ np.where(self.shares == 0, 1.0, self.shares))

    def least(self, log_probability: float) -> int:
        """A number that the reports are below with at most this probability, by Chernoff's bound."""
        sure = int(self.n[self.shares == 1].sum())
        n, shares = self.n[self.shares < 1], self.shares[self.shares < 1]
        mean = float(n @ np.where(shares == 0, 1.0, shares))
        if mean == 0:
            return sure
        # P(number <= y) <= e^(x y + log E[e^(-x number)]) for every x > 0.
        x = math.sqrt(-2 * log_probability / mean) * np.logspace(-1, 2, 61)[:, None]
        logs = np.where(shares == 0, n * np.expm1(-x), n * np.log1p(shares * np.expm1(-x))).sum(axis=1)
        y = float(np.max((log_probability - logs * (1 - 1e-12)) / x[:, 0])) * (1 - 1e-12)
        return sure + (math.floor(y) + 1 if y >= 0 else 0)

    def rounded(self, fewer: bool) -> "Cover":
        """A stochastically smaller (``fewer``) or larger cover by more than rounding moved its numbers."""
        moved = 1 + (-1 if fewer else 1) * 8 * _OPERATIONS * _ULP
        poisson = self.shares == 0
        shares = np.where(self.shares == 1, 1.0, np.minimum(self.shares * moved, 1.0))
        return Cover(np.where(poisson, self.n * moved, self.n), shares)


def ln_delta(
    values: Floats, probabilities: Floats, cover: Cover, *, round_up: bool, width: float = 1e-4
) -> Floats:
    """Natural log of sum_j P(J = j) E[(G_1 + ... + G_j)_+] / j, rounded up or down; (points,).

    ``values``, ``probabilities`` (points, classes): the gains of one report drawn from u; ``cover``: of J -
    1; ``width``: about the relative error. -inf where no gain is positive. It can exceed 0 by rounding.
    """
    cover = cover.rounded(fewer=round_up)
    if few(cover):
        return _term_by_term(values, probabilities, cover, round_up, width)
    n, shares = np.append(cover.n, 1.0), np.append(cover.shares, 1.0)
    copies = np.maximum(tilted_copies(values, probabilities, n, shares), 1.0)
    nodes, weights = _quadrature(round_up)
    # Columns are nodes: x is (points, nodes), the shares under the tilt are (points, nodes, parts).
    x = nodes / copies[:, None]
    t, less = np.exp(-x)[..., None], np.expm1(-x)[..., None]
    binomial = cover.shares * t / (1 - cover.shares + cover.shares * t)
    means = np.where(cover.shares == 0, cover.n * t, cover.n)
    with np.errstate(divide="ignore"):
        power = np.where(cover.shares == 1, -x[..., None], np.log1p(cover.shares * less))
    log_factors = (cover.n * np.where(cover.shares == 0, less, power)).sum(axis=-1)
    own = np.ones((*x.shape, 1))
    logs = log_positive_part(
        values[:, None],
        probabilities[:, None],
        np.concatenate([means, own], axis=-1),
        shares=np.concatenate([np.where(cover.shares == 0, 0.0, binomial), own], axis=-1),
        width=width,
    )[int(round_up)]
    terms = logs + log_factors - x + np.log(weights / copies[:, None])
    if round_up:
        # Beyond the last node 1 / J is at most 1: the integral of e^(-J x) from there on is at most e^(-J x).
        last = logs[:, -1] + log_factors[:, -1] - x[:, -1]
        terms = np.concatenate([terms, last[:, None]], axis=1)
    lost = _ULP * (_OPERATIONS * (cover.mean + 12 * math.sqrt(cover.mean) + 60) + _NODES_ULPS)
    return np.asarray(special.logsumexp(terms, axis=1) + (lost if round_up else -lost))


@functools.cache
def _quadrature(round_up: bool) -> tuple[Floats, Floats]:
    """Nodes and weights of Lobatto's or Gauss' quadrature on [0, _UNLIKELY]."""
    legendre = np.polynomial.legendre
    if round_up:
        last = np.polynomial.Legendre.basis(_NODES - 1)
        inner = np.sort(last.deriv().roots().real)
        points = np.concatenate([[-1.0], inner, [1.0]])
        weights = 2 / (_NODES * (_NODES - 1) * last(points) ** 2)
    else:
        points, weights = legendre.leggauss(_NODES)
    return (points + 1) * (_UNLIKELY / 2), weights * (_UNLIKELY / 2)


def log_probabilities(cover: Cover) -> Floats:
    """Natural log of the probabilities of 0, 1, 2, ... reports, to about 1e-12.

    They end one behind the number beyond which lies a probability of `_RARE`. Delta of more reports is
    smaller, so what is missing changes delta by a share of `_RARE` at most.
    """
    most = most_counted(cover)
    result = np.append(1.0, np.zeros(most))
    j = np.arange(most + 1)
    for n, share in zip(cover.n, cover.shares, strict=True):
        one = (
            special.xlogy(j, n) - n - special.gammaln(j + 1) if share == 0 else log_binomial_pmf(j, n, share)
        )
        result = np.convolve(result, np.exp(one))[: most + 1]

    at_least = np.cumsum(result[::-1])[::-1]  # probability of so many reports or more
    result = result[: np.count_nonzero(at_least > _RARE) + 1]
    with np.errstate(divide="ignore"):
        return np.log(result)


def few(cover: Cover) -> bool:
    """Whether there are so few reports that a sum over their number is short."""
    return most_counted(cover) <= _FEW


def most_counted(cover: Cover) -> int:
    """A number of reports that is hardly ever exceeded."""
    likely = math.ceil(cover.mean + 12 * math.sqrt(cover.mean + 1) + 15)
    if np.any(cover.shares == 0):
        return likely
    return min(likely, math.ceil(cover.n.sum()) + 1)  # one more than there can be: its probability is 0


def _term_by_term(
    values: Floats, probabilities: Floats, cover: Cover, round_up: bool, width: float
) -> Floats:
    chances = np.exp(log_probabilities(cover))
    # Rounding, and numbers too small for a float.
    chances = chances * (1 + 1e-11) + 1e-300 if round_up else np.maximum(chances * (1 - 1e-11) - 1e-300, 0.0)
    if round_up:  # more reports than these hide the user at least as well
        chances[-1] += max(1 - chances.sum(), 0.0) + 1e-12

    sure = int(cover.n[cover.shares == 1].sum())  # there are never fewer of them
    j = np.arange(sure + 1, len(chances) + 1)
    with np.errstate(divide="ignore"):
        factors = np.log(chances[sure:]) - np.log(j)
    logs = log_positive_part(values[:, None], probabilities[:, None], j, width=width, log_factors=factors)
    return np.asarray(special.logsumexp(logs[int(round_up)] + factors, axis=1))
