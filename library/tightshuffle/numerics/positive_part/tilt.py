"""The distribution of a gain tilted by e^(theta G), theta near the saddle point, and its rounding."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.side import Side

ULP = 2.0**-52  # a unit in the last place of 1
# Units in the last place that a handful of elementary functions and products may lose.
OPERATIONS = 24.0
LARGEST_EXPONENT = 700.0  # of e^x: above 709 it overflows


@dataclass(frozen=True)
class TiltedPoints:
    """Points, one per row: a gain G, the sum S of its copies, and the tilt e^(theta G) near the saddle point.

    The number of copies in S is random. It is the sum of independent numbers, one for each part: Binomial(n,
    share), or Poisson of mean n where the share is 0. M(theta) = E[e^(theta G)], and M(theta)^n stands for
    E[e^(theta S)]: the product over the parts of (1 - share + share M(theta))^n, or e^(n (M(theta) - 1)) for
    a Poisson part. Under the tilt, an outcome's probability is multiplied by e^(theta G) for each of its
    copies, and all are scaled to sum to 1. Logarithms are natural.
    """

    # (points, values)
    g: Floats  # the values of G
    p: Floats  # their probabilities
    weights: Floats  # their probabilities under the tilt, p e^(theta g) / M(theta)
    weight_ulps: Floats  # by how many units in the last place rounding may change a weight

    # (points, parts)
    n: Floats  # the largest number of copies, or a Poisson part's mean number
    shares: Floats
    mean_copies: Floats  # the mean number of copies under the tilt
    log_powers: Floats  # log of the part's factor of M(theta)^n

    # (points,)
    probability_of_0: Floats  # the probability of the value 0: what the sum of p misses to 1
    theta: Floats
    log_mgf: Floats  # log M(theta)
    sigma: Floats  # standard deviation of S under the tilt, and a little more: 1 / z^2 narrows the bell
    log_mgf_of_sum: Floats  # log of M(theta)^n
    rounding: Floats  # by how much rounding may change ``log_mgf_of_sum``

    def __len__(self) -> int:
        return len(self.n)

    @property
    def tilted_shares(self) -> Floats:
        """The shares under the tilt, (points, parts): the mean number of copies over n, or 0 for Poisson."""
        # 1e-300 avoids a division by 0.
        return np.where(self.shares > 0, self.mean_copies / np.maximum(self.n, 1e-300), 0.0)

    def rows(self, index: Integers | np.integer[Any]) -> "TiltedPoints":
        """The points with these indices."""
        return TiltedPoints(*(getattr(self, field.name)[index] for field in fields(self)))


def tilted_points(g: Floats, p: Floats, n: Floats, shares: Floats) -> TiltedPoints:
    """The `TiltedPoints` of gains G with values ``g`` and probabilities ``p``, (points, values).

    What the probabilities of a point miss to 1 is the probability of the value 0. The tilt makes sums S of
    the copies near and above 0 likely. ``n`` and ``shares`` (points, parts) are those of `TiltedPoints`.
    """
    # Exactly what is missing to 1: if positive values have probability 1e-16, an error of 1e-16 matters.
    negative_rows = (-p).tolist()
    probability_of_0 = np.array([max(math.fsum([1.0, *row]), 0.0) for row in negative_rows])
    theta = _theta_near_saddle(g, p, probability_of_0, n, shares)
    moment, weights, mean, variance = _moments(g, p, probability_of_0, theta)
    mean_copies, _, variance_of_sum = _moments_of_sum(n, shares, moment, mean, variance)
    log_powers_of_parts = log_powers(n, shares, moment)

    # A weight p e^(theta g) / M(theta) has the rounding of the sum M over the values, and of the exponent.
    exponents = theta[:, None] * np.abs(g)
    points = TiltedPoints(
        g=g,
        p=p,
        probability_of_0=probability_of_0,
        n=n,
        shares=shares,
        mean_copies=mean_copies,
        log_powers=log_powers_of_parts,
        theta=theta,
        log_mgf=moment.log,
        weights=weights,
        weight_ulps=OPERATIONS + g.shape[1] + 2 * exponents,
        # 1 / z^2, by which a contour integral divides M(z)^n, adds the curvature 2 / theta^2 of -2 ln theta.
        sigma=np.sqrt(variance_of_sum + 2 / theta**2),
        log_mgf_of_sum=log_powers_of_parts.sum(axis=1),
        rounding=np.zeros(len(theta)),
    )
    return replace(points, rounding=rounding_of_log_mgf(points))


def rounding_of_log_mgf(points: TiltedPoints) -> Floats:
    """A bound on the rounding error of ``points.log_mgf_of_sum``, the log of M(theta)^n; (points,).

    What rounding does to log M(theta) counts once per copy of the gain.
    """
    exponents = points.theta[:, None] * points.g
    # Units in the last place that a term may lose, with the sum over the values.
    operations = OPERATIONS + points.g.shape[1]

    # The terms of the sum M(theta) that `mgf` computes, divided by M(theta): p (e^(theta g) - 1), or where
    # M(theta) is below 1/2, p e^(theta g).
    is_small = points.log_mgf[:, None] < -math.log(2)
    terms = points.p * np.abs(np.expm1(exponents)) * np.exp(-points.log_mgf)[:, None]
    terms = np.where(is_small, points.weights, terms)

    # In units in the last place, of 1: of these terms and their exponents in each copy, of the logarithms,
    # and of 1 - share where M(theta) is small.
    copies = points.mean_copies.sum(axis=1)  # on average, under the tilt
    rounding = copies * (operations * terms + 2 * points.weights * np.abs(exponents)).sum(axis=1)
    rounding += 4 * np.abs(points.log_powers).sum(axis=1) + operations
    of_other_copies = operations * (points.n - points.mean_copies)  # those that S leaves out
    rounding += np.where(is_small & (points.shares > 0), of_other_copies, 0.0).sum(axis=1)
    return ULP * rounding


def log_rounded(x: npt.ArrayLike, side: Side) -> Floats:
    """Natural log of ``x``, moved to its ``side`` by more than it, and a sum that it is added to, lose."""
    log = np.log(x)
    error = ULP * (OPERATIONS + 4 * np.abs(log))
    return np.asarray(log + error if side is Side.UPPER else log - error)


class Mgf(NamedTuple):
    """M(theta) = E[e^(theta G)] at some theta, in three forms of the same shape."""

    value: Floats  # M
    log: Floats  # natural log of M
    excess: Floats  # M - 1, without cancellation where M is near 1


def mgf(g: Floats, p: Floats, probability_of_0: Floats, theta: Floats) -> Mgf:
    """M(theta) = E[e^(theta G)], (...), for values ``g`` and probabilities ``p`` of G, (..., values).

    ``probability_of_0`` and ``theta`` (...) are the probability of the value 0, and the tilt. M is 1 plus the
    sum of p (e^(theta g) - 1). Where that is below 1/2 and cancels, M is the sum of all p e^(theta g).
    """
    excess = (p * np.expm1(theta[..., None] * g)).sum(axis=-1)
    is_small = excess < -0.5
    value = 1 + excess
    log = np.log1p(np.where(is_small, 0.0, excess))
    if is_small.any():
        # The other points get theta 0, as their sum could overflow.
        theta_or_0 = np.where(is_small, theta, 0.0)
        total = probability_of_0 + (p * np.exp(theta_or_0[..., None] * g)).sum(axis=-1)
        value = np.where(is_small, total, value)
        log = np.where(is_small, np.log(total), log)
    return Mgf(value, log, excess)


def _moments(
    g: Floats, p: Floats, probability_of_0: Floats, theta: Floats
) -> tuple[Mgf, Floats, Floats, Floats]:
    """M(theta), the tilted probabilities of the values, and the mean and variance of G under the tilt.

    The tilted probabilities, p e^(theta g) / M(theta), are (points, values), and the rest is (points,). The
    arguments are those of `mgf`: values and probabilities ``g``, ``p`` (points, values), the probability of
    the value 0, and theta (points,).
    """
    moment = mgf(g, p, probability_of_0, theta)
    x = theta[:, None] * g
    # 1 + expm1 has lost the digits of a small e^x.
    weights = np.where(x < -1, p * np.exp(x), p * np.expm1(x) + p) / moment.value[:, None]
    mean = (weights * g).sum(axis=1)
    variance = (weights * (g - mean[:, None]) ** 2).sum(
        axis=1
    ) + probability_of_0 / moment.value * mean**2
    return moment, weights, mean, variance


def log_powers(n: Floats, shares: Floats, moment: Mgf) -> Floats:
    """Natural log of E[M^N] for each random number N of copies, (..., parts): a part's factor of M^n.

    ``n`` and ``shares`` (..., parts) are those of `TiltedPoints`. ``moment`` is M = E[e^(theta G)], (...).
    The factor is (1 - share + share M)^n, which is M^n for the share 1, or e^(n (M - 1)) for Poisson. It is
    computed as (1 + share (M - 1))^n where that does not cancel.
    """
    # M, log M and M - 1, with an axis for the parts.
    value, log, excess = (form[..., None] for form in moment)
    share_of_excess = shares * excess
    with np.errstate(divide="ignore"):
        log_small = np.log((1 - shares) + shares * value)
    log_binomial = np.where(
        share_of_excess < -0.5, log_small, np.log1p(np.maximum(share_of_excess, -0.5))
    )
    log_poisson_or_binomial = np.where(shares == 0, excess, log_binomial)
    return n * np.where(shares == 1, log, log_poisson_or_binomial)


def _moments_of_sum(
    n: Floats, shares: Floats, moment: Mgf, mean: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """The mean number of copies of each part under the tilt, and the mean and variance of S under the tilt.

    The first is (points, parts), the others (points,). ``n``, ``shares`` (points, parts) as in
    `TiltedPoints`; ``moment``, ``mean``, ``variance`` (points,): M(theta), and the moments of one G under the
    tilt.
    """
    value = moment.value[:, None]
    tilted = np.where(shares == 1, 1.0, shares * value / ((1 - shares) + shares * value))
    mean_copies = n * np.where(shares == 0, value, tilted)
    total = mean_copies.sum(axis=1)
    variance_of_sum = total * variance + (mean_copies * (1 - tilted)).sum(axis=1) * mean**2
    return mean_copies, total * mean, variance_of_sum


def _theta_near_saddle(
    g: Floats, p: Floats, probability_of_0: Floats, n: Floats, shares: Floats
) -> Floats:
    """theta > 0 near the saddle point, the minimum of ln(M(theta)^n / theta^2); (points,).

    The arguments are those of `tilted_points`, with the probability of the value 0, (points,).

    Newton's method searches in x = ln theta, with a bisection where it leaves the bracket. The bounds on
    E[S_+] hold for every theta, so the search stops where x moves by less than a thousandth.
    """
    # With the first and the second moment of S, ln M(theta)^n is about first theta + second theta^2 / 2. So
    # the minimum is about the root of second theta^2 + first theta - 2. For first >= 0 the root would cancel,
    # and sqrt(2 / second) is near. ``copies`` is the mean number of copies.
    copies = (n * np.where(shares == 0, 1.0, shares)).sum(axis=1)
    first = copies * (p * g).sum(axis=1)
    second = copies * (p * g * g).sum(axis=1)
    root = (np.sqrt(first**2 + 8 * second) - first) / (2 * second)
    start = np.where(first < 0, root, 1.5 / np.sqrt(second))

    # The bracket of x: no e^(theta g) overflows up to the ceiling, and e^-745 is the smallest float above 0.
    ceiling = np.log(690 / g.max(axis=1))
    floor = np.full(len(n), -745.0)
    x = np.minimum(np.log(start), ceiling)
    settled = np.zeros(len(n), bool)
    for _ in range(200):
        theta = np.exp(x)
        moment, _, mean, variance = _moments(g, p, probability_of_0, theta)
        _, mean_of_sum, variance_of_sum = _moments_of_sum(n, shares, moment, mean, variance)

        # The two derivatives, in x, of ln(M(theta)^n / theta^2). The minimum is below x where the slope is
        # positive. No step changes theta by more than a factor of e^3, as Newton's may be far too long.
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
