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
NAMES = list(METHODS)
COMPOSING = [name for name, method in METHODS.items() if method.composes]
NEVER_ZERO = ("koskela-strong", "blanket")  # whose delta is above 0 from eps0 on, too
# Inside of every theorem's range at these eps.
SETTING = {"n": 2000, "k": 8, "eps0": 0.45}
EPS = np.array([0.28, 0.3, 0.32])


def log10_delta(name, eps, holders=500, **setting):
    """By the method with this name. ``holders`` of the other users hold x0, if the method asks how many."""
    count = {"count": holders} if METHODS[name].needs_count else {}
    return delta(eps, method=name, log10=True, **count, **setting)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_broadcast(name):
    """log10 delta by a method's name: 1. that of the method's function. 2. Arrays of eps and n give a table.

    3. Numbers give a float. EPS are three eps and SETTING is n, k and eps0, inside of every theorem's range.
    OURS has the functions of three methods.
    """
    found = log10_delta(name, EPS, **SETTING)
    assert np.all(np.isfinite(found))
    if name in OURS:
        np.testing.assert_array_equal(found, OURS[name](EPS, **SETTING))
    table = log10_delta(name, EPS[:2, None], n=[2000, 3000, 4000], k=8, eps0=0.45)
    assert table.shape == (2, 3)
    alone = log10_delta(name, EPS[1], n=4000, k=8, eps0=0.45)
    assert isinstance(alone, float)
    assert table[1, 2] == pytest.approx(alone, abs=1e-8)


@pytest.mark.parametrize("name", [name for name in NAMES if METHODS[name].kind == UPPER])
def test_upper_bounds_fall_with_eps_and_n_and_rise_with_eps0(name):
    table = log10_delta(name, EPS[:2, None], n=[2000, 3000, 4000], k=8, eps0=0.45)
    assert np.all(np.diff(table, axis=0) < 0)
    assert np.all(np.diff(table, axis=1) < 0)
    assert log10_delta(name, EPS[1], n=4000, k=8, eps0=0.48) > table[1, 2]


@pytest.mark.parametrize("name", [name for name in NAMES if METHODS[name].kind == UPPER])
@pytest.mark.parametrize("below", ["lower", "count-exact"])
def test_upper_bounds_are_above_those_of_single_datasets(name, below):
    """The numerical bounds are within 2e-8 of delta of their exact values: 1e-7 of log10 delta is more."""
    found = log10_delta(name, EPS, **SETTING)
    assert np.all(found >= log10_delta(below, EPS, **SETTING) - 1e-7)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, derandomize=True)
@given(
    n=st.integers(1, 10**4),
    k=st.integers(2, 10**4),
    eps0=st.floats(1e-3, 20),
    share_of_eps0=st.floats(0, 1.2),
)
@example(n=1000, k=4, eps0=1.0, share_of_eps0=1.0)
@pytest.mark.filterwarnings("ignore::tightshuffle.arguments.OutsideRange")
def test_delta_is_a_probability_and_zero_from_eps0_on(name, n, k, eps0, share_of_eps0):
    """1. delta is at most 1. 2. `lower` is at most `upper`. 3. delta falls with eps. 4. From eps0 on it is 0.

    NEVER_ZERO are the two methods whose bounds are above 0 there, too. ``log10_delta`` is by the method with
    this name. n // 2 of the other users hold x0, for a method that asks how many.
    """
    eps = share_of_eps0 * eps0
    setting = {"n": n, "k": k, "eps0": eps0}
    found, at_larger_eps = log10_delta(name, [eps, 1.01 * eps], n // 2, **setting)
    assert found <= 0 or name in ("erlingsson", "feldman")  # these two may be nan
    if name == "lower":
        assert found <= log10_delta("upper", eps, **setting)
    if name in ("count-exact", "clones"):
        assert at_larger_eps <= found + 1e-12
    if share_of_eps0 >= 1:
        assert (found == -np.inf) == (name not in NEVER_ZERO)


@pytest.mark.parametrize("name", COMPOSING)
def test_more_rounds_have_a_larger_delta(name):
    eps = np.array([0.1, 0.25])
    found = log10_delta(name, eps, n=200, k=6, eps0=0.5, rounds=[[1], [2], [5]])
    assert found.shape == (3, 2)
    np.testing.assert_array_equal(found[0], log10_delta(name, eps, n=200, k=6, eps0=0.5))
    assert np.all(np.diff(found, axis=0) > 0)


# Enough users for the loose methods to promise anything, and few enough for the tight ones not to promise it
# at eps = 0 already.
USERS = dict.fromkeys(NAMES, 100) | dict.fromkeys(
    ["erlingsson", "feldman", "balle-hoeffding", "blanket", "girgis"], 20_000
)
USERS["koskela-strong"] = 3000


@pytest.mark.parametrize(
    ("name", "rounds"), [(name, 1) for name in NAMES] + [(name, 3) for name in COMPOSING]
)
@pytest.mark.parametrize("asked", [5e-3, 1e-5])
def test_delta_at_the_eps_of_a_delta_is_that_delta(name, rounds, asked):
    """`epsilon` of a delta, ``asked``: an upper bound at this eps is at most ``asked``, a lower one at least.

    A smaller eps would not do for the upper bound. USERS has an n for which the method applies. Of the other
    users 30 hold x0, if the method asks how many.
    """
    method = METHODS[name]
    setting = {"n": USERS[name], "k": 8, "eps0": 0.45, "rounds": rounds}
    count = {"count": 30} if method.needs_count else {}
    eps = epsilon(asked, method=name, **setting, **count)
    assert 0 < eps < rounds * 0.45
    above = log10_delta(name, eps, 30, **setting) - np.log10(asked)
    if method.kind == LOWER:
        assert 0 <= above <= TOLERANCE
        return
    assert above <= 0
    # eps is rounded up by at most some 1e-10 (1 + eps), below 1e-8, or by TOLERANCE = 1e-5 in log10 delta.
    slack = TOLERANCE if method.takes_any_randomizer and rounds == 1 else 0.0
    assert log10_delta(name, eps - 1e-8, 30, **setting) > np.log10(asked) - slack


def test_epsilon_broadcasts():
    eps = epsilon([1e-3, 1e-5], method="clones", n=[[100], [1000]], k=8, eps0=1.0)
    assert eps.shape == (2, 2)
    assert eps[1, 1] == epsilon(1e-5, method="clones", n=1000, k=8, eps0=1.0)


def test_one_user_hides_nobody():
    """eps0 is all there is, twice for two rounds; bounds that are never 0 have no eps for a small delta."""
    alone = {"n": 1, "k": 8, "eps0": 1.0}
    assert epsilon(1e-300, method="girgis", rounds=2, **alone) == pytest.approx(2.0, abs=1e-8)
    assert epsilon(1e-15, **alone) == pytest.approx(1.0, abs=1e-8)
    for name in NEVER_ZERO:
        assert np.isnan(epsilon(1e-15, method=name, **alone))
