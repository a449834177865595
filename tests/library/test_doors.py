"""The public functions as a reader meets them: their arguments, old names, and what they hand on."""

import inspect

import numpy as np
import pytest

import tightshuffle
from tightshuffle.cli.main import main
from tightshuffle.dp_accounting import ShuffledDpEvent
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.planning.designs import compare_designs, fewest_dummies
from tightshuffle.points import MEANINGS, make_points

SETTING = {"n": 1000, "k": 10, "eps0": 2.0}
ARGUMENTS_OF_ONE_ROUND = {"n", "k", "eps0", "randomizer", "colluding"}
MORE_ARGUMENTS = {  # of each public function that asks about a setting
    "upper": {"rounds", "release", "deletion"},
    "lower": {"rounds"},
    "bracket": set(),
    "tradeoff": set(),
    "to_pld": set(),
    "delta": {"rounds", "release", "deletion", "count", "direction"},
    "epsilon": {"rounds", "release", "deletion", "count", "direction"},
}


@pytest.mark.parametrize("name", MORE_ARGUMENTS)
def test_help_shows_every_argument_with_its_default_and_its_meaning(name):
    """An argument has the same default and the same text in each public function that takes it.

    The defaults are those of `make_points`, which checks the arguments of all these functions. MEANINGS has
    the texts. MORE_ARGUMENTS has the names of the functions, and which arguments each takes beside those of
    one round (n, k, eps0, randomizer, colluding). An argument of one function alone is not in MEANINGS.
    """
    function = getattr(tightshuffle, name)
    parameters = inspect.signature(function).parameters
    arguments = ARGUMENTS_OF_ONE_ROUND | MORE_ARGUMENTS[name]
    assert arguments == set(parameters) & set(MEANINGS)
    parameters_of_make_points = inspect.signature(make_points).parameters
    for argument in arguments:
        assert parameters[argument].default == parameters_of_make_points[argument].default
        assert MEANINGS[argument] in inspect.getdoc(function)


@pytest.mark.parametrize("name", MORE_ARGUMENTS)
def test_an_unknown_argument_is_refused_with_the_name_of_the_function(name):
    function = getattr(tightshuffle, name)
    first_argument = next(iter(inspect.signature(function).parameters))
    with pytest.raises(TypeError, match=rf"^{name}\(\) .* 'unknown'"):
        function(**{first_argument: 0.1} | SETTING, unknown=1)


def test_every_argument_of_a_point_has_a_meaning():
    assert set(inspect.signature(make_points).parameters) - {"eps"} == set(MEANINGS)


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        (tightshuffle.upper, "compositions", "rounds"),
        (tightshuffle.epsilon, "compositions", "rounds"),
        (tightshuffle.plan, "compositions", "rounds"),
        (tightshuffle.fewest_users, "compositions", "rounds"),
        (compare_designs, "compositions", "rounds"),
        (compare_designs, "reports_per_user", "values_per_user"),
        (fewest_dummies, "compositions", "rounds"),
        (best_cut_law, "values", "values_per_user"),
        (smallest_poisson_mean, "values", "values_per_user"),
        (HiddenByDummies, "values", "values_per_user"),
    ],
)
def test_an_old_name_is_refused_with_the_new_one(function, old, new):
    with pytest.raises(TypeError, match=f"has no argument '{old}': it is called '{new}' now"):
        function(**{old: 2})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "epsilon clones --n 9 --k 3 --eps0 1 --delta 1e-3 --compositions 2",
            "is called --rounds now",
        ),
        (
            "design --n 9 --k 3 --eps 1 --delta 1e-3 --reports-per-user 2",
            "is called --values-per-user now",
        ),
        (
            "dummies --n 9 --k 3 --eps 1 --delta 1e-3 --values 2",
            "--values is called --values-per-user now",
        ),
    ],
)
def test_an_old_option_is_refused_with_the_new_one(words, message, capsys):
    assert main(words.split()) == 2
    assert message in capsys.readouterr().err


def test_a_bracket_is_both_ends_together():
    """`bracket` is `epsilon` by the methods "lower" and "upper", the default: two arrays, or two floats.

    SETTING is n, k and eps0.
    """
    deltas = np.array([1e-3, 1e-6])
    found = tightshuffle.bracket(deltas, **SETTING)
    np.testing.assert_array_equal(
        found.lower, tightshuffle.epsilon(deltas, method="lower", **SETTING)
    )
    np.testing.assert_array_equal(found.upper, tightshuffle.epsilon(deltas, **SETTING))
    assert np.all(found.lower <= found.upper)
    alone = tightshuffle.bracket(log10_delta=-6, **SETTING)
    assert [type(end) for end in alone] == [float, float]


def test_the_event_keeps_its_meaning():
    """Who stored an event reads it in a later version: a new attribute would change what it promises."""
    parameters = inspect.signature(ShuffledDpEvent).parameters
    assert list(parameters) == ["n", "k", "eps0", "randomizer", "colluding"]
    assert (parameters["randomizer"].default, parameters["colluding"].default) == ("grr", 0)
    with pytest.raises(AttributeError):
        ShuffledDpEvent(**SETTING).n = 5
