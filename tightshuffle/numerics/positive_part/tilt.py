"""The distribution of a gain tilted by e^(theta G), theta near the saddle point, and its rounding."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers
from tightshuffle.side import Side

ULP = 2.0**-52
OPERATIONS = 24.0  # units in the last place that a handful of elementary functions and products may lose


@dataclass(frozen=True)
class TiltedPoints:
    """Points, one per row, and the distribution of G tilted by e^(theta G), theta near the saddle point."""

    g: Floats  # (points, values)
    p: Floats
    missing: Floats  # (points,), as everything below but the weights and units: the probability of 0
    n: Floats  # (points, parts), as the shares and rates
    shares: Floats
    rates: Floats  # of copies, under the tilt
    log_powers: Floats  # natural log of M(theta)^n, of each part
    theta: Floats
    log_mgf: Floats
    weights: Floats  # tilted probabilities
    units: Floats  # what rounding may do to a weight, in units in the last place
    sigma: Floats  # standard deviation of S under the tilt, and a little more: 1 / z^2 narrows the bell
    base: Floats  # n log M(theta), and
    rounding: Floats  # its error

    def __len__(self) -> int:
        return len(self.n)

    @property
    def tilted(self) -> Floats:
        """The shares under the tilt, (points, parts)."""
        return np.where(self.shares > 0, self.rates / np.maximum(self.n, 1e-300), 0.0)

    def rows(self, index: Integers | np.integer[Any]) -> "TiltedPoints":
        return TiltedPoints(*(getattr(self, field.name)[index] for field in fields(self)))


def at_saddle(g: Floats, p: Floats, n: Floats, shares: Floats) -> TiltedPoints:
    """Values and probabilities (points, values), copies and their shares (points, parts), tilted."""
    # Exactly what is missing to 1: if positive values have probability 1e-16, an error of 1e-16 matters.
    missing = np.array([max(math.fsum([1.0, *row]), 0.0) for row in (-p).tolist()])
    theta = _saddle(g, p, missing, n, shares)
    moment, weights, mean, variance = _moments(g, p, missing, theta)
    rates, (_, second) = _summed(n, shares, moment, mean, variance)
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
        sigma=np.sqrt(second + 2 / theta**2),
        base=powers.sum(axis=1),
        rounding=np.zeros(len(theta)),
    )
    return replace(points, rounding=rounding_of_base(points))


def rounding_of_base(points: TiltedPoints) -> Floats:
    """Item 5: what rounding may do to n log M(theta), (points,)."""
    exponents = points.theta[:, None] * points.g
    few = OPERATIONS + points.g.shape[1]
    terms = points.p * np.abs(np.expm1(exponents)) * np.exp(-points.log_mgf)[:, None]
    far = points.log_mgf[:, None] < -math.log(2)
    terms = np.where(far, points.weights, terms)  # see `mgf`
    rounding = points.rates.sum(axis=1) * (few * terms + 2 * points.weights * np.abs(exponents)).sum(axis=1)
    rounding += 4 * np.abs(points.log_powers).sum(axis=1) + few
    rounding += np.where(far & (points.shares > 0), few * (points.n - points.rates), 0.0).sum(axis=1)
    return ULP * rounding


def log_rounded(x: npt.ArrayLike, side: Side) -> Floats:
    """log x, moved up or down by more than the rounding error of the sum to which it is added."""
    log = np.log(x)
    error = ULP * (OPERATIONS + 4 * np.abs(log))
    return np.asarray(log + error if side is Side.UPPER else log - error)


class Mgf(NamedTuple):
    """M at some theta, its natural log, and M - 1 without cancellation."""

    value: Floats
    log: Floats
    excess: Floats


def mgf(g: Floats, p: Floats, missing: Floats, theta: Floats) -> Mgf:
    """M(theta), (...), for g and p (..., c): 1 + a sum, or all terms where that cancels."""
    excess = (p * np.expm1(theta[..., None] * g)).sum(axis=-1)
    far = excess < -0.5
    value, log = 1 + excess, np.log1p(np.where(far, 0.0, excess))
    if far.any():
        terms = missing + (p * np.exp(np.where(far, theta, 0.0)[..., None] * g)).sum(axis=-1)
        value, log = np.where(far, terms, value), np.where(far, np.log(terms), log)
    return Mgf(value, log, excess)


def _moments(g: Floats, p: Floats, missing: Floats, theta: Floats) -> tuple[Mgf, Floats, Floats, Floats]:
    """M(theta), and the tilted weights of the values, their mean and variance."""
    moment = mgf(g, p, missing, theta)
    x = theta[:, None] * g
    # 1 + expm1 has lost the digits of a small e^x.
    weights = np.where(x < -1, p * np.exp(x), p * np.expm1(x) + p) / moment.value[:, None]
    mean = (weights * g).sum(axis=1)
    variance = (weights * (g - mean[:, None]) ** 2).sum(axis=1) + missing / moment.value * mean**2
    return moment, weights, mean, variance


def log_powers(n: Floats, shares: Floats, moment: Mgf) -> Floats:
    """Natural log of M^n for each part, n and shares (..., parts), for M (...); see `contour`."""
    value, log, excess = (part[..., None] for part in moment)
    thinned = shares * excess
    with np.errstate(divide="ignore"):
        far = np.log((1 - shares) + shares * value)
    power = np.where(thinned < -0.5, far, np.log1p(np.maximum(thinned, -0.5)))
    return n * np.where(shares == 1, log, np.where(shares == 0, excess, power))


def _summed(
    n: Floats, shares: Floats, moment: Mgf, mean: Floats, variance: Floats
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Tilted copies of each part, and mean and variance of S, from the mean and variance of one G."""
    value = moment.value[:, None]
    tilted = np.where(shares == 1, 1.0, shares * value / ((1 - shares) + shares * value))
    rates = n * np.where(shares == 0, value, tilted)
    total = rates.sum(axis=1)
    return rates, (total * mean, total * variance + (rates * (1 - tilted)).sum(axis=1) * mean**2)


def _saddle(g: Floats, p: Floats, missing: Floats, n: Floats, shares: Floats) -> Floats:
    """theta > 0 near the minimum of n log M(theta) - 2 log theta, by Newton's method in log theta."""
    copies = (n * np.where(shares == 0, 1.0, shares)).sum(axis=1)
    first, second = copies * (p * g).sum(axis=1), copies * (p * g * g).sum(axis=1)
    start = np.where(
        first < 0, (np.sqrt(first**2 + 8 * second) - first) / (2 * second), 1.5 / np.sqrt(second)
    )
    ceiling = np.log(690 / g.max(axis=1))
    floor = np.full(len(n), -745.0)
    x = np.minimum(np.log(start), ceiling)
    settled = np.zeros(len(n), bool)
    for _ in range(200):
        theta = np.exp(x)
        moment, _, mean, variance = _moments(g, p, missing, theta)
        _, (total, spread) = _summed(n, shares, moment, mean, variance)
        slope = total * theta - 2
        curvature = spread * theta**2 + total * theta
        ceiling = np.where(slope > 0, np.minimum(ceiling, x), ceiling)
        floor = np.where(slope > 0, floor, np.maximum(floor, x))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(curvature > 0, np.clip(-slope / curvature, -3, 3), -np.sign(slope))
        new = x + step
        new = np.where((floor < new) & (new < ceiling), new, (floor + ceiling) / 2)
        moved = np.abs(new - x) >= 1e-3
        x = np.where(settled, x, new)
        settled |= ~moved
        if settled.all():
            break
    return np.exp(x)
