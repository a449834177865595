"""The table of methods: every method answers by name, with its inverse."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.at_points import log10_at_points
from tightshuffle import delta, epsilon
from tightshuffle.bounds import privacy_blanket, single_value
from tightshuffle.bounds.inverse import TOLERANCE
from tightshuffle.methods import LOWER, METHODS, UPPER
from tightshuffle.numerics.powers import LN10

NAMES = list(METHODS)
NAMES_OF_UPPER_BOUNDS = [name for name, method in METHODS.items() if method.kind == UPPER]
COMPOSING = [name for name, method in METHODS.items() if method.composes]
NEVER_ZERO = ("koskela-strong", "blanket")  # whose delta is above 0 from eps0 on, too


def holders(name, n):
    """For a method that asks how many of the others hold x0, a quarter of the ``n`` users."""
    return {"count": np.asarray(n) // 4} if METHODS[name].needs_count else {}


def log10_delta(name, eps, *, n, **setting):
    """By the method with this name, where a quarter of the users hold x0, if it asks how many."""
    return delta(eps, method=name, log10=True, n=n, **setting, **holders(name, n))


BOUNDS = {
    "lower": privacy_blanket.ln_lower,
    "privacy-blanket": privacy_blanket.ln_upper,
    "single-value": single_value.ln_upper,
}


@pytest.mark.parametrize(("name", "ln_bound"), BOUNDS.items())
def test_method_of_this_name_is_this_function(name, ln_bound):
    setting = {"n": 2000, "k": 8, "eps0": 0.45}
    assert log10_delta(name, 0.3, **setting) == log10_at_points(ln_bound)(0.3, **setting)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_eps_and_n_give_a_table_and_numbers_a_float(name):
    table = log10_delta(name, [[0.28], [0.3]], n=[2000, 3000, 4000], k=8, eps0=0.45)
    assert table.shape == (2, 3)
    assert np.all(np.isfinite(table))
    alone = log10_delta(name, 0.3, n=4000, k=8, eps0=0.45)
    assert isinstance(alone, float)
    assert table[1, 2] == pytest.approx(alone, abs=1e-8)


@pytest.mark.parametrize("name", NAMES_OF_UPPER_BOUNDS)
def test_upper_bounds_fall_with_eps_and_n_and_rise_with_eps0(name):
    table = log10_delta(name, [[0.28], [0.3]], n=[2000, 3000, 4000], k=8, eps0=0.45)
    assert np.all(np.diff(table, axis=0) < 0)
    assert np.all(np.diff(table, axis=1) < 0)
    assert log10_delta(name, 0.3, n=4000, k=8, eps0=0.48) > table[1, 2]


@pytest.mark.parametrize("name", NAMES_OF_UPPER_BOUNDS)
@pytest.mark.parametrize("below", ["lower", "count-exact"])
def test_upper_bounds_are_above_those_of_single_datasets(name, below):
    setting = {"n": 2000, "k": 8, "eps0": 0.45}
    eps = np.array([0.28, 0.3, 0.32])
    upper, of_one_dataset = log10_delta(name, eps, **setting), log10_delta(below, eps, **setting)
    # The numerical bounds are within 2e-8 of delta of their exact values: 1e-7 of log10 delta is more.
    assert np.all(upper >= of_one_dataset - 1e-7)


SETTINGS = st.fixed_dictionaries(
    {"n": st.integers(1, 10**4), "k": st.integers(2, 10**4), "eps0": st.floats(1e-3, 20)}
)
outside_of_theorems_too = pytest.mark.filterwarnings("ignore::tightshuffle.arguments.OutsideRange")


def in_settings(**eps_over_eps0):
    """A decorator that runs a test in eight settings n, k and eps0, at eps from 0 to 1.2 times eps0."""
    strategies = {"setting": SETTINGS, "eps_over_eps0": st.floats(0, 1.2)} | eps_over_eps0
    return lambda test: settings(max_examples=8, derandomize=True)(given(**strategies)(test))


@pytest.mark.parametrize("name", NAMES)
@in_settings()
@outside_of_theorems_too
def test_delta_is_at_most_1_where_it_is_not_nan(name, setting, eps_over_eps0):
    log10 = log10_delta(name, eps_over_eps0 * setting["eps0"], **setting)
    # The theorems of two methods need enough users.
    assert log10 <= 0 or (np.isnan(log10) and name in ("erlingsson", "feldman"))


@in_settings()
def test_lower_is_at_most_upper(setting, eps_over_eps0):
    eps = eps_over_eps0 * setting["eps0"]
    assert log10_delta("lower", eps, **setting) <= log10_delta("upper", eps, **setting)


@pytest.mark.parametrize("name", ["count-exact", "clones"])
@in_settings()
def test_delta_falls_with_eps(name, setting, eps_over_eps0):
    eps = eps_over_eps0 * setting["eps0"]
    at_eps, at_larger_eps = log10_delta(name, [eps, 1.01 * eps], **setting)
    assert at_larger_eps <= at_eps + 1e-12  # rounding


@pytest.mark.parametrize("name", NAMES)
@example(setting={"n": 1000, "k": 4, "eps0": 1.0}, eps_over_eps0=1.0)
@in_settings(eps_over_eps0=st.floats(1, 1.2))
@outside_of_theorems_too
def test_delta_is_0_from_eps0_on_by_all_methods_but_two(name, setting, eps_over_eps0):
    log10 = log10_delta(name, eps_over_eps0 * setting["eps0"], **setting)
    assert (log10 == -np.inf) == (name not in NEVER_ZERO)


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
USERS["upper"] = 200  # several rounds of fewer users take longer

NOT_LOWER = [name for name, method in METHODS.items() if method.kind != LOWER]


@pytest.mark.parametrize(
    ("name", "rounds"), [(name, 1) for name in NOT_LOWER] + [(name, 3) for name in COMPOSING]
)
def test_eps_of_a_delta_is_the_smallest_with_at_most_that_delta(name, rounds):
    asked = np.array([5e-3, 1e-5])
    setting = {"n": USERS[name], "k": 8, "eps0": 0.45, "rounds": rounds}
    eps = epsilon(asked, method=name, **setting, **holders(name, USERS[name]))
    assert np.all((eps > 0) & (eps < rounds * 0.45))
    at_eps, just_below = log10_delta(name, [eps, eps - 1e-8], **setting)
    assert np.all(at_eps <= np.log10(asked))
    # eps is rounded up by at most some 1e-10 (1 + eps), below 1e-8, or by TOLERANCE in ln delta.
    slack = TOLERANCE / LN10 if METHODS[name].takes_any_randomizer and rounds == 1 else 0.0
    assert np.all(just_below > np.log10(asked) - slack)


@pytest.mark.parametrize("asked", [5e-3, 1e-5])
def test_lower_bound_at_its_eps_of_a_delta_is_at_least_that_delta(asked):
    setting = {"n": 100, "k": 8, "eps0": 0.45}
    eps = epsilon(asked, method="lower", **setting)
    assert 0 < eps < 0.45
    assert 0 <= log10_delta("lower", eps, **setting) - np.log10(asked) <= TOLERANCE / LN10


def test_epsilon_broadcasts():
    eps = epsilon([1e-3, 1e-5], method="clones", n=[[100], [1000]], k=8, eps0=1.0)
    assert eps.shape == (2, 2)
    assert eps[1, 1] == epsilon(1e-5, method="clones", n=1000, k=8, eps0=1.0)


def test_one_user_hides_nobody_so_that_eps_is_eps0_of_every_round():
    alone = {"n": 1, "k": 8, "eps0": 1.0}
    assert epsilon(1e-15, **alone) == pytest.approx(1.0, abs=1e-8)
    assert epsilon(1e-300, method="girgis", rounds=2, **alone) == pytest.approx(2.0, abs=1e-8)


@pytest.mark.parametrize("name", NEVER_ZERO)
def test_a_bound_that_is_never_0_has_no_eps_for_a_small_delta_of_one_user(name):
    assert np.isnan(epsilon(1e-15, method=name, n=1, k=8, eps0=1.0))
