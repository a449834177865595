"""The blanket paper: its definitions word for word in 50 digits, and what its theorems come to."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightshuffle
from tests.at_points import log10_at_points
from tightshuffle.literature import biswas_blanket
from tightshuffle.literature.count import ln_delta_of_count

blanket = log10_at_points(biswas_blanket.ln_blanket)
log10_equation_3 = log10_at_points(biswas_blanket.ln_equation_3)

SETTINGS = [
    {"n": n, "k": k, "eps0": eps0, "count": count}
    for n, count in [(1, 0), (2, 1), (50, 0), (1000, 999), (100_000, 317)]
    for k, eps0 in [(2, 0.01), (3, 0.5), (10, 2.0), (408, 6.0)]
]


class Printed:
    """Eqs. (3) to (8) as they stand, in mpmath. pi(x0) = count / (n - 1) is a share of the other users.

    That share holds x0. ``c`` is 1 - e^-2, and ``kappa_1`` to ``kappa_5`` are the constants of eqs. (4) to
    (8). ``spread`` is a factor that eq. (3) has more than once.
    """

    def __init__(self, *, n, k, eps0, count):
        """The constants for n users, of whom ``count`` of the n - 1 others hold x0; ``pi`` is pi(x0)."""
        self.n, self.eps0 = mp.mpf(n), mp.mpf(eps0)
        n, e_eps0 = self.n, mp.exp(self.eps0)
        pi = mp.mpf(count) / (n - 1) if n > 1 else mp.mpf(0)
        self.spread = (e_eps0 - 1 / e_eps0) ** 2
        self.c = 1 - mp.exp(-2)
        self.kappa_1 = self.spread * mp.exp(self.c * n / e_eps0) / 4
        self.kappa_2 = 1 + (e_eps0 - 1) / (n + (e_eps0 - 1) * pi * (n - 1))
        self.kappa_3 = (n + (e_eps0 - 1) * (n * pi + 1 - pi)) / (e_eps0 + k - 1)
        self.kappa_4 = 2 * mp.atanh(2 * mp.sinh(self.eps0 / 2) / mp.exp(self.eps0 / 2))
        self.kappa_5 = mp.sinh(self.eps0) ** 2 / n

    def is_case_1(self, eps):
        """Whether eq. (3) has its first exponent: e^-eps0 <= (e^eps - 1)^2 / ((e^eps + 1)^2 spread)."""
        return mp.exp(-self.eps0) <= self.rate_of_case_2(eps)

    def rate_of_case_2(self, eps):
        return (mp.exp(eps) - 1) ** 2 / ((mp.exp(eps) + 1) ** 2 * self.spread)

    def delta(self, eps):
        """The right-hand side of eq. (3)."""
        eps = mp.mpf(eps)
        factor = (mp.exp(eps) + 1) ** 2 * self.spread / (4 * self.n * (mp.exp(eps) - 1))
        rate = mp.exp(-self.eps0) if self.is_case_1(eps) else self.rate_of_case_2(eps)
        return factor * mp.exp(-self.c * self.n * rate)


def assert_close(actual, expected):
    """To 12 digits, or 1e-12 for a number below 1."""
    assert abs(mp.mpf(float(actual)) - expected) <= 1e-12 * max(1, abs(expected))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_equation_3_is_that_of_the_paper(setting):
    """``Printed`` has the paper's eq. (3) in 50 digits. `blanket` is at most 0, as delta is at most 1."""
    printed, eps0 = Printed(**setting), setting["eps0"]
    of_every_count = {"n": setting["n"], "k": setting["k"], "eps0": eps0}
    for eps in (1e-9, 1e-3, 0.3, 0.999 * eps0, 2 * eps0, 12.0):
        expected = mp.log10(printed.delta(eps))
        assert_close(log10_equation_3(eps, **of_every_count), expected)
        assert_close(blanket(eps, **of_every_count), min(mp.mpf(0), expected))


@pytest.mark.parametrize("eps0", [0.01, 0.3, 0.6])
def test_equation_3_changes_its_case_at_the_corrected_kappa_4(eps0):
    """Case 1 begins at eps = 2 artanh(2 sinh(eps0) e^(-eps0 / 2)); the paper prints sinh(eps0 / 2)."""
    corrected = 2 * mp.atanh(2 * mp.sinh(eps0) * mp.exp(-mp.mpf(eps0) / 2))
    assert corrected > eps0  # so delta is 0 in Case 1
    printed = Printed(n=9, k=3, eps0=eps0, count=1)
    assert not printed.is_case_1(corrected * (1 - 1e-9))
    assert printed.is_case_1(corrected * (1 + 1e-9))
    assert not printed.is_case_1(printed.kappa_4)


def test_equation_3_has_no_case_1_where_the_corrected_kappa_4_is_no_number():
    assert 2 * mp.sinh(0.65) * mp.exp(-mp.mpf(0.65) / 2) > 1  # beyond artanh
    assert not Printed(n=9, k=3, eps0=0.65, count=1).is_case_1(mp.mpf(500))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_kappas_are_those_of_the_paper(setting):
    """``Printed`` has the paper's eqs. (5) to (7) in 50 digits."""
    ours, printed = biswas_blanket.kappas(**setting), Printed(**setting)
    for name in ("kappa_2", "kappa_3", "kappa_4"):
        assert_close(getattr(ours, name), getattr(printed, name))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_kappa_2_less_1_and_its_logarithm_have_all_digits_however_small(setting):
    ours, printed = biswas_blanket.kappas(**setting), Printed(**setting)
    assert_close(ours.excess / float(printed.kappa_2 - 1), 1)
    assert_close(ours.log_kappa_2 / float(mp.log(printed.kappa_2)), 1)


settings = st.fixed_dictionaries(
    {
        "n": st.one_of(st.integers(1, 30), st.integers(1, 10**9)),
        "k": st.one_of(st.integers(2, 5), st.integers(2, 10**6)),
        "eps0": st.floats(1e-6, 20),
    }
)
# ``count`` of the n - 1 other users hold x0.
settings_with_count = st.builds(
    lambda setting, share: setting | {"count": int(share * (setting["n"] - 1))},
    settings,
    share=st.floats(0, 1),
)


@given(settings_with_count)
def test_theorem_2_3_a_never_applies(setting):
    """It needs an eps in a set that is empty if kappa_2 < e^kappa_4, and e^eps0 is between these two."""
    ours, eps0 = biswas_blanket.kappas(**setting), setting["eps0"]
    assert ours.kappa_4 > eps0
    assert ours.log_kappa_2 <= eps0 * (1 + 1e-12)  # for n = 1 they are equal, but for rounding


@given(settings_with_count)
def test_critical_polynomial_has_no_root(setting):
    """It is P_1 + P_2. Only between 1 and kappa_2 is P_2 negative, and P_1 is at least P_1(1).

    ``Printed`` has the paper's constants in 50 digits.
    """
    printed = Printed(**setting)
    p_1_at_1 = 4 * printed.kappa_1 * printed.kappa_2
    largest_fall_by_p_2 = printed.kappa_3 * (printed.kappa_2 - 1) ** 2 / 4
    assert p_1_at_1 > largest_fall_by_p_2


@given(settings_with_count)
def test_theorem_2_3_b_never_applies(setting):
    """It needs a root of a function of x = tanh(eps / 2): a positive term and a quadratic part.

    The latter is negative below ``end`` only, down to -``depth``. The positive term at ``end``, where it is
    least, is more than 20 times as large, as `biswas_blanket` says. ``Printed`` has the paper's constants in
    50 digits.
    """
    printed = Printed(**setting)
    kappa_2_less_1, kappa_2_plus_1 = printed.kappa_2 - 1, printed.kappa_2 + 1
    end = kappa_2_less_1 / kappa_2_plus_1
    exponent = -printed.c * end**2 / (4 * printed.kappa_5)
    positive_term = 2 * printed.kappa_5 * printed.kappa_2 * mp.exp(exponent)
    depth = printed.kappa_3 * kappa_2_less_1**2 / (4 * kappa_2_plus_1)
    assert positive_term > 20 * depth


@given(settings, st.floats(0, 40))
def test_equation_3_is_a_number_in_every_setting(setting, eps):
    assert blanket(eps, **setting) <= 0


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(1, 2, 0.1), (10, 3, 0.1), (40, 10, 0.5), (300, 2, 0.05)]
)
def test_equation_3_is_above_delta_of_the_count_and_a_lower_bound_on_delta(n, k, eps0):
    """The count is the number of reports x0, where ``holders`` of the other users hold x0."""
    setting = {"n": n, "k": k, "eps0": eps0}
    eps = eps0 * np.array([1e-3, 0.1, 0.5, 0.99])
    ours = blanket(eps, **setting)
    assert np.all(ours > tightshuffle.delta(eps, method="lower", log10=True, **setting))
    for holders in {0, n // 3, n - 1}:
        assert np.all(
            ours > ln_delta_of_count(eps, **setting, count=holders, direction="both") / np.log(10)
        )
