"""The blanket paper: its definitions word for word in 50 digits, and what its theorems come to."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.library.at_points import at_points
from tightshuffle import guarantee
from tightshuffle.literature import biswas_blanket
from tightshuffle.literature.count import delta as log10_delta_of_count

blanket = at_points(biswas_blanket.blanket)
log10_equation_3 = at_points(biswas_blanket.log10_equation_3)

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
def test_equation_3_as_printed(setting):
    printed = Printed(**setting)
    rest = {name: setting[name] for name in ("n", "k", "eps0")}  # the bound is for every count
    for eps in (1e-9, 1e-3, 0.3, 0.999 * setting["eps0"], 2 * setting["eps0"], 12.0):
        expected = mp.log10(printed.delta(eps))
        assert_close(log10_equation_3(eps, **rest), expected)
        assert_close(blanket(eps, **rest), min(mp.mpf(0), expected))


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
def test_kappas_as_printed(setting):
    ours, printed = biswas_blanket.kappas(**setting), Printed(**setting)
    assert_close(ours.kappa_2, printed.kappa_2)
    # All digits of kappa_2 - 1 and of ln kappa_2, however small.
    assert_close(ours.excess / float(printed.kappa_2 - 1), 1)
    assert_close(ours.log_kappa_2 / float(mp.log(printed.kappa_2)), 1)
    assert_close(ours.kappa_3, printed.kappa_3)
    assert_close(ours.kappa_4, printed.kappa_4)


settings = st.fixed_dictionaries(
    {
        "n": st.one_of(st.integers(1, 30), st.integers(1, 10**9)),
        "k": st.one_of(st.integers(2, 5), st.integers(2, 10**6)),
        "eps0": st.floats(1e-6, 20),
    }
)


@given(settings, st.floats(0, 1), st.floats(0, 40))
def test_no_setting_satisfies_theorem_2_3(setting, share_of_holders, eps):
    """Inequalities show that Theorem 2.3 never applies, as neither a) nor b) can hold: see `biswas_blanket`.

    ``setting`` is any n, k and eps0, and ``share_of_holders`` the share of the other users who hold x0.
    ``Printed`` has C and kappa_1 to kappa_5 in 50 digits, as the paper's eqs. (3) to (8) define them.
    ``kappas`` has those of the package. S_1, P_1, P_2 and H are names of the paper.
    """
    count = int(share_of_holders * (setting["n"] - 1))
    printed, eps0 = Printed(**setting, count=count), setting["eps0"]

    # a) needs an eps in a set, S_1, that is empty if kappa_2 < e^kappa_4. Between the two is e^eps0.
    ours = biswas_blanket.kappas(**setting, count=count)
    assert ours.kappa_4 > eps0
    # For n = 1 the two are equal, but for rounding.
    assert ours.log_kappa_2 <= eps0 * (1 + 1e-12)

    # The critical polynomial has no root. Between 1 and kappa_2 its part P_2 lowers it, at most by a peak
    # below P_1(1), and its part P_1 is at least P_1(1).
    p_1_at_1 = 4 * printed.kappa_1 * printed.kappa_2
    peak_of_p_2 = printed.kappa_3 * (printed.kappa_2 - 1) ** 2 / 4
    assert p_1_at_1 > peak_of_p_2

    # b) needs a root of a function H of x = tanh(eps / 2): a first term > 0 and a quadratic part. Where the
    # latter is negative, down to -`depth`, x is below `end`, and the first term outweighs it.
    end = (printed.kappa_2 - 1) / (printed.kappa_2 + 1)
    exponent = -printed.c * end**2 / (4 * printed.kappa_5)
    first_term = 2 * printed.kappa_5 * printed.kappa_2 * mp.exp(exponent)
    depth = printed.kappa_3 * (printed.kappa_2 - 1) ** 2 / (4 * (printed.kappa_2 + 1))
    # The factor 20 is that of the docstring of `biswas_blanket`.
    assert first_term > 20 * depth


@given(settings, st.floats(0, 40))
def test_equation_3_is_a_number_in_every_setting(setting, eps):
    assert blanket(eps, **setting) <= 0


@pytest.mark.parametrize(
    ("n", "k", "eps0"), [(1, 2, 0.1), (10, 3, 0.1), (40, 10, 0.5), (300, 2, 0.05)]
)
def test_equation_3_is_an_upper_bound_for_the_count_and_the_whole_histogram(n, k, eps0):
    eps = eps0 * np.array([1e-3, 0.1, 0.5, 0.99])
    ours = blanket(eps, n=n, k=k, eps0=eps0)
    for holders in {0, n // 3, n - 1}:
        exact = log10_delta_of_count(eps, n=n, k=k, eps0=eps0, count=holders, direction="both")
        assert np.all(ours > exact)
    assert np.all(ours > guarantee.lower(eps, n=n, k=k, eps0=eps0, log10=True))
