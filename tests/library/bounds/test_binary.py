"""k = 2: against every dataset in 60 digits, against the count's delta at every m, and its width."""

import math

import mpmath as mp
import numpy as np
import pytest

from tests.library.printed import convolved_distributions, hockey_stick
from tightshuffle.bounds.binary import binary
from tightshuffle.literature import count


def test_every_dataset_in_60_digits():
    rng = np.random.default_rng(11)
    cases = [(1, 1.0, 0.3), (2, 0.5, 0.0), (9, 40.0, 38.0), (12, 1e-6, 4e-7), (14, 3.0, 3.0 - 1e-9)]
    cases += [(int(rng.integers(1, 16)), 10 ** rng.uniform(-4, 1.2), rng.uniform()) for _ in range(12)]
    for n, eps0, eps in cases:
        eps = eps * eps0 if eps < 1 and eps0 > 1e-5 else eps
        distributions = [convolved_distributions(n=n, k=2, eps0=eps0, count=m) for m in range(n)]
        worst = max(max(hockey_stick(eps, p, q), hockey_stick(eps, q, p)) for p, q in distributions)
        low, high = binary(eps, n=n, eps0=eps0, width=1e-9)
        truth = mp.log10(worst)
        assert mp.mpf(float(low)) <= truth + mp.mpf(1e-15) * abs(truth)
        assert mp.mpf(float(high)) >= truth - mp.mpf(1e-15) * abs(truth)
        assert high - low < 1e-9


@pytest.mark.parametrize(("eps0", "eps"), [(1.0, 0.05), (4.0, 0.4), (0.3, 0.2999), (2.0, 0.0)])
def test_every_count(eps0, eps):
    n = 90
    deltas = count.delta(eps, n=n, k=2, eps0=eps0, count=np.arange(n), direction="both")
    low, high = binary(eps, n=n, eps0=eps0, width=1e-3)
    promised = 1e-9  # by count.delta
    assert low <= deltas.max() + promised
    assert high >= deltas.max() - promised
    assert high - low <= math.log10(1.0011)


def test_a_billion_users():
    n, eps0 = 10**9, np.array([1.0, 4.0, 12.0])
    eps = np.array([[0.1], [0.6]]) * eps0
    low, high = binary(eps, n=n, eps0=eps0, width=0.01)
    assert low.shape == (2, 3)
    assert np.all((low <= high) & (high - low <= math.log10(1.011)))
    some = count.delta(0.1 * 12.0, n=n, k=2, eps0=12.0, count=[0, n // 2, n - 1], direction="both")
    assert some.max() <= high[0, 2] + 1e-6


def test_no_delta_from_eps0_on():
    assert binary([1.0, 2.0], n=10, eps0=1.0)[1].tolist() == [-math.inf, -math.inf]
