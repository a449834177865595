"""The blanket paper: its definitions word for word in 50 digits, and what its theorems come to."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.library.at_points import at_points
from tightshuffle import guarantee
from tightshuffle.literature import biswas_blanket, count

blanket = at_points(biswas_blanket.blanket)
log10_equation_3 = at_points(biswas_blanket.log10_equation_3)

RELATIVE = 1e-12
SETTINGS = [
    {"n": n, "k": k, "eps0": eps0, "count": held}
    for n, held in [(1, 0), (2, 1), (50, 0), (1000, 999), (100_000, 317)]
    for k, eps0 in [(2, 0.01), (3, 0.5), (10, 2.0), (408, 6.0)]
]


class Printed:
    """Eqs. (3) to (8) as they stand, in mpmath; pi(x0) = count / (n - 1)."""

    def __init__(self, *, n, k, eps0, count):
        self.n, self.eps0 = mp.mpf(n), mp.mpf(eps0)
        self.pi = mp.mpf(count) / (n - 1) if n > 1 else mp.mpf(0)
        n, e0, pi = self.n, self.eps0, self.pi
        self.c = 1 - mp.exp(-2)
        self.k1 = (mp.exp(e0) - mp.exp(-e0)) ** 2 * mp.exp(self.c * n * mp.exp(-e0)) / 4
        self.k2 = 1 + (mp.exp(e0) - 1) / (n + (mp.exp(e0) - 1) * pi * (n - 1))
        self.k3 = (n + (mp.exp(e0) - 1) * (n * pi + 1 - pi)) / (mp.exp(e0) + k - 1)
        self.k4 = 2 * mp.atanh(2 * mp.sinh(e0 / 2) / mp.exp(e0 / 2))
        self.k5 = mp.sinh(e0) ** 2 / n

    def case_1(self, eps):
        spread = (mp.exp(self.eps0) - mp.exp(-self.eps0)) ** 2
        return mp.exp(-self.eps0) <= (mp.exp(eps) - 1) ** 2 / ((mp.exp(eps) + 1) ** 2 * spread)

    def delta(self, eps):
        eps, spread = mp.mpf(eps), (mp.exp(self.eps0) - mp.exp(-self.eps0)) ** 2
        front = (mp.exp(eps) + 1) ** 2 * spread / (4 * self.n * (mp.exp(eps) - 1))
        if self.case_1(eps):
            return front * mp.exp(-self.c * self.n * mp.exp(-self.eps0))
        rate = (mp.exp(eps) - 1) ** 2 / ((mp.exp(eps) + 1) ** 2 * spread)
        return front * mp.exp(-self.c * self.n * rate)


def assert_close(actual, expected, relative=RELATIVE):
    assert abs(mp.mpf(float(actual)) - expected) <= relative * max(1, abs(expected))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_equation_3_as_printed(setting):
    printed, rest = Printed(**setting), {name: setting[name] for name in ("n", "k", "eps0")}
    for eps in (1e-9, 1e-3, 0.3, 0.999 * setting["eps0"], 2 * setting["eps0"], 12.0):
        expected = mp.log10(printed.delta(eps))
        assert_close(log10_equation_3(eps, **rest), expected)
        assert_close(blanket(eps, **rest), min(mp.mpf(0), expected))


def test_equation_3_changes_its_case_at_the_corrected_border():
    for eps0 in (0.01, 0.3, 0.6):
        border = 2 * mp.atanh(2 * mp.sinh(eps0) * mp.exp(-mp.mpf(eps0) / 2))
        assert border > eps0  # delta is 0 in Case 1
        printed = Printed(n=9, k=3, eps0=eps0, count=1)
        assert [printed.case_1(border * (1 + sign * 1e-9)) for sign in (-1, 1)] == [False, True]
        assert not printed.case_1(printed.k4)  # kappa_4 as printed is another place
    assert 2 * mp.sinh(0.65) * mp.exp(-mp.mpf(0.65) / 2) > 1  # there is no border
    assert not Printed(n=9, k=3, eps0=0.65, count=1).case_1(mp.mpf(500))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_kappas_as_printed(setting):
    ours, printed = biswas_blanket.kappas(**setting), Printed(**setting)
    for actual, expected in [
        (ours.kappa_2, printed.k2),
        (ours.excess / float(printed.k2 - 1), mp.mpf(1)),  # relative, however small
        (ours.log_kappa_2 / float(mp.log(printed.k2)), mp.mpf(1)),
        (ours.kappa_3, printed.k3),
        (ours.kappa_4, printed.k4),
    ]:
        assert_close(actual, expected)


settings = st.fixed_dictionaries(
    {
        "n": st.one_of(st.integers(1, 30), st.integers(1, 10**9)),
        "k": st.one_of(st.integers(2, 5), st.integers(2, 10**6)),
        "eps0": st.floats(1e-6, 20),
    }
)


@given(settings, st.floats(0, 1), st.floats(0, 40))
def test_no_setting_satisfies_theorem_2_3(setting, share, eps):
    held = int(share * (setting["n"] - 1))
    constants = biswas_blanket.kappas(count=held, **setting)
    eps0 = setting["eps0"]
    assert constants.kappa_4 > eps0
    assert constants.log_kappa_2 <= eps0 * (1 + 1e-12)  # S_1 is empty
    printed = Printed(count=held, **setting)
    peak = printed.k3 * (printed.k2 - 1) ** 2 / 4  # of P_2, and P_1 is above its value at 1
    assert 4 * printed.k1 * printed.k2 > peak
    depth = printed.k3 * (printed.k2 - 1) ** 2 / (4 * (printed.k2 + 1))  # of H's quadratic part
    end = (printed.k2 - 1) / (printed.k2 + 1)
    first = 2 * printed.k5 * printed.k2 * mp.exp(-printed.c * end**2 / (4 * printed.k5))
    assert first > 20 * depth
    assert blanket(eps, **setting) <= 0  # and no nan


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(1, 2, 0.1), (10, 3, 0.1), (40, 10, 0.5), (300, 2, 0.05)]
)
def test_equation_3_is_an_upper_bound_for_the_count_and_the_whole_histogram(n, k, eps0):
    eps = eps0 * np.array([1e-3, 0.1, 0.5, 0.99])
    ours = blanket(eps, n=n, k=k, eps0=eps0)
    for held in {0, n // 3, n - 1}:
        exact = count.delta(eps, n=n, k=k, eps0=eps0, count=held, direction="both")
        assert np.all(ours > exact)
    assert np.all(ours > guarantee.lower(eps, n=n, k=k, eps0=eps0, log10=True))
