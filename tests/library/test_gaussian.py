"""The analytic Gaussian: exact against 60 digits and dp_accounting; diffprivlib's scale, which saturates."""

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import given
from hypothesis import strategies as st

from tightshuffle.gaussian import exact_scale, log10_delta_of_scale


def printed_ln_delta(eps, scale):
    """ln of Phi(a - b) - e^eps Phi(-a - b), in 80 digits, with a = 1 / (2 scale) and b = eps scale.

    ``scale`` is the standard deviation of the noise over the sensitivity.
    """
    with mp.workdps(80):
        eps, scale = mp.mpf(eps), mp.mpf(scale)
        a, b = 1 / (2 * scale), eps * scale
        upper_tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2  # noqa: E731
        return mp.log(upper_tail(b - a) - mp.exp(eps) * upper_tail(a + b))


def error_of_ln_delta(log10_delta, ln_delta):
    """The absolute error of ``log10_delta`` as a natural log; below delta = 1e-300, over ln delta / -700."""
    error = abs(mp.mpf(float(log10_delta)) * mp.log(10) - ln_delta)
    return error / max(1, abs(ln_delta) / 700)


def test_delta_against_80_digits():
    """At 300 random points, of which 20 have eps 0, ln delta is within 1e-12 of its formula in mpmath.

    ``printed_ln_delta`` is the formula. ``error_of_ln_delta`` is the absolute error, and where ln delta is
    below -700 it is that divided by ln delta / -700.
    """
    rng = np.random.default_rng(7)
    eps, scale = 10 ** rng.uniform(-8, 3, 300), 10 ** rng.uniform(-4, 4, 300)
    eps[:20] = 0.0
    found = log10_delta_of_scale(eps, scale=scale)
    expected = [printed_ln_delta(*point) for point in zip(eps, scale, strict=True)]
    assert max(map(error_of_ln_delta, found, expected)) < 1e-12
    # At least ten of the points are in each range of ln delta.
    depths = [-np.inf, -1e5, -700, -50, -1, 0]
    assert np.histogram(np.array(expected, dtype=float), depths)[0].min() >= 10


@pytest.mark.parametrize("ratio", [0.999, 1.0, 1.001])
def test_delta_where_its_formulas_meet(ratio):
    """At a = max(b, 1) / 2 and a = max(b, 1 / 2), seen from both sides; a, b as in `printed_ln_delta`."""
    for a, b in [(0.5, 0.3), (0.5, 1.0), (4.0, 8.0), (0.7, 0.7), (5.0, 5.0), (0.6, 0.5)]:
        eps, scale = 2 * a * b, ratio / (2 * a)
        found = log10_delta_of_scale(eps, scale=scale)
        assert error_of_ln_delta(found, printed_ln_delta(eps, scale)) < 1e-13


@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-10, 1e-100, 1e-300])
def test_scale_agrees_with_dp_accounting(eps, delta):
    sigma = gaussian_mechanism.get_sigma_gaussian(eps, delta)  # for the sensitivity 1
    assert exact_scale(eps, delta) == pytest.approx(sigma, rel=1e-10)
    of_histogram = exact_scale(eps, delta, sensitivity=np.sqrt(2))
    assert of_histogram == pytest.approx(np.sqrt(2) * sigma, rel=1e-10)


@given(st.floats(0, 1e4), st.floats(-1e4, -1e-6), st.floats(1e-3, 1e3))
def test_scale_and_delta_are_inverses(eps, log10_delta, sensitivity):
    if eps < 1e-4 and log10_delta < -100:
        return
    scale = exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity)
    back = log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)
    assert back == pytest.approx(log10_delta, rel=1e-10, abs=1e-13)
    assert log10_delta_of_scale(eps, scale=1.001 * scale, sensitivity=sensitivity) < log10_delta
