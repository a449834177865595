"""The public functions as a reader meets them: their arguments, and what they hand on."""

import inspect

import numpy as np
import pytest

import tightshuffle
from tightshuffle.dp_accounting import ShuffledDpEvent
from tightshuffle.points import MEANINGS, make_points

ARGUMENTS = {  # of each public function that asks about a setting, beside n, k, eps0, randomizer, colluding
    "upper": {"rounds", "release", "deletion"},
    "lower": {"rounds"},
    "bracket": set(),
    "tradeoff": set(),
    "to_pld": set(),
    "delta": {"rounds", "release", "deletion", "count", "direction"},
    "epsilon": {"rounds", "release", "deletion", "count", "direction"},
}


def parameters_of_a_point(function):
    """Those of the function's parameters that `make_points` has, too: name -> parameter."""
    parameters = inspect.signature(function).parameters
    return {name: parameters[name] for name in parameters if name in MEANINGS}


@pytest.mark.parametrize(("name", "more"), ARGUMENTS.items())
def test_public_functions_take_the_arguments_of_one_round_and_these(name, more):
    arguments = parameters_of_a_point(getattr(tightshuffle, name))
    assert arguments.keys() == {"n", "k", "eps0", "randomizer", "colluding"} | more


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_has_the_same_default_and_meaning_in_every_public_function(name):
    function = getattr(tightshuffle, name)
    checked = parameters_of_a_point(make_points)  # by the function that checks all arguments
    for argument, parameter in parameters_of_a_point(function).items():
        assert parameter.default == checked[argument].default
        assert MEANINGS[argument] in inspect.getdoc(function)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_unknown_argument_is_refused_with_the_name_of_the_function(name):
    function = getattr(tightshuffle, name)
    first_argument = next(iter(inspect.signature(function).parameters))
    question = {"n": 1000, "k": 10, "eps0": 2.0, first_argument: 0.1}
    with pytest.raises(TypeError, match=rf"^{name}\(\) .* 'unknown'"):
        function(**question, unknown=1)


def test_every_argument_of_a_point_has_a_meaning():
    assert set(inspect.signature(make_points).parameters) - {"eps"} == set(MEANINGS)


def test_a_bracket_of_several_deltas_is_epsilon_by_lower_and_upper():
    setting = {"n": 1000, "k": 10, "eps0": 2.0}
    deltas = np.array([1e-3, 1e-6])
    low, high = tightshuffle.bracket(deltas, **setting)
    np.testing.assert_array_equal(low, tightshuffle.epsilon(deltas, method="lower", **setting))
    np.testing.assert_array_equal(high, tightshuffle.epsilon(deltas, method="upper", **setting))
    assert np.all(low <= high)


def test_a_bracket_of_one_delta_is_two_floats():
    ends = tightshuffle.bracket(log10_delta=-6, n=1000, k=10, eps0=2.0)
    assert (type(ends.lower), type(ends.upper)) == (float, float)


@pytest.mark.parametrize(
    ("delta", "setting"),
    [
        (0.5, {"n": 1000, "k": 10, "eps0": 2.0}),
        (0.999999999, {"n": 3, "k": 2, "eps0": 2.0, "randomizer": "rappor"}),
    ],
)
def test_where_no_dataset_is_known_to_have_more_than_delta_the_lower_eps_is_0(delta, setting):
    assert 0 < tightshuffle.lower(0.0, **setting) < delta
    assert tightshuffle.epsilon(delta, method="lower", **setting) == 0
    assert tightshuffle.bracket(delta, **setting).lower == 0


@pytest.mark.parametrize("delta", [0.02, 1e-6])
def test_elsewhere_some_dataset_has_delta_at_the_lower_eps(delta):
    setting = {"n": 1000, "k": 10, "eps0": 2.0}
    assert tightshuffle.lower(0.0, **setting) > delta
    ends = tightshuffle.bracket(delta, **setting)
    assert 0 < ends.lower <= ends.upper
    assert tightshuffle.lower(ends.lower, **setting) >= delta
    assert tightshuffle.upper(ends.upper, **setting) <= delta


def test_the_event_keeps_its_meaning():
    """Who stored an event reads it in a later version: a new attribute would change what it promises."""
    parameters = inspect.signature(ShuffledDpEvent).parameters
    assert list(parameters) == ["n", "k", "eps0", "randomizer", "colluding"]
    assert (parameters["randomizer"].default, parameters["colluding"].default) == ("grr", 0)
    with pytest.raises(AttributeError):
        ShuffledDpEvent(n=1000, k=10, eps0=2.0).n = 5
