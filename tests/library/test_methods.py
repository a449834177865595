"""The registry: every method answers by name, as its function does, with its inverse."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tightshuffle import methods
from tightshuffle.bounds.inverse import TOLERANCE
from tightshuffle.literature import renyi
from tightshuffle.methods import LOWER, METHODS, delta, epsilon

NAMES = list(METHODS)
COMPOSING = [name for name, method in METHODS.items() if method.composes]
WHERE = {"n": 2000, "k": 8, "eps0": 0.45}  # inside of every theorem's range at these eps:
EPS = np.array([0.28, 0.3, 0.32])


def extra(name, holders=500):
    return {"count": holders} if METHODS[name].needs_count else {}


@pytest.mark.parametrize("name", NAMES)
def test_every_name_stands_for_its_function(name):
    method, more = METHODS[name], {"direction": "both"} if METHODS[name].needs_count else {}
    assert method.function.__name__ == {"count-exact": "delta"}.get(name, method.column)
    expected = method.function(EPS, **WHERE, **extra(name), **more)
    assert np.all(np.isfinite(expected))
    np.testing.assert_array_equal(delta(name, EPS, **WHERE, **extra(name)), expected)
    assert isinstance(delta(name, 0.3, **WHERE, **extra(name)), float)


@pytest.mark.parametrize("name", NAMES)
def test_shape_and_direction(name):
    n = np.array([2000, 3000, 4000])
    table = delta(name, EPS[:2, None], n=n, k=8, eps0=0.45, **extra(name))
    assert table.shape == (2, 3)
    alone = delta(name, EPS[1], n=n[2], k=8, eps0=0.45, **extra(name))
    assert table[1, 2] == pytest.approx(alone, abs=1e-8)
    if METHODS[name].kind == methods.UPPER:
        assert np.all(np.diff(table, axis=0) < 0)
        assert np.all(np.diff(table, axis=1) < 0)
        assert delta(name, EPS[1], n=4000, k=8, eps0=0.48, **extra(name)) > alone


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
    first, second = delta(name, eps, n=n, k=k, eps0=eps0, **extra(name, n // 2))
    assert name != "lower" or first <= delta("upper", eps[0], n=n, k=k, eps0=eps0)
    assert first <= 0 or name in ("erlingsson", "feldman")  # which may be nan
    assert second <= first + 1e-12 or name not in ("count-exact", "clones")
    if share >= 1:
        assert (first == -np.inf) == METHODS[name].zero_from_eps0


def test_kinds_hold_together():
    values = {name: delta(name, EPS, **WHERE, **extra(name)) for name in NAMES}
    for name, method in METHODS.items():
        if method.kind == methods.UPPER:
            # The numerical bounds are within 2e-8 of delta of their exact values.
            assert np.all(values[name] >= values["lower"] - 1e-7), name
            assert np.all(values[name] >= values["count-exact"] - 1e-7), name


@pytest.mark.parametrize("name", COMPOSING)
def test_compositions(name):
    rounds = np.array([[1], [2], [5]])
    eps = np.array([0.1, 0.25])
    values = delta(name, eps, n=200, k=6, eps0=0.5, compositions=rounds)
    assert values.shape == (3, 2)
    np.testing.assert_array_equal(values[0], delta(name, eps, n=200, k=6, eps0=0.5))
    assert np.all(np.diff(values, axis=0) > 0)
    if METHODS[name].takes_compositions:
        assert values[2, 1] == renyi.girgis(0.25, n=200, k=6, eps0=0.5, compositions=5)


@pytest.mark.parametrize(
    ("name", "rounds"), [*((name, 1) for name in NAMES), *((name, 3) for name in COMPOSING)]
)
def test_round_trip(name, rounds):
    # Enough users for the loose ones to promise anything, and few enough for the tight ones not to promise
    # it at eps = 0 already.
    loose = name in ("erlingsson", "feldman", "balle-hoeffding", "koskela-strong", "blanket", "girgis")
    n = 3000 if name == "koskela-strong" else 20_000 if loose else 100
    setting = {"n": n, "k": 8, "eps0": 0.45, "compositions": rounds} | extra(name, 30)
    for wanted in (5e-3, 1e-5):
        eps = epsilon(name, wanted, **setting)
        assert 0 < eps < rounds * 0.45
        reached = delta(name, eps, **setting)
        if METHODS[name].kind == LOWER:
            assert 0 <= reached - np.log10(wanted) <= TOLERANCE
            continue
        assert reached <= np.log10(wanted)
        # The smallest one: eps is rounded up by at most some 1e-10 (1 + eps), or by 1e-5 in log10 delta.
        slack = TOLERANCE if METHODS[name].randomizers and rounds == 1 else 0.0
        assert delta(name, eps - 1e-8, **setting) > np.log10(wanted) - slack


def test_epsilon_broadcasts_and_ends_at_eps0():
    eps = epsilon("clones", [1e-3, 1e-5], n=[[100], [1000]], k=8, eps0=1.0)
    assert eps.shape == (2, 2)
    assert eps[1, 1] == epsilon("clones", 1e-5, n=1000, k=8, eps0=1.0)
    # One user hides nobody: eps0 is all there is, twice for two rounds. Some bounds do not even see that.
    assert epsilon("girgis", 1e-300, n=1, k=8, eps0=1.0, compositions=2) == pytest.approx(2.0, abs=1e-8)
    assert epsilon("upper", 1e-15, n=1, k=8, eps0=1.0) == pytest.approx(1.0, abs=1e-8)
    for name in ("koskela-strong", "blanket"):
        assert np.isnan(epsilon(name, 1e-15, n=1, k=8, eps0=1.0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("argument", "value"),
    [("eps", -0.1), ("eps", np.inf), ("n", 0), ("n", 2.5), ("k", 1), ("eps0", 0), ("eps0", np.nan)],
)
def test_every_accountant_names_a_bad_argument(name, argument, value):
    setting = {"eps": 0.1, "n": 100, "k": 3, "eps0": 0.5} | extra(name, 30) | {argument: value}
    with pytest.raises(ValueError, match=f"^{argument} must be"):
        METHODS[name].function(setting.pop("eps"), **setting)
