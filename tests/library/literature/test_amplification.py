"""The cited theorems: their statements in 50 digits and their ranges."""

from math import comb

import mpmath as mp
import numpy as np
import pytest

import tightshuffle
from tests.library.at_points import at_points
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import amplification
from tightshuffle.literature import clones as clones_module

balle_bennett = at_points(amplification.balle_bennett)
balle_hoeffding = at_points(amplification.balle_hoeffding)
erlingsson = at_points(amplification.erlingsson)
feldman = at_points(amplification.feldman)
clones = at_points(clones_module.clones)


def amplification_variable(eps, k, eps0):
    """L of k-RR with its probabilities under the uniform blanket, and gamma, by definition."""
    e, grown = mp.exp(mp.mpf(eps0)), mp.exp(mp.mpf(eps))
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    # Laws of the answers for x0 and x1, cell by cell.
    ratios = [(p, q), (q, p)] + [(q, q)] * (k - 2)
    return [(k * (a - grown * b), mp.mpf(1) / k) for a, b in ratios], k * q


def sum_over_blanket(per_m, n, gamma, first):
    """E over M ~ Bin(n, gamma), M >= first, of a bound on the excess; over gamma n; as log10."""
    total = sum(
        comb(n, m) * gamma**m * (1 - gamma) ** (n - m) * per_m(m) for m in range(first, n + 1)
    )
    return mp.log10(total / (gamma * n))


def hoeffding_by_definition(distribution, a):
    width = max(value for value, _ in distribution) - min(value for value, _ in distribution)
    return lambda m: width**2 / (4 * a) * mp.exp(-2 * m * a**2 / width**2)


def bennett_by_definition(distribution, a):
    largest = max(value for value, _ in distribution)
    square = sum(value**2 * probability for value, probability in distribution)
    u = a * largest / square
    rate = square / largest**2 * ((1 + u) * mp.log(1 + u) - u)
    return lambda m: largest / mp.log(1 + u) * mp.exp(-m * rate)


@pytest.mark.parametrize(
    ("bound", "definition", "first"),
    [(balle_hoeffding, hoeffding_by_definition, 0), (balle_bennett, bennett_by_definition, 1)],
)
@mp.workdps(50)
def test_blanket_for_krr_from_the_definition_of_its_random_variable(bound, definition, first):
    for n, k, eps0 in [(1, 2, 0.3), (7, 3, 1.0), (60, 10, 0.5), (150, 4, 3.0), (40, 500, 6.0)]:
        for eps in (1e-6, 0.01, 0.1, 0.4, 0.99, 2.5):
            if eps < eps0:
                distribution, gamma = amplification_variable(eps, k, eps0)
                a = -sum(value * probability for value, probability in distribution)
                wanted = sum_over_blanket(definition(distribution, a), n, gamma, first)
                found = bound(eps, n=n, k=k, eps0=eps0)
                assert found == pytest.approx(min(0.0, float(wanted)), rel=1e-10, abs=1e-11)


@pytest.mark.parametrize(("n", "eps0"), [(10**5, 0.5), (10**6, 2.0), (10**8, 6.0)])
def test_feldman_is_its_own_inverse(n, eps0):
    with mp.workdps(50):
        for log10_delta in (-0.5, -6, -20):
            log = mp.log(4) - log10_delta * mp.log(10)
            e = mp.exp(mp.mpf(eps0))
            inner = 8 * mp.sqrt(e * log) / mp.sqrt(n) + 8 * e / n
            eps = mp.log(1 + (e - 1) / (e + 1) * inner)
            assert eps < eps0
            assert feldman(float(eps), n=n, k=2, eps0=eps0) == pytest.approx(log10_delta, rel=1e-9)


@pytest.mark.parametrize(
    ("bound", "eps", "n", "eps0", "condition"),
    [
        (erlingsson, 0.1, 999, 0.4, "n >= 1000"),
        (erlingsson, 0.1, 10**6, 0.5, "eps0 < 1/2"),
        (erlingsson, 0.311, 1000, 0.4, "delta < 1/100"),  # 0.015
        (feldman, 0.45, 1000, 0.5, r"eps0 <= log\(n / \(16 log\(2 / delta\)\)\)"),
    ],
)
def test_outside_of_its_range_a_theorem_says_which_condition_fails(bound, eps, n, eps0, condition):
    with pytest.warns(OutsideRange, match=condition) as caught:
        assert np.isnan(tightshuffle.delta(eps, n=n, k=2, eps0=eps0, method=bound.__name__))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("n", "eps0"), [(100, 0.5), (1000, 2.0), (10**5, 5.0)])
def test_feldman_holds_between_its_condition_and_that_of_its_authors_code(n, eps0):
    """eps0 <= log(n / (16 log(2 / delta))), but not with 4 / delta: docs/upstream.md has the proof."""
    delta = 3 * np.exp(-n * np.exp(-eps0) / 16)
    root = 8 * np.sqrt(np.exp(eps0) * np.log(4 / delta) / n)
    eps = np.log1p(np.tanh(eps0 / 2) * (root + 8 * np.exp(eps0) / n))
    bound = feldman(eps, n=n, k=2, eps0=eps0)
    assert bound == pytest.approx(np.log10(delta), rel=1e-9)
    assert bound >= clones(eps, n=n, k=2, eps0=eps0)
