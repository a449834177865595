"""The plan: its guarantee holds and is the largest; its errors are those of a simulation."""

import functools
import itertools
import math
from functools import partial

import numpy as np
import pytest

import tightshuffle
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale
from tightshuffle.planning.tuning import most_private
from tightshuffle.randomizers import SubsetSelection, parse
from tightshuffle.randomizers.expected_errors import errors

log10_upper = partial(tightshuffle.delta, log10=True)
_plan = functools.cache(tightshuffle.plan)


def plan_once(**asked):
    """`tightshuffle.plan`, only once for each question, in whichever order it is asked."""
    return _plan(**dict(sorted(asked.items())))


@pytest.mark.parametrize(
    ("n", "k", "eps", "log10_delta"),
    [
        (100_000, 408, 0.5, -6.0),
        (1000, 15, 1.0, -6.0),
        (1000, 10, 1e-6, -5.0),
        (10**12, 50, 0.001, -9.0),
        (1000, 15, 0.5, -500.0),
    ],
)
def test_the_guarantee_holds_and_no_larger_eps0_gives_it(n, k, eps, log10_delta):
    found = tightshuffle.plan(n=n, k=k, eps=eps, log10_delta=log10_delta)
    assert found.eps0 > eps
    assert not found.capped
    assert log10_upper(eps, n=n, k=k, eps0=found.eps0) == found.log10_delta <= log10_delta
    assert log10_upper(eps, n=n, k=k, eps0=found.eps0 * 1.001) > log10_delta
    # The Gaussian beside it has the same guarantee, and no smaller noise has.
    gaussian = log10_delta_of_scale(eps, scale=found.sigma, sensitivity=np.sqrt(2))
    assert gaussian == pytest.approx(log10_delta, abs=1e-8)


def test_one_user_has_randomized_response():
    # n = 1: delta = p - e^eps q, hence e^eps0 (1 - delta) = e^eps + delta (k - 1).
    eps, k, delta = 1.0, 5, 1e-3
    found = tightshuffle.plan(n=1, k=k, eps=eps, log10_delta=np.log10(delta))
    # The bound is moved up by 2e-8 of delta, and the search ends within 1e-6 of eps0.
    expected = np.log((np.exp(eps) + delta * (k - 1)) / (1 - delta))
    assert found.eps0 == pytest.approx(expected, rel=3e-6)
    assert found.eps0 < expected


@pytest.mark.parametrize(
    "randomizer", ["grr", "oue", pytest.param("hash:4", marks=pytest.mark.slow)]
)
def test_fewest_users_are_those_of_a_search_one_by_one(randomizer):
    setting = {"k": 4, "eps": 1.0, "delta": 1e-2, "randomizer": randomizer}
    plans = (tightshuffle.plan(n=n, **setting) for n in itertools.count(1))
    accurate_enough = (found for found in plans if found.tv["shuffle+INV"] <= 0.7)
    assert tightshuffle.plan(error=0.7, **setting).n == next(accurate_enough).n > 5


# The randomizer, the number of values, the guarantee, the error, and further arguments of `plan`.
GUARANTEES_AND_ERRORS = pytest.mark.parametrize(
    ("randomizer", "k", "eps", "log10_delta", "error", "options"),
    [
        ("grr", 1000, 0.01, -12.0, 1e-4, {"colluding": 0.5}),
        ("grr", 4, 5.0, -300.0, 1e-5, {}),
        pytest.param("grr", 5, 3.0, -6.0, 0.35, {}, id="two users, who need no shuffler"),
        ("oue", 50, 0.5, -6.0, 0.02, {"colluding": 0.01}),
        ("rappor", 20, 1.0, -9.0, 0.001, {"colluding": 5000}),
        pytest.param("grr", 5, 1.0, -6.0, 0.02, {"rounds": 4}, marks=pytest.mark.slow),
    ],
)


@GUARANTEES_AND_ERRORS
def test_the_fewest_users_meet_guarantee_and_error(randomizer, k, eps, log10_delta, error, options):
    """The error is the total variation distance of the histogram that shuffle+INV estimates, expected."""
    options = {"k": k, "randomizer": randomizer, **options}
    found = plan_once(eps=eps, log10_delta=log10_delta, error=error, **options)
    bound = log10_upper(eps, n=found.n, eps0=found.eps0, **options)
    assert bound == found.log10_delta <= log10_delta
    assert found.tv["shuffle+INV"] <= error
    # The distance is half the sum of the values' errors, here of uniform data.
    parsed = parse(randomizer, k=k, eps0=found.eps0)
    expected = errors(parsed, np.full(k, 1 / k), n=found.n).sum() / 2
    assert found.tv["shuffle+INV"] == pytest.approx(expected, rel=1e-12)


@GUARANTEES_AND_ERRORS
def test_with_one_user_fewer_the_best_plan_for_the_guarantee_has_a_larger_error(
    randomizer, k, eps, log10_delta, error, options
):
    guarantee = {
        "k": k,
        "randomizer": randomizer,
        "eps": eps,
        "log10_delta": log10_delta,
        **options,
    }
    fewest = plan_once(error=error, **guarantee)
    with_fewer = tightshuffle.plan(n=fewest.n - 1, **guarantee)
    assert with_fewer.tv["shuffle+INV"] > error


@pytest.mark.parametrize(
    ("kind", "others", "n", "k", "eps"),
    [
        # m = 1 is k-RR, "grr".
        pytest.param(
            "subset",
            ["grr", *[f"subset:{m}" for m in range(2, 64)]],
            30,
            64,
            0.1,
            marks=pytest.mark.slow,
        ),
        ("subset", ["grr", *[f"subset:{m}" for m in range(2, 8)]], 1000, 8, 0.02),
        pytest.param(
            "hash", [f"hash:{g}" for g in range(2, 60)], 200, 30, 0.5, marks=pytest.mark.slow
        ),
        ("hash", [f"hash:{g}" for g in range(2, 16)], 1000, 6, 0.2),
    ],
)
def test_without_a_number_the_plan_has_the_least_error_of_all_m_or_g(kind, others, n, k, eps):
    """To 1e-5 for subsets, and to 0.3 % for local hashing.

    The best is in between: at first m = 4 of 1 to 7, and g = 8 of 2 to 15.
    """
    setting = {"n": n, "k": k, "eps": eps, "delta": 1e-4}
    found = tightshuffle.plan(**setting, randomizer=kind)
    assert found == tightshuffle.plan(**setting, randomizer=found.randomizer)
    plans = [tightshuffle.plan(**setting, randomizer=name) for name in others]
    least_error = min(plan.tv["shuffle+INV"] for plan in plans)
    accuracy = {"subset": 1e-5, "hash": 0.003}[kind]
    assert found.tv["shuffle+INV"] <= least_error * (1 + accuracy)


# A plan for "subset" chooses the size of the subsets.
HALF_OF_1000_COLLUDE = {"n": 1000, "k": 300, "eps": 0.1, "delta": 1e-6, "colluding": 500}


def test_a_tuned_plan_counts_colluding_users():
    """With the same guarantee, the chosen size has a smaller expected error than the size 2."""
    tuned = plan_once(**HALF_OF_1000_COLLUDE, randomizer="subset")
    fixed = tightshuffle.plan(**HALF_OF_1000_COLLUDE, randomizer="subset:2")
    assert tuned.tv["shuffle+INV"] < fixed.tv["shuffle+INV"]


def test_a_tuned_plan_does_not_depend_on_the_data():
    """Without ``shares`` the expected error is that of uniform data. It differs, and the choice does not."""
    everybody_alike = np.eye(300)[0]  # all users hold the first value
    uniform = plan_once(**HALF_OF_1000_COLLUDE, randomizer="subset")
    skewed = tightshuffle.plan(**HALF_OF_1000_COLLUDE, randomizer="subset", shares=everybody_alike)
    assert skewed.randomizer == uniform.randomizer
    assert skewed.tv["shuffle+INV"] != uniform.tv["shuffle+INV"]


def test_the_gaussian_has_the_neighbours_of_the_sums():
    """By sqrt(2): a user whose value is deleted changes one count by 1, one whose value is replaced two.

    The Gaussian's noise does not depend on how many users there are.
    """
    asked = {"randomizer": "rappor", "release": "sums"}
    replaced, deleted = (
        tightshuffle.plan(n=2, k=4, eps=1.0, delta=1e-6, neighbours=each, **asked).tv
        for each in ("replacement", "deletion")
    )
    assert replaced["gaussian"] == pytest.approx(math.sqrt(2) * deleted["gaussian"], rel=1e-9)


def test_ends_of_the_range():
    """A delta of almost 1 allows any eps0; so small a one as 1e-100000 leaves nothing but eps0 = eps."""
    assert tightshuffle.plan(n=50, k=4, eps=3.0, log10_delta=-1e-9).capped
    found = tightshuffle.plan(n=3, k=4, eps=3.0, log10_delta=-1e5)
    assert found.eps0 == pytest.approx(3.0, rel=1e-6)


def test_a_variance_that_no_parameter_reaches_has_an_infinite_eps0():
    setting = {"n": np.array([1e4]), "k": np.array([10.0]), "variance": np.array([1e-30])}
    _, eps0 = most_private(SubsetSelection, np.array([2]), np.array([0.5]), **setting)
    assert eps0.tolist() == [math.inf]
