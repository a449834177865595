"""The analytic Gaussian: exact against 60 digits and dp_accounting; diffprivlib's scale, which saturates."""

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import given
from hypothesis import strategies as st

from tightshuffle.mechanisms.gaussian import exact_scale, log10_delta_of_scale


def ln_delta_in_80_digits(eps, scale):
    """ln of Phi(a - b) - e^eps Phi(-a - b), in 80 digits, with a = 1 / (2 scale) and b = eps scale.

    ``scale`` is the standard deviation of the noise over the sensitivity.
    """
    with mp.workdps(80):
        eps, scale = mp.mpf(eps), mp.mpf(scale)
        a, b = 1 / (2 * scale), eps * scale
        return mp.log(mp.ncdf(a - b) - mp.exp(eps) * mp.ncdf(-a - b))


def error_of_ln_delta(eps, scale):
    """The absolute error of our ln delta; below delta = 1e-300, over ln delta / -700."""
    exact = ln_delta_in_80_digits(eps, scale)
    found = mp.mpf(float(log10_delta_of_scale(eps, scale=scale))) * mp.log(10)
    return abs(found - exact) / max(1, abs(exact) / 700)


def test_delta_at_random_points_of_all_depths_has_twelve_digits():
    """20 of the points have eps 0."""
    rng = np.random.default_rng(7)
    eps, scale = 10 ** rng.uniform(-8, 3, 300), 10 ** rng.uniform(-4, 4, 300)
    eps[:20] = 0.0
    assert max(map(error_of_ln_delta, eps, scale)) < 1e-12

    ln_deltas = np.log(10) * log10_delta_of_scale(eps, scale=scale)
    points_of_depth = np.histogram(ln_deltas, [-np.inf, -1e5, -700, -50, -1, 0])[0]
    assert min(points_of_depth) >= 10


@pytest.mark.parametrize("ratio", [0.999, 1.0, 1.001])
@pytest.mark.parametrize(
    ("a", "b"), [(0.5, 0.3), (0.5, 1.0), (4.0, 8.0), (0.7, 0.7), (5.0, 5.0), (0.6, 0.5)]
)
def test_delta_where_its_formulas_meet_has_thirteen_digits(a, b, ratio):
    """At a = max(b, 1) / 2 and a = max(b, 1 / 2), seen from both sides: a = 1 / (2 scale), b = eps scale."""
    assert error_of_ln_delta(eps=2 * a * b, scale=ratio / (2 * a)) < 1e-13


@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-10, 1e-100, 1e-300])
@pytest.mark.parametrize("sensitivity", [1.0, np.sqrt(2)])
def test_scale_is_that_of_dp_accounting_times_the_sensitivity(eps, delta, sensitivity):
    scale = exact_scale(eps, delta, sensitivity=sensitivity)
    sigma = gaussian_mechanism.get_sigma_gaussian(eps, delta)  # for the sensitivity 1
    assert scale == pytest.approx(sensitivity * sigma, rel=1e-10)


@given(st.floats(0, 1e4), st.floats(-1e4, -1e-6), st.floats(1e-3, 1e3))
def test_scale_and_delta_are_inverses(eps, log10_delta, sensitivity):
    if eps < 1e-4 and log10_delta < -100:
        return
    scale = exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity)
    back = log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)
    assert back == pytest.approx(log10_delta, rel=1e-10, abs=1e-13)
    assert log10_delta_of_scale(eps, scale=1.001 * scale, sensitivity=sensitivity) < log10_delta
