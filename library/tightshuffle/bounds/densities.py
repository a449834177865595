"""Bounds on delta of shuffled reports of real numbers: `randomizers.density`.

The upper bound is the privacy blanket's, for inputs anywhere in [0, 1], of which (0, 1) is the worst pair.
The lower bound is for the datasets in which all other users hold 0, or 1, or draw one of these. Both are
expectations of sums of gains, as in `privacy_blanket`, of reports in bins (`randomizers.density.Bins`).
docs/theory.md, "Densities", has the proofs.

The gain of a report grows as e^loss, and losses may be infinite. So the last bin, the tail, counts as
identifying the user: it adds its probability to the upper bound. A long tail makes the bound larger, and a
short one makes it slow, as sums of gains with rare huge values are far from Gaussian.
"""

import math

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.points import Points
from tightshuffle.randomizers.density import LARGEST_EPS, Density, Gains
from tightshuffle.side import Side

_WIDTH = (
    3e-3  # relative, of an expectation: a third of it adds to an upper bound, about 0.01 % of eps
)
_WIDTH_OF_RARE = 0.1  # where single reports decide
_ROUGH = 0.3  # the width of the bounds that find how long the tail may be
_LONGEST, _SHORTEST = 0.1, 1e-250  # probabilities of a tail
_ENOUGH = 2e-2  # the tail's share of delta, at most,
_SHARE = 2e-3  # and the one that is aimed at
_SHARE_OF_LOWER = 2e-4  # for the lower bound, which loses only a part of it but is smaller
_FACTOR = 0.1  # from one tail that is tried to the next, at least
# A report with a gain of so many times n (e^eps - 1), and a bit, makes the sum positive by itself: the tail.
_DECISIVE, _BIT = 4.0, 1000.0
_SHARES = (0.0, 1.0)  # of the other users who hold 0, in the datasets of the lower bound,
_MIXTURES = (0.25, 0.5, 0.75)  # and in the random ones


def log10_bound(points: Points, density: Density, side: Side, mixtures: bool) -> Floats:
    """log10 of `ln_bound` at the eps and the users of the points; (points,)."""
    settings = zip(points.eps.tolist(), points.users.tolist(), strict=True)
    ln_bounds = [ln_bound(eps, users, density, side, mixtures) for eps, users in settings]
    return np.array(ln_bounds) / math.log(10)


def ln_bound(eps: float, users: int, density: Density, side: Side, mixtures: bool = True) -> float:
    """Natural log of a bound of this ``side`` on delta of ``users`` reports, for both directions.

    Upper is for every dataset of inputs from 0 to 1, and lower for some dataset. ``mixtures``: whether the
    lower bound tries random datasets, too.
    """
    if eps >= density.eps0 or (eps > LARGEST_EPS and side is Side.LOWER):
        return -math.inf
    eps = min(eps, LARGEST_EPS)  # delta falls with eps
    tail, ln_rough, width = _tail(eps, users, density)
    if side is Side.UPPER:
        bins = density.bins.cut(tail)
        return min(_ln_delta([bins.upper(eps)], users, side, width), ln_rough, 0.0)
    bins = density.bins.cut(tail * _SHARE_OF_LOWER / _SHARE if width == _WIDTH else tail)
    shares = _SHARES + (_MIXTURES if mixtures else ())
    return min(_ln_delta([bins.lower(eps, share) for share in shares], users, side, width), 0.0)


def _tail(eps: float, users: int, density: Density) -> tuple[float, float, float]:
    """A probability of the tail, natural log of an upper bound on delta, and the width for a better one.

    The tail is a small part of delta, or has the reports that are decisive by themselves.
    """
    if math.isfinite(density.eps0):
        return 0.0, math.inf, _WIDTH
    shortest = max(_SHORTEST, density.bins.cut(0.0).mass_of_tail)
    ln_decisive = math.log(_DECISIVE * users * math.expm1(eps) + _BIT)
    tail, ln_delta = max(_LONGEST, shortest), math.inf
    while True:
        bins = density.bins.cut(tail)
        ln_delta = min(ln_delta, _ln_delta([bins.upper(eps)], users, Side.UPPER, _ROUGH))
        if bins.mass_of_tail <= _ENOUGH * math.exp(ln_delta) or tail <= shortest:
            return max(min(tail, _SHARE * math.exp(ln_delta)), shortest), ln_delta, _WIDTH
        if bins.low[-1] >= ln_decisive:
            return tail, ln_delta, _WIDTH_OF_RARE
        tail = max(min(_FACTOR * tail, _SHARE * math.exp(ln_delta)), shortest)


def _ln_delta(distributions: list[Gains], users: int, side: Side, width: float) -> float:
    """Natural log of the largest bound of this ``side``, over ``distributions`` of the gain G.

    A bound is E[(G_1 + ... + G_n)_+] / n of n = ``users`` gains, and the probability that the report
    identifies the user.
    """
    classes = max(gains.values.size for gains in distributions)
    values, probabilities = np.zeros((2, len(distributions), classes))
    for row, gains in enumerate(distributions):
        values[row, : gains.values.size] = gains.values
        probabilities[row, : gains.values.size] = gains.probabilities
    ulps = 16 + 2 * classes + max(gains.ulps for gains in distributions)
    outside = outwards(values, probabilities, side, ulps)
    # Only the largest expectation needs the width.
    groups = np.zeros(len(distributions), dtype=int)
    ln_low, ln_high = log_positive_part(*outside, users, width=width, groups=groups)

    ln_means = (ln_high if side is Side.UPPER else ln_low) - math.log(users)
    with np.errstate(divide="ignore"):
        ln_identified = np.log([gains.identified for gains in distributions])
    return float(np.logaddexp(ln_means, ln_identified).max())
