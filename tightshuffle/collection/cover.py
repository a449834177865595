"""delta of one report among a random number of reports that are drawn from one distribution.

The target user's report is one of J; the other J - 1 reports come from a distribution u, whoever sends them.
J - 1 is a sum of independent numbers, Binomial and Poisson (`Cover`). For independent gains G,

    delta = sum_j P(J = j) delta_j,    delta_j = E[(G_1 + ... + G_j)_+] / j,
    G = (R_x0(y) - e^eps R_x1(y)) / u(y),    y drawn from u.

A smaller J gives an upper bound. For many reports 1 / J = int e^(-J x) dx: docs/theory.md, "Collections".
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from tightshuffle.arguments import Floats
from tightshuffle.numerics.binomial import log_binomial_pmf
from tightshuffle.numerics.positive_part import log_positive_part, tilted_copies
from tightshuffle.side import Side

_FEW = 192  # numbers of reports up to which all of them are summed, without the quadrature
_RARE = 1e-9  # probability of numbers of reports that count as one: a larger number hides the user better
_UNLIKELY = 45.0  # J x where the quadrature ends: beyond, about e^-45 of the integral is left
_NODES = 24  # of the quadrature
_ULP = 2.0**-52
_NODES_ULPS = 400.0  # units in the last place that rounded nodes, weights and their sum may cost
_OPERATIONS = 3.0  # units in the last place that a share under the tilt may be wrong by


@dataclass(frozen=True)
class Cover:
    """How many reports hide the user's own: the sum of independent Binomial(n, share), or Poisson(n) numbers.

    ``n`` (parts,) are the trials of a binomial number, or the mean of a Poisson one. ``shares`` (parts,) are
    the probabilities of a trial, or 0 for Poisson. `from_numbers` leaves out parts that are always 0.
    """

    n: Floats
    shares: Floats

    @staticmethod
    def from_numbers(binomials: Sequence[tuple[float, float]], poisson: float = 0.0) -> "Cover":
        """The cover of binomial numbers, each (trials, probability), and of a Poisson number of this mean."""
        parts = [(n, share) for n, share in binomials if n > 0 and share > 0]
        if poisson > 0:
            parts.append((poisson, 0.0))
        return Cover(*np.array(parts, float).reshape(-1, 2).T)

    @property
    def is_poisson(self) -> npt.NDArray[np.bool_]:
        """Which parts are Poisson numbers."""
        return self.shares == 0

    @property
    def mean(self) -> float:
        """The expected number of reports."""
        return float(self.n @ np.where(self.is_poisson, 1.0, self.shares))

    def least(self, ln_probability: float) -> int:
        """A whole number that the reports are below with at most this probability, by Chernoff's bound.

        ``ln_probability`` is its natural log, below 0.
        """
        # The reports are those that are certain, and a random number with the mean `mean`.
        is_random = self.shares < 1
        n, shares, is_poisson = (
            self.n[is_random],
            self.shares[is_random],
            self.is_poisson[is_random],
        )
        mean = float(n @ np.where(is_poisson, 1.0, shares))
        if mean == 0:
            return self.certain

        # P(number <= y) <= e^(x y) E[e^(-x number)] for every x > 0. So y is the largest over some x of
        # (ln_probability - ln E[e^(-x number)]) / x: from a tenth to a hundred times the best x for a normal
        # number. The factors 1 - 1e-12 cover rounding.
        x = math.sqrt(-2 * ln_probability / mean) * np.logspace(-1, 2, 61)[:, None]
        ln_of_parts = np.where(is_poisson, n * np.expm1(-x), n * np.log1p(shares * np.expm1(-x)))
        ln_mgf = ln_of_parts.sum(axis=1)
        y = float(np.max((ln_probability - ln_mgf * (1 - 1e-12)) / x[:, 0])) * (1 - 1e-12)
        return self.certain + math.floor(y) + 1 if y >= 0 else self.certain

    @property
    def certain(self) -> int:
        """How many reports there are in any case: the trials with the probability 1."""
        return int(self.n[self.shares == 1].sum())

    def rounded(self, side: Side) -> "Cover":
        """A cover with stochastically more (upper) or fewer reports, by more than rounding moved it."""
        direction = 1 if side is Side.UPPER else -1
        factor = 1 + direction * 8 * _OPERATIONS * _ULP
        shares = np.where(self.shares == 1, 1.0, np.minimum(self.shares * factor, 1.0))
        return Cover(np.where(self.is_poisson, self.n * factor, self.n), shares)

    def tilted_shares(self, t: Floats | float) -> Floats:
        """``shares`` (..., parts) if every number j of reports is made t^j times as likely, and normalised.

        ``t`` > 0 is a number or has the shape (..., 1). A Poisson part keeps its 0.
        """
        return self.shares * t / (1 - self.shares + self.shares * t)

    def tilted_means(self, t: Floats | float) -> Floats:
        """The expected number of each part (..., parts) under the tilt of `tilted_shares` with this ``t``."""
        return self.n * np.where(self.is_poisson, t, self.tilted_shares(t))


def ln_delta(
    values: Floats, probabilities: Floats, cover: Cover, *, side: Side, width: float = 1e-4
) -> Floats:
    """Natural log of delta of one report among J that are drawn from u, with a random J; (points,).

    That is sum_j P(J = j) E[(G_1 + ... + G_j)_+] / j with independent gains G = (R_x0 - e^eps R_x1)(y) / u(y)
    of reports y from u. It is rounded to the ``side``. It is -inf where no gain is positive, and can exceed 0
    by rounding. If J is small, it is summed term by term. Else 1 / J is the integral over x > 0 of e^(-J x),
    by a quadrature in x whose error has the sign of the side. Under e^(-J x) the cover stays a sum of
    Binomial and Poisson numbers, which are *tilted* by t = e^-x.

    Parameters
    ----------
    values, probabilities : array, shape (points, classes)
        The distribution of G, the gain of one report drawn from u.
    cover : Cover
        The law of J - 1, the number of reports that hide the target user's own.
    side : Side
        Whether to round up or down.
    width : float
        About the relative error of the sum.
    """
    # Round the cover to the other side, for fewer reports give a larger delta.
    cover = cover.rounded(Side.LOWER if side is Side.UPPER else Side.UPPER)
    if few(cover):
        return _ln_term_by_term(values, probabilities, cover, side, width)

    # The nodes x are in units of 1 / copies, over which the integrand falls. copies is about the number of
    # reports at which sums of gains are positive.
    # J: with the user's own report.
    n, shares = (np.append(cover.n, 1.0), np.append(cover.shares, 1.0))
    copies = np.maximum(tilted_copies(values, probabilities, n, shares), 1.0)
    nodes, weights = _quadrature(side)
    # Columns are nodes: x is (points, nodes). Every node tilts the cover by its t = e^-x: with a third axis,
    # t and t - 1 are (points, nodes, 1), and the tilted shares are (points, nodes, parts).
    x = nodes / copies[:, None]
    t, t_minus_1 = np.exp(-x)[..., None], np.expm1(-x)[..., None]

    # ln E[t^(J - 1)], (points, nodes), which the tilt divides by: the sum over all parts and trials.
    with np.errstate(divide="ignore"):
        ln_of_trial = np.log1p(cover.shares * t_minus_1)
    ln_of_trial = np.where(cover.shares == 1, -x[..., None], ln_of_trial)
    ln_of_trial = np.where(cover.is_poisson, t_minus_1, ln_of_trial)
    ln_factors = (cover.n * ln_of_trial).sum(axis=-1)

    # The reports that hide the user's own, and the user's own.
    own_report = np.ones((*x.shape, 1))
    tilted_n = np.where(cover.is_poisson, cover.n * t, cover.n)
    brackets = log_positive_part(
        values[:, None],
        probabilities[:, None],
        np.concatenate([tilted_n, own_report], axis=-1),
        shares=np.concatenate([cover.tilted_shares(t), own_report], axis=-1),
        width=width,
    )
    ln_bounds = _bound_of(brackets, side)
    terms = ln_bounds + ln_factors - x + np.log(weights / copies[:, None])

    # Every report adds the error of its share under the tilt.
    error = _ULP * (_OPERATIONS * (cover.mean + 12 * math.sqrt(cover.mean) + 60) + _NODES_ULPS)
    if side is Side.LOWER:
        return np.asarray(special.logsumexp(terms, axis=1) - error)

    # Beyond the last node: the integral of e^(-J x) from there on is e^(-J x) / J, and 1 / J is at most 1.
    last = ln_bounds[:, -1] + ln_factors[:, -1] - x[:, -1]
    terms = np.concatenate([terms, last[:, None]], axis=1)
    return np.asarray(special.logsumexp(terms, axis=1) + error)


def _bound_of(brackets: tuple[Floats, Floats], side: Side) -> Floats:
    """The lower or the upper ones of the bounds that `log_positive_part` returns, by their ``side``."""
    lower, upper = brackets
    return upper if side is Side.UPPER else lower


@functools.cache
def _quadrature(side: Side) -> tuple[Floats, Floats]:
    """Nodes and weights, both (_NODES,), of Lobatto's quadrature (upper) or Gauss' (lower) on [0, _UNLIKELY].

    Of a function whose even derivatives are positive, as of e^(-J x), Lobatto's gives too much and Gauss' too
    little. Lobatto's inner nodes are the roots of the derivative of Legendre's polynomial.
    """
    if side is Side.UPPER:
        polynomial = np.polynomial.Legendre.basis(_NODES - 1)
        inner = np.sort(polynomial.deriv().roots().real)
        points = np.concatenate([[-1.0], inner, [1.0]])
        weights = 2 / (_NODES * (_NODES - 1) * polynomial(points) ** 2)
    else:
        points, weights = np.polynomial.legendre.leggauss(_NODES)
    return (points + 1) * (_UNLIKELY / 2), weights * (_UNLIKELY / 2)


def ln_probabilities(cover: Cover) -> Floats:
    """Natural logs of the probabilities that ``cover`` has 0, 1, 2, ... reports, to about 1e-12; (numbers,).

    They end at the first number that has a probability of at most `_RARE` to be reached or exceeded. Delta of
    more reports is smaller, so what is missing changes delta by a share of `_RARE` at most.
    """
    largest = largest_counted(cover)
    j = np.arange(largest + 1)
    probabilities = np.append(1.0, np.zeros(largest))
    for n, share in zip(cover.n, cover.shares, strict=True):
        if share == 0:
            ln_of_part = special.xlogy(j, n) - n - special.gammaln(j + 1)
        else:
            ln_of_part = log_binomial_pmf(j, n, share)
        probabilities = np.convolve(probabilities, np.exp(ln_of_part))[: largest + 1]

    at_least = np.cumsum(probabilities[::-1])[::-1]  # probability of so many reports or more
    probabilities = probabilities[: np.count_nonzero(at_least > _RARE) + 1]
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def few(cover: Cover) -> bool:
    """Whether there are so few reports that a sum over their number is short."""
    return largest_counted(cover) <= _FEW


def largest_counted(cover: Cover) -> int:
    """A number of reports that is hardly ever exceeded: 12 standard deviations above the mean, and some."""
    likely = math.ceil(cover.mean + 12 * math.sqrt(cover.mean + 1) + 15)
    if np.any(cover.is_poisson):
        return likely
    # One more than there can be: its probability is 0.
    return min(likely, math.ceil(cover.n.sum()) + 1)


def _ln_term_by_term(
    values: Floats, probabilities: Floats, cover: Cover, side: Side, width: float
) -> Floats:
    """Natural log of delta of one report among J, as a sum over j = 1, 2, ...; (points,).

    Parameters and result are those of `ln_delta`, but ``cover``, the law of J - 1, is already rounded.
    """
    # The probabilities of J - 1 = 0, 1, ..., rounded to the side: 1e-11 is more than their relative error,
    # and 1e-300 more than those that are too small for a float.
    probabilities_of_numbers = np.exp(ln_probabilities(cover))
    if side is Side.UPPER:
        probabilities_of_numbers = probabilities_of_numbers * (1 + 1e-11) + 1e-300
        # More reports than these hide the user at least as well: they count as the last number.
        probabilities_of_numbers[-1] += max(1 - probabilities_of_numbers.sum(), 0.0) + 1e-12
    else:
        probabilities_of_numbers = np.maximum(probabilities_of_numbers * (1 - 1e-11) - 1e-300, 0.0)

    # There are never fewer reports.
    j = np.arange(cover.certain + 1, len(probabilities_of_numbers) + 1)
    with np.errstate(divide="ignore"):
        ln_factors = np.log(probabilities_of_numbers[cover.certain :]) - np.log(j)
    brackets = log_positive_part(
        values[:, None], probabilities[:, None], j, width=width, log_factors=ln_factors
    )
    return np.asarray(special.logsumexp(_bound_of(brackets, side) + ln_factors, axis=1))
