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
from collections.abc import Callable

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.bounds.inverse import epsilon_from_gaussian, epsilon_near_gaussian
from tightshuffle.gaussian import scale_over_sensitivity
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.points import Points
from tightshuffle.randomizers.density import LARGEST_EPS, Density, Gains
from tightshuffle.side import Side

_WIDTH = (
    3e-3  # relative, of an expectation: a third of it adds to an upper bound, about 0.01 % of eps
)
_WIDTH_OF_RARE = 0.1  # where single reports decide
_ROUGH = 0.3  # the width of the bounds that find how long the tail may be
_LONGEST, _SHORTEST = 0.1, 1e-14  # probabilities of a tail: a shorter one takes minutes
_ENOUGH = 2e-2  # the tail's share of delta, at most,
_SHARE = 2e-3  # and the one that is aimed at
_SHARE_OF_LOWER = 1e-3  # for the lower bound, which loses only a part of it but is smaller
_FACTOR = 0.1  # from one tail that is tried to the next, at least
# A report with a gain of so many times n (e^eps - 1), and a bit, makes the sum positive by itself: the tail.
_DECISIVE, _BIT = 4.0, 1000.0
_LEAST = 1e-300  # a float above 0
_LARGEST_MU = 10.0  # of the Gaussian that a search starts from
_SHARES = (0.0, 1.0)  # of the other users who hold 0, in the datasets of the lower bound,
_MIXTURES = (0.25, 0.5, 0.75)  # and in the random ones


def ln_bounds(points: Points, density: Density, side: Side, mixtures: bool) -> Floats:
    """`ln_bound` at the eps and the honest users of the points; (points,)."""
    settings = zip(points.eps.tolist(), points.honest_users.tolist(), strict=True)
    return np.array([ln_bound(eps, users, density, side, mixtures) for eps, users in settings])


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
        return min(_ln_bound_with_tail(eps, users, density, side, tail, width), ln_rough)
    if width == _WIDTH:
        tail *= _SHARE_OF_LOWER / _SHARE
    return _ln_bound_with_tail(eps, users, density, side, tail, width, mixtures)


def epsilon_of_round(
    ln_delta_of_round: Callable[[Points], Floats],
    target_ln_delta: float,
    point: Points,
    side: Side,
) -> float:
    """The eps at which a bound on ln delta of one round is the target: `inverse.epsilon_near_gaussian`.

    For a density it is that of its own bound, with one tail for the whole search, as delta jumps with the
    tail; nan if no eps is enough.
    """
    density, users = point.randomizer, point.honest_users.item()
    if not isinstance(density, Density):
        return epsilon_near_gaussian(ln_delta_of_round, target_ln_delta, point, side)
    target = math.exp(target_ln_delta)
    mu = min(float(gaussian_mu(n=users, randomizer=density)), _LARGEST_MU)

    def epsilon(side: Side, tail: float, width: float, mu: float) -> float:
        """The eps at which the bound with this ``tail`` is the target, from the Gaussian with this ``mu``."""

        def ln_delta_at(eps: float) -> float:
            """The target, and by how much the expectation exceeds what the target leaves to it.

            This is ln of the bound where no report identifies the user, and else falls faster.
            """
            distributions = _distributions(eps, density, side, tail)
            with np.errstate(divide="ignore"):
                identified = np.array([gains.identified for gains in distributions])
                share_left = np.maximum(1 - identified / max(target, _LEAST), 0.0)
                left = target_ln_delta + np.log(share_left)
            means = _ln_means(distributions, users, side, width)
            excess = [
                mean - one_left if one_left > -math.inf else math.inf
                for mean, one_left in zip(means.tolist(), left.tolist(), strict=True)
            ]
            surplus = max(excess)
            return min(target_ln_delta + surplus, 0.0)

        largest = min(density.eps0, LARGEST_EPS)
        if side is Side.UPPER and ln_delta_at(largest) > target_ln_delta:
            return math.nan
        return epsilon_from_gaussian(ln_delta_at, target_ln_delta, largest, mu=mu, side=side)

    if math.isfinite(density.eps0):
        return epsilon(side, 0.0, _WIDTH, mu)

    # Of delta, what is left by the reports that only one input can cause.
    left = target - density.bins.cut(0.0).mass_of_tail
    if left <= 0 and side is Side.UPPER:
        return math.nan
    # A long tail gives a larger eps, in no time.
    first = epsilon(Side.UPPER, max(left / 2, _SHORTEST), _ROUGH, mu)
    if math.isnan(first):
        return math.nan if side is Side.UPPER else 0.0
    mu = 1 / scale_over_sensitivity(first, target_ln_delta)
    share = _SHARE if side is Side.UPPER else _SHARE_OF_LOWER
    small = max(share * left, _SHORTEST)
    decisive = density.bins.mass_beyond(_ln_decisive(first, users))
    if decisive <= small:
        return epsilon(side, small, _WIDTH, mu)
    return epsilon(side, max(min(decisive, left / 2), small), _WIDTH_OF_RARE, mu)


def _ln_bound_with_tail(
    eps: float,
    users: int,
    density: Density,
    side: Side,
    tail: float,
    width: float,
    mixtures: bool = True,
) -> float:
    """`ln_bound` with a tail of at most this probability, and the relative ``width`` of expectations."""
    return min(
        _ln_delta(_distributions(eps, density, side, tail, mixtures), users, side, width), 0.0
    )


def _distributions(
    eps: float, density: Density, side: Side, tail: float, mixtures: bool = True
) -> list[Gains]:
    """The distributions of a gain of which the largest bound of this ``side`` counts."""
    bins = density.bins.cut(tail)
    if side is Side.UPPER:
        return [bins.upper(eps)]
    shares = _SHARES + (_MIXTURES if mixtures else ())
    return [bins.lower(eps, share) for share in shares]


def _ln_decisive(eps: float, users: int) -> float:
    """The loss from which on a report makes the sum of all gains positive by itself."""
    return math.log(_DECISIVE * users * math.expm1(eps) + _BIT)


def _tail(eps: float, users: int, density: Density) -> tuple[float, float, float]:
    """A probability of the tail, natural log of an upper bound on delta, and the width for a better one.

    The tail is a small part of delta, or has the reports that are decisive by themselves.
    """
    if math.isfinite(density.eps0):
        return 0.0, math.inf, _WIDTH
    alone = density.bins.cut(0.0).mass_of_tail  # of the reports that only one input can cause
    ln_decisive = _ln_decisive(eps, users)
    tail, ln_delta = _LONGEST, math.inf
    while True:
        bins = density.bins.cut(tail)
        ln_delta = min(ln_delta, _ln_delta([bins.upper(eps)], users, Side.UPPER, _ROUGH))
        goal = max(_SHARE * math.exp(ln_delta), _SHORTEST)
        if bins.mass_of_tail - alone <= _ENOUGH * math.exp(ln_delta) or tail <= _SHORTEST:
            return min(tail, goal), ln_delta, _WIDTH
        if bins.low[-1] >= ln_decisive:
            return tail, ln_delta, _WIDTH_OF_RARE
        tail = max(min(_FACTOR * tail, goal), _SHORTEST)


def _ln_delta(distributions: list[Gains], users: int, side: Side, width: float) -> float:
    """Natural log of the largest bound of this ``side``, over ``distributions`` of the gain.

    A bound is that of `_ln_means` and the probability that the report identifies the user.
    """
    ln_means = _ln_means(distributions, users, side, width)
    with np.errstate(divide="ignore"):
        ln_identified = np.log([gains.identified for gains in distributions])
    return float(np.logaddexp(ln_means, ln_identified).max())


def _ln_means(distributions: list[Gains], users: int, side: Side, width: float) -> Floats:
    """Natural logs of bounds on E[(G_1 + ... + G_n)_+] / n of n = ``users`` gains; (distributions,).

    Only the largest has the relative ``width``.
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
    with np.errstate(over="ignore"):  # there are too many combinations of classes to be counted
        ln_low, ln_high = log_positive_part(*outside, users, width=width, groups=groups)
    return np.asarray((ln_high if side is Side.UPPER else ln_low) - math.log(users))
