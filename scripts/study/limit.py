"""Limits of the study's ratios for many users, at a fixed (eps, delta); proof in docs/parity.md."""

import math

import numpy as np
from scipy import optimize, stats

from tightshuffle.arguments import check_delta, check_eps, check_one, check_positive
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale


def poisson_ratio(eps: float, delta: float, *, truth: float = 1.0) -> float:
    """Noise of an empty cell over the Gaussian's at the same (eps, delta), in the limit of many users.

    There the counts of two empty cells are independent Poisson variables N0, N1 of one mean, and a user adds
    a report to one of them with probability ``truth``. The mean is the one at which E[(P - e^eps Q)_+] is
    delta, P = 1 - truth + truth N0 / mean and Q the same with N1. For k-RR ``truth`` is 1. For optimised
    unary encoding ``truth`` is 1/2, and its ratio is sqrt(2) times the returned one. For only half of the
    reports that support an empty cell add privacy: the other half also support the remaining users' cell.

    Parameters: ``eps`` > 0, ``delta`` in (0, 1), ``truth`` in (0, 1], numbers. Returns sqrt(mean) /
    (truth sigma). ValueError naming a bad argument.
    """
    eps = check_one("eps", check_positive("eps", check_eps(eps)))
    delta = check_one("delta", check_delta(delta))
    if not 0 < truth <= 1:
        raise ValueError(f"truth must be above 0 and at most 1; got {truth}")
    sigma = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))

    def surplus(log_mean: float) -> float:
        return math.log(max(_hockey_stick(eps, math.exp(log_mean), truth), 1e-300) / delta)

    # More noise never reveals more, so the divergence falls as the mean grows.
    low = high = 2 * math.log(truth * sigma)
    while surplus(low) < 0:
        low -= 1
    while surplus(high) > 0:
        high += 1
    mean = math.exp(optimize.brentq(surplus, low, high, xtol=1e-12)) if low < high else math.exp(low)
    return math.sqrt(mean) / (truth * sigma)


def _hockey_stick(eps: float, mean: float, truth: float) -> float:
    """E[(P - e^eps Q)_+]: for each N1 the excess of N0 over a threshold, in closed form."""
    poisson, growth = stats.poisson(mean), math.exp(eps)
    second = np.arange(int(mean + 12 * math.sqrt(mean)) + 50)
    threshold = growth * second + (growth - 1) * (1 - truth) * mean / truth
    first = np.floor(threshold)
    excess = mean * poisson.sf(first - 1) - threshold * poisson.sf(first)
    return truth / mean * float(poisson.pmf(second) @ np.maximum(excess, 0.0))
