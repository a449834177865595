"""The cited theorems: their statements in 50 digits and their ranges."""

import math

import mpmath as mp
import numpy as np
import pytest

import tightshuffle
from tests.at_points import log10_at_points
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import amplification
from tightshuffle.literature import clones as clones_module

balle_bennett = log10_at_points(amplification.ln_balle_bennett)
balle_hoeffding = log10_at_points(amplification.ln_balle_hoeffding)
erlingsson = log10_at_points(amplification.ln_erlingsson)
feldman = log10_at_points(amplification.ln_feldman)
clones = log10_at_points(clones_module.ln_clones)


def amplification_variable(eps, k, eps0):
    """Pairs (value, probability) of Balle et al.'s L for k-RR, and gamma, by definition.

    gamma is the mass of the blanket, which is uniform. L is (R_x0 - e^eps R_x1) over the blanket's density.
    """
    e_eps0, e_eps = mp.exp(mp.mpf(eps0)), mp.exp(mp.mpf(eps))
    p, q = e_eps0 / (e_eps0 + k - 1), 1 / (e_eps0 + k - 1)
    # How many reports have these probabilities for x0 and for x1: x0, x1, and all others.
    reports = [(1, p, q), (1, q, p), (k - 2, q, q)]
    variable = [
        (k * (of_x0 - e_eps * of_x1), mp.mpf(number) / k) for number, of_x0, of_x1 in reports
    ]
    return variable, k * q


def hoeffding_bound(variable, m):
    """Hoeffding's bound on E[(L_1 + ... + L_m)_+], where L has these values with these probabilities."""
    minus_mean = -sum(value * probability for value, probability in variable)
    width = max(value for value, _ in variable) - min(value for value, _ in variable)
    return width**2 / (4 * minus_mean) * mp.exp(-2 * m * minus_mean**2 / width**2)


def bennett_bound(variable, m):
    """Bennett's bound on E[(L_1 + ... + L_m)_+], where L has these values with these probabilities."""
    minus_mean = -sum(value * probability for value, probability in variable)
    second_moment = sum(value**2 * probability for value, probability in variable)
    largest = max(value for value, _ in variable)
    u = minus_mean * largest / second_moment
    rate = second_moment / largest**2 * ((1 + u) * mp.log(1 + u) - u)
    return largest / mp.log(1 + u) * mp.exp(-m * rate)


def log10_delta_of_blanket(bound_on_positive_part, least, eps, n, k, eps0):
    """log10 of the mean of the bound for m ~ Bin(n, gamma) copies of L, over gamma n: delta of k-RR.

    m is how many users' reports come from the blanket, of mass gamma. Numbers below ``least`` do not count.
    """
    variable, gamma = amplification_variable(eps, k, eps0)
    total = sum(
        math.comb(n, m) * gamma**m * (1 - gamma) ** (n - m) * bound_on_positive_part(variable, m)
        for m in range(least, n + 1)
    )
    return mp.log10(total / (gamma * n))


@pytest.mark.parametrize(
    ("bound", "bound_on_positive_part", "least"),
    [
        pytest.param(balle_hoeffding, hoeffding_bound, 0, id="from no report on"),
        pytest.param(balle_bennett, bennett_bound, 1, id="from one report on"),
    ],
)
@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(1, 2, 0.3), (7, 3, 1.0), (60, 10, 0.5), (150, 4, 3.0), (40, 500, 6.0)]
)
@mp.workdps(50)
def test_blanket_bounds_for_krr_are_those_of_balle_et_al(
    bound, bound_on_positive_part, least, n, k, eps0
):
    """`log10_delta_of_blanket` is by the definitions of Balle et al. 2019 in 50 digits.

    It is at most 0 here, as a bound on delta above 1 is cut at 1.
    """
    for eps in (1e-6, 0.01, 0.1, 0.4, 0.99, 2.5):
        if eps < eps0:
            uncut = log10_delta_of_blanket(bound_on_positive_part, least, eps, n, k, eps0)
            expected = min(0.0, float(uncut))
            assert bound(eps, n=n, k=k, eps0=eps0) == pytest.approx(expected, rel=1e-10, abs=1e-11)


def eps_of_feldman(log_4_over_delta, n, eps0):
    """eps by Theorem 3.1 of Feldman et al. 2021, for every eps0-LDP randomizer, in mpmath.

    log(1 + (e^eps0 - 1) / (e^eps0 + 1) (8 sqrt(e^eps0 log(4 / delta) / n) + 8 e^eps0 / n)).
    """
    e_eps0 = mp.exp(mp.mpf(eps0))
    bracket = 8 * mp.sqrt(e_eps0 * log_4_over_delta / n) + 8 * e_eps0 / n
    return mp.log(1 + (e_eps0 - 1) / (e_eps0 + 1) * bracket)


@pytest.mark.parametrize(("n", "eps0"), [(10**5, 0.5), (10**6, 2.0), (10**8, 6.0)])
@pytest.mark.parametrize("log10_delta", [-0.5, -6, -20])
@mp.workdps(50)
def test_feldman_at_the_eps_of_the_theorem_is_its_delta(n, eps0, log10_delta):
    eps = eps_of_feldman(mp.log(4) - log10_delta * mp.log(10), n, eps0)
    assert eps < eps0
    assert feldman(float(eps), n=n, k=2, eps0=eps0) == pytest.approx(log10_delta, rel=1e-9)


@pytest.mark.parametrize(
    ("method", "eps", "n", "eps0", "condition"),
    [
        ("erlingsson", 0.1, 999, 0.4, "n >= 1000"),
        ("erlingsson", 0.1, 10**6, 0.5, "eps0 < 1/2"),
        ("erlingsson", 0.311, 1000, 0.4, "delta < 1/100"),  # delta = 0.015
        ("feldman", 0.45, 1000, 0.5, r"eps0 <= log\(n / \(16 log\(2 / delta\)\)\)"),
    ],
)
def test_outside_of_its_range_a_theorem_says_which_condition_fails(method, eps, n, eps0, condition):
    with pytest.warns(OutsideRange, match=condition) as caught:
        assert np.isnan(tightshuffle.delta(eps, n=n, k=2, eps0=eps0, method=method))
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("n", "eps0"), [(100, 0.5), (1000, 2.0), (10**5, 5.0)])
def test_feldman_holds_between_its_condition_and_that_of_its_authors_code(n, eps0):
    """eps0 <= log(n / (16 log(2 / delta))), but not with 4 / delta: docs/upstream.md has the proof."""
    delta = 3 * math.exp(-n * math.exp(-eps0) / 16)
    eps = float(eps_of_feldman(math.log(4 / delta), n, eps0))
    bound = feldman(eps, n=n, k=2, eps0=eps0)
    assert bound == pytest.approx(math.log10(delta), rel=1e-9)
    assert bound >= clones(eps, n=n, k=2, eps0=eps0)
