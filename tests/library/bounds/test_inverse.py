"""eps found from delta gives delta back, from the safe side."""

import functools
import warnings

import numpy as np
import pytest

from tests.library.at_points import at_points
from tightshuffle.arguments import OutsideRange
from tightshuffle.bounds import privacy_blanket
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.bounds.inverse import epsilon_from_gaussian, smallest_eps
from tightshuffle.literature import clones as clones_module
from tightshuffle.literature import count
from tightshuffle.side import Side

lower, upper = at_points(privacy_blanket.log10_lower), at_points(privacy_blanket.log10_upper)
BOUNDS = {Side.LOWER: lower, Side.UPPER: upper}
clones = at_points(clones_module.clones)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-100])
def test_round_trip(delta):
    bound = functools.partial(count.delta, n=1000, k=15, eps0=4.0, count=66)
    eps = smallest_eps(bound, np.log10(delta), 4.0)
    assert 0 < eps < 4
    assert bound(eps) <= np.log10(delta)
    assert bound(eps - 1e-9) > np.log10(delta) - 1e-6


@pytest.mark.parametrize("n", [1, 30, 1000, 100_000])
@pytest.mark.parametrize("eps0", [1e-3, 1.0, 4.0])
@pytest.mark.parametrize("log10_delta", [-0.5, -6.0, -40.0])
def test_a_bound_that_falls_needs_fewer_evaluations_for_the_same_eps(n, eps0, log10_delta):
    """With falls=True `smallest_eps` finds the same eps, with no more calls of the bound.

    The bound is a function from eps to log10 delta. `smallest_eps` finds the smallest eps up to eps0 at which
    it is at most ``log10_delta``. falls=True says that the bound falls with eps, which `clones` does.
    """

    def eps_and_calls(falls):
        """The eps found, and the number of calls."""
        calls = []

        def bound(eps):
            calls.append(eps)
            return clones(eps, n=n, k=10, eps0=eps0)

        return smallest_eps(bound, log10_delta, eps0, falls=falls), len(calls)

    eps_if_falls, calls_if_falls = eps_and_calls(falls=True)
    eps, calls = eps_and_calls(falls=False)
    assert eps_if_falls == eps
    assert calls_if_falls <= calls
    # An ordinary setting, in which 17 calls instead of 26 were seen.
    if (n, eps0, log10_delta) == (1000, 4.0, -6.0):
        assert calls_if_falls <= calls - 8


def eps_and_number_of_calls(log10_delta, setting, side):
    """The result of `epsilon_from_gaussian` for one of BOUNDS, and how often the bound was asked for."""
    bound, calls = BOUNDS[side], []

    def log10_bound(eps):
        calls.append(eps)
        return bound(eps, **setting)

    mu = float(gaussian_mu(**setting))
    eps = epsilon_from_gaussian(log10_bound, log10_delta, setting["eps0"], mu=mu, side=side)
    return eps, len(calls)


@pytest.mark.parametrize(
    ("side", "log10_delta", "setting"),
    [
        (Side.LOWER, -0.001, {"n": 1, "k": 2, "eps0": 8.0, "randomizer": "rappor"}),
        (Side.UPPER, -1e-16, {"n": 10_000, "k": 2, "eps0": 14.0, "randomizer": "hash:2"}),
        (Side.UPPER, -1e-7, {"n": 1000, "k": 10, "eps0": 14.0}),
    ],
)
def test_a_delta_that_eps_0_gives_is_found_at_once(side, log10_delta, setting):
    eps, calls = eps_and_number_of_calls(log10_delta, setting, side)
    bound = BOUNDS[side]
    assert eps == 0
    assert bound(0.0, **setting) <= log10_delta
    assert calls <= 8


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_search_for_any_eps_ends_soon_on_its_side():
    """eps is found from delta with at most 20 evaluations of a bound on delta (19 were the most).

    BOUNDS has a lower and an upper bound, functions from eps to log10 delta. At the eps found, the upper
    bound is at most the given delta, and the lower bound at least that. `eps_and_number_of_calls` has eps and
    the number of evaluations. Settings are random: eps0 from 1e-100 to 25, mostly above 0.01, and delta from
    1e-100 to next to 1. A warning is an error.
    """
    rng = np.random.default_rng(26)
    for _ in range(60):
        name = str(rng.choice(["grr", "rappor", "oue", "hash:2", "hadamard"]))
        log10_eps0 = rng.uniform(-2, 1.4) if rng.random() < 0.8 else rng.uniform(-100, -2)
        n, k = int(10 ** rng.uniform(0, 5)), int(rng.choice([2, 3, 10, 100]))
        side = list(BOUNDS)[rng.choice(2)]
        log10_delta = -(10 ** rng.uniform(-16, 2))
        setting = {"n": n, "k": k, "eps0": 10**log10_eps0, "randomizer": name}
        eps, calls = eps_and_number_of_calls(log10_delta, setting, side)
        assert calls <= 20, (setting, log10_delta)

        log10_bound = BOUNDS[side](eps, **setting)
        if side is Side.UPPER:
            assert log10_bound <= log10_delta, (setting, log10_delta)
        else:  # no eps is negative
            assert log10_bound >= log10_delta or eps == 0, (setting, log10_delta)


def bound_with_a_range(first, last):
    """A made-up bound, a function from eps to log10 delta: -10 eps for eps from ``first`` to ``last``.

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
    ("first", "last", "delta", "expected"),
    [
        pytest.param(0, 1, 1e-3, 0.3, id="covers all eps"),
        pytest.param(0, 0.4, 1e-7, 1.0, id="0.7 is not covered: only eps0 is left"),
        pytest.param(0.2, 1, 1e-3, 0.3, id="covers 0.3"),
        pytest.param(0.5, 1, 1e-3, 0.5, id="starts where delta is already smaller"),
    ],
)
def test_theorems_with_a_range(first, last, delta, expected):
    found = smallest_eps(bound_with_a_range(first, last), np.log10(delta), 1.0)
    assert found == pytest.approx(expected, abs=1e-9)
