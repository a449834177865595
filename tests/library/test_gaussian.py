"""The analytic Gaussian: exact against 60 digits and dp_accounting; diffprivlib's scale, which saturates."""

import mpmath as mp
import numpy as np
import pytest
from dp_accounting import gaussian_mechanism
from hypothesis import given
from hypothesis import strategies as st

from tightshuffle.gaussian import exact_scale, log10_delta_of_scale


def printed_log_delta(eps, ratio):
    """Natural log of Phi(a - b) - e^eps Phi(-a - b), in 80 digits."""
    with mp.workdps(80):
        eps, ratio = mp.mpf(eps), mp.mpf(ratio)
        a, b = 1 / (2 * ratio), eps * ratio
        upper_tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2  # noqa: E731
        return mp.log(upper_tail(b - a) - mp.exp(eps) * upper_tail(a + b))


# Absolute error of the natural log: 1e-12 down to delta = 1e-300, then relative.
def log_error(actual_log10, expected):
    error = abs(mp.mpf(float(actual_log10)) * mp.log(10) - expected)
    return error / max(1, abs(expected) / 700)


def test_delta_against_80_digits():
    rng = np.random.default_rng(7)
    eps, ratio = 10 ** rng.uniform(-8, 3, 300), 10 ** rng.uniform(-4, 4, 300)
    eps[:20] = 0.0
    ours = log10_delta_of_scale(eps, scale=ratio)
    expected = [printed_log_delta(*point) for point in zip(eps, ratio, strict=True)]
    assert max(log_error(*pair) for pair in zip(ours, expected, strict=True)) < 1e-12
    below = [float(value) for value in expected]
    # Every depth was tried.
    assert np.histogram(below, [-np.inf, -1e5, -700, -50, -1, 0])[0].min() >= 10


@pytest.mark.parametrize("ratio", [0.999, 1.0, 1.001])
def test_delta_where_its_formulas_meet(ratio):
    # a = max(b, 1) / 2 and a = max(b, 1 / 2), seen from both sides
    for a, b in [(0.5, 0.3), (0.5, 1.0), (4.0, 8.0), (0.7, 0.7), (5.0, 5.0), (0.6, 0.5)]:
        eps, scale = 2 * a * b, ratio / (2 * a)
        assert (
            log_error(log10_delta_of_scale(eps, scale=scale), printed_log_delta(eps, scale)) < 1e-13
        )


@pytest.mark.parametrize("eps", [0.01, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-10, 1e-100, 1e-300])
def test_scale_agrees_with_dp_accounting(eps, delta):
    accurate = gaussian_mechanism.get_sigma_gaussian(eps, delta)
    assert exact_scale(eps, delta) == pytest.approx(accurate, rel=1e-10)
    assert exact_scale(eps, delta, sensitivity=np.sqrt(2)) == pytest.approx(
        np.sqrt(2) * accurate, rel=1e-10
    )


@given(st.floats(0, 1e4), st.floats(-1e4, -1e-6), st.floats(1e-3, 1e3))
def test_scale_and_delta_are_inverses(eps, log10_delta, sensitivity):
    if eps < 1e-4 and log10_delta < -100:
        return
    scale = exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity)
    back = log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)
    assert back == pytest.approx(log10_delta, rel=1e-10, abs=1e-13)
    assert log10_delta_of_scale(eps, scale=1.001 * scale, sensitivity=sensitivity) < log10_delta
