"""The distribution of a gain tilted by e^(theta G), theta near the saddle point, and its rounding."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers
from tightshuffle.side import Side

ULP = 2.0**-52  # a unit in the last place of 1
OPERATIONS = (
    24.0  # units in the last place that a handful of elementary functions and products may lose
)
LARGEST_EXPONENT = 700.0  # of e^x: above 709 it overflows


@dataclass(frozen=True)
class TiltedPoints:
    """Points, one per row, and the distribution of G tilted by e^(theta G), theta near the saddle point.

    S is the sum of as many independent copies of the gain G as the sum of the independent ``parts`` says:
    Binomial(n, share), or Poisson of mean n where the share is 0. M is the moment generating function of G.
    M(theta)^n stands for the product over the parts of (1 - share + share M(theta))^n, or of e^(n (M(theta) -
    1)). Logarithms are natural.
    """

    # (points, values): the values of G, their probabilities, these under the tilt, p e^(theta g) / M(theta),
    # and what rounding may do to the tilted ones, in units in their last place.
    g: Floats
    p: Floats
    weights: Floats
    units: Floats

    # (points, parts): the numbers of copies, their shares, the mean number of copies under the tilt, and the
    # log of each part's factor of M(theta)^n.
    n: Floats
    shares: Floats
    rates: Floats
    log_powers: Floats

    # (points,)
    missing: Floats  # what the probabilities miss to 1: the probability of the value 0
    theta: Floats
    log_mgf: Floats  # log M(theta)
    sigma: Floats  # standard deviation of S under the tilt, and a little more: 1 / z^2 narrows the bell
    base: Floats  # log of M(theta)^n
    rounding: Floats  # what rounding may do to ``base``

    def __len__(self) -> int:
        return len(self.n)

    @property
    def tilted(self) -> Floats:
        """The shares under the tilt, (points, parts): the mean number of copies over n; Poisson: 0."""
        return np.where(self.shares > 0, self.rates / np.maximum(self.n, 1e-300), 0.0)

    def rows(self, index: Integers | np.integer[Any]) -> "TiltedPoints":
        """The points with these indices."""
        return TiltedPoints(*(getattr(self, field.name)[index] for field in fields(self)))


def at_saddle(g: Floats, p: Floats, n: Floats, shares: Floats) -> TiltedPoints:
    """The `TiltedPoints` of values ``g`` and probabilities ``p``, (points, values), near their saddle points.

    Their tilt e^(theta G) makes sums S of the copies near and above 0 likely. ``n``, ``shares`` (points,
    parts): the numbers of copies of each point, as in `TiltedPoints`.
    """
    # Exactly what is missing to 1: if positive values have probability 1e-16, an error of 1e-16 matters.
    missing = np.array([max(math.fsum([1.0, *row]), 0.0) for row in (-p).tolist()])
    theta = _saddle(g, p, missing, n, shares)
    moment, weights, mean, variance = _moments(g, p, missing, theta)
    rates, _, variance_of_sum = _moments_of_sum(n, shares, moment, mean, variance)
    powers = log_powers(n, shares, moment)
    exponents = theta[:, None] * np.abs(g)
    points = TiltedPoints(
        g=g,
        p=p,
        missing=missing,
        n=n,
        shares=shares,
        rates=rates,
        log_powers=powers,
        theta=theta,
        log_mgf=moment.log,
        weights=weights,
        units=OPERATIONS + g.shape[1] + 2 * exponents,
        sigma=np.sqrt(variance_of_sum + 2 / theta**2),
        base=powers.sum(axis=1),
        rounding=np.zeros(len(theta)),
    )
    return replace(points, rounding=rounding_of_base(points))


def rounding_of_base(points: TiltedPoints) -> Floats:
    """A bound on the rounding error of ``points.base``, which is the log of M(theta)^n; (points,).

    This is error 5 of the module `contour` for theta itself. M(theta) = E[e^(theta G)] of the gain G, and n
    is its number of copies, a sum of parts that are Binomial(n, share), or Poisson where the share is 0.
    """
    exponents = points.theta[:, None] * points.g
    operations = OPERATIONS + points.g.shape[1]  # and the sum over the values

    # The terms of M(theta) as `mgf` sums them up, over M(theta).
    is_small = points.log_mgf[:, None] < -math.log(2)
    terms = points.p * np.abs(np.expm1(exponents)) * np.exp(-points.log_mgf)[:, None]
    terms = np.where(is_small, points.weights, terms)

    # In units in the last place: of these terms in each copy, of the logarithms, and of 1 - share where
    # M(theta) is small.
    copies = points.rates.sum(axis=1)  # on average, under the tilt
    rounding = copies * (operations * terms + 2 * points.weights * np.abs(exponents)).sum(axis=1)
    rounding += 4 * np.abs(points.log_powers).sum(axis=1) + operations
    of_other_copies = operations * (points.n - points.rates)
    rounding += np.where(is_small & (points.shares > 0), of_other_copies, 0.0).sum(axis=1)
    return ULP * rounding


def log_rounded(x: npt.ArrayLike, side: Side) -> Floats:
    """log x, moved to its ``side`` by more than the rounding error of the sum to which it is added."""
    log = np.log(x)
    error = ULP * (OPERATIONS + 4 * np.abs(log))
    return np.asarray(log + error if side is Side.UPPER else log - error)


class Mgf(NamedTuple):
    """The moment generating function M at some theta, its natural log, and M - 1 without cancellation."""

    value: Floats
    log: Floats
    excess: Floats


def mgf(g: Floats, p: Floats, missing: Floats, theta: Floats) -> Mgf:
    """M(theta) = E[e^(theta G)], (...), for values ``g`` and probabilities ``p`` (..., values).

    ``missing`` and ``theta`` (...): the probability of the value 0, and the tilt. M is 1 plus the sum of p
    (e^(theta g) - 1), or below 1/2, where that cancels, the sum of all p e^(theta g).
    """
    excess = (p * np.expm1(theta[..., None] * g)).sum(axis=-1)
    is_small = excess < -0.5
    value = 1 + excess
    log = np.log1p(np.where(is_small, 0.0, excess))
    if is_small.any():
        # theta 0 for the others, whose sum could overflow.
        total = missing + (p * np.exp(np.where(is_small, theta, 0.0)[..., None] * g)).sum(axis=-1)
        value = np.where(is_small, total, value)
        log = np.where(is_small, np.log(total), log)
    return Mgf(value, log, excess)


def _moments(
    g: Floats, p: Floats, missing: Floats, theta: Floats
) -> tuple[Mgf, Floats, Floats, Floats]:
    """M(theta), the tilted probabilities of the values, and the mean and variance of G under the tilt.

    The probabilities are (points, values), the rest (points,), and the arguments as those of `mgf`.
    """
    moment = mgf(g, p, missing, theta)
    x = theta[:, None] * g
    # 1 + expm1 has lost the digits of a small e^x.
    weights = np.where(x < -1, p * np.exp(x), p * np.expm1(x) + p) / moment.value[:, None]
    mean = (weights * g).sum(axis=1)
    variance = (weights * (g - mean[:, None]) ** 2).sum(axis=1) + missing / moment.value * mean**2
    return moment, weights, mean, variance


def log_powers(n: Floats, shares: Floats, moment: Mgf) -> Floats:
    """Natural log of each part's factor of M^n, (..., parts); see `TiltedPoints`.

    ``n``, ``shares`` (..., parts): the numbers of copies. ``moment``: M, with the shape (...). Of a binomial
    part the factor is (1 - share + share M)^n = (1 + share (M - 1))^n: the first form is used below 1/2.
    """
    value, log, excess = (part[..., None] for part in moment)
    share_of_excess = shares * excess
    with np.errstate(divide="ignore"):
        log_small = np.log((1 - shares) + shares * value)
    log_binomial = np.where(
        share_of_excess < -0.5, log_small, np.log1p(np.maximum(share_of_excess, -0.5))
    )
    return n * np.where(shares == 1, log, np.where(shares == 0, excess, log_binomial))


def _moments_of_sum(
    n: Floats, shares: Floats, moment: Mgf, mean: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """The mean number of copies of each part under the tilt, and the mean and variance of S under the tilt.

    The first is (points, parts), the others (points,). S is the sum of all copies of G. ``n``, ``shares``
    (points, parts): the numbers of copies, Binomial(n, share), or Poisson of mean n where the share is 0.
    ``moment``, ``mean``, ``variance`` (points,): M(theta), and the moments of one G under the tilt.
    """
    value = moment.value[:, None]
    tilted = np.where(shares == 1, 1.0, shares * value / ((1 - shares) + shares * value))
    rates = n * np.where(shares == 0, value, tilted)
    total = rates.sum(axis=1)
    variance_of_sum = total * variance + (rates * (1 - tilted)).sum(axis=1) * mean**2
    return rates, total * mean, variance_of_sum


def _saddle(g: Floats, p: Floats, missing: Floats, n: Floats, shares: Floats) -> Floats:
    """theta > 0 near the saddle point, the minimum of ln(M(theta)^n / theta^2); (points,).

    M(theta) = E[e^(theta G)], and n is the number of copies of G in the sum S. ``g``, ``p`` (points, values),
    ``missing`` (points,), and ``n``, ``shares`` (points, parts) are those of `TiltedPoints`. Newton's method
    searches in x = log theta, and a bisection where it leaves the bracket. The bounds on E[S_+] hold for
    every theta, so it stops where x moves by less than a thousandth.
    """
    # M(theta)^n is about e^(first theta + second theta^2 / 2), from the moments of S, so the minimum is about
    # the root of second theta^2 + first theta - 2. For first >= 0 it would cancel: sqrt(2 / second) is near.
    # On average; share 0 is Poisson of mean n.
    copies = (n * np.where(shares == 0, 1.0, shares)).sum(axis=1)
    first = copies * (p * g).sum(axis=1)
    second = copies * (p * g * g).sum(axis=1)
    root = (np.sqrt(first**2 + 8 * second) - first) / (2 * second)
    start = np.where(first < 0, root, 1.5 / np.sqrt(second))

    # No e^(theta g) overflows, and e^-745 is the smallest float above 0.
    ceiling = np.log(690 / g.max(axis=1))
    floor = np.full(len(n), -745.0)
    x = np.minimum(np.log(start), ceiling)
    settled = np.zeros(len(n), bool)
    for _ in range(200):
        theta = np.exp(x)
        moment, _, mean, variance = _moments(g, p, missing, theta)
        _, mean_of_sum, variance_of_sum = _moments_of_sum(n, shares, moment, mean, variance)

        # Derivatives in x; the minimum is below x where the slope is positive. No step changes theta by more
        # than a factor of e^3, as Newton's may be far too long.
        slope = mean_of_sum * theta - 2
        curvature = variance_of_sum * theta**2 + mean_of_sum * theta
        ceiling = np.where(slope > 0, np.minimum(ceiling, x), ceiling)
        floor = np.where(slope > 0, floor, np.maximum(floor, x))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(curvature > 0, np.clip(-slope / curvature, -3, 3), -np.sign(slope))

        # Each point stops on its own, so that a batch gives what one point gives.
        new = x + step
        new = np.where((floor < new) & (new < ceiling), new, (floor + ceiling) / 2)
        moved = np.abs(new - x) >= 1e-3
        x = np.where(settled, x, new)
        settled |= ~moved
        if settled.all():
            break
    return np.exp(x)
