"""eps found from delta gives delta back, from the safe side."""

import warnings

import numpy as np
import pytest

from tightshuffle.arguments import OutsideRange
from tightshuffle.privacy import count, histogram
from tightshuffle.privacy.inverse import epsilon


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-100])
def test_round_trip(delta):
    for bound, setting in [
        (count.delta, {"n": 1000, "k": 15, "eps0": 4.0, "count": 66}),
        (histogram.upper, {"n": 1000, "k": 15, "eps0": 4.0}),
    ]:
        eps = epsilon(bound, delta, **setting)
        assert 0 < eps < 4
        assert bound(eps, **setting) <= np.log10(delta)
        assert bound(eps - 1e-9, **setting) > np.log10(delta) - 1e-6


def test_known_values():
    # eps at delta = 1e-6 of the parity table, computed elsewhere to four digits.
    for n, k, eps0, expected in [
        (10**5, 15, 4.0, 0.1055),
        (10**4, 192, 4.0, 0.1816),
        (10**5, 408, 6.0, 0.2431),
    ]:
        eps = epsilon(histogram.upper, 1e-6, n=n, k=k, eps0=eps0)
        assert eps == pytest.approx(expected, abs=5.1e-5)


def test_zero_and_eps0():
    assert epsilon(count.delta, 0.9, n=100, k=10, eps0=1.0, count=5) == 0


def theorem(first, last):
    """log10 delta = -10 eps for first <= eps <= last, nothing else below eps0."""

    def bound(eps, *, eps0):
        if eps >= eps0:
            return -np.inf
        if not first <= eps <= last:
            warnings.warn("eps is out of range", OutsideRange, stacklevel=2)
            return np.nan
        return -10.0 * eps

    return bound


@pytest.mark.parametrize(
    ("first", "last", "delta", "expected"),
    [
        (0, 1, 1e-3, 0.3),
        (0, 0.5, 1e-3, 0.3),
        (0, 0.4, 1e-7, 1.0),  # beyond what the theorem covers: only eps0 is left
        (0.2, 1, 1e-3, 0.3),
        (0.5, 1, 1e-3, 0.5),  # the theorem starts where delta is already smaller
        (0.2, 0.4, 1e-3, 0.3),
    ],
)
def test_theorems_with_a_range(first, last, delta, expected):
    assert epsilon(theorem(first, last), delta, eps0=1.0) == pytest.approx(expected, abs=1e-9)


def test_bad_delta():
    for delta in (0, 1, -1, float("nan")):
        with pytest.raises(ValueError, match="delta must be between 0 and 1"):
            epsilon(count.delta, delta, n=10, k=3, eps0=1.0, count=0)
