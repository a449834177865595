"""Noise in shares: several aggregators add parts of it, and any few honest ones of them have added enough.

Two-sided geometric noise, P(z) in proportion to a^|z| on all whole z, is the difference of two geometric
numbers. A geometric number is the sum of h Polya numbers: negative binomial ones of the shape 1 / h, with
P(j) = Gamma(j + 1 / h) / (Gamma(1 / h) j!) a^j (1 - a)^(1 / h). So each of m aggregators adds a share: the
difference of two such numbers. The shares of any h of them sum to the two-sided geometric noise itself, and
this alone gives the guarantee. Shares of the others come on top. The sum of all m is the difference of two
negative binomial numbers of the shape m / h.
"""

import math

import numpy as np

from tightshuffle.arguments import check_log10_delta, check_number, check_one, check_whole
from tightshuffle.dummies.laws import MOST_PARTIES
from tightshuffle.numerics.loss_grid import ComposedLosses, LossGrid
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.roots import interval_with_root, least_enough
from tightshuffle.numerics.side import Side
from tightshuffle.points import LARGEST_ROUNDS, check_guarantee

# A sum changes by so many of its units, at least, and by a multiple of them. So many steps have its losses.
STEPS = 1024
LARGEST_DEVIATION = 1e12  # of noise whose error is computed
_NODES = 2**14  # of the trapezoid rule for the error: 1e-12 of it is lost at most
_SLACK = 1e-12  # of a probability and of eps: far more than rounding takes
_PRECISION = 1e-6  # of a deviation, relative


def error_of_shares(deviation: float, parties: int, honest: int) -> float:
    """The mean absolute value of the sum of all parties' shares.

    P(z) of the sum of the honest parties' shares is in proportion to exp(-|z| / ``deviation``), as for
    `dummies.laws.noise` of the power 1. ``parties`` is at least ``honest``. ValueError names a bad argument.

    With a = exp(-1 / deviation) and r = parties / honest it is 2 a / (1 - a^2), that of the honest parties'
    shares, times the mean over all angles s of (1 - w^r) / (1 - w), w = 1 - 4 a / (1 + a)^2 sin^2(s / 2)
    (docs/theory.md, "Dummies alone").
    """
    deviation, parties, honest = _check_shares(deviation, parties, honest)
    r = parties / honest
    a = math.exp(-1 / deviation)
    # No node lies at s = 0, where w is 1. The mean is that of half a period, by symmetry.
    half_angles = (np.arange(_NODES) + 0.5) * (math.pi / 2 / _NODES)  # s / 2
    one_minus_w = 4 * a * (np.sin(half_angles) / (1 + a)) ** 2
    ratios = -np.expm1(r * np.log1p(-one_minus_w)) / one_minus_w
    return float(ratios.mean()) * 2 * a / -math.expm1(-2 / deviation)


def variance_of_shares(deviation: float, parties: int, honest: int) -> float:
    """The variance of the sum of all parties' shares. Arguments and errors are those of `error_of_shares`."""
    deviation, parties, honest = _check_shares(deviation, parties, honest)
    a = math.exp(-1 / deviation)
    return parties / honest * 2 * a / math.expm1(-1 / deviation) ** 2


def deviation_of_sum(
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    rounds: int = 1,
) -> float:
    """The smallest deviation of two-sided geometric noise on a sum, if one user changes the sum by at most 1.

    The sum is one of whole numbers of a unit. The unit is 1 / 1024, or that divided by a whole number. P(z)
    of noise of z units is in proportion to exp(-|z| unit / deviation). All ``rounds`` together are (eps,
    delta)-private, where ``eps`` and ``delta`` are as for `best_law.best_noise`. For one round delta is 0,
    and the deviation 1 / eps.

    delta of a sum of 1,024 units is at least that of a multiple of them (docs/theory.md, "Dummies alone").
    """
    target = check_one("delta", check_log10_delta(delta, log10_delta)) * LN10
    eps = check_guarantee(eps)
    rounds = check_whole("rounds", rounds, 1, LARGEST_ROUNDS)
    enough = rounds / eps  # each round is (eps / rounds, 0)-private
    if rounds == 1:
        return enough

    def surplus(ln_deviation: float) -> float:
        """ln of delta of all rounds over its target, at least -10 and at most 10."""
        deviation = math.exp(ln_deviation)
        of_rounds = ComposedLosses([(geometric_losses(1 / deviation), rounds)], Side.UPPER)
        ln_bound = float(of_rounds.ln_delta(np.array([eps * (1 - _SLACK)]))[0])
        return min(max(ln_bound - target, -10.0), 10.0)

    # The search begins next to the deviation that is enough, and goes down from there.
    ln_enough = math.log(enough)
    interval = interval_with_root(surplus, ln_enough - _PRECISION, step=0.01, most=ln_enough)
    if interval is None:
        return enough  # by rounding: delta is 0
    ln_smallest = least_enough(surplus, *interval, tolerance=_PRECISION)
    return min(math.exp(ln_smallest), enough)


def geometric_losses(eps_of_round: float) -> LossGrid:
    """The losses of one round of two-sided geometric noise on a sum that changes by `STEPS` units.

    The noise is ``eps_of_round``-private. With a = e^(-eps_of_round / STEPS) a loss is (STEPS - 2 j)
    eps_of_round / STEPS, j = 0, ..., STEPS, where -j is the noise in units: with the probability 1 / (1 + a)
    for all numbers from 0 on (j = 0), a^j (1 - a) / (1 + a) for -j, and a^STEPS / (1 + a) for all numbers up
    to -STEPS. Probabilities are rounded up.
    """
    step = eps_of_round / STEPS
    log_mass = -step * np.arange(STEPS + 1.0)
    log_mass[1:-1] += math.log(-math.expm1(-step))
    log_mass += _SLACK - math.log1p(math.exp(-step))
    return LossGrid(-STEPS // 2, 2 * step, log_mass[::-1], -math.inf)


def _check_shares(deviation: float, parties: int, honest: int) -> tuple[float, int, int]:
    """The checked arguments of `error_of_shares`; ValueError names a bad one."""
    limits = f"from 0.01 to {LARGEST_DEVIATION:g}"
    deviation = check_number(
        "deviation", deviation, limits, lambda x: 0.01 <= x <= LARGEST_DEVIATION
    )
    parties = check_whole("parties", parties, 1, MOST_PARTIES)
    return deviation, parties, check_whole("honest", honest, 1, parties)
