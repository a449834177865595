"""The public functions as a reader meets them: their arguments, and what they hand on."""

import functools
import inspect
import sys
from collections import Counter

import numpy as np
import pytest

import tightshuffle
from tightshuffle import Collection, Group, arguments, doors, to_pld
from tightshuffle.dp_accounting import ShuffledDpEvent
from tightshuffle.points import make_points

OF_A_SETTING = {"n", "k", "eps0", "randomizer", "colluding"}
MORE = {  # what each public function that asks about a setting takes beside these
    "delta": {"participation", "rounds", "release", "neighbours", "count", "direction"},
    "epsilon": {"participation", "rounds", "release", "neighbours", "count", "direction"},
    "bracket": {"participation"},
    "tradeoff": set(),
    "to_pld": set(),
}


def parameters_of_a_point(function):
    """Those of the function's parameters that `make_points` has, too: name -> parameter."""
    of_points = inspect.signature(make_points).parameters
    parameters = inspect.signature(function).parameters
    return {name: parameters[name] for name in parameters if name in of_points and name != "eps"}


@pytest.mark.parametrize(("name", "more"), MORE.items())
def test_a_public_function_says_which_arguments_it_takes(name, more):
    """In its signature, with their types and defaults, and in its docstring."""
    function = getattr(tightshuffle, name)
    arguments = parameters_of_a_point(function)
    assert arguments.keys() == OF_A_SETTING | more
    checked = inspect.signature(make_points).parameters
    described = inspect.getdoc(function).partition("Returns")[0]
    for argument, parameter in arguments.items():
        assert parameter.default == checked[argument].default
        assert parameter.annotation is not parameter.empty
        assert argument in described


SUMS = {"randomizer": "oue", "release": "sums"}
COUNT = {"method": "count-exact", "count": 20}
TWO_SETTINGS = {  # argument -> two sets of arguments that differ in it
    "n": ({}, {"n": 1000}),
    "k": ({}, {"k": 9}),
    "eps0": ({}, {"eps0": 1.9}),
    "randomizer": ({}, {"randomizer": "oue"}),
    "colluding": ({}, {"colluding": 100}),
    "participation": ({}, {"participation": 0.5}),
    "rounds": ({}, {"rounds": 2}),
    "release": (SUMS, {**SUMS, "release": "reports"}),
    "neighbours": (SUMS, {**SUMS, "neighbours": "deletion"}),
    "count": (COUNT, {**COUNT, "count": 30}),
    "direction": ({**COUNT, "direction": "forward"}, {**COUNT, "direction": "reverse"}),
}
ASK = {  # public function -> a question to it
    "delta": functools.partial(tightshuffle.delta, 0.3),
    "epsilon": functools.partial(tightshuffle.epsilon, 1e-5),
    "bracket": functools.partial(tightshuffle.bracket, 1e-5),
    "tradeoff": functools.partial(tightshuffle.tradeoff, 0.1),
    "to_pld": lambda **setting: to_pld(spacing=0.01, **setting).get_epsilon_for_delta(1e-5),
}


@functools.cache
def answer(name, **setting):
    """What the public function says for this setting."""
    return ASK[name](**{"n": 2000, "k": 8, "eps0": 2.0, **setting})


@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, each) for name in ASK for each in sorted(OF_A_SETTING | MORE[name])],
)
def test_every_argument_of_a_public_function_matters(name, argument, monkeypatch):
    monkeypatch.setattr(doors, "_TRADEOFF_POINTS", 20)  # to save time
    one, other = (answer(name, **setting) for setting in TWO_SETTINGS[argument])
    assert one != other


def checks_of(ask):
    """{name of a check of `arguments`: how often it runs} while ``ask()`` answers."""
    counts = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename == arguments.__file__:
            counts[frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return counts


TWO_GROUPS = (Group("a", 200, eps0=2.0), Group("b", 100, eps0=1.0, participation=0.5))


SETTING = {"n": 501, "k": 8, "eps0": 2.0}
QUESTIONS = {
    "several rounds": lambda: tightshuffle.delta(0.31, rounds=2, **SETTING),
    "subset selection": lambda: tightshuffle.delta(0.31, randomizer="subset:2", **SETTING),
    "lower": lambda: tightshuffle.delta([0.1, 0.31], method="lower", **SETTING),
    "participation": lambda: tightshuffle.delta(0.31, participation=0.5, **SETTING),
    "epsilon": lambda: tightshuffle.epsilon(1e-4, **SETTING),
    "epsilon, participation": lambda: tightshuffle.epsilon(1e-4, participation=0.5, **SETTING),
    "plan": lambda: tightshuffle.plan(n=501, k=8, eps=0.5, delta=1e-4),
    "fewest users": lambda: tightshuffle.fewest_users(0.5, 1e-4, k=8, eps0=2.0),
    "collection": lambda: Collection(8, TWO_GROUPS).log10_delta([0.1, 0.31]),
    "epsilon of a collection": lambda: Collection(8, TWO_GROUPS).epsilon(1e-4),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_eps_and_delta_are_checked_once_however_long_a_search_is(ask):
    """Three of eps: beside the door's, those of the eps = 0 of a setting and of the limit of many users."""
    counts = checks_of(ask)
    assert counts["check_eps"] <= 3
    assert counts["check_log10_delta"] <= 1


@pytest.mark.parametrize(
    ("randomizer", "rounds"),
    [
        ("grr", 1),
        ("grr", 3),
        ("subset:2", 1),
        pytest.param("subset:2", 3, marks=pytest.mark.slow),
    ],
)
def test_users_who_take_part_by_chance_are_a_collection_of_one_group(randomizer, rounds):
    setting = {"k": 8, "eps0": 2.0, "randomizer": randomizer, "participation": 0.4}
    eps = np.array([0.1, 0.3])
    some = {**setting, "n": [[30], [40]], "colluding": [[0], [10]], "rounds": rounds}
    found = tightshuffle.delta(eps, log10=True, **some)
    assert found.shape == (2, 2)
    for row, (n, colluding) in enumerate([(30, 0), (40, 10)]):
        users = Group("users", n, 2.0, participation=0.4, colluding=colluding)
        collection = Collection(8, (users,), randomizer=randomizer, rounds=rounds)
        np.testing.assert_array_equal(found[row], collection.log10_delta(eps))
    # Those of the last row, in the other direction.
    of_delta = tightshuffle.epsilon(1e-3, n=n, colluding=colluding, rounds=rounds, **setting)
    assert 0 < of_delta < 2.0 * rounds
    assert of_delta == collection.epsilon(1e-3)


def test_a_bracket_of_users_who_take_part_by_chance_is_that_of_delta():
    setting = {"n": 2000, "k": 8, "eps0": 2.0, "participation": 0.4}
    ends = tightshuffle.bracket(1e-6, **setting)
    assert 0 < ends.lower < ends.upper < 2.0
    assert tightshuffle.delta(ends.lower, method="lower", **setting) >= 1e-6
    assert tightshuffle.delta(ends.upper, **setting) <= 1e-6
    assert ends.lower > tightshuffle.bracket(1e-6, **setting | {"participation": 1.0}).upper


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
    assert 0 < tightshuffle.delta(0.0, method="lower", **setting) < delta
    assert tightshuffle.epsilon(delta, method="lower", **setting) == 0
    assert tightshuffle.bracket(delta, **setting).lower == 0


@pytest.mark.parametrize("delta", [0.02, 1e-6])
def test_elsewhere_some_dataset_has_delta_at_the_lower_eps(delta):
    setting = {"n": 1000, "k": 10, "eps0": 2.0}
    assert tightshuffle.delta(0.0, method="lower", **setting) > delta
    ends = tightshuffle.bracket(delta, **setting)
    assert 0 < ends.lower <= ends.upper
    assert tightshuffle.delta(ends.lower, method="lower", **setting) >= delta
    assert tightshuffle.delta(ends.upper, **setting) <= delta


def test_the_event_keeps_its_meaning():
    """Who stored an event reads it in a later version: a new attribute would change what it promises."""
    parameters = inspect.signature(ShuffledDpEvent).parameters
    assert list(parameters) == ["n", "k", "eps0", "randomizer", "colluding"]
    assert (parameters["randomizer"].default, parameters["colluding"].default) == ("grr", 0)
    with pytest.raises(AttributeError):
        ShuffledDpEvent(n=1000, k=10, eps0=2.0).n = 5
