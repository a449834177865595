"""The clones' pairs: their definition in 50 digits, all datasets of tiny cases, and very many users."""

from math import comb

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.privacy.enumerated import worst_delta
from tightshuffle.privacy import clones as module
from tightshuffle.privacy.clones import clones, stronger_clones
from tightshuffle.privacy.composition import composed

CHANCES = {clones: lambda e: 1 / e, stronger_clones: lambda e: 2 / (e + 1)}
SETTINGS = [(1, 0.5), (2, 1.0), (3, 4.0), (12, 0.3), (60, 2.0), (100, 0.5)]


def pair_laws(n, eps0, chance):
    """Laws of the two counts {(a, b): probability} under P and Q, one coin at a time; in mpmath."""
    e = mp.exp(mp.mpf(eps0))
    r, d = chance(e), e / (e + 1)
    laws = ({}, {})
    for c in range(n):
        weight = comb(n - 1, c) * r**c * (1 - r) ** (n - 1 - c) / mp.mpf(2) ** c
        for a in range(c + 1):
            for coin in (0, 1):
                for law, first in zip(laws, (coin, 1 - coin), strict=True):
                    key = (a + first, c - a + 1 - first)
                    law[key] = law.get(key, 0) + weight * comb(c, a) * (d if coin else 1 - d)
    return laws


def hockey_stick(eps, first, second):
    grown = mp.exp(mp.mpf(eps))
    return sum(max(mp.mpf(0), value - grown * second.get(key, 0)) for key, value in first.items())


@pytest.mark.parametrize("bound", CHANCES)
@pytest.mark.parametrize(("n", "eps0"), SETTINGS)
def test_against_the_definition_in_both_directions(bound, n, eps0):
    with mp.workdps(50):
        first, second = pair_laws(n, eps0, CHANCES[bound])
        for share in (0, 0.01, 0.2, 0.6, 0.95, 0.9999):
            wanted = hockey_stick(share * eps0, first, second)
            assert mp.almosteq(wanted, hockey_stick(share * eps0, second, first), rel_eps=mp.mpf("1e-40"))
            got = bound(share * eps0, n=n, k=7, eps0=eps0)
            assert got == pytest.approx(float(mp.log10(wanted)), abs=1e-10)


def test_measured_values():
    eps = np.array([0.1, 0.2, 0.3, 0.4])
    got = 10 ** stronger_clones(eps, n=100, k=10, eps0=0.5)
    np.testing.assert_allclose(got, [9.002e-4, 2.784e-6, 3.819e-10, 1.044e-15], rtol=6e-4)
    assert 10 ** clones(0.1, n=100, k=10, eps0=0.5) == pytest.approx(1.575e-3, rel=5e-4)


@pytest.mark.parametrize("bound", CHANCES)
def test_one_user_is_randomized_response_itself(bound):
    eps = np.linspace(0, 1.7, 9)
    wanted = np.log10((np.exp(1.7) - np.exp(eps[:-1])) / (np.exp(1.7) + 1))
    np.testing.assert_allclose(bound(eps[:-1], n=1, k=2, eps0=1.7), wanted, atol=1e-12)
    assert np.isneginf(bound(eps[-1], n=1, k=2, eps0=1.7))


@pytest.mark.parametrize(("n", "k"), [(2, 2), (6, 2), (3, 3), (6, 3), (4, 4), (3, 6)])
@pytest.mark.parametrize("bound", CHANCES)
def test_above_the_worst_case_of_all_datasets(bound, n, k):
    for eps0 in (0.3, 1.0, 3.0):
        for eps in (0.05, 0.6, 2.0):
            if eps < eps0:
                truth = np.log10(worst_delta(eps, n=n, k=k, eps0=eps0))
                assert bound(eps, n=n, k=k, eps0=eps0) >= truth - 1e-12


def test_above_the_worst_case_where_the_two_count_pair_is_not():
    truth = worst_delta(0.6, n=6, k=4, eps0=1.0)
    assert truth == pytest.approx(0.01245, abs=5e-6)
    assert 10 ** stronger_clones(0.6, n=6, k=4, eps0=1.0) >= truth


@pytest.mark.parametrize(("bound", "pair"), [(clones, "clones"), (stronger_clones, "stronger-clones")])
def test_between_the_estimates_of_the_composition_of_one_round(bound, pair):
    eps = np.array([0.02, 0.1, 0.3])
    got = bound(eps, n=3000, k=5, eps0=1.5)
    assert np.all(got <= composed(eps, pair, n=3000, k=5, eps0=1.5, estimate="pessimistic") + 1e-8)
    assert np.all(got >= composed(eps, pair, n=3000, k=5, eps0=1.5, estimate="optimistic") - 1e-8)


@pytest.mark.parametrize("bound", CHANCES)
@pytest.mark.parametrize("eps", [0.0, 1e-4, 1e-3, 0.01, 0.1, 0.3])
def test_interpolated_terms_give_what_all_terms_give(bound, eps, monkeypatch):
    fast = bound(eps, n=10**6, k=2, eps0=0.5)
    monkeypatch.setattr(module, "_FEW", 10**9)
    direct = bound(eps, n=10**6, k=2, eps0=0.5)
    assert fast != 0
    assert (fast - direct) * np.log(10) == pytest.approx(0, abs=1e-9)


def test_the_interpolation_is_used_at_that_size(monkeypatch):
    asked = []
    real = module.log_binomial_excess
    monkeypatch.setattr(module, "log_binomial_excess", lambda t, c: asked.append(t.size) or real(t, c))
    clones(0.01, n=10**6, k=2, eps0=0.5)
    assert max(asked) < 100


@pytest.mark.parametrize("bound", CHANCES)
def test_a_billion_users(bound):
    eps = np.array([0, 1e-5, 1e-3, 0.3, 3.999])
    got = bound(eps, n=10**9, k=2, eps0=4.0)
    assert np.all(np.isfinite(got))
    assert np.all(np.diff(got) < 0)
    assert got[-1] < -1e6
    # At eps = 0 it is the total variation distance, which falls like 1 / sqrt(n).
    assert got[0] - bound(0, n=10**7, k=2, eps0=4.0) == pytest.approx(-1, abs=1e-4)


@pytest.mark.parametrize("bound", CHANCES)
def test_blocks_of_terms_are_above_all_terms_and_close(bound, monkeypatch):
    eps = np.array([0.0, 0.01, 0.2])
    exact = bound(eps, n=10**5, k=2, eps0=2.0)
    monkeypatch.setattr(module, "_MOST_TERMS", 500)
    blocks = bound(eps, n=10**5, k=2, eps0=2.0)
    assert np.all(blocks > exact)
    np.testing.assert_allclose(blocks, exact, atol=0.05)


@pytest.mark.parametrize("bound", CHANCES)
def test_falls_with_eps_and_n_and_grows_with_eps0(bound):
    eps, n, eps0 = np.linspace(0, 1, 6), np.array([10, 100, 1000, 10**4]), np.array([1.1, 2.0, 3.5])
    table = bound(eps[:, None, None], n=n[:, None], k=3, eps0=eps0)
    assert table.shape == (6, 4, 3)
    assert np.all(np.diff(table, axis=0) < 0)
    assert np.all(np.diff(table, axis=1) < 0)
    assert np.all(np.diff(table, axis=2) > 0)


def test_stronger_clones_are_stronger():
    eps = np.linspace(0, 1.9, 8)
    assert np.all(stronger_clones(eps, n=500, k=3, eps0=2.0) < clones(eps, n=500, k=3, eps0=2.0))


@pytest.mark.parametrize("bound", CHANCES)
@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("eps", {"eps": np.inf, "n": 100, "k": 3, "eps0": 0.5}),
        ("n", {"eps": 0.1, "n": 2.5, "k": 3, "eps0": 0.5}),
        ("k", {"eps": 0.1, "n": 100, "k": 1, "eps0": 0.5}),
        ("eps0", {"eps": 0.1, "n": 100, "k": 3, "eps0": 0}),
    ],
)
def test_bad_argument_is_named(bound, name, point):
    with pytest.raises(ValueError, match=rf"^{name} must be"):
        bound(**point)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(eps=st.floats(0, 50), n=st.integers(1, 10**6), eps0=st.floats(1e-6, 50))
def test_always_a_log_probability(eps, n, eps0):
    for bound in CHANCES:
        value = bound(eps, n=n, k=2, eps0=eps0)
        assert value <= 0
        assert np.isneginf(value) or eps < eps0
