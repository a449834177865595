"""diffprivlib's scale: right where delta is large, the same for every small one."""

import numpy as np
import pytest
from diffprivlib.mechanisms import GaussianAnalytic
from dp_accounting import gaussian_mechanism
from scipy import stats

from scripts.shared.published_gaussian import published_scale
from tests.chi_square import SIGNIFICANCE


@pytest.mark.parametrize(("eps", "delta"), [(0.5, 1e-5), (1.0, 1e-8), (4.0, 1e-6), (6.0, 1e-10)])
def test_agrees_with_an_accurate_calibration_where_delta_is_large(eps, delta):
    accurate = gaussian_mechanism.get_sigma_gaussian(eps, delta)
    assert published_scale(eps, delta, 1) == pytest.approx(accurate, rel=1e-4)
    assert published_scale(eps, delta, np.sqrt(2)) == pytest.approx(np.sqrt(2) * accurate, rel=1e-4)


@pytest.mark.parametrize("eps", [4.0, 6.0])
def test_saturates_for_small_delta(eps):
    """At delta = 1e-30 it lacks more than a fifth of what is needed."""
    scales = {published_scale(eps, delta, 1) for delta in (1e-20, 1e-30, 1e-100)}
    assert len(scales) == 1
    assert scales.pop() < 0.8 * gaussian_mechanism.get_sigma_gaussian(eps, 1e-30)


def test_diffprivlib_draws_normal_noise_of_this_scale():
    mechanism = GaussianAnalytic(epsilon=4.0, delta=1e-30, sensitivity=1.0, random_state=3)
    noise = [mechanism.randomise(100.0) - 100.0 for _ in range(4000)]
    normal = stats.norm(scale=published_scale(4.0, 1e-30, 1))
    assert stats.kstest(noise, normal.cdf).pvalue > SIGNIFICANCE
