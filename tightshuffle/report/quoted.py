"""What the documents say in passing, as functions: ratios, worst cases of tiny examples, expected errors."""

import functools
import math

import numpy as np
from scipy import optimize, special, stats

from tightshuffle.experiments.plan import make_plan
from tightshuffle.mechanisms.krr import lie_probability, truth_probability
from tightshuffle.privacy import count, histogram
from tightshuffle.privacy.enumeration import enumerate_worst_case

TINY = (  # cases in which every dataset can be looked at
    {"n": 6, "k": 4, "eps0": 1.0},
    {"n": 8, "k": 3, "eps0": 0.5},
    {"n": 8, "k": 3, "eps0": 1.0},
    {"n": 10, "k": 2, "eps0": 1.0},
)
SHARES = tuple(i / 20 for i in range(1, 20))  # of eps0, at which they are looked at


def worst_delta(eps, **setting):
    """The true delta of a tiny case: the largest over all datasets of the others. ``eps`` may be an array."""
    worst = np.max(list(enumerate_worst_case(eps, **setting).values()), axis=0)
    return worst if np.ndim(eps) else float(worst)


def two_counts(eps, *, n, k, eps0):
    """delta of the counts of x0 and x1 alone, where all others hold a third cell."""
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    a = np.arange(n + 1)
    others = np.zeros((n + 2, n + 2))  # law of the others' counts; the last row and column stay empty
    for both in range(n):
        split = stats.binom.pmf(np.arange(both + 1), both, 0.5)
        others[a[: both + 1], both - a[: both + 1]] = stats.binom.pmf(both, n - 1, 2 * q) * split
    one_more = np.roll(others, 1, axis=0), np.roll(others, 1, axis=1)  # answers x0, answers x1
    same = (1 - p - q) * others
    first = p * one_more[0] + q * one_more[1] + same
    second = q * one_more[0] + p * one_more[1] + same
    return float(np.maximum(first - math.exp(eps) * second, 0).sum())


def band(eps, **setting):
    """By what share the upper bound exceeds the lower one."""
    return float(10 ** (histogram.upper(eps, **setting) - histogram.lower(eps, **setting)) - 1)


def largest_shortfall(bound):
    """The largest ratio between ``bound`` and the truth, whichever is larger, over `TINY` and `SHARES`."""
    largest = 1.0
    for setting in TINY:
        eps = np.array(SHARES) * setting["eps0"]
        gaps = np.abs(np.log10(worst_delta(eps, **setting)) - bound(eps, **setting))
        largest = max(largest, 10 ** float(gaps.max()))
    return largest


def worst_count(eps, *, n, k, eps0):
    """log10 of the largest delta of the count of x0, over how many hold it, in both directions."""
    everyone = np.arange(n)
    return float(count.delta(eps, n=n, k=k, eps0=eps0, count=everyone, direction="both").max())


def reverse_over_forward(eps, **setting):
    """delta of the count of x0 in the direction that the paper leaves out, over that of the other."""
    reverse, forward = (count.delta(eps, direction=name, **setting) for name in ("reverse", "forward"))
    return float(10 ** (reverse - forward))


def expected_tv(*, n, k, eps, delta, sensitivity):
    """Expected total variation distance of diffprivlib's Gaussian, before projection: k E|noise| / (2 n)."""
    from tightshuffle.mechanisms.gaussian import published_scale

    return k * published_scale(eps, delta, sensitivity) * math.sqrt(2 / math.pi) / (2 * n)


@functools.cache
def where_phi_is_0():
    """The |x| at which (1 + erf(-|x| / sqrt 2)) / 2 becomes 0: 1 + erf is half a unit of erf there."""
    unit = -54 * math.log(2)
    return float(
        optimize.brentq(
            lambda x: math.log(special.erfcx(x / math.sqrt(2))) - x**2 / 2 - unit, 5, 10, xtol=1e-13
        )
    )


def end_of_search(eps):
    """The scale, for sensitivity 1, at which diffprivlib's search ends at the latest, whatever delta is.

    It does so at eps = 4 and 6. At others, such as 5, the rounded function changes its sign before, too, and
    the search ends there.
    """
    a = where_phi_is_0() / math.sqrt(2 * eps)
    return (a + math.hypot(1, a)) / math.sqrt(2 * eps)


def excess_of_shuffle(*, n, k, eps, log10_delta):
    """By what share the expected error of shuffle+INV exceeds the Gaussian's, at equal privacy."""
    tv = make_plan(n, k, eps, log10_delta=log10_delta).tv
    return tv["shuffle+INV"] / tv["gaussian"] - 1
