"""Brent's method: the root that scipy.optimize.brentq finds, and its refusals."""

import math

import pytest
from scipy import optimize

from tightshuffle.numerics.roots import find_root


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (math.cos, 0.0, 3.0),
        (lambda x: x**3 - 2, -3.0, 9.0),
        (lambda x: math.exp(50 * x) - 2, -1.0, 1.0),
        (lambda x: -math.expm1(-x) - 1e-9, 0.0, 700.0),
        (lambda x: math.copysign(1.0, x - 0.3), 0.0, 1.0),
        (lambda x: x, 0.0, 1.0),
        (lambda x: x - 1, 0.0, 1.0),
        (lambda x: (x - 1) ** 5 + x - 1, -4.0, 1.5),
    ],
)
@pytest.mark.parametrize(("xtol", "rtol"), [(1e-14, 2.0**-50), (1e-11, 1e-10), (1e-3, 1e-2)])
def test_it_is_the_root_of_scipy(function, low, high, xtol, rtol):
    calls = []
    found = find_root(lambda x: (calls.append(x), function(x))[1], low, high, xtol=xtol, rtol=rtol)
    wanted, full = optimize.brentq(function, low, high, xtol=xtol, rtol=rtol, full_output=True)
    assert found == pytest.approx(wanted, rel=1e-12, abs=xtol / 100)
    assert len(calls) == full.function_calls
