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
import scipy

from tightshuffle.arguments import Floats
from tightshuffle.numerics.binomial import log_binomial_pmf
from tightshuffle.numerics.positive_part import log_positive_part, tilted_copies
from tightshuffle.numerics.side import Side

_MOST_TERMS = 192  # numbers of reports up to which all of them are summed, without the quadrature
_RARE = 1e-9  # probability of numbers of reports that count as one: a larger number hides the user better
_LAST_NODE = 45.0  # J x where the quadrature ends: beyond, about e^-45 of the integral is left
_NODES = 24  # of the quadrature
_ULP = 2.0**-52
# Units in the last place that rounded nodes, weights and their sum may cost.
_ULPS_OF_QUADRATURE = 400.0
_ULPS_OF_SHARE = 3.0  # units in the last place that a share under the tilt may be wrong by


@dataclass(frozen=True)
class Cover:
    """The law of how many reports hide the target user's own: a sum of independent random numbers, its parts.

    A part is a Binomial(n, share) number, or a Poisson(n) number. ``n`` (parts,) are the trials of a binomial
    part, or the mean of a Poisson part. ``shares`` (parts,) are the probabilities of a trial. They are 0 for
    Poisson parts. `from_numbers` leaves out parts that are always 0.
    """

    n: Floats
    shares: Floats

    @staticmethod
    def from_numbers(binomials: Sequence[tuple[float, float]], poisson: float = 0.0) -> "Cover":
        """The law of the sum of ``binomials``, each (trials, probability), and one of mean ``poisson``."""
        parts = [(n, share) for n, share in binomials if n > 0 and share > 0]
        if poisson > 0:
            parts.append((poisson, 0.0))
        return Cover(*np.array(parts, float).reshape(-1, 2).T)

    @property
    def is_poisson(self) -> npt.NDArray[np.bool_]:
        """True for each part that is a Poisson number; (parts,)."""
        return self.shares == 0

    @property
    def mean(self) -> float:
        """The expected number of reports."""
        return float(self.n @ np.where(self.is_poisson, 1.0, self.shares))

    def likely_minimum(self, ln_probability: float) -> int:
        """A whole number m such that there are fewer than m reports with at most the given probability.

        Chernoff's bound proves it. ``ln_probability`` is the natural log of the probability, below 0. The
        number of reports is a sum of independent parts: Binomial(``n``, ``shares``), or Poisson(``n``) where
        ``is_poisson``. Parts with the share 1 are not random: they have ``certain_reports`` in all.
        """
        is_random = self.shares < 1
        n = self.n[is_random]
        shares = self.shares[is_random]
        is_poisson = self.is_poisson[is_random]
        mean = float(n @ np.where(is_poisson, 1.0, shares))
        if mean == 0:
            return self.certain_reports

        # Let N be the sum of the random parts. P(N <= y) <= e^(x y) E[e^(-x N)] for every x > 0. The right
        # side is the given probability at y = (ln_probability - ln E[e^(-x N)]) / x. The largest such y
        # over a grid of x is taken. The grid is from a tenth to a hundred times the best x for a normal N.
        x = math.sqrt(-2 * ln_probability / mean) * np.logspace(-1, 2, 61)[:, None]
        ln_of_parts = np.where(is_poisson, n * np.expm1(-x), n * np.log1p(shares * np.expm1(-x)))
        ln_mgf = ln_of_parts.sum(axis=1)  # ln E[e^(-x N)]
        # The factor 1 - 1e-12 lowers y by more than rounding can raise it, as -ln_mgf / x is above y.
        y = float(np.max((ln_probability - ln_mgf * (1 - 1e-12)) / x[:, 0]))
        return self.certain_reports + math.floor(y) + 1 if y >= 0 else self.certain_reports

    @property
    def certain_reports(self) -> int:
        """How many reports there are in any case: the trials with the probability 1."""
        return int(self.n[self.shares == 1].sum())

    def rounded(self, side: Side) -> "Cover":
        """A cover with stochastically more reports (`Side.UPPER`) or fewer (`Side.LOWER`).

        ``n`` or ``shares`` move by more than rounding can have moved them. Shares of 1 are exact and stay.
        """
        direction = 1 if side is Side.UPPER else -1
        # 8 times what a share under the tilt may be wrong by.
        factor = 1 + direction * 8 * _ULPS_OF_SHARE * _ULP
        shares = np.where(self.shares == 1, 1.0, np.minimum(self.shares * factor, 1.0))
        return Cover(np.where(self.is_poisson, self.n * factor, self.n), shares)

    def tilted_shares(self, t: Floats | float) -> Floats:
        """The ``shares`` of all parts under the tilt by t; (..., parts).

        The tilt makes every number j of reports t^j times as likely, and normalises. A binomial part stays
        binomial, with the share s t / (1 - s + s t) instead of s. A Poisson part stays Poisson, and keeps
        its 0. ``t`` > 0 is a number or has the shape (..., 1).
        """
        return self.shares * t / (1 - self.shares + self.shares * t)

    def tilted_means(self, t: Floats | float) -> Floats:
        """The expected number of each part under the tilt of `tilted_shares` by this ``t``; (..., parts)."""
        return self.n * np.where(self.is_poisson, t, self.tilted_shares(t))


def ln_delta(
    values: Floats, probabilities: Floats, cover: Cover, *, side: Side, width: float = 1e-4
) -> Floats:
    """Natural log of delta of the target user's report, shuffled with a random number of reports; (points,).

    The other reports are drawn from one distribution u, whoever sends them. J is the number of all reports,
    the target user's included. Then

        delta = sum_j P(J = j) E[(G_1 + ... + G_j)_+] / j,

    where G_1, G_2, ... are independent copies of the gain G = (R_x0(y) - e^eps R_x1(y)) / u(y) of a report y
    drawn from u, and R_x(y) is the probability that the target user reports y for the value x. ( )_+ is the
    positive part. The result is rounded to the ``side``. It is -inf where no gain is positive, and can exceed
    0 by rounding.

    If J is small, the sum over j is computed term by term. Else 1 / J is replaced by the integral over x > 0
    of e^(-J x), and that by a quadrature whose error has the sign of the side. At a node x, each number j of
    reports is weighted by t^j with t = e^-x. This *tilts* the law of J (`Cover.tilted_shares`). So the term
    of a node is E[t^J] times one expectation E[(G_1 + ... + G_J)_+] under the tilt.

    Parameters
    ----------
    values, probabilities : array, shape (points, classes)
        The values of G and their probabilities. They depend on eps, of which each point has one.
    cover : Cover
        The law of J - 1, the number of reports that hide the target user's own.
    side : Side
        Whether to round up or down.
    width : float
        About the relative error of delta, besides rounding.
    """
    # Fewer reports give a larger delta, so the cover is rounded to the other side.
    cover = cover.rounded(Side.LOWER if side is Side.UPPER else Side.UPPER)
    if has_few_reports(cover):
        return _ln_delta_term_by_term(values, probabilities, cover, side, width)

    # The law of J: one more part, the user's own report.
    n, shares = (np.append(cover.n, 1.0), np.append(cover.shares, 1.0))
    # About the number of reports at which sums of gains are positive. The integrand falls over 1 / copies.
    copies = np.maximum(tilted_copies(values, probabilities, n, shares), 1.0)
    nodes, weights = _quadrature(side)
    # The nodes x, (points, nodes). t and t - 1 have a third axis, of length 1, for the parts of the cover.
    x = nodes / copies[:, None]
    t, t_minus_1 = np.exp(-x)[..., None], np.expm1(-x)[..., None]

    # ln E[t^(J - 1)], (points, nodes): a sum over the parts, each n times the ln of one trial. ln of a trial
    # is ln(1 + share (t - 1)). It is t - 1 for Poisson, and -x for the share 1.
    with np.errstate(divide="ignore"):
        ln_of_trial = np.log1p(cover.shares * t_minus_1)
    ln_of_trial = np.where(cover.shares == 1, -x[..., None], ln_of_trial)
    ln_of_trial = np.where(cover.is_poisson, t_minus_1, ln_of_trial)
    ln_factors = (cover.n * ln_of_trial).sum(axis=-1)

    # Bounds on ln E[(G_1 + ... + G_J)_+] under the tilt, (points, nodes). The last part of J is the user's
    # own report.
    own_report = np.ones((*x.shape, 1))
    tilted_n = np.where(cover.is_poisson, cover.n * t, cover.n)
    brackets = log_positive_part(
        values[:, None],
        probabilities[:, None],
        np.concatenate([tilted_n, own_report], axis=-1),
        shares=np.concatenate([cover.tilted_shares(t), own_report], axis=-1),
        width=width,
    )
    ln_bounds = _bound_on_side(brackets, side)
    # ln of the terms of the sum over nodes. ln_factors - x is ln E[t^J].
    terms = ln_bounds + ln_factors - x + np.log(weights / copies[:, None])

    # Every report adds the error of its share under the tilt: of the mean number of reports, 12 standard
    # deviations more, and 60 for small means.
    error = _ULP * (
        _ULPS_OF_SHARE * (cover.mean + 12 * math.sqrt(cover.mean) + 60) + _ULPS_OF_QUADRATURE
    )
    if side is Side.LOWER:
        return np.asarray(scipy.special.logsumexp(terms, axis=1) - error)

    # Beyond the last node: the integral of e^(-J x) from there on is e^(-J x) / J, and 1 / J is at most 1.
    last = ln_bounds[:, -1] + ln_factors[:, -1] - x[:, -1]
    terms = np.concatenate([terms, last[:, None]], axis=1)
    return np.asarray(scipy.special.logsumexp(terms, axis=1) + error)


def _bound_on_side(brackets: tuple[Floats, Floats], side: Side) -> Floats:
    """The lower or the upper bounds, by their ``side``, of a pair from `log_positive_part`."""
    lower, upper = brackets
    return upper if side is Side.UPPER else lower


@functools.cache
def _quadrature(side: Side) -> tuple[Floats, Floats]:
    """Nodes and weights of a quadrature over [0, `_LAST_NODE`]; both (_NODES,).

    It is Lobatto's for `Side.UPPER`, and Gauss' for `Side.LOWER`. Where all even derivatives of a function
    are positive, as those of e^(-J x) are, Lobatto's quadrature gives too much and Gauss' too little. On
    [-1, 1], Lobatto's nodes are both ends and the roots of the derivative of a Legendre polynomial.
    """
    if side is Side.UPPER:
        polynomial = np.polynomial.Legendre.basis(_NODES - 1)
        inner = np.sort(polynomial.deriv().roots().real)
        points = np.concatenate([[-1.0], inner, [1.0]])
        weights = 2 / (_NODES * (_NODES - 1) * polynomial(points) ** 2)
    else:
        points, weights = np.polynomial.legendre.leggauss(_NODES)
    # From [-1, 1] to [0, _LAST_NODE].
    return (points + 1) * (_LAST_NODE / 2), weights * (_LAST_NODE / 2)


def ln_probabilities(cover: Cover) -> Floats:
    """Natural logs of the probabilities of 0, 1, 2, ... reports under the law ``cover``; (numbers,).

    The probabilities are exact to about 1e-12, relatively. The list ends at the first number that is reached
    or exceeded with a probability of at most `_RARE`. More reports give a smaller delta, so what is missing
    changes delta by a share of at most `_RARE`. ``cover`` has independent parts: Binomial(n, share), or
    Poisson(n) where the share is 0.
    """
    largest = largest_likely_number(cover)
    j = np.arange(largest + 1)
    probabilities = np.append(1.0, np.zeros(largest))
    for n, share in zip(cover.n, cover.shares, strict=True):
        if share == 0:  # Poisson
            ln_of_part = scipy.special.xlogy(j, n) - n - scipy.special.gammaln(j + 1)
        else:
            ln_of_part = log_binomial_pmf(j, n, share)
        probabilities = np.convolve(probabilities, np.exp(ln_of_part))[: largest + 1]

    # The probability of so many reports or more.
    at_least = np.cumsum(probabilities[::-1])[::-1]
    probabilities = probabilities[: np.count_nonzero(at_least > _RARE) + 1]
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def has_few_reports(cover: Cover) -> bool:
    """Whether a sum over all likely numbers of reports is short: at most `_MOST_TERMS` terms, about."""
    return largest_likely_number(cover) <= _MOST_TERMS


def largest_likely_number(cover: Cover) -> int:
    """A number of reports that is hardly ever exceeded: 12 standard deviations above the mean, and 15 more.

    Without Poisson parts it is at most one more than there can be, which has the probability 0.
    """
    likely = math.ceil(cover.mean + 12 * math.sqrt(cover.mean + 1) + 15)
    if np.any(cover.is_poisson):
        return likely
    return min(likely, math.ceil(cover.n.sum()) + 1)


def _ln_delta_term_by_term(
    values: Floats, probabilities: Floats, cover: Cover, side: Side, width: float
) -> Floats:
    """Natural log of sum_j P(J = j) E[(G_1 + ... + G_j)_+] / j over j = 1, 2, ...; (points,).

    This is delta of the target user's report among J reports. ``cover`` is the law of J - 1, the number of
    other reports, already rounded. The gain G of one report has the ``values`` and ``probabilities`` (points,
    classes). The result is rounded to the ``side``, and ``width`` is about its other relative error.
    """
    # The probabilities of J - 1 = 0, 1, ..., rounded to the side: 1e-11 is more than their relative error,
    # and 1e-300 more than those that are too small for a float.
    probabilities_of_numbers = np.exp(ln_probabilities(cover))
    if side is Side.UPPER:
        probabilities_of_numbers = probabilities_of_numbers * (1 + 1e-11) + 1e-300
        # More reports than these hide the user at least as well: they count as the last number. 1e-12 is more
        # than the sum loses.
        probabilities_of_numbers[-1] += max(1 - probabilities_of_numbers.sum(), 0.0) + 1e-12
    else:
        probabilities_of_numbers = np.maximum(probabilities_of_numbers * (1 - 1e-11) - 1e-300, 0.0)

    # J is at least 1 + certain_reports: smaller j have no term.
    j = np.arange(cover.certain_reports + 1, len(probabilities_of_numbers) + 1)
    with np.errstate(divide="ignore"):
        ln_factors = np.log(probabilities_of_numbers[cover.certain_reports :]) - np.log(j)
    brackets = log_positive_part(
        values[:, None], probabilities[:, None], j, width=width, log_factors=ln_factors
    )
    return np.asarray(scipy.special.logsumexp(_bound_on_side(brackets, side) + ln_factors, axis=1))
