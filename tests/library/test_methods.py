"""The table of methods: every method answers by name, with its inverse."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.library.at_points import at_points
from tightshuffle import delta, epsilon
from tightshuffle.bounds import privacy_blanket, single_value
from tightshuffle.bounds.inverse import TOLERANCE
from tightshuffle.methods import LOWER, METHODS, UPPER

OURS = {  # whose names no printed number tells apart
    "lower": at_points(privacy_blanket.log10_lower),
    "privacy-blanket": at_points(privacy_blanket.log10_upper),
    "single-value": at_points(single_value.log10_upper),
}
NAMES, NEVER_ZERO = list(METHODS), ("koskela-strong", "blanket")
COMPOSING = [name for name, method in METHODS.items() if method.composes]
WHERE = {"n": 2000, "k": 8, "eps0": 0.45}  # inside of every theorem's range at these eps:
EPS = np.array([0.28, 0.3, 0.32])


def log10_delta(name, eps, holders=500, **setting):
    held = {"count": holders} if METHODS[name].needs_count else {}
    return delta(eps, method=name, log10=True, **held, **setting)


@pytest.mark.parametrize("name", NAMES)
def test_shape_and_direction(name):
    found = log10_delta(name, EPS, **WHERE)
    assert np.all(np.isfinite(found))
    if name in OURS:
        np.testing.assert_array_equal(found, OURS[name](EPS, **WHERE))
    n = np.array([2000, 3000, 4000])
    table = log10_delta(name, EPS[:2, None], n=n, k=8, eps0=0.45)
    assert table.shape == (2, 3)
    alone = log10_delta(name, EPS[1], n=n[2], k=8, eps0=0.45)
    assert isinstance(alone, float)
    assert table[1, 2] == pytest.approx(alone, abs=1e-8)
    if METHODS[name].kind == UPPER:
        assert np.all(np.diff(table, axis=0) < 0)
        assert np.all(np.diff(table, axis=1) < 0)
        assert log10_delta(name, EPS[1], n=4000, k=8, eps0=0.48) > alone
        # The numerical bounds are within 2e-8 of delta of their exact values.
        assert np.all(found >= log10_delta("lower", EPS, **WHERE) - 1e-7)
        assert np.all(found >= log10_delta("count-exact", EPS, **WHERE) - 1e-7)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, derandomize=True)
@given(
    n=st.integers(1, 10**4),
    k=st.integers(2, 10**4),
    eps0=st.floats(1e-3, 20),
    share=st.floats(0, 1.2),
)
@example(n=1000, k=4, eps0=1.0, share=1.0)
@pytest.mark.filterwarnings("ignore::tightshuffle.arguments.OutsideRange")
def test_delta_is_a_probability_and_zero_from_eps0_on(name, n, k, eps0, share):
    eps = share * eps0 * np.array([1, 1.01])
    first, second = log10_delta(name, eps, n // 2, n=n, k=k, eps0=eps0)
    assert name != "lower" or first <= log10_delta("upper", eps[0], n=n, k=k, eps0=eps0)
    assert first <= 0 or name in ("erlingsson", "feldman")  # which may be nan
    assert second <= first + 1e-12 or name not in ("count-exact", "clones")
    if share >= 1:
        assert (first == -np.inf) == (name not in NEVER_ZERO)


@pytest.mark.parametrize("name", COMPOSING)
def test_rounds(name):
    rounds = np.array([[1], [2], [5]])
    eps = np.array([0.1, 0.25])
    values = log10_delta(name, eps, n=200, k=6, eps0=0.5, rounds=rounds)
    assert values.shape == (3, 2)
    np.testing.assert_array_equal(values[0], log10_delta(name, eps, n=200, k=6, eps0=0.5))
    assert np.all(np.diff(values, axis=0) > 0)


@pytest.mark.parametrize(
    ("name", "rounds"), [(name, 1) for name in NAMES] + [(name, 3) for name in COMPOSING]
)
def test_round_trip(name, rounds):
    # Enough users for the loose ones to promise anything, and few enough for the tight ones not to promise
    # it at eps = 0 already.
    loose = name in (
        "erlingsson",
        "feldman",
        "balle-hoeffding",
        "koskela-strong",
        "blanket",
        "girgis",
    )
    n = 3000 if name == "koskela-strong" else 20_000 if loose else 100
    setting = {"n": n, "k": 8, "eps0": 0.45, "rounds": rounds}
    for wanted in (5e-3, 1e-5):
        eps = epsilon(
            wanted, method=name, **setting, **{"count": 30} if METHODS[name].needs_count else {}
        )
        assert 0 < eps < rounds * 0.45
        reached = log10_delta(name, eps, 30, **setting)
        if METHODS[name].kind == LOWER:
            assert 0 <= reached - np.log10(wanted) <= TOLERANCE
            continue
        assert reached <= np.log10(wanted)
        # The smallest one: eps is rounded up by at most some 1e-10 (1 + eps), or by 1e-5 in log10 delta.
        slack = TOLERANCE if METHODS[name].takes_any_randomizer and rounds == 1 else 0.0
        assert log10_delta(name, eps - 1e-8, 30, **setting) > np.log10(wanted) - slack


def test_epsilon_broadcasts_and_ends_at_eps0():
    eps = epsilon([1e-3, 1e-5], method="clones", n=[[100], [1000]], k=8, eps0=1.0)
    assert eps.shape == (2, 2)
    assert eps[1, 1] == epsilon(1e-5, method="clones", n=1000, k=8, eps0=1.0)
    # One user hides nobody: eps0 is all there is, twice for two rounds. Some bounds do not even see that.
    alone = {"n": 1, "k": 8, "eps0": 1.0}
    assert epsilon(1e-300, method="girgis", rounds=2, **alone) == pytest.approx(2.0, abs=1e-8)
    assert epsilon(1e-15, **alone) == pytest.approx(1.0, abs=1e-8)
    for name in NEVER_ZERO:
        assert np.isnan(epsilon(1e-15, method=name, **alone))
