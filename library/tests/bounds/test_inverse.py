"""eps found from delta gives delta back, from the safe side."""

import functools
import warnings
from unittest.mock import Mock

import numpy as np
import pytest

from tests.at_points import at_points
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import privacy_blanket
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.bounds.inverse import epsilon_from_gaussian, smallest_eps
from tightshuffle.literature import clones as clones_module
from tightshuffle.literature import count
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.side import Side

lower, upper = at_points(privacy_blanket.ln_lower), at_points(privacy_blanket.ln_upper)
BOUNDS = {Side.LOWER: lower, Side.UPPER: upper}
clones = at_points(clones_module.ln_clones)


@pytest.mark.parametrize("log10_delta", [-3, -6, -12, -100])
def test_smallest_eps_has_the_delta_and_an_eps_smaller_by_1e_9_has_not(log10_delta):
    def bound(eps):
        return count.ln_delta_of_count(eps, n=1000, k=15, eps0=4.0, count=66)

    ln_delta = log10_delta * LN10
    eps = smallest_eps(bound, ln_delta, 4.0)
    assert 0 < eps < 4
    assert bound(eps) <= ln_delta
    assert bound(eps - 1e-9) > ln_delta - 1e-6


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("mu", [0.1, 3.0, 20.0])
def test_eps_of_a_flat_curve_is_within_0_1_percent(side, mu):
    """ln delta falls by 1e-9 per unit of eps, up to eps = 30, and is the target at eps = 10."""

    def ln_delta(eps):
        return -0.3 + 1e-9 * (10 - eps) - max(0.0, eps - 30)

    eps = epsilon_from_gaussian(ln_delta, -0.3, 50.0, mu=mu, side=side)
    if side is Side.UPPER:
        assert 10 <= eps <= 10.01
    else:
        assert 9.99 <= eps <= 10


@pytest.mark.parametrize("n", [1, 30, 1000, 100_000])
@pytest.mark.parametrize("eps0", [1e-3, 1.0, 4.0])
@pytest.mark.parametrize("log10_delta", [-0.5, -6.0, -40.0])
def test_a_bound_that_falls_needs_no_more_evaluations_for_the_same_eps(n, eps0, log10_delta):
    """With falls=True `smallest_eps` finds the same eps, with no more calls of the bound.

    falls=True says that the bound falls with eps, as that of the clones does. The bound is ln delta at eps.
    """
    bound = functools.partial(clones, n=n, k=10, eps0=eps0)
    bound_that_falls, any_bound = Mock(wraps=bound), Mock(wraps=bound)
    ln_delta = log10_delta * LN10
    eps = smallest_eps(bound_that_falls, ln_delta, eps0, falls=True)
    assert eps == smallest_eps(any_bound, ln_delta, eps0)
    saved = any_bound.call_count - bound_that_falls.call_count
    assert saved >= 0
    # An ordinary setting, in which 17 calls instead of 26 were seen.
    if (n, eps0, log10_delta) == (1000, 4.0, -6.0):
        assert saved >= 8


def eps_and_number_of_calls(side, log10_delta, setting):
    """The eps that `epsilon_from_gaussian` finds for one of BOUNDS, and how often the bound was called."""
    bound = Mock(wraps=functools.partial(BOUNDS[side], **setting))
    mu = float(gaussian_mu(**setting))
    ln_delta = log10_delta * LN10
    eps = epsilon_from_gaussian(bound, ln_delta, setting["eps0"], mu=mu, side=side)
    return eps, bound.call_count


@pytest.mark.parametrize(
    ("side", "log10_delta", "setting"),
    [
        (Side.LOWER, -0.001, {"n": 1, "k": 2, "eps0": 8.0, "randomizer": "rappor"}),
        (Side.UPPER, -1e-16, {"n": 10_000, "k": 2, "eps0": 14.0, "randomizer": "hash:2"}),
        (Side.UPPER, -1e-7, {"n": 1000, "k": 10, "eps0": 14.0}),
    ],
)
def test_a_delta_that_eps_0_gives_is_found_at_once(side, log10_delta, setting):
    eps, calls = eps_and_number_of_calls(side, log10_delta, setting)
    assert BOUNDS[side](0.0, **setting) <= log10_delta * LN10
    assert eps == 0
    assert calls <= 8


def random_search(rng):
    """A random side, log10 delta and setting.

    eps0 is from 1e-100 to 25, mostly above 0.01, and delta from 1e-100 to next to 1.
    """
    name = str(rng.choice(["grr", "rappor", "oue", "hash:2", "hadamard"]))
    log10_eps0 = rng.uniform(-2, 1.4) if rng.random() < 0.8 else rng.uniform(-100, -2)
    n, k = int(10 ** rng.uniform(0, 5)), int(rng.choice([2, 3, 10, 100]))
    side = list(BOUNDS)[rng.choice(2)]
    log10_delta = -(10 ** rng.uniform(-16, 2))
    return side, log10_delta, {"n": n, "k": k, "eps0": 10**log10_eps0, "randomizer": name}


@pytest.mark.slow
def test_a_search_for_any_eps_ends_soon_on_its_side():
    """At the eps found, the upper bound is at most the given delta, and the lower bound at least that.

    A search evaluates the bound at most 20 times (19 were the most), and causes no warning.
    """
    rng = np.random.default_rng(26)
    for _ in range(60):
        side, log10_delta, setting = random_search(rng)
        eps, calls = eps_and_number_of_calls(side, log10_delta, setting)
        assert calls <= 20, (setting, log10_delta)

        ln_bound, ln_delta = BOUNDS[side](eps, **setting), log10_delta * LN10
        if side is Side.UPPER:
            assert ln_bound <= ln_delta, (setting, log10_delta)
        else:  # no eps is negative
            assert ln_bound >= ln_delta or eps == 0, (setting, log10_delta)


def bound_with_a_range(first, last):
    """A made-up bound, a function from eps to ln delta: -10 eps for eps from ``first`` to ``last``.

    Elsewhere the function does not apply: it is nan, with the warning `OutsideRange`. From eps0 = 1 on, delta
    is 0 and the function -inf.
    """

    def bound(eps):
        if eps >= 1:
            return -np.inf
        if not first <= eps <= last:
            warnings.warn("eps is out of range", OutsideRange, stacklevel=2)
            return np.nan
        return -10.0 * eps

    return bound


@pytest.mark.parametrize(
    ("first", "last", "ln_delta", "expected"),
    [
        pytest.param(0, 1, -3, 0.3, id="covers all eps"),
        pytest.param(0, 0.4, -7, 1.0, id="0.7 is not covered: only eps0 is left"),
        pytest.param(0.2, 1, -3, 0.3, id="covers 0.3"),
        pytest.param(0.5, 1, -3, 0.5, id="starts where delta is already smaller"),
    ],
)
def test_smallest_eps_is_within_the_range_of_a_bound(first, last, ln_delta, expected):
    """The bound on ln delta is -10 eps from ``first`` to ``last``, -inf from eps0 = 1 on, and else nan."""
    bound = bound_with_a_range(first, last)
    assert smallest_eps(bound, ln_delta, 1.0) == pytest.approx(expected, abs=1e-9)
