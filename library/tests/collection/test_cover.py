"""How many reports hide the target user's: the least number that Chernoff's bound proves."""

import math

import mpmath as mp
import numpy as np
import pytest

from tightshuffle.collection.cover import Cover

COVERS = [
    pytest.param([(1000, 0.3)], 0.0, id="binomial"),
    pytest.param([(5000, 0.02), (300, 0.5)], 40.0, id="two binomials and a Poisson number"),
    pytest.param([(40, 1.0)], 2000.0, id="certain ones and a Poisson number"),
]


def exact_reach(binomials, poisson, ln_probability):
    """The largest y with e^(x y) E[e^(-x N)] <= e^ln_probability at one of the code's x, in mpmath.

    N is the number of reports, but for those that there are in any case.
    """
    random = [(n, share) for n, share in binomials if share < 1]
    mean = sum(n * share for n, share in random) + poisson
    reaches = []
    for x in (math.sqrt(-2 * ln_probability / mean) * np.logspace(-1, 2, 61)).tolist():
        growth = mp.expm1(-mp.mpf(x))
        ln_mgf = poisson * growth + mp.fsum(
            n * mp.log1p(mp.mpf(share) * growth) for n, share in random
        )
        reaches.append((ln_probability - ln_mgf) / x)
    return max(reaches)


@pytest.mark.parametrize(("binomials", "poisson"), COVERS)
def test_the_likely_minimum_is_what_is_proved_and_not_one_more_by_rounding(binomials, poisson):
    """``low`` is the largest float at which one report more is not proved, by less than its rounding."""
    cover = Cover.from_numbers(binomials, poisson)
    wanted = math.ceil(exact_reach(binomials, poisson, -20.0))
    low, high = -20.0, -10.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if exact_reach(binomials, poisson, middle) < wanted:
            low = middle
        else:
            high = middle
    certain = sum(n for n, share in binomials if share == 1)
    assert cover.likely_minimum(low) == certain + wanted
    assert cover.likely_minimum(high * (1 - 1e-9)) == certain + wanted + 1
